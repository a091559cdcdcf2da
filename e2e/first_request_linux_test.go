package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFirstRequest limits the fixed cost of every conversation, without instruction files and the name of the folder,
// which is long here.
func TestFirstRequest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files func(d *dialog)
		most  int
		has   []string
	}{
		{"the default tools", func(*dialog) {}, 7_000, []string{`"name":"run_shell"`, `"name":"tool_search"`}},
		{"a small window", func(d *dialog) {
			const settings = "home/.config/buddy/buddy.toml"
			text, err := os.ReadFile(filepath.Join(d.work, settings))
			if err != nil {
				d.t.Fatal(err)
			}
			d.write(settings, strings.ReplaceAll(string(text), "context_limit = 100000", "context_limit = 16000"))
		}, 5_000, []string{`"name":"run_shell"`, `"name":"apply_patch"`}},
		{
			"subagents, skills and MCP servers", func(d *dialog) {
				for i := range 3 {
					name := fmt.Sprintf("agent-%d", i)
					about := "---\nname: " + name + "\ndescription: " + strings.Repeat("Reviews one kind of change. ", 4) + "\n---\nReview.\n"
					d.write(filepath.Join("home/.config/buddy/agents", name+".md"), about)
				}
				for i := range 10 {
					about := "---\ndescription: " + strings.Repeat("Knows one kind of work. ", 5) + "\n---\nWork.\n"
					d.write(filepath.Join("home/.config/buddy/skills", fmt.Sprintf("skill-%d", i), "SKILL.md"), about)
				}
				servers := ""
				for i := range 3 {
					servers += fmt.Sprintf("[mcp.server%d]\ncommand = [\"mcp-server\"]\n", i)
				}
				d.add("home/.config/buddy/buddy.toml", servers)
			}, 9_500, []string{"agent-2", "skill-9", "server2"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDialog(t, "xterm-256color")
			for _, name := range []string{"home/.config/buddy/AGENTS.md", "AGENTS.md", "more.md"} {
				if err := os.Remove(filepath.Join(d.work, name)); err != nil {
					t.Fatal(err)
				}
			}
			tt.files(d)
			if out, code := d.run("exec", "hello"); code != 0 {
				t.Fatalf("exit %d\n%s", code, out)
			}
			body := string(d.server.Requests()[0].Body)
			n := len(body) - len(d.work)
			t.Logf("%d bytes", n)
			if n > tt.most {
				t.Errorf("the first request has %d bytes, want at most %d:\n%s", n, tt.most, body)
			}
			for _, want := range tt.has {
				if !strings.Contains(body, want) {
					t.Errorf("the first request has no %s:\n%s", want, body)
				}
			}
		})
	}
}

// write creates a file in the folder of the test.
func (d *dialog) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.work, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// add appends to a file in the folder of the test.
func (d *dialog) add(name, text string) {
	d.t.Helper()
	old, err := os.ReadFile(filepath.Join(d.work, name))
	if err != nil {
		d.t.Fatal(err)
	}
	d.write(name, string(old)+text)
}
