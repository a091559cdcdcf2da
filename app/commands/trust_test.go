package commands

import (
	"os"
	"strings"
	"testing"

	"buddy/app/compose"
	"buddy/app/show"
	"buddy/app/slash"
)

// The list shows what the project runs; a deed trusts it in the form that was shown, and not in another one. Typed words
// take effect at once.
func TestTrust(t *testing.T) {
	folderHere(t)
	write := func(command string) {
		t.Helper()
		if err := os.MkdirAll(".buddy", 0o700); err != nil {
			t.Fatal(err)
		}
		text := `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "` + command + `"}]}], "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}}`
		if err := os.WriteFile(".buddy/hooks.json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sh x.sh")
	setup, err := compose.NewSetup(&compose.Options{}, slash.ThisMachine, "")
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{Setup: &setup, Now: &slash.Now{}}
	list := func() *show.List {
		t.Helper()
		a, err := Run(t.Context(), s, "trust")
		if err != nil || a.List == nil {
			t.Fatalf("%+v, %v", a, err)
		}
		return a.List
	}
	first := list()
	if len(first.Rows) != 3 || first.Rows[0].Cells[0] != "all 2 untrusted" {
		t.Fatalf("%+v", first.Rows)
	}
	if text := (show.Answer{List: first}).String(); !strings.Contains(text, "runs: sh x.sh") {
		t.Errorf("line by line it can't be seen: %s", text)
	}
	row := func(l *show.List, what string) show.Row {
		t.Helper()
		for _, r := range l.Rows {
			if strings.HasPrefix(r.Cells[0], what) {
				return r
			}
		}
		t.Fatalf("no %s in %+v", what, l.Rows)
		return show.Row{}
	}
	stop := row(first, "hook Stop")
	if !stop.Whole || stop.Title != "Trust hook Stop?" || stop.Deeds[0].Label != "trust it" {
		t.Errorf("%+v", stop)
	}
	write("touch evil")
	if _, err := Run(t.Context(), s, stop.Deeds[0].Run...); err == nil || !strings.Contains(err.Error(), "changed after you opened the list; run") {
		t.Errorf("%v", err)
	}
	stop = row(list(), "hook Stop")
	if a, err := Run(t.Context(), s, stop.Deeds[0].Run...); err != nil || a.Leave != nil {
		t.Errorf("%+v, %v", a, err)
	}
	if stop = row(list(), "hook Stop"); stop.Cells[2] != "trusted" || !stop.Mark || stop.Deeds[0].Label != "stop trusting it" {
		t.Errorf("%+v", stop)
	}
	write("touch worse")
	if stop = row(list(), "hook Stop"); stop.Cells[2] != "changed" || len(stop.Deeds) != 2 || !strings.Contains(strings.Join(stop.More, "\n"), "touch worse") {
		t.Errorf("%+v", stop)
	}
	if a, err := Run(t.Context(), s, stop.Deeds[1].Run...); err != nil || a.Text == nil || a.Text.Form != show.Diff || !strings.Contains(a.Text.Body, "touch evil") {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := Run(t.Context(), s, "trust", "all"); err == nil || !strings.Contains(err.Error(), "look at the list first") {
		t.Errorf("what nobody has seen is trusted: %v", err)
	}
	if a, err := Run(t.Context(), s, "trust", stop.ID, row(list(), "hook PreToolUse").ID); err != nil || a.Leave == nil { // the control
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := Run(t.Context(), s, "trust", "forget", row(list(), "hook Stop").ID); err != nil || a.Leave == nil {
		t.Errorf("%+v, %v", a, err)
	}
	s.Now.Busy = "task #1 runs"
	if _, err := Run(t.Context(), s, "trust"); err == nil || err.Error() != s.Now.Busy {
		t.Errorf("while a task runs: %v", err)
	}
	s.Now = nil
	if _, err := Run(t.Context(), s, "trust"); err == nil || !strings.Contains(err.Error(), "only a screen that is connected to the session can do that") {
		t.Errorf("where nobody knows whether a task runs: %v", err)
	}
}
