package host

import (
	"slices"
	"testing"

	"buddy/app/apptest"
	"buddy/app/compose"
)

// inUse returns the settings of a new session.
func inUse(t *testing.T) *settings {
	t.Helper()
	setup, err := compose.NewSetup(&compose.Options{}, "local", "")
	if err != nil {
		t.Fatal(err)
	}
	return newSettings(&setup)
}

// Changed rules apply at once, other changes are named, and an error changes nothing and is reported once. Screens
// handle themes and keys.
func TestReload(t *testing.T) {
	d := apptest.NewSettings(t, "[ui]\ntheme = \"dark\"\n")
	s := inUse(t)
	step := func(text string, wantNotices []string, wantWarning string, wantRules bool) {
		t.Helper()
		d.Write(d.File, text)
		got := s.apply(compose.ReadSettings(&compose.Options{}))
		if !slices.Equal(got.notices, wantNotices) || got.warning != wantWarning || got.rules != wantRules {
			t.Errorf("%q:\nnotices %q\nwant    %q\nwarning %q\nwant    %q\nrules %v", text, got.notices, wantNotices, got.warning, wantWarning, got.rules)
		}
	}
	step("[ui]\ntheme = \"light\"\n[keys]\nhelp = [\"F10\"]\n", nil, "", false)
	rule := "[[deny]]\nprefix = [\"rm\"]\n"
	step(rule, []string{"Settings reloaded: rules"}, "", true)
	wrong := "[ui]\ntheme = \"light\"\nnotify = \"bel\"\n[keys]\nhelp = [\"F3\"]\n"
	step(wrong, nil, d.File+`:3: ui.notify: unknown value "bel" (have: bell, osc9, osc777, off; nearest: bell)`, false)
	step(wrong, nil, "", false)
	step("[keys]\nhelp = [\"Entr\"]\n", nil, d.File+`:2: keys.help: key "Entr": "Entr" is not a key (have: a character, Space, Backspace, Delete, Down, End, Enter, Esc, F1, F10, F11, F12, F2, F3, F4, F5, F6, F7, F8, F9, Home, Insert, Left, PgDn, PgUp, Right, Tab, Up)`, false)
	step("[[deny]]\n", nil, d.File+`:1: deny: a rule needs a tool, prefix, path, host or target`, false)
	step(rule, []string{"The settings are valid again"}, "", false)
	// Changes that need a restart are named once.
	step(rule+"[agent]\nmax_iterations = 3\n", []string{"these settings apply after a restart or /session new: agent.max_iterations"}, "", false)
	step(rule+"[agent]\nmax_iterations = 3\n#\n", nil, "", false)
	step("", []string{"Settings reloaded: rules"}, "", true)
}

// Nothing else changes in a running session: other settings wait for the next start.
func TestReloadChangesNothingElse(t *testing.T) {
	d := apptest.NewSettings(t, "")
	s := inUse(t)
	d.Write(d.File, `
[agent]
max_iterations = 3
on_stall = "abort"
[context]
keep = 5
[tools]
env_allow = ["X"]
timeout = 1
[sandbox]
mode = "workspace"
[ui]
theme = "light"
notify = "off"
title = false
[keys]
help = ["F10"]
[models.a]
api_base_url = "http://localhost:1/v1"
[[allow]]
tool = "time"
`)
	s.apply(compose.ReadSettings(&compose.Options{}))
	want := []string{
		"agent.max_iterations", "agent.on_stall", "context.keep", "tools.env_allow", "tools.timeout", "sandbox.mode",
		"ui.notify", "ui.title", "models.a",
	}
	if !slices.Equal(s.pending, want) || len(s.now.Rules) != 1 {
		t.Errorf("waiting %v, want %v; rules %v", s.pending, want, s.now.Rules)
	}
}
