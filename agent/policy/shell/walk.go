package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"buddy/texts"
)

func (a *analyser) stmt(s *syntax.Stmt, piped bool) {
	if s == nil {
		return
	}
	if s.Background || s.Coprocess || s.Disown {
		a.rep.other("a part of it stays running in the background")
	}
	before := len(a.rep.Commands)
	var given []redirected
	for _, r := range s.Redirs {
		w, reads := a.redirect(r)
		piped = reads || piped
		given = append(given, redirected{r.Op, w})
	}
	at := a.folders.at
	a.cmd(s.Cmd, piped)
	redirections(a, given, before)
	if s.Background {
		a.folders.at = at
	}
}

func (a *analyser) cmd(c syntax.Command, piped bool) {
	switch c := c.(type) {
	case nil:
	case *syntax.CallExpr:
		a.call(c, piped)
	case *syntax.BinaryCmd:
		a.binary(c, piped)
	case *syntax.Block:
		a.body(c.Stmts, piped)
	case *syntax.Subshell:
		a.folders.within(func() { a.scope.maybe(func() { a.body(c.Stmts, piped) }) })
	case *syntax.IfClause:
		a.scope.maybe(func() { a.ifClause(c, piped) })
	case *syntax.WhileClause:
		a.scope.maybe(func() { a.whileClause(c, piped) })
	case *syntax.ForClause:
		a.scope.maybe(func() { a.forClause(c, piped) })
	case *syntax.CaseClause:
		a.scope.maybe(func() { a.caseClause(c, piped) })
	case *syntax.TimeClause:
		a.stmt(c.Stmt, piped)
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		a.words(c)
	default:
		a.rare(c, piped)
	}
}

// body visits statements that share their input.
func (a *analyser) body(list []*syntax.Stmt, piped bool) {
	for _, s := range list {
		a.stmt(s, piped)
	}
}

func (a *analyser) ifClause(c *syntax.IfClause, piped bool) {
	for ; c != nil; c = c.Else {
		a.body(c.Cond, piped)
		a.scope.maybe(func() { a.body(c.Then, piped) })
	}
}

func (a *analyser) whileClause(c *syntax.WhileClause, piped bool) {
	a.body(c.Cond, piped)
	condition := ""
	if n := len(a.rep.Commands); n > 0 {
		condition = a.rep.Commands[n-1].Name()
	}
	before := len(a.rep.Commands)
	a.body(c.Do, piped)
	ends := slices.ContainsFunc(a.rep.Commands[before:], func(c Command) bool {
		return slices.Contains([]string{"break", "exit", "return"}, c.Name())
	})
	if !ends && slices.Contains([]string{"true", ":", "false", "sleep", "echo"}, condition) {
		a.rep.other("it has an endless loop")
	}
}

func (a *analyser) forClause(c *syntax.ForClause, piped bool) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		v := a.scope.vars[l.Name.Value]
		var vals []val
		for _, w := range a.args(l.Items) {
			vals = append(vals, w.vals...)
		}
		if why := assignable(l.Name.Value, arg{}, false); why != "" || l.Name.Value == "IFS" {
			a.rep.other("it loops over a variable that may change what commands do: " + l.Name.Value)
		}
		if v != nil && l.InPos.IsValid() && len(vals) <= maxValues {
			v.vals = vals
			a.scope.sure[l.Name.Value] = len(vals) > 0
		}
	case *syntax.CStyleLoop:
		a.words(l)
	}
	a.body(c.Do, piped)
}

func (a *analyser) caseClause(c *syntax.CaseClause, piped bool) {
	a.word(c.Word)
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			a.word(p)
		}
		a.scope.maybe(func() { a.body(item.Stmts, piped) })
	}
}

// rare visits constructs that are seldom read-only, for the commands in them that rules may match.
func (a *analyser) rare(c syntax.Command, piped bool) {
	switch c := c.(type) {
	case *syntax.FuncDecl:
		name := ""
		if c.Name != nil {
			name = c.Name.Value
		}
		a.rep.other("it defines the function " + texts.ClipBytes(name, 40))
		before := len(a.rep.Commands)
		a.folders.within(func() { a.scope.maybe(func() { a.stmt(c.Body, piped) }) })
		a.rep.forkBomb(name, c.Body, before)
	case *syntax.CoprocClause:
		a.rep.other("a coprocess stays running in the background")
		if c.Name != nil {
			a.word(c.Name)
		}
		a.stmt(c.Stmt, piped)
	case *syntax.DeclClause:
		a.declare(c)
	default:
		a.rep.other("buddy can't read a part of the command")
	}
}

// declare visits export, declare, local and the like. Without an assignment they print all variables, which may hold
// secrets.
func (a *analyser) declare(c *syntax.DeclClause) {
	if !slices.ContainsFunc(c.Args, func(as *syntax.Assign) bool { return as.Name != nil }) {
		a.rep.other(c.Variant.Value + " changes or prints shell variables")
	}
	for _, as := range c.Args {
		switch {
		case as.Name != nil && !as.Naked:
			a.assign(as, c.Variant.Value == "export")
		case as.Value != nil:
			a.word(as.Value)
		}
	}
}

// forkBomb records the harm of a function that calls itself twice or in the background.
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
		r.harm("the function "+texts.ClipBytes(name, 20)+" starts itself endlessly: a fork bomb", "")
	}
}

func (a *analyser) binary(c *syntax.BinaryCmd, piped bool) {
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		a.list(c, piped)
		return
	}
	before := len(a.rep.Commands)
	a.folders.within(func() { a.scope.maybe(func() { a.stmt(c.X, piped) }) })
	middle := len(a.rep.Commands)
	a.folders.within(func() { a.scope.maybe(func() { a.stmt(c.Y, true) }) })
	pipes(a, c.Y, before, middle)
}

// list visits x && y and x || y. In a && b && c, everything before c has certainly run when c runs.
func (a *analyser) list(c *syntax.BinaryCmd, piped bool) {
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
	a.stmt(first, piped)
	seen = union(seen, a.folders.cwds)
	before := first
	a.scope.maybe(func() {
		for i := len(chain) - 1; i >= 0; i-- {
			if c.Op == syntax.AndStmt && isCd(before) {
				a.folders.cwds = a.folders.entered // the rest runs there or not at all
			}
			before = chain[i]
			a.stmt(before, piped)
			seen = union(seen, a.folders.cwds)
		}
	})
	a.folders.cwds = seen
}

func isCd(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && !s.Negated && !s.Background && len(s.Redirs) == 0 && len(c.Assigns) == 0 && len(c.Args) == 2 && c.Args[0].Lit() == "cd"
}

func (a *analyser) call(c *syntax.CallExpr, piped bool) {
	a.visited++
	for _, as := range c.Assigns {
		if as.Name != nil && as.Name.Value == "IFS" && len(c.Args) > 0 && c.Args[0].Lit() == "read" {
			a.word(as.Value) // only for this read
			continue
		}
		a.assign(as, len(c.Args) > 0)
	}
	if len(c.Args) > 0 {
		a.command(a.args(c.Args), nil, piped)
	}
}

// redirect visits a redirection. It returns the file, or the text of a here-document, and whether the command reads it
// as input.
func (a *analyser) redirect(r *syntax.Redirect) (arg, bool) {
	if r.N != nil && !digits(r.N.Value) {
		a.rep.other("a redirection sets a variable")
	}
	w := a.word(r.Word)
	text := w
	if r.Hdoc != nil {
		text = a.word(r.Hdoc)
	}
	why := ""
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
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
	// It is unknown where descriptors other than the standard ones lead.
	return ok && (r.Op == syntax.DplIn || r.Op == syntax.DplOut) && slices.Contains([]string{"0", "1", "2", "-", "1-", "2-"}, s)
}

// writes records that output is redirected to the file w, unless that is /dev/null.
func (r *Report) writes(w arg) {
	s, ok := w.lit()
	switch {
	case ok && s == "/dev/null":
	case ok:
		r.other("the output is written to " + texts.ClipBytes(s, 80))
	default:
		r.other("the output is written to a file whose name is known only when it runs")
	}
}

// words visits all words in an expression, a test or ${…}.
func (a *analyser) words(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		if ok {
			a.word(w)
		}
		return !ok
	})
}
