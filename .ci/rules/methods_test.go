package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// maxMethods limits the methods of a type, counted over all its files.
const maxMethods = 40

// TestMethods fails for a type with more methods than a person can keep in mind.
func TestMethods(t *testing.T) {
	count := make(map[string]int)
	files := token.NewFileSet()
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(files, filepath.Join("../..", path), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			if m, ok := decl.(*ast.FuncDecl); ok && m.Recv != nil {
				count[filepath.ToSlash(filepath.Dir(path))+"."+receiver(m.Recv.List[0].Type)]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(count) < 100 {
		t.Fatalf("methods of only %d types were found", len(count))
	}
	for name, n := range count {
		if n > maxMethods {
			t.Errorf("%s has %d methods, more than %d: split it into types that own their data", name, n, maxMethods)
		}
	}
}

// receiver returns the name of the type that a method belongs to.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
