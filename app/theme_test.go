package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/config"
)

// DECISIONS 33: asked after the first frame, 200 ms, else dark.
func TestThemeFollowsTheBackground(t *testing.T) {
	for name, c := range map[string]struct {
		wait   time.Duration
		answer string
		want   string
	}{
		"light":  {0, "rgb:ffff/ffff/e000", "light"},
		"dark":   {0, "rgb:1e1e/1e1e/1e1e", "dark"},
		"late":   {300 * time.Millisecond, "rgb:ffff/ffff/ffff", "dark"},
		"none":   {0, "", "dark"},
		"broken": {0, "rgb:zz/zz/zz", "dark"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 120, 32)
				x.Type("/theme auto\n")
				if asked := x.Strings(); !slices.Contains(asked, "11;?") {
					t.Fatalf("the terminal was asked %q", asked)
				}
				time.Sleep(c.wait)
				if c.answer != "" {
					x.Terminal.Type("\x1b]11;" + c.answer + "\x1b\\")
				}
				x.Want("> ") // nothing of the answer was typed into the prompt
				x.unwanted("rgb")
				if got := x.u.deps.theme.Name; got != c.want {
					t.Errorf("theme %s, want %s", got, c.want)
				}
				x.Type("/theme\n")
				x.Want("▸*auto")
				if got := x.u.deps.theme.Name; got != c.want {
					t.Errorf("theme %s once the list is open, want %s", got, c.want)
				}
			})
		})
	}
}

// Another theme is not replaced by an answer that comes later.
func TestChosenThemeStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("/theme auto\n")
		x.Type("/theme solarized\n")
		x.Terminal.Type("\x1b]11;rgb:ff/ff/ff\x1b\\")
		x.Settle()
		if got := x.u.deps.theme.Name; got != "solarized" {
			t.Errorf("theme %s", got)
		}
		if _, style, _ := x.Cell(5, 10); !strings.Contains(style, "2;0;43;54") {
			t.Errorf("an empty cell has the style %q, not solarized's background", style)
		}
	})
}

// DECISIONS 38: one line with file, line and key, for keys and themes.
func TestMistakesInKeysAndThemesHaveTheirPlace(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("NO_COLOR", "")
	t.Chdir(t.TempDir())
	file := filepath.Join(home, ".config", "buddy", "buddy.toml")
	if err := os.MkdirAll(filepath.Join(filepath.Dir(file), "themes"), 0o700); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(filepath.Dir(file), "themes", "mine.toml")
	if err := os.WriteFile(mine, []byte("erorr = \"bold\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"[keys]\n\nnewlin = [\"Ctrl+J\"]\n":                      `:3: keys.newlin: unknown action "newlin" (nearest: newline)`,
		"[keys]\nsend = [\"Enter\"]\nredraw = [\"Ctrl+W\"]\n":    `:3: keys.redraw: key Ctrl+W is both redraw and kill-to-space-left in scope prompt`,
		"[keys]\nsend = [\"Entr\"]\n":                            `:2: keys.send: key "Entr": "Entr" is not a key`,
		"[ui]\ntheme = \"mien\"\n":                               `:2: ui.theme: unknown theme "mien" (have: auto, dark, high-contrast, light, solarized, mine)`,
		"[ui]\ntheme = \"mine\"\n":                               `:2: ui.theme: theme "mine": ` + mine + `: unknown role "erorr"`,
		"[keys]\nnewline = [\"Ctrl+O\"]\n[ui]\ntheme=\"auto\"\n": "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, index, _, err := config.Load(config.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = boundKeys(cfg.Keys, index)
		if err == nil {
			_, _, err = coloursOf(&flags{}).first(&flags{}, &program{config: cfg, index: index})
		}
		got := ""
		if err != nil {
			got = err.Error()
		}
		if want != "" {
			want = file + want
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
