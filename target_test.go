package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"buddy/tmux/host/hosttest"
)

// TestTargets runs the real program against an sshd and containers of the test's own.
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
	t.Run("container", func(t *testing.T) {
		c, without := hosttest.NewContainer(t, hosttest.Bash), hosttest.NewContainer(t, hosttest.NoTmux)
		script(t, "container.txt", map[string]string{
			"CONTAINER": c.Name, "WITHOUT": without.Name, "THERE": folder(t, c.Dir), "CONTAINERS_CONF": os.Getenv("CONTAINERS_CONF"),
		})
	})
}

func folder(t *testing.T, dir string) string {
	there := filepath.Join(dir, "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	return there
}
