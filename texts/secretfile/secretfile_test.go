package secretfile

import (
	"os"
	"strings"
	"testing"
)

// corpus returns the lines of a file with names.
func corpus(tb testing.TB, file string) []string {
	tb.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func TestSecretFilesAreFoundWithAReason(t *testing.T) {
	all := corpus(t, "secret.txt")
	for _, name := range all {
		if part, why := Find(name); part == "" || why == "" {
			t.Errorf("Find(%q) = %q, %q: not found", name, part, why)
		}
		if strings.HasPrefix(name, "/") {
			continue
		}
		if part, _ := Find("/home/ann/shop/" + name); part == "" {
			t.Errorf("Find(/home/ann/shop/%s) finds nothing", name)
		}
	}
	if len(all) < 300 {
		t.Errorf("only %d names", len(all))
	}
}

func TestOrdinaryFilesAreFree(t *testing.T) {
	all := corpus(t, "free.txt")
	for _, name := range all {
		if part, why := Find(name); part != "" {
			t.Errorf("Find(%q) = %q, %q", name, part, why)
		}
	}
	if len(all) < 100 {
		t.Errorf("only %d names", len(all))
	}
}

func TestNamesOfHashes(t *testing.T) {
	for _, name := range []string{"#", "##", ".#", "a/#", ".#.swp", "#.swp", "#~", "##.bak", ".#~"} {
		if part, why := Find(name); part != "" {
			t.Errorf("Find(%q) = %q, %q", name, part, why)
		}
	}
	if part, _ := Find("a/#.env#"); part == "" {
		t.Error("an editor's copy of .env is not found")
	}
}

// The names in each row are found, alone and below a folder, and the row's pattern overlaps a possible pattern of a
// command.
func TestEveryRowCounts(t *testing.T) {
	name := strings.NewReplacer("[0-9]", "1", "*", "x", "@", " ")
	for _, r := range append(rows, paths...) {
		if r.why == "" || r.names == "" {
			t.Errorf("%q has no reason", r.names)
		}
		for p := range strings.FieldsSeq(r.names) {
			for _, file := range []string{name.Replace(p), "/x/" + strings.ToUpper(name.Replace(p))} {
				if part, _ := Find(file); part == "" {
					t.Errorf("row %q: %q is not found", p, file)
				}
			}
			if strings.Contains(p, "/") || r.loose || isSource(p) {
				continue
			}
			if part, _ := Find(name.Replace(p) + "/below.go"); part == "" {
				t.Errorf("row %q: what is below it is not found", p)
			}
			if file := name.Replace(p); FindPattern(file[:len(file)-1]+"?") == "" && !isSource(file) {
				t.Errorf("row %q: a pattern that matches it is not found", p)
			}
		}
	}
}

func TestPatternsThatMayMatchSecrets(t *testing.T) {
	for _, p := range []string{"*", ".*", "*.yaml", "db-s*", "*secre*", ".e*", ".m*", "conf/*", "*.tf[sv]*", "/proc/*/environ", "~/.config/g?/*", "prod.e?v", "*/.env", "*/app-secret.json"} {
		if FindPattern(p) == "" {
			t.Errorf("FindPattern(%q) finds nothing", p)
		}
	}
	for _, p := range []string{"*.go", "*_test.go", "secret*.go", "src/**/*.ts", "secret/*.go", "*/main.go", "docs/*.md"} {
		if part := FindPattern(p); part != "" {
			t.Errorf("FindPattern(%q) = %q", p, part)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		Find("app/views/transcript/conversation_block.go")
	}
}
