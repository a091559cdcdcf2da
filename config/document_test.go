package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestSetKeepsTheRest: one value changes; comments, order and line ends stay.
func TestSetKeepsTheRest(t *testing.T) {
	tests := []struct{ name, text, key, value, want string }{
		{"value", "[ui] # a\ntheme = \"dark\" # b\n# c\n", "ui.theme", "light", "[ui] # a\ntheme = \"light\" # b\n# c\n"},
		{"multi-line string", "[agent]\nsystem_prompt = '''\na\n''' # b\n", "agent.system_prompt", "x", "[agent]\nsystem_prompt = \"x\" # b\n"},
		{"multi-line list", "[tools]\nenv_deny = [\n \"A\", # a\n]\ntimeout = 5\n", "tools.env_deny", "B", "[tools]\nenv_deny = [\"B\"]\ntimeout = 5\n"},
		{"new key after the last", "[ui]\n# a\ntitle = true # b\n\n# c\n[agent]\n", "ui.theme", "dark", "[ui]\n# a\ntitle = true # b\ntheme = \"dark\"\n\n# c\n[agent]\n"},
		{"new key in an empty table", "[ui]\n\n[agent]\n", "ui.theme", "dark", "[ui]\ntheme = \"dark\"\n\n[agent]\n"},
		{"new key below its comment", "[ui]\n#theme = \"auto\"\n# more\ntitle = true\n", "ui.theme", "dark", "[ui]\n#theme = \"auto\"\ntheme = \"dark\"\n# more\ntitle = true\n"},
		{"comment of another table", "[ui]\n#[models.x]\n#theme = 1\n", "ui.theme", "dark", "[ui]\ntheme = \"dark\"\n#[models.x]\n#theme = 1\n"},
		{"new table", "[ui]\ntitle = true\n", "agent.max_iterations", "3", "[ui]\ntitle = true\n\n[agent]\nmax_iterations = 3\n"},
		{"new table, no line end", "[ui]\ntitle = true", "agent.max_iterations", "3", "[ui]\ntitle = true\n\n[agent]\nmax_iterations = 3\n"},
		{"new table in an empty file", "", "ui.theme", "dark", "[ui]\ntheme = \"dark\"\n"},
		{"new table after rules", "[[deny]]\ntool = \"x\"\n", "ui.theme", "dark", "[[deny]]\ntool = \"x\"\n\n[ui]\ntheme = \"dark\"\n"},
		{"new profile", "", `models."gpt 5".api_base_url`, "http://x", "[models.\"gpt 5\"]\napi_base_url = \"http://x\"\n"},
		{"dotted", "ui.title = true # a\nagent.model = \"demo\"\n", "ui.theme", "dark", "ui.title = true # a\nui.theme = \"dark\"\nagent.model = \"demo\"\n"},
		{"dotted in a table", "[models]\na.api_base_url = \"http://x\"\n", "models.a.model", "m", "[models]\na.api_base_url = \"http://x\"\na.model = \"m\"\n"},
		{"inline", "ui = { title = true } # a\n", "ui.theme", "dark", "ui = { title = true, theme = \"dark\" } # a\n"},
		{"inline, empty", "ui = {}\n", "ui.theme", "dark", "ui = { theme = \"dark\" }\n"},
		{"inline, comma at the end", "ui = { title = true, }\n", "ui.theme", "dark", "ui = { title = true, theme = \"dark\"  }\n"},
		{"inline value", "ui = { title = true }\n", "ui.title", "false", "ui = { title = false }\n"},
		{"CRLF", "[ui]\r\ntitle = true\r\n", "ui.theme", "dark", "[ui]\r\ntitle = true\r\ntheme = \"dark\"\r\n"},
		{"a text with quotes", "", "agent.system_prompt", "a \"b\"\\\n\x1b", "[agent]\nsystem_prompt = \"a \\\"b\\\"\\\\\\n\\u001B\"\n"},
		{"unset", "[ui]\n# a\ntheme = \"dark\" # b\ntitle = true\n", "-ui.theme", "", "[ui]\n# a\ntitle = true\n"},
		{"unset, last line", "[ui]\ntheme = \"dark\"", "-ui.theme", "", "[ui]\n"},
		{"unset, lines", "[tools]\nenv_deny = [\n \"A\",\n]\ntimeout = 5\n", "-tools.env_deny", "", "[tools]\ntimeout = 5\n"},
		{"unset inline, first", "ui = { title = true, theme = \"dark\" }\n", "-ui.title", "", "ui = { theme = \"dark\" }\n"},
		{"a number with a zero before it", "[agent]\n", "agent.max_iterations", "010", "[agent]\nmax_iterations = 10\n"},
		{"unset inline, last", "ui = { title = true, theme = \"dark\" }\n", "-ui.theme", "", "ui = { title = true }\n"},
		{"unset inline, only", "ui = { title = true }\n", "-ui.title", "", "ui = { }\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			newHome(t)
			write(t, "c.toml", tt.text)
			d, err := OpenDocument("c.toml")
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if key, unset := strings.CutPrefix(tt.key, "-"); unset {
				var found bool
				if found, err = d.Unset(key); !found {
					t.Error("not found")
				}
			} else {
				err = d.Set(tt.key, []string{tt.value})
			}
			if err != nil || string(d.data) != tt.want {
				t.Fatalf("%q, %v\nwant %q", d.data, err, tt.want)
			}
			if wrong := d.Check().Mistakes(); len(wrong) > 0 {
				t.Errorf("mistakes: %v", wrong)
			}
			if err := d.Save(); err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile("c.toml"); err != nil || string(data) != tt.want {
				t.Errorf("saved %q, %v", data, err)
			}
		})
	}
}

// TestSaveKeepsLinkAndMode: a link to a folder of dotfiles stays a link, permissions stay, and a file with a key is
// closed to others.
func TestSaveKeepsLinkAndMode(t *testing.T) {
	newHome(t)
	write(t, "dotfiles/c.toml", "[ui]\n")
	for _, err := range []error{os.Chmod("dotfiles/c.toml", 0o644), os.Symlink("dotfiles/c.toml", "c.toml")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	mode := func() os.FileMode {
		info, err := os.Stat("dotfiles/c.toml")
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	set := func(key, value string) {
		t.Helper()
		d, err := OpenDocument("c.toml")
		if err == nil {
			defer d.Close()
			err = d.Set(key, []string{value})
		}
		if err == nil {
			err = d.Save()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	set("ui.theme", "dark")
	if info, err := os.Lstat("c.toml"); err != nil || info.Mode()&os.ModeSymlink == 0 || mode() != 0o644 {
		t.Errorf("%v %v, mode %v", info, err, mode())
	}
	set("models.a.api_base_url", "http://x")
	set("models.a.api_key", "k")
	if mode() != 0o600 {
		t.Errorf("a file with a key has mode %v", mode())
	}
}

// TestOpenDocumentCannot: the error names the obstacle, and no link is followed.
func TestOpenDocumentCannot(t *testing.T) {
	h := newHome(t)
	if err := os.MkdirAll(filepath.Dir(h.user), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", h.user); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		h.user: h.user + ": is a symbolic link to a file that does not exist",
		"/":    "/: is a directory, not a file",
		"":     "can't find your home folder: give the settings file with --config FILE",
	} {
		if _, err := OpenDocument(path); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", path, err, want)
		}
	}
	if _, _, notices := load(t, Options{}); len(notices) != 1 || notices[0] != h.user+": is a symbolic link to a file that does not exist: not read" {
		t.Errorf("notices %q", notices)
	}
}

// TestChangesWaitForEachOther: no change is lost when several happen at the same time.
func TestChangesWaitForEachOther(t *testing.T) {
	newHome(t)
	write(t, "c.toml", "[keys]\n")
	var all sync.WaitGroup
	const n = 20
	for i := range n {
		all.Go(func() {
			d, err := OpenDocument("c.toml")
			if err != nil {
				t.Error(err)
				return
			}
			defer d.Close()
			if err := errors.Join(d.Set(fmt.Sprintf("keys.a%d", i), []string{"x"}), d.Save()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := len(Check("c.toml").Config.Keys); got != n {
		t.Errorf("%d of %d changes are there", got, n)
	}
}

// TestUserFile: a legacy file is edited as long as it is in effect.
func TestUserFile(t *testing.T) {
	h := newHome(t)
	write(t, h.legacyUser, "")
	if got := UserFile(""); got != h.legacyUser {
		t.Errorf("got %s", got)
	}
	write(t, h.user, "")
	if got := UserFile(""); got != h.user {
		t.Errorf("got %s", got)
	}
	if got := UserFile("c.toml"); got != "c.toml" {
		t.Errorf("got %s", got)
	}
	notes := ""
	for _, s := range Sources("", nil) {
		notes += s.Kind + ":" + s.Note + "\n"
	}
	if want := "project:\nproject:\nuser:\nuser:not read, because " + h.user + " exists\n"; notes != want {
		t.Errorf("sources %q, want %q", notes, want)
	}
	t.Chdir(filepath.Dir(h.user))
	if got := Sources("", nil)[0].Note; got != "your own file" {
		t.Errorf("note %q", got)
	}
}

// FuzzSet: for any file and value, an accepted change affects one key only, and a refused one changes nothing.
func FuzzSet(f *testing.F) {
	for _, text := range []string{"", Template(), twoProfiles, "ui = { title = true, }", "ui.title = true\r\n[agent]", "[keys]\n\"a b\" = []\n[[deny]]\ntool=\"x\"", "models = {a={api_base_url=\"http://x\",}}"} {
		f.Add([]byte(text), uint8(0), "dark")
		f.Add([]byte(text), uint8(3), "[\"a\"]")
		f.Add([]byte(text), uint8(5), "\x00\xff\"\\")
	}
	keys := []string{"ui.theme", "ui.title", "agent.max_cost", "tools.env_deny", "keys.\"a b\"", "models.a.model", "models.one.context_limit"}
	f.Fuzz(func(t *testing.T, text []byte, key uint8, value string) {
		d := &Document{path: "c.toml", data: text, eol: "\n", mode: 0o600}
		name := keys[int(key)%len(keys)]
		before, _, err := scan(text)
		if err != nil {
			return
		}
		if d.Set(name, []string{value}) != nil {
			if string(d.data) != string(text) {
				t.Errorf("refused, but %q became %q", text, d.data)
			}
			return
		}
		after, _, err := scan(d.data)
		if err != nil {
			t.Fatalf("%q does not parse: %v", d.data, err)
		}
		path, _ := splitKey(name)
		found := false
		for _, e := range after {
			found = found || Path(e.path...) == Path(path...)
		}
		if !found || len(after) > len(before)+2 {
			t.Errorf("%s = %q: %q became %q", name, value, text, d.data)
		}
	})
}
