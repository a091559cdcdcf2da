package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/hooks"
	"buddy/config"
	"buddy/features/mcp"
)

// TestProgramsOfAProjectRunAsTheyWereChecked: a hook, an MCP server and a language server start from copies: a change
// after the check has no effect, and a change before it prevents the start, each time.
func TestProgramsOfAProjectRunAsTheyWereChecked(t *testing.T) {
	s := sourceOf(t, map[string]string{
		"tools/run.sh":      "#!/bin/sh\necho good\n",
		".mcp.json":         `{"mcpServers": {"echo": {"command": "./tools/run.sh", "args": ["x"]}}}`,
		".buddy/hooks.json": `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "tools/run.sh"}]}]}}`,
	})
	executable(t, "tools/run.sh")
	s.Config.Hooks.Enabled = true
	s.Config.LSP = []config.LanguageServer{{Name: "own", Command: []string{"./tools/run.sh"}, Languages: []string{".x=x"}, Enabled: true}}
	good, evil := "#!/bin/sh\necho good\n", "#!/bin/sh\necho evil\n"
	change := func(to string) {
		if err := os.WriteFile("tools/run.sh", []byte(to), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	checks, _, err := s.check()
	if err != nil || len(checks) != 3 {
		t.Fatal(checks, err)
	}
	for _, c := range checks {
		if err := TrustStore().TrustParts(c.Dir, c.Part.Part); err != nil {
			t.Fatal(err)
		}
	}
	set := s.Hooks()
	servers, err := s.Servers()
	if err != nil || len(set.Handlers) != 1 || len(servers) != 1 {
		t.Fatal(set.Problems, servers, err)
	}
	language := s.LanguageServers()[0]
	starts := map[string]func() (command []string, copies string, err error){
		"hook": func() ([]string, string, error) {
			h, err := set.Trusted(set.Handlers[0])
			return []string{"sh", "-c", h.Command}, h.Copies, err
		},
		"mcp": func() ([]string, string, error) {
			one, err := s.CheckedServer(servers[0])
			return one.Process.Command, one.Process.Copies, err
		},
		"lsp": func() ([]string, string, error) {
			one, err := s.CheckedLanguageServer(language, s.Config.Project.Dir)
			return one.Command, one.Copies, err
		},
	}
	for kind, start := range starts {
		t.Run(kind, func(t *testing.T) {
			command, copies, err := start()
			if err != nil || copies == "" {
				t.Fatalf("%q, %q, %v", command, copies, err)
			}
			change(evil)
			defer change(good)
			out, err := exec.Command(command[0], command[1:]...).Output()
			if err != nil || string(out) != "good\n" {
				t.Errorf("%q says %q, %v", command, out, err)
			}
			if out, err := exec.Command("./tools/run.sh").Output(); err != nil || string(out) != "evil\n" { // the control
				t.Errorf("the file itself says %q, %v", out, err)
			}
			if _, _, err := start(); err == nil || !strings.Contains(err.Error(), "changed since you trusted it") {
				t.Errorf("once it has changed it starts: %v", err)
			}
			change(good)
			if _, _, err := start(); err != nil {
				t.Errorf("as it was trusted it does not start: %v", err)
			}
		})
	}
	if held := servers[0].Held; !held || set.Handlers[0].Origin.Source != hooks.Project || servers[0].Transport != mcp.Stdio {
		t.Error("a server of the project is not held in mode auto")
	}
	left, err := os.ReadDir(copiesDir())
	if err != nil || len(left) != 6 {
		t.Errorf("%d copies are there, %v: those that were not started are to be removed", len(left), err)
	}
	if err := os.Mkdir(filepath.Join(copiesDir(), "999999999-x"), 0o700); err != nil { // of no process
		t.Fatal(err)
	}
	SweepCopies()
	if left, err := os.ReadDir(copiesDir()); err != nil || len(left) != 6 {
		t.Errorf("%d copies are there after sweeping, %v", len(left), err)
	}
}
