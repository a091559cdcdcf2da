package workflow

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// command is a shell command with values, each at a place where it can be quoted as one word.
type command struct {
	*Template
	first []bool // by index of the part: its value must not start with -, or a program would read it as an option
}

// newCommand checks the place of each value in a command. It replaces the values by names and parses the command. Each
// name must be part of an unquoted word. numeric reports whether a value is always a number. The error explains which
// place is wrong, and at is the line of that place, counted from 0.
func newCommand(t *Template, numeric func(Ref) bool) (c *command, at int, err error) {
	c = &command{Template: t, first: make([]bool, len(t.parts))}
	p := &places{command: c, numeric: numeric, why: make(map[int]string)}
	file, err := syntax.NewParser(syntax.KeepComments(true), syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(p.marked()), "")
	if err != nil {
		if wrong, ok := errors.AsType[syntax.ParseError](err); ok {
			return nil, int(wrong.Pos.Line()) - 1, fmt.Errorf("the shell does not understand it: %s", p.unmarked(wrong.Text))
		}
		return nil, 0, errors.New("the shell does not understand it: " + p.unmarked(err.Error()))
	}
	syntax.Walk(file, p.visit)
	for i, part := range t.parts {
		if part.ref == nil {
			continue
		}
		why, found := p.why[i]
		if !found {
			why = "is in a place where the shell expects no word"
		}
		if why != "" {
			return nil, part.line, fmt.Errorf("{{ %s }} %s", part.ref, why)
		}
	}
	return c, 0, nil
}

// places walks the words of a command.
type places struct {
	*command
	numeric func(Ref) bool
	mark    string
	above   []syntax.Node  // path from the root to the current node
	why     map[int]string // by index of the part: what is wrong with its place, "" for nothing
}

// marked returns the command with a name in place of each value: the mark, the index of the part, and Z.
func (p *places) marked() string {
	var all strings.Builder
	for _, part := range p.parts {
		all.WriteString(part.text)
	}
	p.mark = "Value"
	for strings.Contains(all.String(), p.mark) {
		p.mark += "x"
	}
	all.Reset()
	for i, part := range p.parts {
		if part.ref == nil {
			all.WriteString(part.text)
		} else {
			all.WriteString(p.markOf(i))
		}
	}
	return all.String()
}

// unmarked replaces each name in s by the reference for which it stands.
func (p *places) unmarked(s string) string {
	for i, part := range p.parts {
		if part.ref != nil {
			s = strings.ReplaceAll(s, p.markOf(i), "{{ "+part.ref.String()+" }}")
		}
	}
	return s
}

// markOf returns the name for a part.
func (p *places) markOf(i int) string { return fmt.Sprintf("%s%dZ", p.mark, i) }

// in returns the parts whose marks are in a text.
func (p *places) in(s string) []int {
	var all []int
	for i, part := range p.parts {
		if part.ref != nil && strings.Contains(s, p.markOf(i)) {
			all = append(all, i)
		}
	}
	return all
}

func (p *places) visit(n syntax.Node) bool {
	if n == nil {
		p.above = p.above[:len(p.above)-1]
		return true
	}
	switch n := n.(type) {
	case *syntax.Lit:
		for _, i := range p.in(n.Value) {
			p.why[i] = p.wrong(n, i)
		}
	case *syntax.SglQuoted:
		for _, i := range p.in(n.Value) {
			p.why[i] = quoted
		}
	case *syntax.Comment:
		for _, i := range p.in(n.Text) {
			p.why[i] = "is in a comment"
		}
	}
	p.above = append(p.above, n)
	return true
}

const quoted = "is in quotes: buddy quotes the value itself, so close the quotes before it"

// wrong returns what is wrong with the place of a value in a literal, or "".
func (p *places) wrong(lit *syntax.Lit, i int) string {
	if why := p.wrongAround(); why != "" {
		return why
	}
	w, ok := p.above[len(p.above)-1].(*syntax.Word)
	if !ok {
		return "is in a place where the shell expects no word"
	}
	beside, _, _ := strings.Cut(lit.Value, p.markOf(i))
	before := p.before(w, lit) + beside
	switch slashes := beside[len(strings.TrimRight(beside, `\`)):]; {
	case len(slashes)%2 == 1:
		return "is after a backslash"
	case strings.HasPrefix(before, "-") && !strings.Contains(before, "=") && !p.numeric(*p.parts[i].ref):
		return fmt.Sprintf("is in the option %s: make it a separate word, or write --name=", p.unmarked(before))
	}
	return p.wrongWord(w, i, p.onlyMarks(before))
}

// wrongAround returns what is wrong with the nodes around the current literal, or "".
func (p *places) wrongAround() string {
	for j, n := range p.above {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			if n.Backquotes {
				return "is in backquotes: write $( ) instead"
			}
		case *syntax.Redirect:
			if n.Hdoc != nil {
				return "is in a here-document: use printf '%s\\n' and the value"
			}
		case *syntax.TestClause:
			return "is in [[ ]], which evaluates some words: use [ ]"
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
			return "is in arithmetic, which evaluates it"
		case *syntax.ParamExp:
			return "is inside a ${…} expansion: use it as a separate word"
		case *syntax.DblQuoted:
			if _, inside := p.above[min(j+1, len(p.above)-1)].(*syntax.CmdSubst); !inside {
				return quoted
			}
		}
	}
	return ""
}

// before returns the text of a word before a literal, or of the whole word for nil, as far as the text is certain.
func (p *places) before(w *syntax.Word, lit *syntax.Lit) string {
	var all strings.Builder
	add := func(part syntax.WordPart) {
		switch part := part.(type) {
		case *syntax.Lit:
			all.WriteString(part.Value)
		case *syntax.SglQuoted:
			all.WriteString(part.Value)
		}
	}
	for _, part := range w.Parts {
		if part == lit {
			break
		}
		add(part)
		if dbl, ok := part.(*syntax.DblQuoted); ok {
			for _, inner := range dbl.Parts {
				add(inner)
			}
		}
	}
	return all.String()
}

// onlyMarks reports whether a text consists only of names that stand for values.
func (p *places) onlyMarks(s string) bool {
	for _, i := range p.in(s) {
		s = strings.ReplaceAll(s, p.markOf(i), "")
	}
	return s == ""
}

// wrongWord returns what is wrong with a word that contains a value. first means that the word starts with the value.
func (p *places) wrongWord(w *syntax.Word, i int, first bool) string {
	switch n := p.above[len(p.above)-2].(type) {
	case *syntax.CallExpr:
		at := slices.Index(n.Args, w)
		if at < 0 {
			break // the value of a variable
		}
		p.first[i] = first && !slices.ContainsFunc(n.Args[:at], func(w *syntax.Word) bool { return w.Lit() == "--" })
		return p.wrongArgument(n.Args, at, i)
	case *syntax.Assign:
		decl, declared := p.above[len(p.above)-3].(*syntax.DeclClause)
		switch {
		case n.Naked || n.Value != w:
			return "is in a place where the shell expects a variable's name"
		case declared && slices.ContainsFunc(decl.Args, func(a *syntax.Assign) bool { return a.Naked && a.Name == nil }):
			return "is after " + decl.Variant.Value + " with options, which may evaluate it"
		}
	case *syntax.WordIter:
		p.first[i] = first
	case *syntax.Redirect, *syntax.CaseClause, *syntax.CaseItem, *syntax.ArrayElem:
	default:
		return "is in a place where the shell expects no word"
	}
	return ""
}

// runners lists programs that run a program which their arguments name.
var runners = map[string]bool{
	"sudo": true, "doas": true, "env": true, "nohup": true, "nice": true, "ionice": true, "time": true, "timeout": true, "setsid": true, "stdbuf": true,
	"xargs": true, "exec": true, "command": true, "builtin": true, "chroot": true, "nsenter": true, "runuser": true, "systemd-run": true, "flock": true,
	"find": true, "docker": true, "podman": true, "kubectl": true, "busybox": true, "strace": true, "unshare": true, "setpriv": true,
}

// evaluators lists programs that evaluate their arguments: as code, or as the name of a variable, which may contain
// code, as in a[$(cmd)].
var evaluators = map[string]bool{
	"eval": true, "ssh": true, "su": true, "trap": true, "watch": true, "source": true, "alias": true, "parallel": true, "script": true, "tmux": true, "screen": true,
	"unset": true, "read": true, "getopts": true, "mapfile": true, "readarray": true, "let": true, "mosh": true, "rsh": true,
}

// interpreters maps programs to the letters of the options, such as -c, whose next argument they run as a program.
var interpreters = map[string]string{
	"sh": "c", "bash": "c", "dash": "c", "zsh": "c", "ksh": "c", "ash": "c", "fish": "c",
	"python": "c", "python3": "c", "perl": "eE", "ruby": "e", "node": "ep", "php": "r", "lua": "e", "su": "c",
}

// arithmetic lists the operators of the command test whose operands some shells evaluate.
var arithmetic = []string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"}

// wrongArgument returns what is wrong with a value in an argument, or "".
func (p *places) wrongArgument(args []*syntax.Word, at, i int) string {
	names := programs(args[:at])
	if names == nil {
		return "is in the place of a program's name"
	}
	for j, name := range names {
		if evaluators[name] || j == 0 && args[0].Lit() == "." {
			return "is passed to " + name + ", which would evaluate it: a value is data"
		}
		if p.isProgram(name, args[j+1:at]) {
			return "is a program for " + name + ": pass it as an argument after the program instead"
		}
	}
	if name := path.Base(args[0].Lit()); name != "test" && name != "[" || p.numeric(*p.parts[i].ref) {
		return ""
	}
	for _, w := range args {
		if slices.Contains(arithmetic, w.Lit()) {
			return "is compared by " + w.Lit() + ", which evaluates it in some shells; only an input of type int is allowed there"
		}
	}
	return ""
}

// isProgram reports whether an interpreter may run the next word after some arguments as a program: bash -c, and bash
// -c -o pipefail --.
func (p *places) isProgram(interpreter string, before []*syntax.Word) bool {
	runs, last := false, ""
	for _, w := range before {
		word := p.before(w, nil)
		option := strings.HasPrefix(word, "-") || strings.HasPrefix(word, "+")
		switch {
		case runsText(interpreter, word):
			runs = true
		case !option && last != "-o" && last != "+o" && last != "-O" && last != "+O":
			runs = false // this word is the program, or the file with it
		}
		last = word
	}
	return runs
}

// runsText reports whether a program runs the word after an option as a program: sh -ec, perl -e.
func runsText(program, option string) bool {
	letters, ok := interpreters[program]
	return ok && len(option) > 1 && option[0] == '-' && option[1] != '-' && strings.ContainsAny(option[len(option)-1:], letters)
}

// programs returns the words before a value that may be program names, without their folders; nil if the value
// itself may be one.
func programs(args []*syntax.Word) []string {
	if len(args) == 0 {
		return nil
	}
	all := []string{path.Base(args[0].Lit())}
	if !runners[all[0]] {
		return all
	}
	named := false
	for _, w := range args[1:] {
		word := w.Lit()
		all = append(all, path.Base(word))
		named = named || !runners[path.Base(word)] && !strings.HasPrefix(word, "-") && !strings.Contains(word, "=")
	}
	if !named && !slices.Contains([]string{"find", "docker", "podman", "kubectl"}, all[0]) {
		return nil
	}
	return all
}

// render returns the command with its values as quoted words. The items of a list become lines of one word.
func (c *command) render(sc Scope) (string, error) {
	var b strings.Builder
	for i, part := range c.parts {
		if part.ref == nil {
			b.WriteString(part.text)
			continue
		}
		v := sc.written(*part.ref, "\n")
		switch {
		case strings.ContainsRune(v, 0):
			return "", fmt.Errorf("%s contains a NUL byte, which the shell can't have in a word", part.ref)
		case c.first[i] && strings.HasPrefix(v, "-"):
			return "", fmt.Errorf("%s starts with -, so the command would take it for an option", part.ref)
		}
		b.WriteString(quote(v))
	}
	return b.String(), nil
}

// quote quotes a text as one shell word.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
