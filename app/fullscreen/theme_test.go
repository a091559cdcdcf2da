package fullscreen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/app/compose"
	"buddy/config"
)

// An error in keys or themes is one line with file, line and key.
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
		"[keys]\nsend = [\"Enter\"]\ndeny = [\"y\"]\n":           `:3: keys.deny: key y is both approve and deny in scope approval`,
		"[keys]\nsend = [\"Entr\"]\n":                            `:2: keys.send: key "Entr": "Entr" is not a key`,
		"[ui]\ntheme = \"mien\"\n":                               `:2: ui.theme: unknown theme "mien" (have: auto, dark, high-contrast, light, solarized, mine)`,
		"[ui]\ntheme = \"mine\"\n":                               `:2: ui.theme: theme "mine": ` + mine + `: unknown role "erorr"`,
		"[keys]\nnewline = [\"Ctrl+X\"]\n[ui]\ntheme=\"auto\"\n": "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, index, _, err := config.Load(config.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = compose.BoundKeys(cfg.Keys, index)
		if err == nil {
			_, err = LooksOf(&compose.Options{}, cfg, index)
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
