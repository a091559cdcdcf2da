package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"buddy": main})
}

// TestScripts runs the real program on the scripts in testdata/script, one subject a file.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(4 * time.Minute),
		Setup:    setUp,
	})
}

// setUp gives each script its own home.
func setUp(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	// Short, because the paths of sockets are limited.
	run, err := os.MkdirTemp("", "b")
	if err != nil {
		return err
	}
	env.Defer(func() { _ = os.RemoveAll(run) })
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home + "/.config", "XDG_STATE_HOME": home + "/.local/state",
		"XDG_RUNTIME_DIR": run, "BUDDY_TMUX_SOCKET": run + "/tmux", "TMUX": "", "TERM": "xterm-256color", "BUDDY_LOCAL_SERVERS": "off",
	} {
		env.Setenv(name, value)
	}
	tree, err := os.Getwd()
	if err != nil {
		return err
	}
	env.Setenv("HOOKS", filepath.Join(tree, "testdata", "hooks"))
	env.Setenv("MANUAL", filepath.Join(tree, "docs", "extensions.md"))
	startModel(env)
	return os.MkdirAll(home, 0o700)
}
