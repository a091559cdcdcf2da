package markup

import (
	"bytes"
	"strings"

	"buddy/themes"
)

// isDiff tells whether a language is that of unified diffs, whose lines need no lexer.
func isDiff(lang string) bool {
	return strings.EqualFold(lang, "diff") || strings.EqualFold(lang, "patch")
}

// diffRole returns the role of one line of a unified diff.
func diffRole(line []byte) themes.Role {
	switch {
	case bytes.HasPrefix(line, []byte("@@")):
		return themes.DiffHunk
	case bytes.HasPrefix(line, []byte("+++")), bytes.HasPrefix(line, []byte("---")), bytes.HasPrefix(line, []byte("diff ")):
		return themes.Muted
	case bytes.HasPrefix(line, []byte("+")):
		return themes.DiffAdd
	case bytes.HasPrefix(line, []byte("-")):
		return themes.DiffDelete
	}
	return themes.Code
}
