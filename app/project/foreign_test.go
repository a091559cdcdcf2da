package project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"buddy/agent/hooks"
	"buddy/app/apptest"
	"buddy/config"
	"buddy/extensions"
)

// The user's hooks, skills, commands, agents, workflows and plugins are left out, with the reason and a next step, if
// another user of the machine could change them or their folder.
func TestExtensionsThatOthersCouldChangeAreRefused(t *testing.T) {
	apptest.Home(t)
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	settings := filepath.Join(xdg.ConfigHome, "buddy")
	plugin := filepath.Join(xdg.Home, "plugins", "p")
	write := func(path, text string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const text = "---\nname: x\ndescription: d\n---\nDo it.\n"
	read := func(kind extensions.Kind) func() (int, string) {
		return func() (int, string) {
			source, ok := PersonExtensions()
			if !ok {
				t.Fatal("no home")
			}
			found, err := extensions.Read(t.Context(), kind, source)
			if err != nil {
				t.Fatal(err)
			}
			var why []string
			for _, p := range found.Problems {
				why = append(why, p.String())
			}
			return len(found.Items), strings.Join(why, "\n")
		}
	}
	hook := `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"true"}]}]}}`
	for _, c := range []struct {
		file string
		load func() (found int, why string)
	}{
		{write(filepath.Join(settings, "hooks.json"), hook), func() (int, string) {
			set := PersonHooks(nil)
			run := slices.DeleteFunc(set.Handlers, func(h hooks.Handler) bool { return h.Lost != "" })
			return len(run), fmt.Sprint(set.Problems)
		}},
		{write(filepath.Join(settings, "skills/x/SKILL.md"), text), read(extensions.Skill)},
		{write(filepath.Join(settings, "commands/x.md"), text), read(extensions.Command)},
		{write(filepath.Join(settings, "agents/x.md"), text), read(extensions.Agent)},
		{write(filepath.Join(settings, "workflows/x.yaml"), "name: x\n"), read(extensions.Workflow)},
		{write(filepath.Join(plugin, ".claude-plugin/plugin.json"), `{"name":"p"}`), func() (int, string) {
			found, problems := findPlugins("", config.Config{Plugins: config.Plugins{Dirs: []string{plugin}}})
			return len(found), fmt.Sprint(problems)
		}},
	} {
		check := func(what, want string) {
			t.Helper()
			if found, why := c.load(); (found == 1) != (want == "") || !strings.Contains(why, want) {
				t.Errorf("%s, %s: %d, %q, want %q", c.file, what, found, why, want)
			}
		}
		dir := filepath.Dir(c.file)
		check("mine", "")
		chmod := func(path string, mode os.FileMode) {
			t.Helper()
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		chmod(dir, 0o703)
		check("its folder is open", `everybody may write to "`+dir+`"; to use it: chmod go-w "`+dir+`"`)
		chmod(dir, 0o700)
		chmod(c.file, 0o606)
		check("it is open", "everybody may write to ")
		chmod(c.file, 0o600)
		if os.Getuid() == 0 {
			if err := os.Chown(c.file, 1, 0); err != nil {
				t.Fatal(err)
			}
			check("it belongs to somebody else", "belongs to ")
		}
	}
}
