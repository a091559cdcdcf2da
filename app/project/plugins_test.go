package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"buddy/agent/hooks"
	"buddy/agent/policy"
	"buddy/app/apptest"
	"buddy/config"
	"buddy/extensions"
	"buddy/extensions/skill"
	"buddy/extensions/subagent"
	"buddy/features/mcp"
	"buddy/tools/file"
)

// tidy returns the files of a plugin below a folder, with something of each kind.
func tidy(at string) map[string]string {
	return map[string]string{
		at + "/.claude-plugin/plugin.json": `{"name": "tidy", "description": "Keeps things tidy", "unknown": 1}`,
		at + "/skills/sweep/SKILL.md":      "---\ndescription: Sweep the floor\nallowed-tools: Bash(git status)\n---\nSweep.",
		at + "/commands/git/dust.md":       "---\ndescription: Dust\n---\nDust $1.",
		at + "/output-styles/terse.md":     "---\ndescription: Terse\n---\nBe terse.",
		at + "/agents/maid.md":             "---\nname: maid\ndescription: x\n---\nx",
		at + "/hooks/hooks.json":           `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/hooks/guard.sh"}]}]}}`,
		at + "/hooks/guard.sh":             `echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'`,
		at + "/.mcp.json":                  `{"mcpServers": {"notes": {"command": "${CLAUDE_PLUGIN_ROOT}/serve", "args": ["--data", "${CLAUDE_PLUGIN_DATA}"]}}}`,
	}
}

// loaded holds what a session loads from plugins.
type loaded struct {
	names   []string // of skills, commands and styles
	acts    bool     // the skill
	hooks   []hooks.Handler
	trusted func(hooks.Handler) error
	servers []mcp.Server
}

// noName reserves no name.
func noName(string) bool { return false }

func load(t *testing.T, s *Source) loaded {
	t.Helper()
	var l loaded
	there, err := file.NewWorkspace(s.Config.Project.Dir, policy.Secret)
	if err != nil {
		t.Fatal(err)
	}
	x := NewExtensions(there, true)
	x.Plugins = s.PluginTexts
	items, problems, err := x.Find(t.Context(), noName, extensions.Skill, extensions.Command, extensions.Style)
	if err != nil {
		t.Fatal(err, problems)
	}
	var all []skill.Skill
	for _, it := range items {
		if it.Origin == extensions.Plugin {
			all = append(all, skill.New(it))
			l.names = append(l.names, it.Name)
		}
	}
	x.LetPluginsAct(all)
	l.acts = slices.ContainsFunc(all, func(s skill.Skill) bool { return s.Name == "tidy:sweep" && s.Acts })
	set := s.Hooks()
	if len(set.Failed) > 0 {
		t.Fatal(set.Failed)
	}
	l.hooks, l.trusted = set.Handlers, func(h hooks.Handler) error { _, err := set.Trusted(h); return err }
	if l.servers, err = s.serversOfPlugins(); err != nil {
		t.Fatal(err)
	}
	return l
}

func sourceOf(t *testing.T, files map[string]string, dirs ...string) *Source {
	t.Helper()
	dir := apptest.Project(t, files)
	s := new(Source)
	s.Config = config.Config{Plugins: config.Plugins{Dirs: dirs}}
	s.Config.Project.Dir = dir
	return s
}

// trustPlugins trusts the current plugins.
func trustPlugins(t *testing.T, s *Source) {
	t.Helper()
	found, problems, err := s.plugins()
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	for _, f := range found {
		if err := TrustStore().TrustParts(f.part.Dir, f.part.Part); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPluginIsTrustedAsAWhole: before trust only its texts are listed; one changed byte turns off the whole plugin,
// with a diff; nothing is left after its removal. The same for a project's plugin and one of the settings.
func TestPluginIsTrustedAsAWhole(t *testing.T) {
	elsewhere := t.TempDir()
	for _, c := range []struct{ name, root string }{{"project", ".buddy/plugins/tidy"}, {"settings", elsewhere}} {
		t.Run(c.name, func(t *testing.T) {
			var s *Source
			if root := ".buddy/plugins/tidy"; c.root == root {
				s = sourceOf(t, tidy(root))
				c.root = filepath.Join(s.Config.Project.Dir, root)
			} else {
				for name, text := range tidy(elsewhere) {
					if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				s = sourceOf(t, nil, elsewhere)
			}
			want := []string{"tidy:sweep", "tidy:git:dust", "tidy:terse"}
			l := load(t, s)
			if !slices.Equal(l.names, want) || l.acts || len(l.hooks) > 0 || len(l.servers) != 1 || l.servers[0].Problem == "" {
				t.Fatalf("not trusted: %+v", l)
			}
			if err := s.PluginTrusted("tidy"); err == nil || !strings.Contains(err.Error(), "not trusted") {
				t.Errorf("its style may be used: %v", err)
			}

			trustPlugins(t, s)
			l = load(t, s)
			if !slices.Equal(l.names, want) || !l.acts || len(l.hooks) != 1 || len(l.servers) != 1 || l.servers[0].Problem != "" {
				t.Fatalf("trusted: %+v", l)
			}
			if one := l.servers[0]; one.Name != "plugin_tidy_notes" || one.Process.Command[0] != c.root+"/serve" || one.Process.Command[2] != filepath.Join(xdg.StateHome, "buddy", "plugins", "tidy") {
				t.Errorf("server %+v", one)
			}
			if err := l.trusted(l.hooks[0]); err != nil {
				t.Errorf("its hook does not run: %v", err)
			}

			trusted, guard := l.trusted, l.hooks[0]
			if err := os.WriteFile(filepath.Join(c.root, "hooks/guard.sh"), []byte("exit 0"), 0o600); err != nil {
				t.Fatal(err)
			}
			if l = load(t, s); len(l.names) > 0 || len(l.hooks) > 0 || l.servers[0].Problem == "" {
				t.Errorf("changed: %+v", l)
			}
			if err := trusted(guard); err == nil || !strings.Contains(err.Error(), "changed") {
				t.Errorf("its hook runs: %v", err)
			}
			checks, _, err := CheckParts(".", s.Config)
			i := slices.IndexFunc(checks, func(c Check) bool { return c.Kind == pluginKind })
			if err != nil || i < 0 {
				t.Fatal(checks, err)
			}
			if diff, err := checks[i].Diff(); err != nil || !strings.Contains(diff, "guard.sh") || !strings.Contains(diff, "+exit 0") {
				t.Errorf("diff %q, %v", diff, err)
			}

			if err := os.RemoveAll(c.root); err != nil {
				t.Fatal(err)
			}
			if l = load(t, s); len(l.names)+len(l.hooks)+len(l.servers) > 0 {
				t.Errorf("removed: %+v", l)
			}
		})
	}
}

// TestTwoPluginsWithOneName: both are listed, the second is off.
func TestTwoPluginsWithOneName(t *testing.T) {
	files := tidy(".buddy/plugins/tidy")
	for name, text := range tidy(".buddy/plugins/untidy") {
		files[name] = text
	}
	s := sourceOf(t, files)
	if set := s.Hooks(); len(set.Problems) != 2 {
		t.Errorf("left out: %v", set.Problems)
	}
	found, problems, err := s.plugins()
	if err != nil || len(found) != 1 || len(problems) != 1 || !strings.Contains(problems[0].Reason, `the plugin "tidy" of `) || !strings.HasSuffix(problems[0].File, "untidy") {
		t.Errorf("%d plugins, problems %v, %v", len(found), problems, err)
	}
}

// TestPartOfAPluginSaysWhatItBrings: the full commands, what is not run, and a fingerprint of all files.
func TestPartOfAPluginSaysWhatItBrings(t *testing.T) {
	s := sourceOf(t, tidy(".buddy/plugins/tidy"))
	found, _, err := s.plugins()
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	part := found[0].part
	for _, want := range []string{"guard.sh", "--data", `"skills"`, "agents", found[0].Print} {
		if !strings.Contains(part.Definition+part.Runs, want) {
			t.Errorf("%q is not in %s\n%s", want, part.Runs, part.Definition)
		}
	}
	if strings.Contains(part.Definition, "not run by buddy") {
		t.Errorf("its agents run: %s", part.Definition)
	}
	if len(part.Files) != len(found[0].Files) || !slices.Contains(part.Files, ".buddy/plugins/tidy/hooks/guard.sh") {
		t.Errorf("files %q", part.Files)
	}
}

// TestAgentsOfAPluginAreNamedAfterIt: they are called PLUGIN:NAME, like its skills.
func TestAgentsOfAPluginAreNamedAfterIt(t *testing.T) {
	s := sourceOf(t, tidy(".buddy/plugins/tidy"))
	x := &Extensions{Plugins: s.PluginTexts}
	items, problems, err := x.Unnamed(t.Context(), extensions.Agent)
	defs, left := subagent.All(items)
	if err != nil || len(problems)+len(left) > 0 {
		t.Fatal(problems, left, err)
	}
	if !slices.ContainsFunc(defs, func(d subagent.Definition) bool { return d.Name == "tidy:maid" && d.Origin == extensions.Plugin }) {
		t.Errorf("agents %+v", defs)
	}
}

// TestPluginsOnAnotherMachine: the user's plugins are read, the project's are not.
func TestPluginsOnAnotherMachine(t *testing.T) {
	s := sourceOf(t, tidy(".buddy/plugins/tidy"))
	s.Away = "web-02"
	if found, problems, err := s.plugins(); len(found)+len(problems) > 0 || err != nil {
		t.Errorf("%v %v %v", found, problems, err)
	}
}
