package e2e

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/tmux/host/hosttest"
	"buddy/tools"
)

// TestWorkflows runs each bundled workflow completely, and once with a failure, against its own repositories and
// targets. It takes minutes, so .ci/counterparts.d/workflows starts it.
//
// It runs in its own mount namespace, whose /usr/local/bin contains stand-ins for programs that are useless on this
// machine (units without systemd, packages); each script has those that it needs. The targets are sshds. /opt/app and
// /opt/deploy are those of the folder in which a command runs, so that each target has its own. The model is a
// stand-in, too: it returns the findings of its subagents, and makes the changes that the script asks for.
func TestWorkflows(t *testing.T) {
	room := os.Getenv("BUDDY_WORKFLOWS")
	if room == "" {
		t.Skip("BUDDY_WORKFLOWS is not set: make counterparts ONLY=workflows")
	}
	scripts, err := filepath.Glob("testdata/workflows/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			testscript.Run(t, testscript.Params{
				Files: []string{script}, Deadline: time.Now().Add(3 * time.Minute),
				Cmds: map[string]func(*testscript.TestScript, bool, []string){"standin": standIn},
				Setup: func(env *testscript.Env) error {
					if err := setUp(env); err != nil {
						return err
					}
					env.Setenv("ROOM", room)
					env.Defer(func() { leave(room) })
					return setUpWorkflow(t, env, strings.Contains(string(text), "web-1"))
				},
			})
		})
	}
}

// TestEveryWorkflowHasItsRun: every bundled workflow is tested against real effects.
func TestEveryWorkflowHasItsRun(t *testing.T) {
	files, err := filepath.Glob("../extensions/builtin/workflows/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		text, err := os.ReadFile("testdata/workflows/" + name + ".txt")
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(text), "\nexec buddy workflow run "+name) || !strings.Contains(string(text), "\n! exec buddy workflow run "+name) {
			t.Errorf("%s: its script has no run, or none that fails", name)
		}
	}
}

// setUpWorkflow writes the settings of a script, and starts its targets.
func setUpWorkflow(t *testing.T, env *testscript.Env, targets bool) error {
	s := httptest.NewServer(modeltest.New(worker))
	env.Defer(func() {
		s.CloseClientConnections()
		s.Close()
	})
	text := fmt.Sprintf("[models.test]\napi_base_url = \"%s/v1\"\napi_key = \"\"\n[agent]\nmodel = \"test\"\n", s.URL)
	for i := 1; targets && i <= 3; i++ {
		config, dir := web(t)
		env.Setenv(fmt.Sprintf("WEB%d", i), dir)
		text += fmt.Sprintf("[targets.web-%d]\nssh = \"target\"\nssh_config = %q\ncwd = %q\n", i, config, dir)
	}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		env.Setenv("GIT_"+who+"_NAME", "Ann")
		env.Setenv("GIT_"+who+"_EMAIL", "ann@example.com")
	}
	dir := env.WorkDir + "/home/.config/buddy"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(dir+"/buddy.toml", []byte(text), 0o600)
}

// web starts a target and returns its ssh configuration and the folder in which its commands start.
func web(t *testing.T) (config, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "web")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return hosttest.NewSSHD(t, "").Config, dir
}

// leave removes the stand-ins of a script.
func leave(room string) {
	all, _ := filepath.Glob(room + "/bin/*")
	for _, file := range all {
		_ = os.Remove(file)
	}
}

// standIn installs a file as a program on targets: standin FILE NAME DIR...
func standIn(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	for _, dir := range args[2:] {
		at := filepath.Join(dir, args[1])
		ts.Check(os.MkdirAll(filepath.Dir(at), 0o755))
		ts.Check(os.WriteFile(at, []byte(text), 0o755))
	}
}

// worker is the model of the subagents. For a prompt with a line "DO: COMMAND" it runs that command first. It reports
// FINDINGS and the last line of the prompt.
func worker(r modeltest.Request) modeltest.Answer {
	prompt, results := "", 0
	for _, m := range r.Messages {
		switch {
		case m.Role == model.Tool:
			results++
		case m.Role == model.User && promptIn(m.Content) != "":
			prompt, results = promptIn(m.Content), 0
		}
	}
	if _, command, ok := strings.Cut(prompt, "DO: "); ok && results == 0 {
		command, _, _ = strings.Cut(command, " :OD")
		return modeltest.Answer{modeltest.Call{ID: "w", Name: "run_shell", Arguments: string(tools.JSON(map[string]any{"command": command, "why": "w", "risk": "low", "mutation": true, "privesc": false}))}}
	}
	lines := strings.Split(strings.TrimSpace(prompt), "\n")
	return modeltest.Answer{modeltest.Text("FINDINGS " + lines[len(lines)-1])}
}
