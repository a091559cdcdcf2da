package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// textRunner is a row of the table of programs that pass a text to a shell.
type textRunner struct {
	name string
	flag string // the text is the value of one of these flags; "" every word with a blank is one
	not  string // subcommands that run nothing: their words are formats
}

// textRunners lists programs that run a text which is one of their words.
var textRunners = []textRunner{
	{name: "watch"}, {name: "trap"}, {name: "alias"}, {name: "tmux", not: "ls list-sessions list-windows list-panes list-clients list-keys show show-options display display-message has-session capture-pane"}, {name: "screen"}, {name: "entr"}, {name: "parallel"}, {name: "xterm"},
	{name: "script", flag: "-c --command"}, {name: "flock", flag: "-c --command"}, {name: "runuser", flag: "-c --command"}, {name: "sg", flag: "-c"},
	{name: "vim", flag: "-c +"}, {name: "vi", flag: "-c +"}, {name: "nvim", flag: "-c +"}, {name: "hyperfine"}, {name: "nix-shell", flag: "--run --command"},
	{name: "git", flag: "-c"}, {name: "nohup"}, {name: "osascript"}, {name: "wsl"}, {name: "adb"}, {name: "vagrant", flag: "-c"}, {name: "tar", flag: "--to-command --checkpoint-action"},
}

// runsTexts analyses the words that a program passes to a shell, and programs for interpreters
// for harm.
func runsTexts(a *analyser, name string, words []arg) {
	if slices.Contains(interpreters, name) && !slices.Contains(shells, name) || strings.HasSuffix(name, "awk") {
		for _, w := range words[1:] {
			if text, ok := w.lit(); ok && len(text) > 5 {
				a.rep.harm(programHarm(a, text), "")
			}
		}
		return
	}
	for _, r := range textRunners {
		if r.name != name || given(words, r.not) {
			continue
		}
		for i, w := range words[1:] {
			text, ok := w.lit()
			if !ok || !strings.ContainsAny(text, " \n") {
				continue
			}
			if r.flag != "" {
				before, _ := words[i].lit()
				flag, value, attached := strings.Cut(text, "=")
				switch {
				case attached && slices.Contains(strings.Fields(r.flag), flag):
					text = value
				case i > 0 && slices.Contains(strings.Fields(r.flag), before):
				default:
					continue
				}
			}
			runsText(a, "sh", unwrapped(text), []string{name})
		}
	}
}

// unwrapped returns the text for a shell in a word: behind an exclamation mark (aliases of git,
// vim), exec= (tar), or the first = (alias).
func unwrapped(text string) string {
	if _, after, ok := strings.Cut(text, "!"); ok {
		return after
	}
	if after, ok := strings.CutPrefix(text, "exec="); ok {
		return after
	}
	if name, after, ok := strings.Cut(text, "="); ok && validName(strings.NewReplacer("-", "_", ".", "_").Replace(name)) {
		return after
	}
	return text
}

// runsText analyses a text that the program reader runs: for a shell every command in it is
// judged and counts for rules, for other interpreters only what it destroys.
func runsText(a *analyser, reader, text string, via []string) {
	if slices.Contains(shells, reader) || reader == "source" || reader == "." {
		a.nested(text, via)
		return
	}
	a.rep.harm(programHarm(a, text), "")
}

// redirected is the file of a redirection, or the text of a here-document.
type redirected struct {
	op   syntax.RedirOperator
	word arg
}

// redirections records what a statement destroys by its redirections, and what it runs that
// they give it: a text, or a download.
func redirections(a *analyser, list []redirected, before int) {
	for _, r := range list {
		switch r.op {
		case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			readsText(a, r, before)
		case syntax.DplIn, syntax.DplOut:
		default:
			appends := r.op == syntax.AppOut || r.op == syntax.AppAll
			if why := overwritten(&a.folders, "a redirection", r.word); why != "" && (!appends || vitalFile(&a.folders, r.word) == "") {
				a.rep.harm(why, "")
			}
			if s, ok := r.word.lit(); ok && a.rep.fetched(before) {
				a.folders.download(s)
			}
		}
	}
}

// readsText analyses what a statement executes of its input.
func readsText(a *analyser, r redirected, before int) {
	i := slices.IndexFunc(a.rep.Commands[min(before, len(a.rep.Commands)):], Command.readsProgram)
	if i < 0 {
		return
	}
	c := a.rep.Commands[before+i]
	text := r.word.vals[0].text
	switch {
	case r.word.fetches, r.op == syntax.RdrIn && (a.folders.downloaded(r.word) || strings.HasPrefix(text, "/dev/tcp/")):
		a.rep.harm(runsUnseen, readFirst)
	case r.op != syntax.RdrIn:
		runsText(a, c.Name(), text, append(slices.Clone(c.Via), c.Name()))
	}
}
