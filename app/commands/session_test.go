package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"buddy/agent/event"
	"buddy/app/compose"
	"buddy/app/slash"
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

// withSessions returns commands in a new folder that has a saved session.
func withSessions(t *testing.T, id, prompt string) (s *Session, sent *[]string) {
	t.Helper()
	folderHere(t)
	setup, err := compose.NewSetup(&compose.Options{}, slash.ThisMachine, "")
	if err != nil {
		t.Fatal(err)
	}
	cwd, _ := os.Getwd()
	j, err := setup.Store.Create(sessions.Header{ID: id, Cwd: cwd, Target: slash.ThisMachine, Model: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	for n, e := range []event.Event{event.PromptSubmitted{ID: 1, Text: prompt}, event.TaskStarted{ID: 1, Kind: event.MainTask}, event.TaskFinished{ID: 1, Outcome: event.Completed}} {
		if err := j.Append(event.Envelope{Seq: uint64(n + 1), Time: 1_790_000_000_000, Session: id, Task: 1, Payload: e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	sent = new([]string)
	return &Session{Setup: &setup, Send: func(c event.Command) { *sent = append(*sent, fmt.Sprintf("%T%+v", c, c)) }}, sent
}

// The verbs of /session, /clear and /export work on the saved sessions of the folder, and say what is wrong.
func TestSessionVerbs(t *testing.T) {
	const id = "7f3a-1111-1111-1111"
	s, sent := withSessions(t, id, "why do the tests fail")
	for _, tt := range []struct{ line, want string }{
		{"session", "Sessions of this folder (1):\n  1  why do the tests fail  "},
		{"session new", `leave ""`},
		{"clear", `leave ""`},
		{"session resume 7f3a", `leave "` + id + `"`},
		{"session resume 99", "error no session"},
		{"session resume", "error session resume needs ID"},
		{"session rename the shop", "event.Rename{Title:the shop} session renamed: the shop"},
		{"session search", "error session search needs TEXT"},
		{"session search tests fail", "  " + id + "  why do the tests fail\n    2026-"},
		{"session search nothing like it", `no session in this folder contains "nothing like it"`},
		{"session fork x", `error "x" is not an exchange's number`},
		{"session fork", "error this session isn't saved yet"},
		{"session sing", `error "sing" is not known (have: list, new, resume, rename, search, fork, export)`},
		{"session export " + id, "exported to buddy-" + id + ".md (no secrets found; read the file before you share it)"},
		{"export pdf", `error unknown argument "pdf" (use md, html, json, or a file name such as session.md)`},
		{"export", "error there is nothing to export"},
		{"style", "Answer styles:\n* 1  "},
		{"style nonsense", "error "},
		{"logout nonsense", `error unknown provider or profile "nonsense"`},
	} {
		*sent = nil
		a, err := Run(t.Context(), s, strings.Split(tt.line, " ")...)
		got := strings.TrimSpace(strings.Join(*sent, " ") + " " + a.String())
		if strings.HasPrefix(tt.want, " ") {
			got = "  " + got
		}
		switch {
		case err != nil:
			got = "error " + err.Error()
		case a.Leave != nil:
			got = fmt.Sprintf("leave %q", a.Leave.Session)
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
	if _, err := os.Stat("buddy-" + id + ".md"); err != nil {
		t.Error(err)
	}
}

// A format, a file, or both say what an export is.
func TestExportWish(t *testing.T) {
	for line, want := range map[string]string{
		"":                  "md \"\" false",
		"html":              "html \"\" false",
		"a b.json":          "json \"a b.json\" false",
		"markdown my notes": "md \"my notes\" false",
		"a  b.md --force":   "md \"a  b.md\" true",
		"html --force x":    "html \"x\" true",
		"--force x.txt":     "md \"x.txt\" true",
	} {
		as, file, force, err := exportWish(strings.Split(line, " "))
		if got := fmt.Sprintf("%s %q %v", as, file, force); err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", line, got, err, want)
		}
	}
}
