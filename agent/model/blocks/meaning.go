package blocks

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// shells are the languages of blocks that are commands.
var shells = []string{"sh", "bash", "shell", "zsh", "console", "terminal", "shellscript", "shell-session", "sh-session"}

// changes are the languages of blocks that describe a change to a file instead of containing its text.
var changes = []string{"diff", "patch", "udiff"}

// These words before a block show that it is the text of a file (writes) or a command (runs).
var (
	writes = regexp.MustCompile(`(?i)\b(create|write|save|put|make|add|update|change|edit|modify|replace|rewrite|overwrite|correct|fix|new|updated|changed|edited|modified|corrected|fixed)\b`)
	runs   = regexp.MustCompile(`(?i)\b(run|execute|command)\b`)
)

// meaning decides whether a block stands for a call. info is the text after the opening fence characters, and before is
// the line before the block. file is the file that the block contains, or "" if the block is a command. A block without
// a language is a command only if the answer starts with it (first): after a sentence, it usually shows a file or the
// output of a command.
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

// scripts are the extensions of shell scripts. If such a file is named before a shell block, the block may be the
// script's text, or the command that runs it.
var scripts = []string{".sh", ".bash", ".zsh"}

// named lists names of files that have no extension.
var named = []string{"Makefile", "Dockerfile", "Containerfile", "Procfile", "Justfile", "justfile", "Gemfile", "Rakefile", "Vagrantfile", "Jenkinsfile", "README", "LICENSE", "CHANGELOG", "NOTICE", "VERSION", "CODEOWNERS"}

// fileName matches the name or path of a file.
var fileName = regexp.MustCompile(`^(?:~|\.{0,2})/?(?:[\w@+.-]+/)*[\w@+.-]*\.[A-Za-z][A-Za-z0-9_-]{0,11}$`)

// isFile reports whether a word is the name of a file.
func isFile(word string) bool {
	base := path.Base(word)
	return fileName.MatchString(word) && strings.Trim(base, ".") != "" || slices.Contains(named, base) && !strings.ContainsAny(word, " \t")
}

// fileInInfo returns the file named in the info string of a fence: "python app.py", "app.py", "python:app.py", "ini
// title=config.ini".
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

// heads matches what may precede a file name that is alone on a line.
var heads = regexp.MustCompile(`(?i)^(?:#{1,6} +|[-+*] +|\d{1,9}[.)] +)?(?:\**(?:file(?:name)?|path|in|write|save) *:?\** +)?`)

// fileAlone returns the file name that is alone on a line, as in "app.py:", "### `app.py`", "File: **app.py**".
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

// fileInSentence returns the only file named on a line that announces its text: "Create `app.py` with:".
func fileInSentence(line string) (file string) {
	line = strings.TrimRight(strings.TrimSpace(line), "*")
	if !strings.HasSuffix(line, ":") {
		return ""
	}
	writing := false
	for _, word := range strings.Fields(line) {
		word = strings.Trim(word, "`*\"'(),;:")
		switch {
		case !isFile(word):
			writing = writing || writes.MatchString(word)
		case word == file:
		case file != "":
			return "" // there are two names
		default:
			file = word
		}
	}
	if !writing {
		return ""
	}
	return file
}

// looksLikeCommand reports whether a text starts like a command: names of programs are in lower case.
func looksLikeCommand(text string) bool {
	return strings.ContainsAny(text[:1], "abcdefghijklmnopqrstuvwxyz./~_[({")
}

// commandIn returns the command in a shell block: the lines after a prompt, without "$ ", or the whole text if the
// block does not start with a prompt.
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
