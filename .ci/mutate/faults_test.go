package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sample = `package p

import "errors"

const limit = 8

func f(n int, ok bool) (int, error) {
	if !ok && n < limit {
		return 0, errors.New("no")
	}
	for ; ok; n++ {
		break
	}
	g()
	n = 5
	return n, nil
}
`

// TestFaults: each kind of fault is made where it is possible, and nothing else changes.
func TestFaults(t *testing.T) {
	all, err := faultsIn("p.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range all {
		got = append(got, f.String())
		if text := string(f.apply()); len(text) != len(sample)-(f.to-f.from)+len(f.text) || !strings.HasPrefix(text, sample[:f.from]+f.text) || !strings.HasSuffix(text, sample[f.to:]) {
			t.Errorf("%s makes\n%s", f, text)
		}
	}
	want := []string{
		`p.go:5:15: number: "8" -> "9"`, `p.go:5:15: number: "8" -> "7"`,
		`p.go:8:9: operator: "&&" -> "||"`, `p.go:8:5: condition: "!" -> ""`,
		`p.go:8:14: operator: "<" -> "<="`, `p.go:8:14: operator: "<" -> ">="`,
		`p.go:9:13: error: "errors.New(\"no\")" -> "nil"`,
		`p.go:9:10: number: "0" -> "1"`, `p.go:9:10: number: "0" -> "-1"`,
		`p.go:11:12: statement: "n++" -> ""`, `p.go:12:3: branch: "break" -> "continue"`,
		`p.go:14:2: statement: "g()" -> ""`, `p.go:15:2: statement: "n = 5" -> ""`,
		`p.go:15:6: number: "5" -> "6"`, `p.go:15:6: number: "5" -> "4"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestUnnoticed: faults in checked code are noticed, faults in code that is only executed, or not executed, are not; an
// endless loop is stopped. The package stays unchanged.
func TestUnnoticed(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"go.mod":    "module sample\n\ngo 1.24\n",
		"p.go":      "package sample\n\nfunc f(n int) int {\n\tfor n < 3 {\n\t\tn++\n\t}\n\treturn n\n}\n\nfunc g() int { return 7 }\n\nfunc h() int { return 9 }\n",
		"p_test.go": "package sample\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif f(0) != 3 {\n\t\tt.Fatal()\n\t}\n\tg()\n}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	test := &tester{pkg: ".", dir: t.TempDir()}
	covered, err := test.clean(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := faultsOf(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.text == "2" || f.text == "6" || f.text == "10" || f.what == "statement" { // one of each
			want := map[string]outcome{"2": noticed, "6": unnoticed, "10": unreached, "": noticed}[f.text]
			end := unreached
			if covered.runs(f) {
				end, err = test.try(t.Context(), f)
			}
			if end != want || err != nil {
				t.Errorf("%s: %s, %v; want %s", f, end, err, want)
			}
		}
	}
	for name, text := range files {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
			t.Errorf("%s has changed: %q, %v", name, got, err)
		}
	}
}
