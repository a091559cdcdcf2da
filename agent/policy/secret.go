package policy

import "buddy/texts/secretfile"

// Secret returns the part of path that suggests secrets, or "".
func Secret(path string) string {
	part, _ := secretfile.Find(path)
	return part
}

// SecretPattern returns the part of a glob pattern that could match a file with secrets, or "".
// In pattern \ escapes a literal character.
func SecretPattern(pattern string) string { return secretfile.FindPattern(pattern) }
