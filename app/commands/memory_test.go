package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"buddy/app/compose"
	"buddy/sessions"
)

// folderHere makes a new folder with a home of its own the working directory.
func folderHere(t *testing.T) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(xdg.Reload) // after the variables are what they were
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "home", "config"))
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "home", "data"))
	xdg.Reload()
	dir = filepath.Join(dir, "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return dir
}

// withMemory returns a session with the memory of a new folder, and the folder's file of memory.
func withMemory(t *testing.T) (s *Session, path string) {
	t.Helper()
	dir := folderHere(t)
	store, _, err := sessions.Dir(dir, sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	m, err := compose.OpenMemory(&compose.Options{})
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	return &Session{Program: &compose.Program{Memory: m}}, filepath.Join(sessions.MemoryDir(store), "memory.md")
}

// What can follow /memory says what it did, or what is missing.
func TestMemoryVerbs(t *testing.T) {
	s, path := withMemory(t)
	for _, c := range []struct{ args, want, err string }{
		{"", "memory is empty: /remember TEXT", ""},
		{"list all", "", `memory list takes nothing more, such as "all"`},
		{"frobnicate", "", `"frobnicate" is not known (have: list, why, add, edit, keep, share, forget, accept, reject, undo, off)`},
		{"why", "", "memory why needs ID"},
		{"add --scope team", "", "an entry of memory needs a text"},
		{"add --paths", "", "--paths needs a value"},
		{"add --color red Use x.", "", "--color is not known (have: --scope, --kind, --paths, --target)"},
		{"add --scope moon Use x.", "", `memory has no scope "moon"`},
		{"add --paths a,[ Use x.", "", `"[" is no glob`},
		{"add --kind=fact --paths db/**,*.sql --target web-* Use sqlc\x1b[2J.", "remembered: Use sqlc[2J. (f-", ""},
		{"edit f-none Use y.", "", `"f-none"`},
		{"forget f-none", "", `"f-none"`},
		{"forget f-none more", "", `such as "more"`},
		{"accept p-none", "", `memory has no proposal "p-none"`},
		{"undo", "forgotten: Use sqlc", ""},
		{"undo", "", "wrote nothing"},
		{"ADD Use z.", "remembered: Use z. (r-", ""},
		{"off", "memory is off in this session", ""},
		{"list", "", "memory is off in this session"},
	} {
		got, err := Run(t.Context(), s, append([]string{"memory"}, strings.Fields(c.args)...)...)
		switch {
		case c.err == "" && (err != nil || !strings.HasPrefix(got.String(), c.want)):
			t.Errorf("%q: %q, %v, want %q", c.args, got, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: %q, %v, want the error %q", c.args, got, err, c.err)
		case strings.ContainsRune(got.String(), '\x1b'):
			t.Errorf("%q: %q is not safe to print", c.args, got)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), "- Use z. <!-- r-") || strings.Contains(string(data), "sqlc") {
		t.Errorf("%s, %v", data, err)
	}
	if _, err := Run(t.Context(), &Session{Program: &compose.Program{}}, "memory", "list"); err == nil || !strings.Contains(err.Error(), "[memory] enabled is false") {
		t.Error(err)
	}
}

// The list says what does not hold and why, and what the file and its line are; each deed names its entry.
func TestMemoryList(t *testing.T) {
	s, path := withMemory(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "## Rules\n- Use tabs. <!-- r-aaaa 2026-01-01 target:web-* -->\n- Never use tabs. <!-- r-bbbb 2026-02-01 target:web-* -->\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Run(t.Context(), s, "memory")
	if err != nil || a.List == nil || a.List.Note != "" || len(a.List.Rows) != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	r := a.List.Rows[0]
	if r.ID != "r-aaaa" || r.Cells[3] != "does not hold: r-bbbb says the opposite" {
		t.Errorf("%+v", r)
	}
	if want := "r-aaaa  rule  in this folder\n  Use tabs.\n  on web-*\n  does not hold: r-bbbb says the opposite\n  " + path + ":2\n  r-aaaa 2026-01-01 target:web-*"; strings.Join(r.More, "\n") != want {
		t.Errorf("%q, want %q", r.More, want)
	}
	for _, d := range r.Deeds {
		if len(d.Run) != 3 || d.Run[0] != "memory" || d.Run[2] != "r-aaaa" {
			t.Errorf("%+v", d)
		}
	}
	why, err := Run(t.Context(), s, "memory", "why", "r-bbbb")
	if err != nil || !strings.HasPrefix(why.String(), "r-bbbb  rule  in this folder\n  Never use tabs.\n  on web-*\n") || strings.Contains(why.String(), "by hand") {
		t.Errorf("%q, %v", why, err)
	}
	if _, err := Run(t.Context(), s, r.Deeds[len(r.Deeds)-1].Run...); err != nil { // forget it
		t.Error(err)
	}
	if a, err = Run(t.Context(), s, "memory"); err != nil || len(a.List.Rows) != 1 || a.List.Rows[0].ID != "r-bbbb" {
		t.Errorf("%+v, %v", a, err)
	}
}
