package compose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"buddy/agent/memory"
	"buddy/agent/policy"
	"buddy/app/slash"
	"buddy/config"
	"buddy/sessions"
	"buddy/tools/file"
)

// memoryHere returns the memory of a new folder with a home of its own.
func memoryHere(t *testing.T) (l MemoryList, dir string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(xdg.Reload) // after the variable is what it was
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "home"))
	xdg.Reload()
	there, err := file.NewWorkspace(dir, policy.Secret)
	if err != nil {
		t.Fatal(err)
	}
	store, _, err := sessions.Dir(dir, sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	c := config.Memory{Enabled: true, Observe: true}
	return NewMemoryList(openMemory(c, store, there, "", memory.Options{Target: slash.ThisMachine, Session: "s1"})), sessions.MemoryDir(store)
}

// What can follow /memory says what it did, or what is missing.
func TestMemoryVerbs(t *testing.T) {
	l, dir := memoryHere(t)
	for _, c := range []struct{ args, want, err string }{
		{"", "memory is empty: /remember TEXT", ""},
		{"list all", "", `memory list takes nothing more, such as "all"`},
		{"frobnicate", "", `"frobnicate" is not known (have: list, why, add, edit, keep, share, forget, accept, reject, undo, off)`},
		{"why", "", "memory why needs ID"},
		{"add", "", "memory add needs [--scope"},
		{"add --scope team", "", "an entry of memory needs a text"},
		{"add --paths", "", "--paths needs a value"},
		{"add --color red Use x.", "", "--color is not known (have: --scope, --kind, --paths, --target)"},
		{"add --scope moon Use x.", "", `memory has no scope "moon"`},
		{"add --paths a,[ Use x.", "", `"[" is no glob`},
		{"add --kind=fact --paths db/**,*.sql --target web-* Use\tsqlc\x1b[2J.", "remembered: Use sqlc[2J. (f-", ""},
		{"edit f-none Use y.", "", `"f-none"`},
		{"forget f-none", "", `"f-none"`},
		{"accept p-none", "", `memory has no proposal "p-none"`},
		{"undo", "forgotten: Use sqlc", ""},
		{"undo", "", "wrote nothing"},
		{"ADD Use z.", "remembered: Use z. (r-", ""},
		{"off", "memory is off in this session", ""},
		{"list", "", "memory is off in this session"},
	} {
		got, err := l.Do(c.args)
		switch {
		case c.err == "" && (err != nil || !strings.HasPrefix(got, c.want)):
			t.Errorf("%q: %q, %v, want %q", c.args, got, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: %q, %v, want the error %q", c.args, got, err, c.err)
		case strings.ContainsRune(got, '\x1b'):
			t.Errorf("%q: %q is not safe to print", c.args, got)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, memoryFile))
	if err != nil || !strings.Contains(string(data), "- Use z. <!-- r-") || strings.Contains(string(data), "sqlc") {
		t.Errorf("%s, %v", data, err)
	}
	if _, err := NewMemoryList(nil).Do("list"); err == nil || !strings.Contains(err.Error(), "[memory] enabled is false") {
		t.Error(err)
	}
	if _, _, err := NewMemoryList(nil).Items(t.Context()); err == nil {
		t.Error("there is a list without a memory")
	}
}

// The list says what does not hold and why, and what the file and its line are.
func TestMemoryItems(t *testing.T) {
	l, dir := memoryHere(t)
	path := filepath.Join(dir, memoryFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "## Rules\n- Use tabs. <!-- r-aaaa 2026-01-01 target:web-* -->\n- Never use tabs. <!-- r-bbbb 2026-02-01 target:web-* -->\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, skipped, err := l.Items(t.Context())
	if err != nil || skipped != "" || len(all) != 2 {
		t.Fatalf("%+v, %q, %v", all, skipped, err)
	}
	if e := all[0]; e.ID != "r-aaaa" || e.State != "does not hold: r-bbbb says the opposite" || e.Limits != "on web-*" || e.File != path+":2" || e.Note != "r-aaaa 2026-01-01 target:web-*" {
		t.Errorf("%+v", e)
	}
	why, err := l.Do("why r-bbbb")
	if err != nil || !strings.HasPrefix(why, "r-bbbb  rule  in this folder\n  Never use tabs.\n  on web-*\n") || strings.Contains(why, "by hand") {
		t.Errorf("%q, %v", why, err)
	}
}
