package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/app/compose"
	"buddy/app/show"
)

// withSettings returns what commands work on with a settings file of the person's, in a new folder with another file of
// the project's.
func withSettings(t *testing.T, own, project string, options compose.Options) (s *Session, path string) {
	t.Helper()
	dir := folderHere(t)
	path = filepath.Join(dir, "..", "home", "config", "buddy", "buddy.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{path: own, filepath.Join(dir, "buddy.toml"): project} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	setup, err := compose.NewSetup(&options, "local", "")
	if err != nil {
		t.Fatal(err)
	}
	return &Session{Setup: &setup}, path
}

// setting returns a setting of the document that /config shows.
func setting(t *testing.T, s *Session, section, label string) show.Value {
	t.Helper()
	a, err := Run(t.Context(), s, "config")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range a.Document.Sections {
		for _, v := range part.Values {
			if part.Title == section && v.Label == label {
				return v
			}
		}
	}
	t.Fatalf("no %s %s in %s", section, label, a)
	return show.Value{}
}

// A deed of a setting changes the person's file and nothing else in it; the document shows it then.
func TestSettingsAreChangedByTheirDeeds(t *testing.T) {
	const before = "# mine\n[ui]\nmouse = true # as I like it\n"
	s, path := withSettings(t, before, "", compose.Options{})
	do := func(d show.Deed, more ...string) string {
		t.Helper()
		a, err := Run(t.Context(), s, append(d.Run, more...)...)
		if err != nil {
			t.Fatal(err)
		}
		return a.String()
	}
	mouse := setting(t, s, "ui", "mouse")
	if !strings.HasSuffix(mouse.From, "buddy.toml:3") || len(mouse.Deeds) != 1 || mouse.BuiltIn || !strings.HasPrefix(mouse.Line, "ui.mouse: Whether buddy handles") {
		t.Errorf("%+v", mouse)
	}
	do(mouse.Deeds[0])
	notify := setting(t, s, "ui", "notify")
	if len(notify.Deeds) != 4 || notify.Deeds[1].Label != "osc9" || !notify.BuiltIn {
		t.Errorf("%+v", notify)
	}
	do(notify.Deeds[1])
	turns := setting(t, s, "agent", "max_iterations")
	if len(turns.Deeds) != 1 || !turns.Deeds[0].Typed || turns.Deeds[0].Edit != turns.Text {
		t.Errorf("%+v", turns)
	}
	do(turns.Deeds[0], "50")
	off := setting(t, s, "tools", "env_allow")
	do(off.Deeds[0], `["A", "B_*"]`)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const want = "# mine\n[ui]\nmouse = false # as I like it\nnotify = \"osc9\"\n\n[agent]\nmax_iterations = 50\n\n[tools]\nenv_allow = [\"A\", \"B_*\"]\n"
	if string(text) != want {
		t.Errorf("the file is\n%s\nwant\n%s", text, want)
	}
	if v := setting(t, s, "tools", "env_allow"); v.Text != "A, B_*" || v.Deeds[0].Edit != `["A", "B_*"]` {
		t.Errorf("%+v", v)
	}
	notify = setting(t, s, "ui", "notify")
	if last := notify.Deeds[len(notify.Deeds)-1]; last.Label != "reset to the default" || do(last) != "ui.notify is reset to its default" {
		t.Errorf("%+v", last)
	}
	do(turns.Deeds[0], "")
	if text, err = os.ReadFile(path); err != nil || strings.Contains(string(text), "osc9") || strings.Contains(string(text), "50") {
		t.Errorf("the file is\n%s", text)
	}
}

// A wrong value is an error, and changes nothing.
func TestWrongSettingsChangeNothing(t *testing.T) {
	const before = "[ui]\nmouse = true\n"
	s, path := withSettings(t, before, "", compose.Options{})
	for line, want := range map[string]string{
		"config set agent.max_iterations many": `"many" is not an integer`,
		"config set ui.theme nonesuch":         "nothing was changed",
		"config set ui.mouze true":             "nearest: mouse",
		"config set models.work.api_key sk-1":  "add it with /login",
		"config now":                           `"now" is not known (have: show, edit, set)`,
		"config set":                           "config set needs KEY [VALUE]",
	} {
		if _, err := Run(t.Context(), s, strings.Fields(line)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != before {
		t.Errorf("the file is\n%s", text)
	}
}

// What beats the person's file can't be changed here: its line says where it comes from.
func TestSettingsThatBeatTheFileStay(t *testing.T) {
	s, path := withSettings(t, "[agent]\nmode = \"auto\"\nmax_iterations = 20\n", "[agent]\nmax_iterations = 5\n", compose.Options{Theme: "light"})
	for _, v := range []show.Value{setting(t, s, "ui", "theme"), setting(t, s, "agent", "max_iterations")} {
		if len(v.Deeds) != 0 || !strings.Contains(v.Line, " is set in "+v.From+", which has priority over your file") {
			t.Errorf("%+v", v)
		}
	}
	a, err := Run(t.Context(), s, "config", "set", "agent.max_iterations", "10")
	if err != nil || !strings.HasPrefix(a.String(), "saved, but agent.max_iterations is currently set by buddy.toml:2") {
		t.Errorf("%v %s", err, a)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "max_iterations = 10") {
		t.Errorf("the file is\n%s", text)
	}
}

// Printed, the settings are those that somebody has set.
func TestSettingsAsText(t *testing.T) {
	s, _ := withSettings(t, "[ui]\nmouse = false\n", "", compose.Options{})
	a, err := Run(t.Context(), s, "config")
	text := a.String()
	if err != nil || !strings.Contains(text, "\nui\n  mouse  false  (~/config/buddy/buddy.toml:2)\n") || strings.Contains(text, "show_tokens") || !strings.Contains(text, " more have their defaults\n/config set KEY VALUE") {
		t.Errorf("%v\n%s", err, text)
	}
	if a, err = Run(t.Context(), s, "config", "edit"); err != nil || !strings.HasSuffix(a.Open, "/home/config/buddy/buddy.toml") {
		t.Errorf("%v %+v", err, a)
	}
}
