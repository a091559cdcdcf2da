package blocks

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// shells are the languages of blocks that are commands.
var shells = []string{"sh", "bash", "shell", "zsh", "console", "terminal", "shellscript", "shell-session", "sh-session"}

// changes are the languages of blocks that say how a file changes, and are not its text.
var changes = []string{"diff", "patch", "udiff"}

// Words by which a line before a block says that it is the text of a file.
var (
	writes = regexp.MustCompile(`(?i)\b(create|write|save|put|make|add|update|change|edit|modify|replace|rewrite|overwrite|correct|fix|new|updated|changed|edited|modified|corrected|fixed)\b`)
	runs   = regexp.MustCompile(`(?i)\b(run|execute|command)\b`)
)

// meaning says what a block is that has this after the characters of its fence and this line before it: a call or an
// example, and the name of the file whose text it is, "" for a command. Without a language a block is a command if the
// answer begins with it: behind a sentence it more often shows what a file has or a command has printed.
func meaning(info, before string, first bool) (file string, call bool) {
	language, _, _ := strings.Cut(strings.Trim(info, "{}"), " ")
	language = strings.ToLower(strings.TrimPrefix(language, "."))
	shell := slices.Contains(shells, language)
	if slices.Contains(changes, language) {
		return "", false
	}
	if file = fileInInfo(info); file != "" {
		return file, true
	}
	if file = fileAlone(before); file != "" {
		return file, true
	}
	if file = fileInSentence(before); file != "" && (!shell || slices.Contains(scripts, path.Ext(file)) && !runs.MatchString(before)) {
		return file, true
	}
	return "", shell || info == "" && first
}

// scripts are the ends of names of files in which a command may be the text.
var scripts = []string{".sh", ".bash", ".zsh"}

// named are names of files without an end.
var named = []string{"Makefile", "Dockerfile", "Containerfile", "Procfile", "Justfile", "justfile", "Gemfile", "Rakefile", "Vagrantfile", "Jenkinsfile", "README", "LICENSE", "CHANGELOG", "NOTICE", "VERSION", "CODEOWNERS"}

// fileName matches what is a name of a file, or a path.
var fileName = regexp.MustCompile(`^(?:~|\.{0,2})/?(?:[\w@+.-]+/)*[\w@+.-]*\.[A-Za-z][A-Za-z0-9_-]{0,11}$`)

// isFile reports whether a word is the name of a file.
func isFile(word string) bool {
	base := path.Base(word)
	return fileName.MatchString(word) && strings.Trim(base, ".") != "" || slices.Contains(named, base) && !strings.ContainsAny(word, " \t")
}

// fileInInfo returns the file that the info string of a fence names: "python app.py", "app.py", "python:app.py",
// "ini title=config.ini".
func fileInInfo(info string) string {
	for _, word := range strings.Fields(strings.Trim(info, "{}")) {
		for _, cut := range []string{"=", ":"} {
			if _, after, ok := strings.Cut(word, cut); ok {
				word = after
			}
		}
		if word = strings.Trim(word, "\"'`()"); isFile(word) {
			return word
		}
	}
	return ""
}

// heads matches what may stand before the name of a file that is alone in a line.
var heads = regexp.MustCompile(`(?i)^(?:#{1,6} +|[-+*] +|\d{1,9}[.)] +)?(?:\**(?:file(?:name)?|path|in|write|save) *:?\** +)?`)

// fileAlone returns the name of a file that is alone in a line, as in "app.py:", "### `app.py`", "File: **app.py**".
func fileAlone(line string) string {
	line = strings.TrimSpace(line)
	line = strings.TrimSpace(line[len(heads.FindString(line)):])
	word := strings.Trim(line, "*_:")
	if quoted, ok := strings.CutPrefix(strings.TrimSpace(word), "`"); ok && strings.HasSuffix(quoted, "`") && strings.Count(quoted, "`") == 1 {
		if word = strings.TrimSuffix(quoted, "`"); isFile(strings.ReplaceAll(word, " ", "_")) {
			return word
		}
	}
	if isFile(word) {
		return word
	}
	return ""
}

// fileInSentence returns the one file that a line names which says that it is written: "Create `app.py` with:".
func fileInSentence(line string) (file string) {
	line = strings.TrimRight(strings.TrimSpace(line), "*")
	if !strings.HasSuffix(line, ":") {
		return ""
	}
	says := false
	for _, word := range strings.Fields(line) {
		word = strings.Trim(word, "`*\"'(),;:")
		switch {
		case !isFile(word):
			says = says || writes.MatchString(word)
		case word == file:
		case file != "":
			return "" // one of two
		default:
			file = word
		}
	}
	if !says {
		return ""
	}
	return file
}

// looksLikeCommand reports whether a text begins as commands do: names of programs are in lower case.
func looksLikeCommand(text string) bool {
	return strings.ContainsAny(text[:1], "abcdefghijklmnopqrstuvwxyz./~_[({")
}

// commandIn returns the command in a block of shell: what is behind the prompts, if there are any, else all of it.
func commandIn(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "$ ") {
		return text
	}
	var lines []string
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			lines = append(lines, strings.TrimRight(command, "\n"))
		}
	}
	return strings.Join(lines, "\n")
}
