package memory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"buddy/agent/instructions"
	"buddy/agent/policy"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/config"
	"buddy/features/feature"
	"buddy/sessions"
	files "buddy/tools/file"
)

// folder is a temporary folder whose commands run without a session.
type folder struct {
	t      *testing.T
	asked  feature.Asked
	memory string // the memory file
}

func newFolder(t *testing.T, settings string) *folder {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(xdg.Reload) // runs after t.Setenv has restored the variables
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	xdg.Reload()
	t.Chdir(dir)
	path := filepath.Join(dir, "config", "buddy", "buddy.toml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(settings), 0o600)); err != nil {
		t.Fatal(err)
	}
	c, _, _, err := config.Load(config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, _, err := sessions.Dir(dir, sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	files, err := files.NewWorkspace(dir, policy.Secret)
	if err != nil {
		t.Fatal(err)
	}
	here := feature.Session{Config: &c, Target: slash.ThisMachine, Files: files, Store: store}
	return &folder{t, feature.Asked{Config: here.Config, Part: Part{Store: memoryOf(here)}, Here: func() (feature.Session, error) { return here, nil }}, FileIn(store)}
}

// run runs a command line of /memory.
func (f *folder) run(words ...string) (show.Answer, error) {
	return memoryCommand.Run(f.t.Context(), f.asked, words[1:])
}

// Each command reports what it did, or what is missing.
func TestMemoryVerbs(t *testing.T) {
	f := newFolder(t, "")
	path := f.memory
	for _, c := range []struct{ args, want, err string }{
		{"", "memory is empty: /remember TEXT", ""},
		{"list all", "", `memory list takes no arguments, such as "all"`},
		{"frobnicate", "", `"frobnicate" is not known (have: list, why, add, edit, keep, share, forget, accept, reject, undo, off)`},
		{"why", "", "memory why needs ID"},
		{"add --scope team", "", "a memory entry needs a text"},
		{"add --paths", "", "--paths needs a value"},
		{"add --color red Use x.", "", "--color is not known (have: --scope, --kind, --paths, --target)"},
		{"add --scope moon Use x.", "", `unknown scope "moon"`},
		{"add --paths a,[ Use x.", "", `"[" is not a glob pattern`},
		{"add --kind=fact --paths db/**,*.sql --target web-* Use sqlc\x1b[2J.", "remembered: Use sqlc[2J. (f-", ""},
		{"edit f-none Use y.", "", `"f-none"`},
		{"forget f-none", "", `"f-none"`},
		{"forget f-none more", "", `remove "more"`},
		{"accept p-none", "", `memory has no open proposal "p-none"`},
		{"undo", "forgotten: Use sqlc", ""},
		{"undo", "", "has written nothing"},
		{"ADD Use z.", "remembered: Use z. (r-", ""},
		{"off", "memory is off in this session", ""},
		{"list", "", "memory is off in this session"},
	} {
		got, err := f.run(append([]string{"memory"}, strings.Fields(c.args)...)...)
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
	f.asked.Part = nil // no session runs
	if got, err := f.run("memory"); err != nil || len(got.List.Rows) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// The settings switch memory off, with and without a session.
func TestMemoryIsOffByTheSettings(t *testing.T) {
	for text, c := range map[string]struct {
		report    string
		unoffered int
		err       error
	}{
		"[memory]\nenabled = false\n": {"off ([memory] enabled)", 1, errDisabled},
		"[memory]\nobserve = false\n": {"rules 1, corrections 0, facts 0, new in this session 0; ", 1, nil}, // the controls
		"":                            {"rules 1, corrections 0, facts 0, new in this session 0; ", 0, nil},
	} {
		f := newFolder(t, text)
		if err := errors.Join(os.MkdirAll(filepath.Dir(f.memory), 0o700), os.WriteFile(f.memory, []byte("## Rules\n- Use tabs.\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		p, _ := f.asked.Part.(Part)
		set, err := p.After(func(context.Context) (instructions.Set, error) {
			return instructions.Set{Files: []instructions.File{{Path: "AGENTS.md", Text: "Be brief."}}}, nil
		})(t.Context())
		if got := set.Text(); err != nil || !strings.Contains(got, "Be brief.") || strings.Contains(got, "Use tabs.") != (c.err == nil) {
			t.Errorf("%q: told %q, %v", text, got, err)
		}
		if got := p.Report(); !strings.HasPrefix(got, c.report) || len(p.Unoffered()) != c.unoffered {
			t.Errorf("%q: %s, without %s", text, got, p.Unoffered())
		}
		for range 2 {
			for _, verb := range []string{"list", "off"} {
				if _, err := f.run("memory", verb); verb == "list" && !errors.Is(err, c.err) || c.err != nil && err == nil {
					t.Errorf("%q: %s: %v", text, verb, err)
				}
			}
			f.asked.Part = nil // no session runs
		}
	}
}

// The list explains why an entry does not hold and where it is; each action names its entry.
func TestMemoryList(t *testing.T) {
	f := newFolder(t, "")
	path := f.memory
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "## Rules\n- Use tabs. <!-- r-aaaa 2026-01-01 target:web-* -->\n- Never use tabs. <!-- r-bbbb 2026-02-01 target:web-* -->\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := f.run("memory")
	if err != nil || a.List == nil || a.List.Note != "" || len(a.List.Rows) != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	r := a.List.Rows[0]
	if r.ID != "r-aaaa" || r.Cells[3] != "not in effect: r-bbbb says the opposite" {
		t.Errorf("%+v", r)
	}
	if want := "r-aaaa  rule  in this folder\n  Use tabs.\n  on web-*\n  not in effect: r-bbbb says the opposite\n  " + path + ":2\n  r-aaaa 2026-01-01 target:web-*"; strings.Join(r.More, "\n") != want {
		t.Errorf("%q, want %q", r.More, want)
	}
	for _, d := range r.Deeds {
		if len(d.Run) != 3 || d.Run[0] != "memory" || d.Run[2] != "r-aaaa" {
			t.Errorf("%+v", d)
		}
	}
	why, err := f.run("memory", "why", "r-bbbb")
	if err != nil || !strings.HasPrefix(why.String(), "r-bbbb  rule  in this folder\n  Never use tabs.\n  on web-*\n") || strings.Contains(why.String(), "by hand") {
		t.Errorf("%q, %v", why, err)
	}
	if _, err := f.run(r.Deeds[len(r.Deeds)-1].Run...); err != nil { // "forget it"
		t.Error(err)
	}
	if a, err = f.run("memory"); err != nil || len(a.List.Rows) != 1 || a.List.Rows[0].ID != "r-bbbb" {
		t.Errorf("%+v, %v", a, err)
	}
}
