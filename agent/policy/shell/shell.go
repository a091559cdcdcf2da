// Package shell analyses what a shell command would do, without running it. It parses the command, which may be a whole
// script, as bash, and visits every program call in it, even inside wrappers such as sudo. It reports whether all of
// them only read or, if not, which one does more and why.
//
//	r := shell.Analyse("git log | tee log.txt", shell.Env{Cwd: "/w", Secret: secretIn})
//	r.ReadOnly // false
//	r.Reason   // `tee writes files`
//
// A command is read-only if all its programs are on a list of programs that only inspect, and no redirection or flag
// obviously writes. Such a command may run without approval only in the read-only sandbox, where the kernel prevents
// changes and hides files with secrets. Without the sandbox, only commands of the literal core run without approval:
// programs and flags in a reviewed table. The analysis opens no file and starts no process.
package shell

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"
)

// Limits of the analysis. Larger programs need approval.
const (
	maxText     = 16 << 10 // bytes of a program
	maxWords    = 1500     // spaces, approximately
	maxNesting  = 100      // opening brackets, quotes and reserved words
	maxDepth    = 8        // nested programs: sh -c, substitutions
	maxCommands = 400      // simple commands
	maxJudged   = 2000     // simple commands, counted again each time a nested program runs
	maxValues   = 64       // possible values of a word: loops, braces
)

// Env describes the context in which a script runs. In the zero value, everything is unknown.
type Env struct {
	Cwd  string // where the program starts, absolute; "" is unknown
	Home string // of the user, absolute; "" is unknown
	// Secret returns the part of the path that suggests secrets, or "". If glob is true, path is a pattern, and Secret
	// considers every file that it could match. A nil function recognizes no secrets.
	Secret func(path string, glob bool) string
	// Border returns why reading the file at a path needs approval, or "". The path is absolute unless the current
	// folder is unknown, and its links are resolved if possible. A nil function never requires approval.
	Border func(path string) string
	// Resolve follows the symbolic links of an absolute path, whose last names need not exist. .. in it means the
	// parent of what the name before it links to. A nil function follows no links.
	Resolve func(path string) string
	// Match returns the files in a folder that match a pattern now, as absolute paths. ok is false if there are too
	// many files. A nil function means that folders can't be read.
	Match func(dir, pattern string) (found []string, ok bool)
	// Holds returns the name of a file in or below a folder that may hold secrets, or "". ok is false if there are too
	// many files. A nil function means that folders can't be read.
	Holds func(dir string) (name string, ok bool)
	// GitKeeps returns the git settings file that contains a password and applies to the repository around a folder, or
	// "". The sandbox can't hide that file, because git reads it. A nil function means that folders can't be read.
	GitKeeps func(dir string) string
}

// Effect classifies what a command does, judged by its name and arguments.
type Effect string

// The effects, from the least to the most harmful.
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
	Text    string `json:"text"`              // its value, or its source if computed
	Dynamic bool   `json:"dynamic,omitempty"` // the value is known only at run time
	Pattern bool   `json:"pattern,omitempty"` // a glob, which the shell replaces by matching names
	Odd     bool   `json:"odd,omitempty"`     // shells read it differently (braces, $'…'), or it has several values
}

// Command is one simple command of a script, without its wrappers.
type Command struct {
	Argv     []Arg    `json:"argv"`
	Via      []string `json:"via,omitempty"` // its wrappers, outermost first: sudo, xargs, sh -c
	ReadOnly bool     `json:"read_only"`
	Effect   Effect   `json:"effect"`
	Kind     Kind     `json:"kind,omitempty"`
	Reason   string   `json:"reason"` // one line: why it is or is not read-only
	// Git describes the effect of a git command on history and uncommitted work; nil if none.
	Git *GitAct `json:"git,omitempty"`
	// Dirs lists the folders in which the command may start; "" is an unknown one.
	Dirs []string `json:"-"`

	does   string // of its kind: what it does
	spec   string // name of the read-only row
	beyond string // why it is not in the literal core, whatever its words
}

// String returns the command as typed, without quotes.
func (c Command) String() string {
	return texts.Join(c.Argv, " ", func(a Arg) string { return a.Text })
}

// NotKnown describes a command that no table lists, as the result of Does.
const NotKnown = "is not known to be read-only"

// Does returns c.Reason without the command's name, such as "deletes files", or "" if Reason does not start with the
// name.
func (c Command) Does() string {
	if c.Git != nil {
		return c.Git.Does
	}
	if c.does != "" {
		return c.does
	}
	does, ok := strings.CutPrefix(c.Reason, c.Name()+" ")
	if !ok {
		return ""
	}
	for _, w := range c.Argv[1:] {
		if _, known := effects[c.Name()+" "+w.Text]; known {
			return strings.TrimPrefix(does, w.Text+" ")
		}
	}
	return does
}

// Name returns the program's name without a system folder, or "" if it is computed.
func (c Command) Name() string {
	if len(c.Argv) == 0 || c.Argv[0].Dynamic {
		return ""
	}
	return baseName(c.Argv[0].Text)
}

// Report describes what a script would do.
type Report struct {
	ReadOnly bool      `json:"read_only"`
	Reason   string    `json:"reason"` // one line, naming the deciding part
	Commands []Command `json:"commands"`
	// Other lists parts that are not read-only and are not commands: redirections, assignments, background jobs, text
	// that can't be judged. Rules for commands do not cover them.
	Other []string `json:"other,omitempty"`
	// Files lists the files of redirections and the values of variables that are set for commands, so that rules about
	// paths and hosts can match them.
	Files []Arg `json:"files,omitempty"`
	// Folders lists the folders in which parts of the script may run, as far as they are known.
	Folders []string `json:"-"`
	// Dynamic means that a part of the script is known only at run time.
	Dynamic bool `json:"dynamic,omitempty"`
	// Unread means that a part of the script was not analysed, so the report is incomplete.
	Unread bool `json:"unread,omitempty"`
	// Beyond says why a read-only script is not in the literal core, whose commands are written out and harmless
	// without a sandbox; "" if it is.
	Beyond string `json:"beyond,omitempty"`
	// Talks names a service that the script uses and that the sandbox would cut off; otherwise "".
	Talks string `json:"talks,omitempty"`
	// Harm describes destruction that is never sensible; otherwise "".
	Harm string `json:"harm,omitempty"`
	// Safer describes an alternative to a command that does harm, if there is one.
	Safer string `json:"safer,omitempty"`
}

// Analyse returns what the script text would do in env. It never fails: a part that it can't understand counts as not
// read-only, with a reason.
func Analyse(text string, env Env) (r Report) {
	defer func() {
		if recover() != nil { // a bug in the parser must not end buddy
			r = Report{Reason: "buddy can't check the command", Unread: true}
		}
	}()
	a := newAnalyser(env)
	a.program(text)
	a.rep.Folders = union(a.rep.Folders, a.folders.visited)
	r = a.rep.finish()
	for _, c := range r.Commands {
		r.Talks = cmp.Or(r.Talks, Talks(c))
	}
	if !r.ReadOnly {
		return r
	}
	r.Beyond = core(text)
	for _, c := range r.Commands {
		r.Beyond = cmp.Or(r.Beyond, c.beyond)
	}
	if why := gitKept(env, r); why != "" {
		r.ReadOnly, r.Reason, r.Beyond = false, why, ""
		r.Other = append(r.Other, why)
	}
	return r
}

// gitKept returns why a read-only program needs approval if git's settings contain a password, or "". The sandbox can't
// hide the settings, because git reads them. Git itself, and commands of the literal core other than a recursive grep,
// still need no approval.
func gitKept(env Env, r Report) string {
	if env.GitKeeps == nil || env.Cwd == "" {
		return ""
	}
	for _, c := range r.Commands {
		deep := c.Name() == "grep" && given(whole(c), "-r -R --recursive")
		if c.Name() == "git" || c.InCore() && !deep {
			continue
		}
		if file := env.GitKeeps(env.Cwd); file != "" {
			return c.Name() + " may read " + texts.ClipBytes(file, 80) + ", which contains a password"
		}
		break
	}
	return ""
}

// analyser walks one script: it evaluates the words, judges the commands and collects the findings in a report.
type analyser struct {
	rep     *Report
	folders folders
	scope   scope
	depth   int
	visited int  // calls and substitutions visited, compared with the number in the tree
	judged  *int // judged commands, including those of nested programs
}

func newAnalyser(env Env) *analyser {
	return &analyser{
		rep: &Report{}, judged: new(int), folders: folders{env: env, cwds: []string{env.Cwd}, at: env.Cwd, visited: []string{env.Cwd}, downloads: make(map[string]bool), written: make(map[string]string)},
		scope: scope{vars: make(map[string]*variable), sure: make(map[string]bool)},
	}
}

// nested analyses text that another shell would run, and adds the findings to the same report.
func (a *analyser) nested(text string, via []string) {
	b := fork(a)
	if b == nil {
		a.rep.other("programs are nested too deeply to check")
		return
	}
	b.program(text)
	if slices.Contains(via, "eval") {
		a.folders.at = b.folders.at
	}
	for _, c := range b.rep.Commands {
		c.Via = append(append([]string(nil), via...), c.Via...)
		a.rep.Commands = append(a.rep.Commands, c)
	}
	a.rep.Other = append(a.rep.Other, b.rep.Other...)
	a.rep.Files = append(a.rep.Files, b.rep.Files...)
	a.folders.visited = union(a.folders.visited, b.folders.visited)
	a.rep.Dynamic = a.rep.Dynamic || b.rep.Dynamic
	a.rep.Unread = a.rep.Unread || b.rep.Unread
	if b.rep.Harm != "" {
		a.rep.harm(b.rep.Harm, b.rep.Safer)
	}
}

func (a *analyser) program(text string) {
	if why := tooMuch(text); why != "" {
		a.rep.unread(why)
		return
	}
	if why := unreadable(text); why != "" {
		a.rep.other(why)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	file, err := parse(text)
	if err != nil {
		a.rep.unread("the command has a syntax error: " + parseError(err))
	}
	want := 0
	for node := range syntax.Preorder(file) {
		want += a.scope.survey(node)
	}
	a.body(file.Stmts, false)
	if a.visited < want { // the walk missed a part of the tree
		a.rep.unread("buddy can't check a part of the command")
	}
}

// parse parses a script. On an error it also returns the statements before the error, because a shell runs them first.
func parse(text string) (*syntax.File, error) {
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	file, err := parser.Parse(strings.NewReader(text), "")
	if err == nil {
		return file, nil
	}
	file = &syntax.File{}
	for stmt, broken := range parser.StmtsSeq(strings.NewReader(text)) {
		if broken != nil {
			break
		}
		file.Stmts = append(file.Stmts, stmt)
	}
	return file, err
}

// parseError returns a parser's message in one line, without the position.
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

func (r *Report) finish() Report {
	switch {
	case r.Harm != "":
		r.Reason = r.Harm
	case len(r.Commands) > maxCommands:
		r.Reason = "too many commands to check"
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
		r.Reason = "it runs no command"
	case 1:
		r.Reason = r.Commands[0].Reason
	default:
		r.Reason = "every command in it is read-only"
	}
	return *r
}

func whole(c Command) []arg { return append([]arg{literalArg(c.Name())}, arguments(c)...) }

// Outside returns the report for a run outside the read-only sandbox. There a program such as awk does not count as
// read-only, because its arguments can make it write files or run programs.
func (r Report) Outside() Report {
	r.Commands = slices.Clone(r.Commands)
	for i := range r.Commands {
		c := &r.Commands[i]
		if !c.ReadOnly || c.InCore() || talkers[c.Name()] != "" {
			continue
		}
		if e := effectOf(c.Name(), whole(*c)); e.effect != Unknown {
			c.ReadOnly, c.Effect, c.Reason = false, e.effect, e.reason
			if r.ReadOnly {
				r.ReadOnly, r.Reason = false, e.reason
			}
		}
	}
	return r
}

// other records a finding that makes the script not read-only and that is not a command.
func (r *Report) other(why string) {
	if len(r.Other) < 50 {
		r.Other = append(r.Other, why)
	}
}

// unread records that a part of the script was not analysed, and why.
func (r *Report) unread(why string) {
	r.Unread = true
	r.other(why)
}

// harm records harm. Of several findings, the first one counts.
func (r *Report) harm(what, safer string) {
	if r.Harm == "" && what != "" {
		r.Harm, r.Safer = what, safer
	}
}
