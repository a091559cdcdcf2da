package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// tree writes files; content that starts with "->" is a symbolic link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "plugin")
	for name, content := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(content, "->"); ok {
			err = os.Symlink(to, at)
		} else {
			err = os.WriteFile(at, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const named = `{"name":"tidy","version":"1.0","description":"Keeps\nthings tidy","author":{"name":"x"},"keywords":[1]}`

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  Plugin // paths relative to the folder
	}{
		{"usual places", map[string]string{
			Manifest: named, "skills/a/SKILL.md": "x", "commands/b.md": "x", "agents/c.md": "x", "output-styles/d.md": "x", "workflows/e.yaml": "x",
			"hooks/hooks.json": "{}", ".mcp.json": "{}", ".lsp.json": "{}",
		}, Plugin{
			Skills: []string{"skills"}, Commands: []string{"commands"}, Agents: []string{"agents"}, Styles: []string{"output-styles"}, Workflows: []string{"workflows"},
			Hooks: Parts{Files: []string{"hooks/hooks.json"}}, Servers: Parts{Files: []string{".mcp.json"}}, Language: Parts{Files: []string{".lsp.json"}},
		}},
		{"named places", map[string]string{
			Manifest:       `{"name":"tidy","version":"1.0","description":"Keeps things tidy","skills":"./s","commands":["./c/x.md","c/y.md"],"hooks":[{"hooks":{}},"${CLAUDE_PLUGIN_ROOT}/h.json"],"mcpServers":{"a":{"command":"x"}}}`,
			"s/a/SKILL.md": "x", "c/x.md": "x", "c/y.md": "x", "h.json": "{}", "skills/not/SKILL.md": "x",
		}, Plugin{
			Skills: []string{"s"}, Commands: []string{"c/x.md", "c/y.md"},
			Hooks: Parts{Files: []string{"h.json"}, Inline: []json.RawMessage{json.RawMessage(`{"hooks":{}}`)}}, Servers: Parts{Inline: []json.RawMessage{json.RawMessage(`{"a":{"command":"x"}}`)}},
		}},
		{"a link that stays inside", map[string]string{Manifest: named, "real/a/SKILL.md": "x", "skills": "->real"}, Plugin{Skills: []string{"skills"}}},
		{"nothing but a name", map[string]string{Manifest: named}, Plugin{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := tree(t, c.files)
			got, err := Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			if got.Name != "tidy" || got.Version != "1.0" || got.About != "Keeps things tidy" || len(got.Print) != 64 {
				t.Errorf("%+v", got)
			}
			for _, p := range []struct {
				what      string
				got, want []string
			}{
				{"skills", got.Skills, c.want.Skills},
				{"commands", got.Commands, c.want.Commands},
				{"agents", got.Agents, c.want.Agents},
				{"styles", got.Styles, c.want.Styles},
				{"workflows", got.Workflows, c.want.Workflows},
				{"hooks", got.Hooks.Files, c.want.Hooks.Files},
				{"servers", got.Servers.Files, c.want.Servers.Files},
				{"language servers", got.Language.Files, c.want.Language.Files},
			} {
				for i, at := range p.got {
					p.got[i], _ = filepath.Rel(got.Dir, at)
				}
				if !slices.Equal(p.got, p.want) {
					t.Errorf("%s %q, want %q", p.what, p.got, p.want)
				}
			}
			if len(got.Hooks.Inline) != len(c.want.Hooks.Inline) || len(got.Servers.Inline) != len(c.want.Servers.Inline) {
				t.Errorf("inline: %s %s", got.Hooks.Inline, got.Servers.Inline)
			}
		})
	}
}

// TestHostilePluginsAreRefused checks that each is refused as a whole, with the reason.
func TestHostilePluginsAreRefused(t *testing.T) {
	many := map[string]string{Manifest: named}
	for i := range MaxFiles {
		many["f"+strings.Repeat("x", i%50)+string(rune('a'+i%26))+strings.Repeat("y", i/50)] = ""
	}
	outside := t.TempDir()
	for says, files := range map[string]map[string]string{
		"it has no .claude-plugin/plugin.json": {"x": ""},
		"unexpected end of JSON":               {Manifest: "{"},
		`name "../x" may contain only`:         {Manifest: `{"name":"../x"}`},
		`name "" may contain only`:             {Manifest: `{}`},
		`skills: "../other" leads out`:         {Manifest: `{"name":"a","skills":"../other"}`},
		`hooks: "/etc/passwd" leads out`:       {Manifest: `{"name":"a","hooks":["/etc/passwd"]}`},
		`commands: "gone" does not exist`:      {Manifest: `{"name":"a","commands":"gone"}`},
		"skills must be a path":                {Manifest: `{"name":"a","skills":{"x":1}}`},
		"a definition names a file in .git":    {Manifest: `{"name":"a","hooks":{"hooks":{"Stop":[{"hooks":[{"command":"sh ${CLAUDE_PLUGIN_ROOT}/.git/x"}]}]}}}`},
		"hooks.json is not a regular file":     {Manifest: named, "hooks/hooks.json/x": "a folder"},
		"neither a path nor an object":         {Manifest: `{"name":"a","hooks":7}`},
		`link "skills" leads out`:              {Manifest: named, "skills": "->" + outside},
		`link "l"`:                             {Manifest: named, "l": "->l"},
		"more than 2000 files":                 many,
		"more than 20971520 bytes":             {Manifest: named, "big": strings.Repeat("x", MaxBytes)},
		"plugin.json has 262145 bytes":         {Manifest: strings.Repeat("x", maxManifest+1)},
	} {
		if _, err := Read(tree(t, files)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	dir := tree(t, map[string]string{Manifest: named})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), `"pipe" is not a regular file`) {
		t.Error(err)
	}
	if _, err := Read(filepath.Join(dir, "gone")); err == nil {
		t.Error("a folder that does not exist was read")
	}
}

// TestPrintChangesWithEachByte checks the content, the name, the executable bit and the target of a link.
func TestPrintChangesWithEachByte(t *testing.T) {
	dir := tree(t, map[string]string{Manifest: named, "hooks/run.sh": "echo 1", "a": "1", "b": "1", "l": "->a"})
	seen := make(map[string]string)
	check := func(change string, do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		p, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if before := seen[p.Print]; before != "" {
			t.Errorf("%s: the print is that of: %s", change, before)
		}
		seen[p.Print] = change
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	check("nothing", func() error { return nil })
	check("a byte", func() error { return os.WriteFile(at("hooks/run.sh"), []byte("echo 2"), 0o644) })
	check("executable", func() error { return os.Chmod(at("hooks/run.sh"), 0o755) })
	check("a name", func() error { return os.Rename(at("hooks/run.sh"), at("hooks/go.sh")) })
	check("a link", func() error { _ = os.Remove(at("l")); return os.Symlink("b", at("l")) })
	check("a new file", func() error { return os.WriteFile(at("c"), nil, 0o644) })
	if err := os.MkdirAll(at(".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, _ := Read(dir)
	if seen[p.Print] != "a new file" {
		t.Error("an empty folder of git changes the print")
	}
}
