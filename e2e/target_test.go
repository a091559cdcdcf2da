package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"buddy/agent/model/modeltest"
	"buddy/tmux/host/hosttest"
)

// TestTargets runs the real program with the test's own sshd and containers.
func TestTargets(t *testing.T) {
	script := func(t *testing.T, name string, vars map[string]string) {
		testscript.Run(t, testscript.Params{
			Files: []string{"testdata/target/" + name},
			Setup: func(env *testscript.Env) error {
				for name, value := range vars {
					env.Setenv(name, value)
				}
				return setUp(env)
			},
		})
	}
	t.Run("ssh", func(t *testing.T) {
		s := hosttest.NewSSHD(t, "")
		empty := filepath.Join(s.Dir, "empty")
		if err := os.WriteFile(empty, []byte("Port 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		script(t, "ssh.txt", map[string]string{"SSH_CONFIG": s.Config, "EMPTY_CONFIG": empty, "THERE": folder(t, s.Dir)})
	})
	t.Run("slow", func(t *testing.T) {
		s := hosttest.NewSSHD(t, "")
		s.Wire.Delay(60 * time.Millisecond)
		script(t, "undo.txt", map[string]string{"SSH_CONFIG": s.Config, "THERE": folder(t, s.Dir)})
	})
	t.Run("resumed", func(t *testing.T) {
		s := hosttest.NewSSHD(t, "")
		script(t, "resumed.txt", map[string]string{"SSH_CONFIG": s.Config, "DEST": s.Dest, "THERE": folder(t, s.Dir)})
	})
	t.Run("container", func(t *testing.T) {
		c, without := hosttest.NewContainer(t, hosttest.Bash), hosttest.NewContainer(t, hosttest.NoTmux)
		script(t, "container.txt", map[string]string{
			"CONTAINER": c.Name, "WITHOUT": without.Name, "THERE": folder(t, c.Dir), "CONTAINERS_CONF": os.Getenv("CONTAINERS_CONF"),
		})
	})
	t.Run("several", func(t *testing.T) {
		a, b := hosttest.NewSSHD(t, ""), hosttest.NewSSHD(t, "")
		there := folder(t, b.Dir)
		config := filepath.Join(a.Dir, "buddy.toml")
		server := modeltest.Start(t, modeltest.Steps(
			modeltest.Answer{shellOn(`{"command":"echo ${SSH_CONNECTION:-here}","targets":["web-01","local","down","web-02"],"why":"w","risk":"low","mutation":true,"privesc":false}`)},
			modeltest.Answer{modeltest.Call{ID: "c2", Name: "write_file", Arguments: `{"path":"note.txt","content":"written there","target":"web-02","why":"w"}`}},
			modeltest.Answer{modeltest.Text("all restarted")},
		))
		text := fmt.Sprintf("[models.test]\napi_base_url = %q\napi_key = \"\"\n", server.URL)
		for _, target := range []struct{ name, dest, config, more string }{
			{"web-01", a.Dest, a.Config, `doc = "the first web server"`},
			{"web-02", b.Dest, b.Config, fmt.Sprintf("cwd = %q", there)},
			{"prod", a.Dest, a.Config, "production = true"},
			{"down", "nobody@127.0.0.1", filepath.Join(a.Dir, "nowhere"), ""},
		} {
			text += fmt.Sprintf("[targets.%s]\nssh = %q\nssh_config = %q\n%s\n", target.name, target.dest, target.config, target.more)
		}
		for path, text := range map[string]string{config: text, filepath.Join(a.Dir, "nowhere"): "Port 1\n"} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { // after the script, which runs at the same time as others
			requests := server.Requests()
			if len(requests) == 0 {
				return
			}
			if want := "- local: the person's machine\n- web-01: the first web server\n- web-02\n"; !strings.Contains(opening(requests[0]), want) {
				t.Errorf("the model is not told %q:\n%s", want, opening(requests[0]))
			}
		})
		script(t, "several.txt", map[string]string{"THERE": there, "USER_CONFIG": config})
	})
}

func shellOn(arguments string) modeltest.Call {
	return modeltest.Call{ID: "c1", Name: "run_shell", Arguments: arguments}
}

func folder(t *testing.T, dir string) string {
	there := filepath.Join(dir, "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	return there
}
