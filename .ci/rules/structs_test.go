package rules

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	minTwin = 3  // two structs may have fewer fields in common by chance
	maxOwn  = 15 // fields of options that are no section
)

// TestStructs fails for structs of two packages with the same exported fields, which are copied from one to the other:
// the lower package should have the only one. It also fails for options with more fields than a person can keep in
// mind: fields of a part belong in a struct of that part.
func TestStructs(t *testing.T) {
	all := exportedStructs(t)
	first := make(map[string]string) // struct by its fields
	for _, name := range slices.Sorted(maps.Keys(all)) {
		own, fields := 0, []string(nil)
		for f := range all[name].Fields() {
			if !f.Exported() {
				continue
			}
			fields = append(fields, f.Name()+" "+f.Type().String())
			if _, section := f.Type().Underlying().(*types.Struct); !section {
				own++
			}
		}
		if isOptions(name) && own > maxOwn {
			t.Errorf("%s has %d fields that are no section, more than %d: group them by the part that they are for", name, own, maxOwn)
		}
		slices.Sort(fields)
		key := strings.Join(fields, "; ")
		other, twin := first[key]
		if first[key] = name; twin && len(fields) >= minTwin && all[other].at != all[name].at && packageOf(other) != packageOf(name) {
			t.Errorf("%s and %s have the same fields: one struct has to do (%s)", other, name, key)
		}
	}
	if len(all) < 500 {
		t.Errorf("only %d structs were read", len(all))
	}
}

// isOptions reports whether a struct has the name of options.
func isOptions(name string) bool {
	return slices.ContainsFunc([]string{"Options", "Config", "Settings", "Deps", "Looks"}, func(s string) bool { return strings.HasSuffix(name, "."+s) })
}

// packageOf returns the package of a struct.
func packageOf(name string) string { return name[:strings.LastIndexByte(name, '.')] }

// declared is a struct type, and the position of its first field: that of B for `type A B`.
type declared struct {
	*types.Struct
	at string
}

// exportedStructs returns the exported structs of all our packages by name, from the compiler's data.
func exportedStructs(t *testing.T) map[string]declared {
	list := exec.Command("go", "list", "-export", "-f", "{{.ImportPath}} {{.Export}}", "buddy/...")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := make(map[string]string)
	for l := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(l), " "); ok { // otherwise the folder has tests only
			files[path] = file
		}
	}
	positions := token.NewFileSet()
	read := importer.ForCompiler(positions, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	all := make(map[string]declared)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		pkg, err := read.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pkg.Scope().Names() {
			typ, ok := pkg.Scope().Lookup(name).Type().Underlying().(*types.Struct)
			if o, named := pkg.Scope().Lookup(name).(*types.TypeName); ok && named && o.Exported() && typ.NumFields() > 0 {
				all[strings.TrimPrefix(path, "buddy/")+"."+name] = declared{typ, fmt.Sprint(positions.Position(typ.Field(0).Pos()))}
			}
		}
	}
	return all
}
