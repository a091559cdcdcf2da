package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// fault is a change of a file from one offset to another.
type fault struct {
	file     string // absolute path
	source   []byte
	from, to int
	text     string // the replacement
	line     int
	col      int
	what     string
}

// String returns the position of the fault and its change.
func (f fault) String() string {
	old := strings.Join(strings.Fields(string(f.source[f.from:f.to])), " ")
	return fmt.Sprintf("%s:%d:%d: %s: %.60q -> %.60q", shown(f.file), f.line, f.col, f.what, old, f.text)
}

// shown returns a path relative to the working directory.
func shown(path string) string {
	if here, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(here, path); err == nil {
			return short
		}
	}
	return path
}

// apply returns the file with the fault.
func (f fault) apply() []byte {
	return bytes.Join([][]byte{f.source[:f.from], f.source[f.to:]}, []byte(f.text))
}

// faultsOf returns all possible faults in a package.
func faultsOf(ctx context.Context, pkg string) ([]fault, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-json=Dir,GoFiles", pkg).Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", pkg, err)
	}
	var found struct {
		Dir     string
		GoFiles []string
	}
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, fmt.Errorf("go list %s: %w", pkg, err)
	}
	var all []fault
	for _, name := range found.GoFiles {
		path := filepath.Join(found.Dir, name)
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		more, err := faultsIn(path, source)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// faultsIn returns the faults of a file.
func faultsIn(path string, source []byte) ([]fault, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	c := &collector{files: files, path: path, source: source}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.ArrayType:
			return false
		case ast.Expr:
			c.expression(n)
		case ast.Stmt:
			c.statement(n)
		}
		return true
	})
	return c.all, nil
}

// collector collects the faults of a file.
type collector struct {
	files  *token.FileSet
	path   string
	source []byte
	all    []fault
}

func (c *collector) add(what string, from, to token.Pos, text string) {
	at := c.files.Position(from)
	c.all = append(c.all, fault{c.path, c.source, at.Offset, c.files.Position(to).Offset, text, at.Line, at.Column, what})
}

func (c *collector) expression(n ast.Expr) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		for _, with := range operators[n.Op] {
			c.add("operator", n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), with.String())
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			c.add("condition", n.OpPos, n.OpPos+1, "")
		}
	case *ast.BasicLit:
		if v, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
			c.add("number", n.Pos(), n.End(), strconv.FormatInt(v+1, 10))
			c.add("number", n.Pos(), n.End(), strconv.FormatInt(v-1, 10))
		}
	}
}

func (c *collector) statement(n ast.Stmt) {
	switch n := n.(type) {
	case *ast.IfStmt:
		switch n.Cond.(type) {
		case *ast.Ident, *ast.CallExpr, *ast.SelectorExpr:
			c.add("condition", n.Cond.Pos(), n.Cond.Pos(), "!")
		}
	case *ast.ReturnStmt:
		if len(n.Results) > 0 && isError(n.Results[len(n.Results)-1]) {
			last := n.Results[len(n.Results)-1]
			c.add("error", last.Pos(), last.End(), "nil")
		}
	case *ast.ExprStmt, *ast.IncDecStmt:
		c.add("statement", n.Pos(), n.End(), "")
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && c.source[c.files.Position(n.End()).Offset] == '\n' { // otherwise it is part of a line
			c.add("statement", n.Pos(), n.End(), "")
		}
	case *ast.BranchStmt:
		if with, ok := branches[n.Tok]; ok && n.Label == nil {
			c.add("branch", n.Pos(), n.End(), with)
		}
	}
}

var operators = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD},
}

var branches = map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}

// isError reports whether an expression looks like an error.
func isError(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "err" || strings.HasPrefix(e.Name, "Err")
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		of, ok := f.X.(*ast.Ident)
		return ok && (of.Name == "fmt" && f.Sel.Name == "Errorf" || of.Name == "errors")
	}
	return false
}

// coverage holds the blocks of each file, and whether the tests execute them.
type coverage map[string][]block

type block struct {
	fromLine, fromCol, toLine, toCol int
	run                              bool
}

// readCoverage reads the output of go test -coverprofile.
func readCoverage(path string) (coverage, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := coverage{}
	for line := range strings.Lines(string(data)) {
		name, place, ok := strings.Cut(line, ".go:")
		if !ok {
			continue // the first line
		}
		var b block
		var statements, times int
		if _, err := fmt.Sscanf(place, "%d.%d,%d.%d %d %d", &b.fromLine, &b.fromCol, &b.toLine, &b.toCol, &statements, &times); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, line, err)
		}
		b.run = times > 0
		name = filepath.Base(name) + ".go"
		c[name] = append(c[name], b)
	}
	return c, nil
}

// runs reports whether a fault may make a difference: its position is executed, or in no block, like constants.
func (c coverage) runs(f fault) bool {
	known := false
	for _, b := range c[filepath.Base(f.file)] {
		after := f.line > b.fromLine || f.line == b.fromLine && f.col >= b.fromCol
		before := f.line < b.toLine || f.line == b.toLine && f.col <= b.toCol
		if after && before {
			if b.run {
				return true
			}
			known = true
		}
	}
	return !known
}
