package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"
)

// names describes the words that a command prints.
type names struct {
	commit bool // they are names of commits
	noDash bool // none begins with -
	word   bool // none contains blanks
	number bool // it is one number
	nul    bool // a NUL ends each, not a newline
}

// input describes what a command reads from.
type input struct {
	piped bool
	names names
}

func (a *analyser) stmts(list []*syntax.Stmt) names {
	var out names
	for _, s := range list {
		out = a.stmt(s, input{})
	}
	if len(list) != 1 {
		return names{}
	}
	return out
}

// stmt visits one statement and returns what it prints.
func (a *analyser) stmt(s *syntax.Stmt, in input) names {
	if s == nil {
		return names{}
	}
	if s.Background || s.Coprocess || s.Disown {
		a.rep.other("a part of it stays running in the background")
	}
	before := len(a.rep.Commands)
	var given []redirected
	for _, r := range s.Redirs {
		w, reads := a.redirect(r)
		in.piped = reads || in.piped
		given = append(given, redirected{r.Op, w})
		if c, ok := s.Cmd.(*syntax.CallExpr); ok && (r.Op == syntax.RdrAll || r.Op == syntax.AppAll) && c.End().After(r.Pos()) {
			a.rep.other("&> ends the command for a POSIX shell: what follows is another one")
		}
	}
	at := a.folders.at
	out := a.cmd(s.Cmd, in)
	redirections(a, given, before)
	if s.Background {
		a.folders.at = at
	}
	return out
}

func (a *analyser) cmd(c syntax.Command, in input) names {
	switch c := c.(type) {
	case nil:
	case *syntax.CallExpr:
		return a.call(c, in)
	case *syntax.BinaryCmd:
		return a.binary(c, in)
	case *syntax.Block:
		a.body(c.Stmts, in)
	case *syntax.Subshell:
		a.folders.within(func() { a.scope.maybe(func() { a.body(c.Stmts, in) }) })
	case *syntax.IfClause:
		a.scope.maybe(func() { a.ifClause(c, in) })
	case *syntax.WhileClause:
		a.scope.maybe(func() { a.whileClause(c, in) })
	case *syntax.ForClause:
		a.scope.maybe(func() { a.forClause(c, in) })
	case *syntax.CaseClause:
		a.scope.maybe(func() { a.caseClause(c, in) })
	case *syntax.TimeClause:
		return a.stmt(c.Stmt, in)
	case *syntax.TestClause:
		a.test(c.X)
	default:
		a.rare(c, in)
	}
	return names{}
}

// body visits statements that share their input.
func (a *analyser) body(list []*syntax.Stmt, in input) {
	in.names = names{}
	for _, s := range list {
		a.stmt(s, in)
	}
}

func (a *analyser) ifClause(c *syntax.IfClause, in input) {
	for ; c != nil; c = c.Else {
		a.body(c.Cond, in)
		a.scope.maybe(func() { a.body(c.Then, in) })
	}
}

func (a *analyser) whileClause(c *syntax.WhileClause, in input) {
	a.body(c.Cond, in)
	condition := ""
	if n := len(a.rep.Commands); n > 0 {
		condition = a.rep.Commands[n-1].Name()
	}
	before := len(a.rep.Commands)
	a.body(c.Do, in)
	ends := slices.ContainsFunc(a.rep.Commands[before:], func(c Command) bool {
		return slices.Contains([]string{"break", "exit", "return"}, c.Name())
	})
	if !ends && slices.Contains([]string{"true", ":", "false", "sleep", "echo"}, condition) {
		a.rep.other("a loop without an end")
	}
}

func (a *analyser) forClause(c *syntax.ForClause, in input) {
	if c.Select || c.Braces {
		a.rep.other("a loop that shells read differently")
	}
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		v := a.scope.vars[l.Name.Value]
		var vals []val
		for _, w := range a.args(l.Items) {
			vals = append(vals, w.vals...)
		}
		if why := assignable(l.Name.Value, arg{}, false); why != "" || l.Name.Value == "IFS" {
			a.rep.other("a loop over a variable that may change what commands do: " + l.Name.Value)
		}
		if v != nil && l.InPos.IsValid() && len(vals) <= maxValues {
			v.vals = vals
			a.scope.sure[l.Name.Value] = len(vals) > 0
		}
	case *syntax.CStyleLoop:
		a.rep.other("a loop with arithmetic that assigns")
		a.arithmetic(l.Init)
		a.arithmetic(l.Cond)
		a.arithmetic(l.Post)
	}
	a.body(c.Do, in)
}

func (a *analyser) caseClause(c *syntax.CaseClause, in input) {
	if c.Braces {
		a.rep.other("a case that shells read differently")
	}
	a.word(c.Word)
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			a.word(p)
		}
		a.scope.maybe(func() { a.body(item.Stmts, in) })
	}
}

// rare visits constructs that are never read-only but contain commands that rules judge.
func (a *analyser) rare(c syntax.Command, in input) {
	switch c := c.(type) {
	case *syntax.FuncDecl:
		name := ""
		if c.Name != nil {
			name = c.Name.Value
		}
		a.rep.other("it defines the function " + texts.ClipBytes(name, 40))
		before := len(a.rep.Commands)
		a.folders.within(func() { a.scope.maybe(func() { a.stmt(c.Body, in) }) })
		a.rep.forkBomb(name, c.Body, before)
	case *syntax.CoprocClause:
		a.rep.other("a coprocess stays running in the background")
		if c.Name != nil {
			a.word(c.Name)
		}
		a.stmt(c.Stmt, in)
	case *syntax.DeclClause:
		a.declare(c)
	case *syntax.ArithmCmd:
		a.rep.other("((…)) is a command in other shells")
		a.arithmetic(c.X)
	case *syntax.LetClause:
		a.rep.other("let evaluates and assigns")
		for _, x := range c.Exprs {
			a.arithmetic(x)
		}
	default:
		a.rep.other("a construct that is not understood")
	}
}

// declare visits export, declare, local and the like: only plain assignments of harmless
// variables are read-only.
func (a *analyser) declare(c *syntax.DeclClause) {
	export := c.Variant.Value == "export"
	if !export || len(c.Args) == 0 {
		a.rep.other(c.Variant.Value + " changes or prints the variables of the shell")
	}
	for _, as := range c.Args {
		if as.Naked || as.Name == nil {
			if as.Value != nil {
				a.word(as.Value)
			}
			a.rep.other(c.Variant.Value + " changes or prints the variables of the shell")
			continue
		}
		a.assign(as, true)
	}
}

// forkBomb records a function that runs itself twice or in the background.
func (r *Report) forkBomb(name string, body *syntax.Stmt, before int) {
	calls := 0
	for _, c := range r.Commands[before:] {
		if c.String() == name {
			calls++
		}
	}
	background := false
	for n := range syntax.Preorder(body) {
		if s, ok := n.(*syntax.Stmt); ok && s.Background {
			background = true
		}
	}
	if name != "" && (calls > 1 || calls == 1 && background) {
		r.harm("the function "+texts.ClipBytes(name, 20)+" starts itself without end: a fork bomb", "")
	}
}

func (a *analyser) binary(c *syntax.BinaryCmd, in input) names {
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		a.list(c, in)
		return names{}
	}
	before := len(a.rep.Commands)
	var out names
	a.folders.within(func() { a.scope.maybe(func() { out = a.stmt(c.X, in) }) })
	middle := len(a.rep.Commands)
	a.folders.within(func() { a.scope.maybe(func() { out = a.stmt(c.Y, input{piped: true, names: out}) }) })
	pipes(a, c.Y, before, middle)
	return out
}

// list visits x && y and x || y. In a && b && c, everything before c has run when c does.
func (a *analyser) list(c *syntax.BinaryCmd, in input) {
	chain := []*syntax.Stmt{c.Y}
	first := c.X
	for c.Op == syntax.AndStmt {
		left, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || left.Op != syntax.AndStmt || first.Negated || len(first.Redirs) > 0 || first.Background {
			break
		}
		chain = append(chain, left.Y)
		first, c = left.X, left
	}
	seen := a.folders.cwds
	a.stmt(first, in)
	seen = union(seen, a.folders.cwds)
	before := first
	a.scope.maybe(func() {
		for i := len(chain) - 1; i >= 0; i-- {
			if c.Op == syntax.AndStmt && isCd(before) {
				a.folders.cwds = a.folders.entered // what follows runs there or not at all
			}
			before = chain[i]
			a.stmt(before, in)
			seen = union(seen, a.folders.cwds)
		}
	})
	a.folders.cwds = seen
}

// isCd reports whether a statement only changes the folder.
func isCd(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && !s.Negated && !s.Background && len(s.Redirs) == 0 && len(c.Assigns) == 0 && len(c.Args) == 2 && c.Args[0].Lit() == "cd"
}

// call visits a simple command.
func (a *analyser) call(c *syntax.CallExpr, in input) names {
	a.visited++
	for _, as := range c.Assigns {
		if as.Name != nil && as.Name.Value == "IFS" && len(c.Args) > 0 && c.Args[0].Lit() == "read" {
			a.word(as.Value) // for this read only
			continue
		}
		a.assign(as, len(c.Args) > 0)
	}
	if len(c.Args) == 0 {
		return names{}
	}
	return a.command(a.args(c.Args), nil, in)
}

// redirect visits a redirection. It returns the file, or the text of a here-document, and
// whether the command gets its input from it.
func (a *analyser) redirect(r *syntax.Redirect) (arg, bool) {
	if r.N != nil && !digits(r.N.Value) {
		a.rep.other("a redirection that assigns a variable")
	}
	w := a.word(r.Word)
	text := w
	if r.Hdoc != nil {
		text = a.word(r.Hdoc)
	}
	why := ""
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if s, ok := w.lit(); !ok || !plain(s, "_") {
			why = "an unusual end of a here-document"
		}
	case syntax.WordHdoc:
		why = shown(w)
	case syntax.RdrIn:
		why = a.folders.reads(w)
		a.rep.Files = append(a.rep.Files, w.public())
	default: // includes RdrInOut, which creates the file
		if !duplicates(r, w) {
			a.rep.writes(w)
			a.rep.Files = append(a.rep.Files, w.public())
		}
		return w, false
	}
	if why != "" {
		a.rep.other(why)
	}
	return text, r.N == nil || r.N.Value == "0"
}

// duplicates reports whether r only joins or closes descriptors.
func duplicates(r *syntax.Redirect, w arg) bool {
	s, ok := w.lit()
	// What other descriptors than the standard ones refer to is unknown.
	return ok && (r.Op == syntax.DplIn || r.Op == syntax.DplOut) && slices.Contains([]string{"0", "1", "2", "-", "1-", "2-"}, s)
}

// writes judges the file that output goes to.
func (r *Report) writes(w arg) {
	s, ok := w.lit()
	switch {
	case ok && s == "/dev/null":
	case ok:
		r.other("the output is written to " + texts.ClipBytes(s, 80))
	default:
		r.other("the output is written to a file whose name is computed")
	}
}

// test visits [[ … ]].
func (a *analyser) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		a.word(x)
	case *syntax.ParenTest:
		a.test(x.X)
	case *syntax.UnaryTest:
		switch x.Op {
		case syntax.TsVarSet, syntax.TsRefVar, syntax.TsOptSet:
			a.rep.other("[[ -v ]] evaluates the index of a variable")
		}
		a.test(x.X)
	case *syntax.BinaryTest:
		a.binaryTest(x)
	default:
		a.rep.other("a test that is not understood")
	}
}

// binaryTest visits a test with two operands. To a POSIX shell [[ is an unknown command: what
// follows || and && is another one, and > creates a file.
func (a *analyser) binaryTest(x *syntax.BinaryTest) {
	switch x.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		a.compared(x.X)
		a.compared(x.Y)
		return
	case syntax.TsBefore, syntax.TsAfter:
		a.rep.other("[[ … > … ]] writes a file in other shells")
	case syntax.AndTest, syntax.OrTest:
		if _, unary := leftmost(x.Y).(*syntax.UnaryTest); !unary {
			a.rep.other("[[ … || … ]] runs a command in other shells")
		}
	case syntax.TsReMatch:
		if w, ok := x.Y.(*syntax.Word); !ok || hasPipe(w) {
			a.rep.other("[[ … =~ …|… ]] runs a command in other shells")
		}
	}
	a.test(x.X)
	a.test(x.Y)
}

// leftmost returns the test that comes first in the text.
func leftmost(x syntax.TestExpr) syntax.TestExpr {
	for {
		b, ok := x.(*syntax.BinaryTest)
		if !ok {
			return x
		}
		x = b.X
	}
}

func hasPipe(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		l, ok := p.(*syntax.Lit)
		return ok && strings.ContainsAny(l.Value, "|;&<>")
	})
}

// compared visits an operand of -eq and the like, which [[ evaluates.
func (a *analyser) compared(x syntax.TestExpr) {
	w, ok := x.(*syntax.Word)
	if !ok {
		a.rep.other("a test that is not understood")
		return
	}
	if len(w.Parts) == 1 {
		if q, ok := w.Parts[0].(*syntax.DblQuoted); ok && !q.Dollar && len(q.Parts) > 0 {
			w = &syntax.Word{Parts: q.Parts}
		}
	}
	a.operand(w)
}
