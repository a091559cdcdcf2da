package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"

	"buddy/texts/secretvariable"
)

// variable holds all assignments to a variable in a script.
type variable struct {
	times   int  // assignments in the text
	numbers bool // all of them are numbers
	fetched bool // one of them is the output of a download
	vals    []val
}

// scope tracks the variables of a script: all assignments in its text, and those that were certainly made before the
// current position.
type scope struct {
	vars map[string]*variable
	sure map[string]bool // variables assigned on every path to here
}

// survey counts the nodes below n that the walk must visit, and records the assignments in them.
func (s *scope) survey(n syntax.Node) int {
	switch n := n.(type) {
	case *syntax.CmdSubst, *syntax.ProcSubst:
		return 1
	case *syntax.CallExpr:
		for _, as := range n.Assigns {
			s.assigned(as)
		}
		if len(n.Args) > 0 && n.Args[0].Lit() != "echo" {
			for _, w := range n.Args[1:] { // read x, getopts o x, printf -vx, …
				s.poison(strings.TrimPrefix(w.Lit(), "-v"))
			}
		}
		return 1
	case *syntax.DeclClause:
		for _, as := range n.Args {
			s.assigned(as)
		}
	case *syntax.WordIter:
		s.note(n.Name.Value, false)
	case *syntax.ParamExp:
		if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			s.poison(n.Param.Value)
		}
	}
	return 0
}

func (s *scope) note(name string, number bool) *variable {
	v := s.vars[name]
	if v == nil {
		v = &variable{numbers: true}
		s.vars[name] = v
	}
	v.times++
	v.numbers = v.numbers && number
	return v
}

// poison records that a variable may have any value.
func (s *scope) poison(name string) {
	if syntax.ValidName(name) {
		s.note(name, false).times++
	}
}

func (s *scope) assigned(as *syntax.Assign) {
	if as.Name == nil || as.Naked {
		return
	}
	v := s.note(as.Name.Value, number(as.Value) && !as.Append && as.Array == nil && as.Index == nil)
	if as.Append || as.Index != nil || as.Array != nil {
		v.times++
	}
}

// number reports whether the source of w is digits or arithmetic.
func number(w *syntax.Word) bool {
	if w == nil || len(w.Parts) != 1 {
		return false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		return digits(p.Value)
	case *syntax.ArithmExp:
		return true
	case *syntax.ParamExp:
		return p.Length || p.Short && p.Param != nil && (p.Param.Value == "#" || p.Param.Value == "?")
	}
	return false
}

// assign visits an assignment, alone or before a command.
func (a *analyser) assign(as *syntax.Assign, exported bool) {
	if as.Name == nil {
		a.rep.other("the command contains a variable assignment that buddy can't analyze")
		return
	}
	name := as.Name.Value
	a.folders.adrift = a.folders.adrift || redirectsGit(name)
	if as.Index != nil {
		a.words(as.Index)
	}
	value := literalArg("")
	if as.Value != nil {
		value = a.word(as.Value)
	}
	if as.Array != nil {
		a.words(as.Array)
	}
	if why := assignable(name, value, exported); why != "" {
		a.rep.other(why)
	}
	runsAssigned(a, name, value)
	if exported {
		a.rep.Files = append(a.rep.Files, value.public())
	}
	if v := a.scope.vars[name]; v != nil && !exported {
		v.fetched = v.fetched || value.fetches
		v.vals = value.vals
		a.scope.sure[name] = true
	}
}

// harmlessEnv lists variables that may be set for a command, because none of them names a program or a file. It maps
// each to the characters that its value may contain besides letters and digits.
var harmlessEnv = map[string]string{
	"LANG": "_.@-", "LANGUAGE": "_.@-:", "LC_ALL": "_.@-", "LC_CTYPE": "_.@-", "LC_COLLATE": "_.@-", "LC_TIME": "_.@-",
	"LC_NUMERIC": "_.@-", "LC_MESSAGES": "_.@-", "TZ": "/_+-", "NO_COLOR": "", "CLICOLOR": "", "CLICOLOR_FORCE": "",
	"FORCE_COLOR": "", "COLUMNS": "", "LINES": "", "TERM": "-", "GOOS": "", "GOARCH": "", "GOARM": "", "CGO_ENABLED": "",
	"GIT_OPTIONAL_LOCKS": "", "GIT_TERMINAL_PROMPT": "", "NODE_ENV": "", "RUST_BACKTRACE": "", "BLOCKSIZE": "",
	"BLOCK_SIZE": "", "TIMEFORMAT": "%", "GIT_PAGER": "", "PAGER": "", "SYSTEMD_PAGER": "",
	"MANPAGER": "", "GH_PAGER": "", "AWS_PAGER": "",
}

// steering holds prefixes and suffixes of names of variables that change what programs do.
var (
	steering     = strings.Fields("PATH LD_ DYLD_ BASH ENV IFS CDPATH GLOBIGNORE GIT_ SHELL PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND HOME TMPDIR XDG_ PYTHON PERL RUBY NODE_ GO CARGO RUST JAVA LESS JQ_ RIPGREP_ GREP_ AWK POSIXLY TAR_ npm_ DOCKER_ KUBE TMUX SSH_ CC CXX CFLAGS MAKE HIST MANPATH FZF_ BAT_ FD_ TERMINFO LOCPATH NLSPATH HOSTALIASES RES_OPTIONS")
	steeringEnds = strings.Fields("PAGER EDITOR VISUAL BROWSER COMMAND _OPTS _OPTIONS _FLAGS _WRAPPER _proxy _PROXY _CONFIG _CONFIG_PATH _HOME")
)

// assignable returns why a variable may not be assigned, or "".
func assignable(name string, value arg, exported bool) string {
	if more, ok := harmlessEnv[name]; ok {
		s, known := value.lit()
		pager := strings.HasSuffix(name, "PAGER")
		if known && plain(s, more) && (!pager || s == "" || s == "cat") {
			return ""
		}
		return "a value for " + name + " that may change what commands do"
	}
	if exported {
		return "the variable " + texts.ClipBytes(name, 40) + " may change what the command does"
	}
	if slices.ContainsFunc(steering, func(w string) bool { return strings.HasPrefix(name, w) }) || slices.ContainsFunc(steeringEnds, func(w string) bool { return strings.HasSuffix(name, w) }) {
		return "the variable " + texts.ClipBytes(name, 40) + " may change what commands do"
	}
	return ""
}

// param appends the result of a parameter expansion.
func (b *builder) param(p *syntax.ParamExp, quoted bool) {
	b.a.words(p)
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	simple := isSimple(p)
	v := b.a.scope.vars[name]
	b.arg.fetches = b.arg.fetches || v != nil && v.fetched
	switch {
	case p.Length || simple && slices.Contains([]string{"#", "?", "$", "!"}, name):
		b.text("1") // some number
		return
	case simple && b.known(name, quoted):
		return
	}
	b.arg.split = b.arg.split || !quoted || name == "@" || name == "*"
	if own := v != nil || positional(name); !own && secretvariable.Find(name) != "" {
		b.a.rep.other("the variable " + texts.ClipBytes(name, 40) + " may hold a secret")
	}
	b.computed(val{kind: dynamic})
}

// isSimple reports whether an expansion is just the value of a variable.
func isSimple(p *syntax.ParamExp) bool {
	return !p.Excl && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

func positional(name string) bool {
	return name == "@" || name == "*" || name == "-" || digits(name)
}

// known appends the value of a variable, if the script itself assigned it, and reports whether it did.
func (b *builder) known(name string, quoted bool) bool {
	v := b.a.scope.vars[name]
	switch {
	case v == nil:
		return b.folder(name)
	case !b.a.scope.sure[name]:
		return false
	case v.numbers:
		b.text("1")
		return true
	case v.times != 1 || len(v.vals) == 0 || !quoted && slices.ContainsFunc(v.vals, breaks):
		return false
	}
	b.arg.split = b.arg.split || !quoted && slices.ContainsFunc(v.vals, func(x val) bool { return x.kind != literal })
	b.alternatives(v.vals)
	return true
}

// breaks reports whether an unquoted value becomes no word or several words.
func breaks(v val) bool {
	return v.text == "" && v.kind == literal || v.kind == literal && strings.ContainsAny(v.text, " \t\n*?[\\")
}

// folder appends the value of HOME or PWD, if it is known, and reports whether it did.
func (b *builder) folder(name string) bool {
	switch env := b.a.folders.env; {
	case name == "HOME" && env.Home != "":
		b.text(env.Home)
	case name == "PWD" && len(b.a.folders.cwds) == 1 && b.a.folders.cwds[0] == env.Cwd && env.Cwd != "":
		b.text(env.Cwd)
	default:
		return false
	}
	return true
}

func (b *builder) substitution(p *syntax.CmdSubst, quoted bool) {
	a := b.a
	a.visited++
	b.arg.split = b.arg.split || !quoted
	before := len(a.rep.Commands)
	a.folders.within(func() { a.scope.maybe(func() { a.body(p.Stmts, false) }) })
	b.arg.fetches = b.arg.fetches || a.rep.fetched(before)
	b.computed(val{kind: dynamic})
}

func (b *builder) process(p *syntax.ProcSubst) {
	a := b.a
	a.visited++
	before := len(a.rep.Commands)
	a.folders.within(func() { a.scope.maybe(func() { a.body(p.Stmts, false) }) })
	if p.Op != syntax.CmdIn {
		a.rep.other("it writes to a process substitution")
	}
	b.arg.fetches = b.arg.fetches || a.rep.fetched(before)
	b.text("/dev/fd/63")
}

// maybe runs f for code that may be skipped: afterwards, variables that the code assigns have uncertain values.
func (s *scope) maybe(f func()) {
	before := make(map[string]bool, len(s.sure))
	for k := range s.sure {
		before[k] = true
	}
	f()
	s.sure = before
}
