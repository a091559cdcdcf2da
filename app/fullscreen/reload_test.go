package fullscreen

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/app/compose"
	"buddy/app/keymap"
	"buddy/config"
	"buddy/themes"
)

// onDisk is a home with settings that a test changes.
type onDisk struct {
	t    *testing.T
	file string
}

func newOnDisk(t *testing.T, text string) onDisk {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("NO_COLOR", "")
	for _, name := range []string{"BUDDY_MODEL", "BUDDY_BASE_URL", "BUDDY_API_KEY", "AGENT_MODEL", "AGENT_BASE_URL", "AGENT_API_KEY"} {
		t.Setenv(name, "")
	}
	t.Chdir(t.TempDir())
	d := onDisk{t, filepath.Join(home, ".config", "buddy", "buddy.toml")}
	d.write(d.file, text)
	return d
}

func (d onDisk) write(path, text string) {
	d.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(d.file), path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// settings are those of a program that starts now.
func (d onDisk) settings(f *compose.Options) *settings {
	d.t.Helper()
	c, _, notices, err := config.Load(config.Options{Config: f.Config})
	if err != nil {
		d.t.Fatal(err)
	}
	return newSettings(f, &compose.Program{Config: c, Notices: notices})
}

// The theme, keys and rules that changed apply at once, what else changed is
// named, and a mistake leaves everything as it was and is said once.
func TestReload(t *testing.T) {
	d := newOnDisk(t, "[ui]\ntheme = \"dark\"\n")
	synctest.Test(t, func(t *testing.T) {
		f := &compose.Options{}
		x := openScreen(t, 120, 32, f)
		s := d.settings(f)
		step := func(text string, wantNotices []string, wantWarning string, wantRules bool) {
			t.Helper()
			d.write(d.file, text)
			var got takenOver
			x.later(func() { got = s.takeOver(x.ui, compose.ReadSettings(s.flags)) })
			x.Settle()
			if !slices.Equal(got.notices, wantNotices) || got.warning != wantWarning || got.rules != wantRules {
				t.Errorf("%q:\nnotices %q\nwant    %q\nwarning %q\nwant    %q\nrules %v", text, got.notices, wantNotices, got.warning, wantWarning, got.rules)
			}
		}
		step("[ui]\ntheme = \"dark\" # the same\n", nil, "", false)
		step("[ui]\ntheme = \"solarized\"\n", []string{"settings taken over: theme"}, "", false)
		if x.theme() != "solarized" {
			t.Errorf("theme %s", x.theme())
		}
		x.Want("F1 help")
		step("[ui]\ntheme = \"solarized\"\n[keys]\nhelp = [\"F9\"]\n[[deny]]\nprefix = [\"rm\"]\n",
			[]string{"settings taken over: keys, rules"}, "", true)
		x.Want("F9 help")
		x.Press("F9")
		x.Want("Help", "Esc closes")
		// A mistake keeps all, also what is right in the file, and is said once.
		wrong := "[ui]\ntheme = \"light\"\nnotify = \"bel\"\n[keys]\nhelp = [\"F3\"]\n"
		step(wrong, nil, d.file+`:3: ui.notify: unknown value "bel" (have: bell, osc9, osc777, off; nearest: bell)`, false)
		step(wrong, nil, "", false)
		if x.theme() != "solarized" || x.keys.Name(keymap.ShowHelp) != "F9" {
			t.Errorf("theme %s, help on %s", x.theme(), x.keys.Name(keymap.ShowHelp))
		}
		step("[keys]\nhelp = [\"Entr\"]\n", nil, d.file+`:2: keys.help: key "Entr": "Entr" is not a key (have: a character, Space, Backspace, Delete, Down, End, Enter, Esc, F1, F10, F11, F12, F2, F3, F4, F5, F6, F7, F8, F9, Home, Insert, Left, PgDn, PgUp, Right, Tab, Up)`, false)
		step("[[deny]]\n", nil, d.file+`:1: deny: a rule needs a tool, prefix, path, host or target`, false)
		step("[ui]\ntheme = \"mine\"\n", nil, d.file+`:2: ui.theme: unknown theme "mine" (have: auto, dark, high-contrast, light, solarized)`, false)
		back := "[ui]\ntheme = \"solarized\"\n[keys]\nhelp = [\"F9\"]\n[[deny]]\nprefix = [\"rm\"]\n"
		step(back, []string{"the settings are right again"}, "", false)
		// What needs a start is named, once.
		step(back+"[agent]\nmax_iterations = 3\n", []string{"waiting for the next start or /session new: agent.max_iterations"}, "", false)
		step(back+"[agent]\nmax_iterations = 3\n#\n", nil, "", false)
		step("", []string{"settings taken over: theme, keys, rules"}, "", true)
		if x.keys.Name(keymap.ShowHelp) != "F1" {
			t.Errorf("help on %s", x.keys.Name(keymap.ShowHelp))
		}
	})
}

// A theme of one's own changes while its file is edited; a mistake in it keeps the old one.
func TestReloadOfTheThemesFile(t *testing.T) {
	d := newOnDisk(t, "[ui]\ntheme = \"mine\"\n")
	mine := filepath.Join(filepath.Dir(d.file), "themes", "mine.toml")
	d.write(mine, "error = \"bold\"\n")
	synctest.Test(t, func(t *testing.T) {
		f := &compose.Options{}
		x := openScreen(t, 120, 32, f)
		s := d.settings(f)
		first, err := Colours(f).Load("mine")
		if err != nil {
			t.Fatal(err)
		}
		x.ui.TakeTheme("mine", first)
		now := func() *themes.Theme { t, _ := x.ui.Theme(); return t }
		take := func(text string) takenOver {
			d.write(mine, text)
			return s.takeOver(x.ui, compose.ReadSettings(s.flags))
		}
		if got := take("error = \"italic\"\n"); len(got.notices) != 1 || *now() == *first {
			t.Errorf("%+v", got)
		}
		before := now()
		if got := take("error = \n"); got.warning != `theme "mine": `+mine+`:1: toml: expected value, not newline` && !strings.Contains(got.warning, mine+":1:") || now() != before {
			t.Errorf("%+v", got)
		}
		// What was chosen with --theme or /theme is not what the file names.
		s.flags = &compose.Options{Theme: "mine"}
		d.write(d.file, "[ui]\ntheme = \"light\"\n")
		if got := take("error = \"italic\"\n"); x.theme() != "mine" || got.warning != "" {
			t.Errorf("theme %s, %+v", x.theme(), got)
		}
	})
}

// Rules apply at once only from a file whose every change the policy asks about; those
// that allow never come from a project.
func TestReloadOfRulesIsGuarded(t *testing.T) {
	d := newOnDisk(t, "")
	other := filepath.Join(filepath.Dir(d.file), "other.toml")
	d.write(other, "")
	for _, tt := range []struct {
		flags   compose.Options
		project bool
		text    string
		want    int // rules that are there
		live    bool
	}{
		{compose.Options{}, false, "[[allow]]\ntool = \"time\"\n", 1, true},
		{compose.Options{Config: other}, false, "[[allow]]\ntool = \"time\"\n", 1, false},
		{compose.Options{}, true, "[[allow]]\ntool = \"time\"\n[[deny]]\ntool = \"todo\"\n", 1, true},
	} {
		path := d.file
		if tt.project {
			d.write(d.file, "")
			cwd, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			path = filepath.Join(cwd, "buddy.toml")
		} else if tt.flags.Config != "" {
			path = other
		}
		d.write(path, tt.text)
		r := compose.ReadSettings(&tt.flags)
		if r.Err != nil || len(r.Rules) != tt.want || r.Live != tt.live || tt.project && r.Rules[0].Decision != "deny" {
			t.Errorf("%+v: %v %v, live %v", tt, r.Err, r.Rules, r.Live)
		}
	}
	if err := os.Remove(d.file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, d.file); err != nil {
		t.Fatal(err)
	}
	if compose.RulesLive("") {
		t.Error("a link to a file of another name is as good as buddy.toml")
	}
	if err := os.Remove(d.file); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"buddy.toml", "agent.toml"} { // the first wins while both are there
		want := name == "buddy.toml"
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if compose.RulesLive("") != want {
			t.Errorf("./%s: %v", name, !want)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// Of the program nothing else changes, whatever the files say, but what /trust is about.
func TestReloadChangesNothingElse(t *testing.T) {
	d := newOnDisk(t, "")
	synctest.Test(t, func(t *testing.T) {
		f := &compose.Options{}
		x := openScreen(t, 120, 32, f)
		s := d.settings(f)
		p := &compose.Program{Config: s.began}
		w := &window{program: p, ui: x.ui}
		before := p.Config
		x.later(func() { w.reload(s, compose.ReadSettings(s.flags)) })
		x.Settle()
		d.write(d.file, `
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
help = ["F9"]
[models.a]
api_base_url = "http://localhost:1/v1"
[[allow]]
tool = "time"
`)
		x.later(func() { w.reload(s, compose.ReadSettings(s.flags)) })
		x.Settle()
		after := p.Config
		after.Project, before.Project = config.Project{}, config.Project{}
		if keys := config.Changed(&before, &after); len(keys) > 0 || after.Active != nil {
			t.Errorf("the program's own settings changed: %v", keys)
		}
		if x.theme() != "light" || x.keys.Name(keymap.ShowHelp) != "F9" || len(s.now.Rules) != 1 {
			t.Errorf("not taken over: %s, %s, %v", x.theme(), x.keys.Name(keymap.ShowHelp), s.now.Rules)
		}
		want := []string{
			"agent.max_iterations", "agent.on_stall", "context.keep", "tools.env_allow", "tools.timeout", "sandbox.mode",
			"ui.notify", "ui.title", "models.a",
		}
		if !slices.Equal(s.pending, want) {
			t.Errorf("waiting %v, want %v", s.pending, want)
		}
	})
}
