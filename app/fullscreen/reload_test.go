package fullscreen

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/app/apptest"
	"buddy/app/compose"
	"buddy/app/keymap"
	"buddy/app/statusline"
	"buddy/config"
	"buddy/themes"
)

// inUse returns the settings of a new screen.
func inUse(t *testing.T, f *compose.Options) *settings {
	t.Helper()
	c, _, _, err := compose.LoadConfig(f)
	if err != nil {
		t.Fatal(err)
	}
	return &settings{flags: f, now: c}
}

// A changed theme and changed keys apply at once. An error changes nothing: one in a theme is reported once, the
// session reports others.
func TestReload(t *testing.T) {
	d := apptest.NewSettings(t, "[ui]\ntheme = \"dark\"\n")
	synctest.Test(t, func(t *testing.T) {
		f := &compose.Options{}
		x := openScreen(t, 120, 32, f)
		s := inUse(t, f)
		step := func(text, wantNotice, wantWarning string) {
			t.Helper()
			d.Write(d.File, text)
			var notice, warning string
			x.later(func() { notice, warning = s.apply(x.ui, compose.ReadSettings(s.flags)) })
			x.Settle()
			if notice != wantNotice || warning != wantWarning {
				t.Errorf("%q:\nnotice  %q\nwant    %q\nwarning %q\nwant    %q", text, notice, wantNotice, warning, wantWarning)
			}
		}
		step("[ui]\ntheme = \"dark\" # the same\n", "", "")
		step("[ui]\ntheme = \"solarized\"\n", "Settings reloaded: theme", "")
		if x.theme() != "solarized" {
			t.Errorf("theme %s", x.theme())
		}
		x.Want("F1 help")
		step("[ui]\ntheme = \"solarized\"\n[keys]\nhelp = [\"F10\"]\n[[deny]]\nprefix = [\"rm\"]\n", "Settings reloaded: keys", "")
		x.Want("F10 help")
		x.Press("F10")
		x.Want("Help", "Esc closes")
		// An error keeps everything, including valid changes in the file.
		step("[ui]\ntheme = \"light\"\nnotify = \"bel\"\n[keys]\nhelp = [\"F3\"]\n", "", "")
		if x.theme() != "solarized" || x.keys.Name(keymap.ShowHelp) != "F10" {
			t.Errorf("theme %s, help on %s", x.theme(), x.keys.Name(keymap.ShowHelp))
		}
		unknown := d.File + `:2: ui.theme: unknown theme "mine" (have: auto, dark, high-contrast, light, solarized)`
		step("[ui]\ntheme = \"mine\"\n", "", unknown)
		step("[ui]\ntheme = \"mine\"\n#\n", "", "")
		step("[ui]\ntheme = \"solarized\"\n[keys]\nhelp = [\"F10\"]\n", "The theme is valid again", "")
		step("", "Settings reloaded: theme, keys", "")
		if x.keys.Name(keymap.ShowHelp) != "F1" {
			t.Errorf("help on %s", x.keys.Name(keymap.ShowHelp))
		}
	})
}

// The user's own theme changes while its file is edited; an error in it keeps the old one.
func TestReloadOfTheThemesFile(t *testing.T) {
	d := apptest.NewSettings(t, "[ui]\ntheme = \"mine\"\n")
	mine := filepath.Join(filepath.Dir(d.File), "themes", "mine.toml")
	d.Write(mine, "error = \"bold\"\n")
	synctest.Test(t, func(t *testing.T) {
		f := &compose.Options{}
		x := openScreen(t, 120, 32, f)
		s := inUse(t, f)
		first, err := Colours(f).Load("mine")
		if err != nil {
			t.Fatal(err)
		}
		x.ui.UseTheme("mine", first)
		now := func() *themes.Theme { t, _ := x.ui.Theme(); return t }
		take := func(text string) (notice, warning string) {
			d.Write(mine, text)
			return s.apply(x.ui, compose.ReadSettings(s.flags))
		}
		if notice, _ := take("error = \"italic\"\n"); notice == "" || *now() == *first {
			t.Error("the theme was not taken over")
		}
		before := now()
		if _, warning := take("error = \n"); !strings.Contains(warning, mine+":1:") || now() != before {
			t.Errorf("warning %q", warning)
		}
		// A theme chosen with --theme or /theme is not the one in the file.
		s.flags = &compose.Options{Theme: "mine"}
		d.Write(d.File, "[ui]\ntheme = \"light\"\n")
		if _, warning := take("error = \"italic\"\n"); x.theme() != "mine" || warning != "" {
			t.Errorf("theme %s, %q", x.theme(), warning)
		}
	})
}

// Nothing else changes in the screen, except the project for /trust.
func TestReloadChangesNothingElse(t *testing.T) {
	d := apptest.NewSettings(t, "")
	synctest.Test(t, func(t *testing.T) {
		f := &compose.Options{}
		x := openScreen(t, 120, 32, f)
		s := inUse(t, f)
		setup := &compose.Setup{Config: s.now}
		w := &window{setup: setup, ui: x.ui, screen: x.screen, line: statusline.New(statusline.Options{})}
		before := setup.Config
		d.Write(d.File, "[agent]\nmax_iterations = 3\n[tools]\ntimeout = 1\n[ui]\ntheme = \"light\"\nnotify = \"off\"\n[keys]\nhelp = [\"F10\"]\n[[allow]]\ntool = \"time\"\n")
		x.later(func() { w.reload(s, compose.ReadSettings(s.flags)) })
		x.Settle()
		after := setup.Config
		after.Project, before.Project = config.Project{}, config.Project{}
		if keys := config.Changed(&before, &after); len(keys) > 0 {
			t.Errorf("what the session began with changed: %v", keys)
		}
		x.Want("Settings reloaded: theme, keys")
		if x.theme() != "light" || x.keys.Name(keymap.ShowHelp) != "F10" {
			t.Errorf("not taken over: %s, %s", x.theme(), x.keys.Name(keymap.ShowHelp))
		}
	})
}
