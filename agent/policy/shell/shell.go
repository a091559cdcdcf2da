// Package shell tells what a shell program would do, without running any of it. It parses
// the text as bash, visits every command in it, whatever is wrapped around, and answers
// whether all of them only read; if not, which one decided and why.
//
//	r := shell.Analyse("git log | tee log.txt", shell.Env{Cwd: "/w", Secret: policy.Secret})
//	r.ReadOnly // false
//	r.Reason   // `tee writes files`
//
// Nothing is allowed because it looks harmless: a command is read-only when the table in
// this package lists it with every flag that it has here. Whatever is computed when the
// program runs, cannot be parsed, or means something else to another shell is no longer
// read-only. The analysis opens no file and starts no process.
package shell

import (
	"cmp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"
)

// The limits of what is looked at. More than that is for a person to read.
const (
	maxText     = 16 << 10 // bytes of a program
	maxWords    = 1500     // blanks, more or less
	maxNesting  = 100      // opening brackets, quotes and reserved words
	maxDepth    = 8        // programs in programs: sh -c, substitutions
	maxCommands = 400      // simple commands
	maxValues   = 64       // alternatives of a word: loops, braces
)

// Env is what the meaning of a program depends on. The zero value knows nothing.
type Env struct {
	Cwd  string // where the program starts, absolute; "" is unknown
	Home string // of the user, absolute; "" is unknown
	// Secret names the part of a path that looks like it holds secrets, or "". With glob,
	// path is a pattern and the question is what it could match. nil knows no secrets.
	Secret func(path string, glob bool) string
	// Border says why the file at a path is not to be looked at without asking, or "". The path
	// is absolute unless the folder is not known, and its links are followed if that can be
	// done. nil has no border.
	Border func(path string) string
	// Resolve follows the symbolic links of an absolute path, of which the end need not exist.
	// It gets .. as it was written, which leads to where the link before it points. nil follows
	// none.
	Resolve func(path string) string
	// Match returns what needs a second look of what a pattern matches in a folder: symbolic
	// links, and names that begin with a dash there. It is false if it would have to look at too
	// much. nil: nobody can look.
	Match func(dir, pattern string) (odd []string, ok bool)
}

// Effect is what a command does, as far as its name and its arguments tell.
type Effect string

// The effects, from least to most.
const (
	Reads      Effect = "reads"
	Unknown    Effect = "unknown"
	Writes     Effect = "writes"
	Network    Effect = "network"
	RunsCode   Effect = "runs code"
	Deletes    Effect = "deletes"
	Remote     Effect = "remote"
	Privileged Effect = "privileged"
)

// Arg is one word of a command.
type Arg struct {
	Text    string `json:"text"`              // its value, or its source if that is computed
	Dynamic bool   `json:"dynamic,omitempty"` // the value is known only when the program runs
}

// Command is one simple command of a program, without what wraps it.
type Command struct {
	Argv     []Arg    `json:"argv"`
	Via      []string `json:"via,omitempty"` // what runs it, outermost first: sudo, xargs, sh -c
	ReadOnly bool     `json:"read_only"`
	Effect   Effect   `json:"effect"`
	Reason   string   `json:"reason"` // one line: why it is or is not read-only
	// Git is what a command of git does to history and to work that is not committed; nil for
	// what does neither.
	Git *GitAct `json:"git,omitempty"`
}

// String is the command as a person would type it, without quotes.
func (c Command) String() string {
	return texts.Join(c.Argv, " ", func(a Arg) string { return a.Text })
}

// Name is the first word without the folder of the system in which it is, or "" if it is
// computed.
func (c Command) Name() string {
	if len(c.Argv) == 0 || c.Argv[0].Dynamic {
		return ""
	}
	return baseName(c.Argv[0].Text)
}

// Report is what a program would do.
type Report struct {
	ReadOnly bool      `json:"read_only"`
	Reason   string    `json:"reason"` // one line, naming what decided
	Commands []Command `json:"commands"`
	// Other lists what is not read-only beside the commands: redirections, assignments,
	// background, text that cannot be judged. A rule for a command does not cover it.
	Other []string `json:"other,omitempty"`
	// Dynamic says that something in the program is known only when it runs.
	Dynamic bool `json:"dynamic,omitempty"`
	// Beyond says why a program that only reads is not in the literal core, in which every
	// word is written out and which needs no kernel to be harmless; "" when it is in it.
	Beyond string `json:"beyond,omitempty"`
	// Talks names a service that the program asks, which it can't in a sandbox; else "".
	Talks string `json:"talks,omitempty"`
	// Harm says what the program would destroy, if that has no sane use; else "".
	Harm string `json:"harm,omitempty"`
	// Safer is what to do instead of the harm, if there is something.
	Safer string `json:"safer,omitempty"`
}

// Analyse says what the program text would do in env. It never fails: what cannot be
// understood is not read-only, and the reason says why.
func Analyse(text string, env Env) (r Report) {
	defer func() {
		if recover() != nil { // in the parser, for a text that nobody thought of: not a reason to end
			r = Report{Reason: "the command could not be judged"}
		}
	}()
	a := newAnalyser(env)
	a.program(text)
	r = a.rep.finish()
	for _, c := range r.Commands {
		r.Talks = cmp.Or(r.Talks, talks(c))
	}
	if r.ReadOnly {
		r.Beyond = core(text)
	}
	return r
}

// analyser walks one program: it evaluates its words, judges its commands and collects what
// they do in a report.
type analyser struct {
	rep     *Report
	folders folders
	scope   scope
	depth   int
	visited int // calls and substitutions seen, against what the tree holds
}

func newAnalyser(env Env) *analyser {
	return &analyser{
		rep: &Report{}, folders: folders{env: env, cwds: []string{env.Cwd}},
		scope: scope{vars: make(map[string]*variable), sure: make(map[string]bool)},
	}
}

// nested analyses text that another shell would run, with the same findings.
func (a *analyser) nested(text string, via []string) {
	if a.depth >= maxDepth {
		a.rep.other("programs are nested too deeply to judge")
		return
	}
	b := newAnalyser(a.folders.env)
	b.depth, b.folders.cwds, b.folders.adrift = a.depth+1, a.folders.cwds, a.folders.adrift
	b.program(text)
	for _, c := range b.rep.Commands {
		c.Via = append(append([]string(nil), via...), c.Via...)
		a.rep.Commands = append(a.rep.Commands, c)
	}
	a.rep.Other = append(a.rep.Other, b.rep.Other...)
	a.rep.Dynamic = a.rep.Dynamic || b.rep.Dynamic
	if b.rep.Harm != "" {
		a.rep.harm(b.rep.Harm, b.rep.Safer)
	}
}

func (a *analyser) program(text string) {
	if why := unreadable(text); why != "" {
		a.rep.other(why)
		return
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		a.rep.other("the command does not parse: " + parseError(err))
		return
	}
	want := 0
	for node := range syntax.Preorder(file) {
		want += a.scope.survey(node)
	}
	a.stmts(file.Stmts)
	if a.visited < want { // a part of the tree that the walk does not know
		a.rep.other("a part of the command could not be judged")
	}
}

// parseError is what a parser says, without the position, in one line.
func parseError(err error) string {
	s := err.Error()
	if _, msg, ok := strings.Cut(s, ": "); ok {
		s = msg
	}
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	return strings.ToValidUTF8(texts.ClipBytes(s, 120), "?")
}

// finish makes the verdict of what was found.
func (r *Report) finish() Report {
	switch {
	case r.Harm != "":
		r.Reason = r.Harm
	case len(r.Commands) > maxCommands:
		r.Reason = "more commands than can be judged"
	default:
		for _, c := range r.Commands {
			if !c.ReadOnly {
				r.Reason = c.Reason
				break
			}
		}
		if r.Reason == "" && len(r.Other) > 0 {
			r.Reason = r.Other[0]
		}
	}
	if r.Reason != "" {
		return *r
	}
	r.ReadOnly = true
	switch len(r.Commands) {
	case 0:
		r.Reason = "nothing in it runs a command"
	case 1:
		r.Reason = r.Commands[0].Reason
	default:
		r.Reason = "every command in it only reads"
	}
	return *r
}

// other notes something beside the commands that is not read-only.
func (r *Report) other(why string) {
	if len(r.Other) < 50 {
		r.Other = append(r.Other, why)
	}
}

// harm notes what nobody wants; the first finding stays.
func (r *Report) harm(what, safer string) {
	if r.Harm == "" {
		r.Harm, r.Safer = what, safer
	}
}
