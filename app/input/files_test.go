package input

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/app/apptest"
	"buddy/app/slash"
	"buddy/tmux/host"
	"buddy/tools/target"
)

func TestRank(t *testing.T) {
	paths := strings.Fields(".env .github/ci.yml README.md app/ui.go app/ui_test.go docs/guide.md checkout/tax.go checkout/tax_test.go cmd/taxi/main.go views/markup/text.go Makefile")
	for query, want := range map[string]string{
		"":        "Makefile README.md app/ui.go docs/guide.md app/ui_test.go checkout/tax.go checkout/tax_test.go cmd/taxi/main.go",
		"tax":     "checkout/tax.go checkout/tax_test.go cmd/taxi/main.go",
		"cotax":   "checkout/tax.go checkout/tax_test.go",
		"taxtest": "checkout/tax_test.go",
		"ui":      "app/ui.go app/ui_test.go docs/guide.md",
		"make":    "Makefile views/markup/text.go",
		"README":  "README.md",
		"TAX":     "",
		"app/":    "app/ui.go app/ui_test.go",
		".":       ".env .github/ci.yml",
		".git":    ".github/ci.yml",
		"env":     "",
		"zzz":     "",
	} {
		got := strings.Join(rank(paths, query), " ")
		if query == "." { // names with an extension fit as well
			got = got[:min(len(got), len(want))]
		}
		if got != want {
			t.Errorf("rank(%q) = %s, want %s", query, got, want)
		}
	}
}

func TestFileIndex(t *testing.T) {
	root := t.TempDir()
	put := func(names ...string) {
		for _, n := range names {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, n)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, n), []byte("*.log\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(".gitignore", "a.go", "b.log", "node_modules/m/a.go", ".buddyx/a.go", ".git/a.go", "sub/a.go")
	now := time.Unix(1000, 0)
	x := indexBelow(root)
	x.now = func() time.Time { return now }
	find := func() string {
		paths, ok := x.Request("")()
		if !ok {
			t.Error("the only request was dropped")
		}
		return strings.Join(paths, " ")
	}
	if got := find(); got != "a.go sub/a.go" {
		t.Errorf("found %s", got)
	}
	put("c.go")
	if got := find(); got != "a.go sub/a.go" {
		t.Errorf("the list was read again at once: %s", got)
	}
	now = now.Add(filesFresh + 1)
	if got := find(); got != "a.go c.go sub/a.go" {
		t.Errorf("after a while: %s", got)
	}
	old := x.Request("a")
	x.Request("ab")
	if _, ok := old(); ok {
		t.Error("a request was answered after a later one")
	}
	now = now.Add(time.Hour)
	x.now = func() time.Time { now = now.Add(150 * time.Millisecond); return now }
	if got := find(); strings.Count(got, "go") > 1 {
		t.Errorf("the time does not limit the walk: %s", got)
	}
}

func BenchmarkRank50000(b *testing.B) {
	var paths []string
	for i := range filesMost {
		paths = append(paths, fmt.Sprintf("package%d/internal/module%d/file_%d.go", i%50, i%700, i))
	}
	b.ReportAllocs()
	for b.Loop() {
		rank(paths, "modfile7")
	}
}

// Completion goes by the files of the current target, which is reached for when it is needed.
func TestFilesOfTheCurrentTarget(t *testing.T) {
	away, err := host.SSH(host.SSHOptions{Dest: "nowhere.invalid"})
	if err != nil {
		t.Fatal(err)
	}
	here, there := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(here, "here.go"), filepath.Join(there, "there.go")} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	web, down := &target.Target{Name: "web", Host: away}, &target.Target{Name: "down", Host: away}
	set := target.NewSet(apptest.Idle(t, &target.Target{Name: slash.ThisMachine}, here), []*target.Target{web, down}, func(_ context.Context, tg *target.Target) (*target.Session, error) {
		if tg == down {
			return nil, errors.New("it is away")
		}
		return apptest.Idle(t, tg, there), nil
	})
	x := FileIndexes{Here: indexBelow(here)}
	for _, c := range [][2]string{{slash.ThisMachine, "here.go"}, {"web", "there.go"}, {"down", ""}, {slash.ThisMachine, "here.go"}} {
		set.Switch(c[0])
		paths, ok := x.Of(set).Request("go")()
		if got := strings.Join(paths, " "); !ok || got != c[1] {
			t.Errorf("on %s: %q, want %q", c[0], got, c[1])
		}
	}
	set.Switch("web")
	if i := x.Of(set); i != x.Of(set) {
		t.Error("the list is made anew for each key")
	}
}
