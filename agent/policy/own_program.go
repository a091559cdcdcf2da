package policy

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"buddy/agent/policy/shell"
	"buddy/texts"
)

// programName is the installed name of this program.
const programName = "buddy"

// harmlessCalls lists the first words of calls that change at most sessions and logs. Every other call counts as a
// change to buddy's own files.
var harmlessCalls = []string{
	"--help", "--version", "-h", "completion", "doctor", "exec", "help", "logs", "ls", "models", "replay", "review", "trace",
	"config check", "config get", "config path", "config schema", "config show", "mcp list", "memory list", "memory why", "policy explain",
	"sessions export", "sessions list", "sessions path", "sessions search", "sessions show",
	"workflow check", "workflow list", "workflow runs", "workflow show", "workflow status",
}

// changingCalls lists the first words of calls that may change buddy's own files; calls in [harmlessCalls] don't. They
// identify a call where it is uncertain whether the program is buddy, or which words are its arguments.
var changingCalls = []string{
	"approve", "attach", "config", "init", "login", "logout", "mcp", "memory", "resume", "sessions", "stop", "trust", "workflow",
}

// harmless reports whether a call of this program with these arguments leaves its own files unchanged.
func harmless(args []string) bool {
	return slices.ContainsFunc(harmlessCalls, func(call string) bool {
		words := strings.Fields(call)
		return len(args) >= len(words) && slices.Equal(args[:len(words)], words)
	})
}

// changes reports whether words are certainly the arguments of a call of this program that changes its own files.
func changes(args []string) bool {
	return len(args) > 0 && slices.Contains(changingCalls, args[0]) && !harmless(args)
}

// calls returns the first call of this program in a command that may change the program's own files, or "".
func (k ownKeys) calls(command string, report shell.Report) string {
	for _, c := range report.Commands {
		words := make([]string, len(c.Argv))
		for i, w := range c.Argv {
			words[i] = w.Text
		}
		for i, w := range c.Argv {
			if k.isCall(c, i, w, words[i+1:]) {
				return callText(words[i+1:])
			}
		}
		for _, code := range codeIn(command, c) {
			words := strings.FieldsFunc(code, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
			for i, w := range words {
				if w == programName && changes(words[i+1:]) {
					return callText(words[i+1:])
				}
			}
		}
	}
	return ""
}

// isCall reports whether word i of a command names this program, perhaps under another name, and args make it a call
// that may change the program's own files.
func (k ownKeys) isCall(c shell.Command, i int, w shell.Arg, args []string) bool {
	switch {
	case w.Dynamic:
		return i == 0 && changes(args)
	case filepath.Base(w.Text) == programName && i == 0:
		return !harmless(args)
	case filepath.Base(w.Text) == programName && changes(args), c.Name() == "alias" && strings.HasSuffix(w.Text, programName):
		return true
	case k.Program == nil || c.ReadOnly || i > 0 && !strings.ContainsRune(w.Text, '/'):
		return false
	}
	is := slices.ContainsFunc(append([]string{k.cwd}, c.Dirs...), func(dir string) bool { return k.Program(w.Text, dir) })
	return is && (i > 0 || !harmless(args)) // a copy or a link can have any name
}

// callText returns a call of this program as typed.
func callText(args []string) string {
	return strings.TrimSpace(programName + " " + strings.Join(args[:min(len(args), 2)], " "))
}

// codeIn returns the texts in a command that another program may run as code: words with unusual characters, and the
// whole command if it contains a here-document.
func codeIn(command string, c shell.Command) (all []string) {
	if c.Effect != shell.RunsCode && c.Effect != shell.Unknown {
		return nil
	}
	if strings.Contains(command, "<<") {
		return []string{command}
	}
	for _, w := range c.Argv {
		if strings.ContainsAny(w.Text, "'\"()\n ") {
			all = append(all, w.Text)
		}
	}
	return all
}

// leads returns the display name of one of buddy's own files whose path a command may compute when it runs, or "". It
// searches code and computed words for the start of such a path, but misses a path that is joined from smaller pieces.
func (k ownKeys) leads(command string, report shell.Report) string {
	var all []string
	if report.Unread {
		all = append(all, command)
	}
	for _, c := range append(slices.Clone(report.Commands), shell.Command{Argv: report.Files}) {
		all = append(all, codeIn(command, c)...)
		for _, w := range c.Argv {
			if w.Dynamic || w.Odd {
				all = append(all, w.Text)
			}
		}
	}
	for _, text := range all {
		text = strings.NewReplacer("$HOME", "~", "${HOME}", "~").Replace(text)
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("'\"`()[]{},;+$<>|&=:", r) }) {
			if own := k.startOf(word); own != "" {
				return own
			}
		}
	}
	return ""
}

// startOf returns the display name of one of buddy's own files whose path starts with word, or "". word must contain at
// least the first folder below the home folder. It does not count if the command runs in the folder that it names.
func (k ownKeys) startOf(word string) string {
	word = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(word, "~"), k.home), "/")
	for _, o := range k.Files {
		rel := strings.TrimPrefix(k.tail(o), "/")
		first, _, _ := strings.Cut(rel, "/")
		if len(word) >= len(first) && strings.HasPrefix(rel, word) && !texts.Below(k.cwd, strings.TrimSuffix(o, rel)+word) {
			return ownName(o)
		}
	}
	return ""
}
