package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"
)

type textRunner struct {
	name string // one or more
	flag string // the text is the value of one of these flags; "" means every word with a space
	not  string // subcommands that run nothing: their words are formats
	// words means that the command to run may also follow as separate words.
	words bool
}

// textRunners lists programs that pass the text in one of their words to a shell.
var textRunners = []textRunner{
	{name: "watch trap alias entr hyperfine wsl adb osascript parallel expect"},
	{name: "xterm screen", words: true},
	{name: "tmux", words: true, not: "ls list-sessions list-windows list-panes list-clients list-keys show show-options display display-message has-session capture-pane"},
	{name: "env", flag: "-S --split-string"},
	{name: "script flock runuser", flag: "-c --command"},
	{name: "sg vagrant", flag: "-c"},
	{name: "vim vi nvim", flag: "-c +"},
	{name: "gdb", flag: "-ex --eval-command"},
	{name: "git", flag: "-c -x --exec -O --open-files-in-pager --tree-filter --index-filter --msg-filter --env-filter foreach --upload-pack --receive-pack"},
	{name: "tar", flag: "--to-command --checkpoint-action --use-compress-program -I"},
	{name: "rsync", flag: "-e --rsh"},
	{name: "zip", flag: "-TT --unzip-command"},
	{name: "ssh", flag: "-o"},
	{name: "scp", flag: "-o -S"},
	{name: "man", flag: "-P --pager"},
	{name: "nix-shell", flag: "--run --command"},
	{name: "npm npx", flag: "-c --call"},
}

// value returns the text in word that the program runs, such as the value of the row's flag. before is the previous
// word. ok is false if word holds no such text.
func (r textRunner) value(word, before string) (text string, ok bool) {
	if r.flag == "" {
		return word, true
	}
	name, after, attached := strings.Cut(word, "=")
	for flag := range strings.FieldsSeq(r.flag) {
		letters := strings.TrimPrefix(before, "-")
		cluster := len(flag) == 2 && flag[0] == '-' && len(letters) < len(before) && !strings.HasPrefix(letters, "-") && strings.HasSuffix(letters, flag[1:])
		switch {
		case attached && name == flag:
			return after, true
		case before == flag || cluster:
			return word, true
		case len(flag) <= 2 && strings.HasPrefix(word, flag) && flag[0] != 'f':
			return word[len(flag):], true
		}
	}
	return "", false
}

// runsTexts analyses the words that a program passes to a shell, and checks the code in words of an interpreter for
// harm.
func runsTexts(a *analyser, name string, words []arg) {
	if slices.Contains(interpreters, name) && !slices.Contains(shells, name) || strings.HasSuffix(name, "awk") {
		for _, w := range words[1:] {
			if text, ok := w.lit(); ok && len(text) > 5 {
				a.rep.harm(programHarm(a, text), "")
			}
		}
		return
	}
	carriesHarm(a, name, words)
	for _, r := range textRunners {
		if slices.Contains(strings.Fields(r.name), name) && !given(words, r.not) {
			r.run(a, name, words)
		}
	}
}

// run analyses the words of a program that the row lists: texts for a shell, and a command as separate words.
func (r textRunner) run(a *analyser, name string, words []arg) {
	if r.words && len(words) > 2 {
		a.guess(words[2:], []string{name}, false)
	}
	for i, w := range words[1:] {
		text, ok := w.lit()
		if !ok || !strings.ContainsAny(text, " \n") {
			continue
		}
		before, _ := words[i].lit()
		if text, ok = r.value(text, before); ok {
			runsText(a, "sh", unwrapped(text), []string{name})
		}
	}
}

// carriesHarm records the harm of a command that a program such as env runs, or of a container that deletes a mounted
// folder.
func carriesHarm(a *analyser, name string, words []arg) {
	p := programOfName(name)
	switch {
	case p.carries == "":
	case p.name == "docker":
		a.rep.harm(mounted(&a.folders, words), "")
	case p.name != "kubectl" && given(words, strings.ReplaceAll(p.carries, "*", "")) || p.carries == "*":
		if b := fork(a); b != nil {
			b.guess(words[1:], []string{name}, false)
			a.rep.harm(b.rep.Harm, b.rep.Safer)
		}
	}
}

// mounted returns the harm of a container that deletes files in a mounted vital folder, or "".
func mounted(d *folders, words []arg) string {
	text := strings.Fields(strings.NewReplacer(`"`, " ", `'`, " ", ";", " ").Replace(joined(words)))
	deletes := slices.ContainsFunc(text, func(s string) bool { return s == "dd" || slices.Contains(destroyers, path.Base(s)) })
	for i, w := range words[1:] {
		before, _ := words[i].lit()
		s := w.vals[0].text
		if v, ok := strings.CutPrefix(s, "--volume="); ok {
			before, s = "-v", v
		}
		from, to, ok := strings.Cut(s, ":")
		to, _, _ = strings.Cut(to, ":")
		if before != "-v" && before != "--volume" || !ok || !deletes || !d.isVital(literalArg(from)) {
			continue
		}
		if slices.ContainsFunc(text, func(s string) bool { return strings.TrimRight(s, "/*.") == strings.TrimRight(to, "/") }) {
			return "the container deletes the files in " + texts.ClipBytes(from, 60)
		}
	}
	return ""
}

func joined(words []arg) string { return texts.Join(words, " ", func(w arg) string { return w.src }) }

// runsNames matches variables whose values programs run.
var runsNames = texts.Regexp(`(PAGER|EDITOR|VISUAL|COMMAND|BROWSER|_SSH|_PROXY_COMMAND|SHELLOPTS|BASH_ENV)$`)

// runsAssigned checks the value of a variable for harm, if programs run that variable's value.
func runsAssigned(a *analyser, name string, value arg) {
	text, ok := value.lit()
	if !ok || !strings.Contains(text, " ") || !runsNames().MatchString(name) {
		return
	}
	if b := fork(a); b != nil {
		b.program(text)
		a.rep.harm(b.rep.Harm, b.rep.Safer)
	}
}

// unwrapped returns the part of a word that a shell will run: what follows "!" (git and vim), "exec=" (tar) or the
// first "=" (alias), otherwise the whole word.
func unwrapped(text string) string {
	if _, after, ok := strings.Cut(text, "!"); ok {
		return after
	}
	if after, ok := strings.CutPrefix(text, "exec="); ok {
		return after
	}
	text = strings.NewReplacer("{}", "", "spawn ", "").Replace(text) // parallel, expect
	if name, after, ok := strings.Cut(text, "="); ok && syntax.ValidName(strings.NewReplacer("-", "_", ".", "_").Replace(name)) {
		return after
	}
	return text
}

// runsText analyses a text that the program reader runs. If reader is a shell, every command in the text is judged, and
// rules apply to it; for other interpreters the text is only checked for harm.
func runsText(a *analyser, reader, text string, via []string) {
	if slices.Contains(shells, reader) || slices.Contains([]string{"source", ".", "at", "batch", "ssh"}, reader) {
		a.nested(text, via)
		return
	}
	a.rep.harm(programHarm(a, text), "")
}

// redirected is a redirection with its file, or a here-document with its text.
type redirected struct {
	op   syntax.RedirOperator
	word arg
}

// redirections records the harm of a statement's redirections, and of the texts or downloads that the statement reads
// through them and executes.
func redirections(a *analyser, list []redirected, before int) {
	if len(list) == 0 {
		return
	}
	text, known := writtenOut(a, list, before)
	for _, c := range a.rep.Commands[min(before, len(a.rep.Commands)):] {
		if c.Name() == "tee" && known {
			for _, w := range c.Argv[1:] {
				a.folders.written[path.Base(w.Text)] += text + "\n"
			}
		}
	}
	for _, r := range list {
		switch r.op {
		case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			readsText(a, r, before)
		case syntax.DplIn, syntax.DplOut:
		default:
			writesFile(a, r, before)
			if s, ok := r.word.lit(); ok && known {
				a.folders.written[path.Base(s)] += text + "\n"
			}
		}
	}
}

// writtenOut returns the text that a statement passes on, if it is known: a here-document, or the output of echo.
func writtenOut(a *analyser, list []redirected, before int) (text string, known bool) {
	for _, r := range list {
		if r.op == syntax.Hdoc || r.op == syntax.DashHdoc || r.op == syntax.WordHdoc {
			return r.word.vals[0].text, true
		}
	}
	return printed(a.rep.Commands[min(before, len(a.rep.Commands)):])
}

// writesFile records harm if a redirection overwrites a device or a vital file, and marks the file as a download if the
// statement downloads something.
func writesFile(a *analyser, r redirected, before int) {
	appends := r.op == syntax.AppOut || r.op == syntax.AppAll
	if why := overwritten(&a.folders, "a redirection", r.word); why != "" && (!appends || vitalFile(&a.folders, r.word) == "") {
		a.rep.harm(why, "")
	}
	if s, ok := r.word.lit(); ok && a.rep.fetched(before) {
		a.folders.download(s)
	}
}

// readsText records the harm of the input r if the statement executes it.
func readsText(a *analyser, r redirected, before int) {
	if s, _ := r.word.lit(); s == "/dev/null" && r.op == syntax.RdrIn && slices.ContainsFunc(a.rep.Commands[min(before, len(a.rep.Commands)):], func(c Command) bool { return c.String() == "crontab -" }) {
		a.rep.harm("crontab replaces all of the user's scheduled jobs with none", doItByHand)
	}
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
