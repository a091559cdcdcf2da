// Package e2e tests the whole program: the built binary in scripts, on terminals and sockets and with killed processes,
// and properties of all of its packages.
package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"buddy/app"
	"buddy/app/apptest"
	"buddy/tmux/pane/fence"
)

func TestMain(m *testing.M) {
	testscript.Main(hangsUp{m}, map[string]func(){"buddy": program, "mcp-server": mcpServer, "mcp-slow": slowMCPServer, "lsp-server": lspServer, "session-peer": sessionPeer, "browser": browser})
}

// browser stands for a person's browser: it copies its input and opens the first page that is named there.
func browser() {
	page := regexp.MustCompile(`https?://\S+`)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(lines.Text())
		at := page.FindString(lines.Text())
		if at == "" {
			continue
		}
		page = regexp.MustCompile("^$")
		resp, err := http.Get(at)
		if err != nil {
			fmt.Println("browser:", err)
			continue
		}
		_, _ = io.Copy(os.Stdout, io.LimitReader(resp.Body, 10_000))
		_ = resp.Body.Close()
	}
}

// program is buddy.
func program() { os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// hangsUp wraps tests whose programs must end with their terminal, even when the tests run under nohup.
type hangsUp struct{ *testing.M }

// Run runs the tests. It handles SIGHUP if it is ignored, because child processes inherit ignored signals but not
// handlers.
func (h hangsUp) Run() int {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	return h.M.Run()
}

// TestScripts runs the real program on the scripts in testdata/script, one subject per file.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(4 * time.Minute),
		Setup:    setUp,
		Condition: func(name string) (bool, error) {
			if name != "fence" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return fence.Available(fence.Settings{Work: []string{t.TempDir()}}, os.Environ()) == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"examples": writeExamples},
	})
}

// example is a block of code in a document whose first line names a file.
var example = regexp.MustCompile("(?ms)^```[a-z]+ (\\S+)\n(.*?)^```$")

// writeExamples writes the examples of a document into the files that they name.
func writeExamples(ts *testscript.TestScript, _ bool, args []string) {
	doc, err := os.ReadFile(args[0])
	ts.Check(err)
	all := example.FindAllStringSubmatch(string(doc), -1)
	if len(all) == 0 {
		ts.Fatalf("%s has no examples", args[0])
	}
	for _, e := range all {
		at := ts.MkAbs(e[1])
		ts.Check(os.MkdirAll(filepath.Dir(at), 0o755))
		ts.Check(os.WriteFile(at, []byte(e[2]), 0o644))
	}
}

// setUp gives each script its own home.
func setUp(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	// Short, because the paths of sockets are limited.
	run, err := os.MkdirTemp("", "b")
	if err != nil {
		return err
	}
	env.Defer(func() {
		_ = exec.Command("tmux", "-S", run+"/tmux", "kill-server").Run() // left by a failed script
		_ = os.RemoveAll(run)
	})
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
	env.Setenv("MANUAL", filepath.Join(tree, "..", "docs", "extensions.md"))
	env.Setenv("DOCS", filepath.Join(tree, "..", "docs"))
	startModel(env)
	logins := apptest.StartLoginServer()
	env.Defer(logins.Close)
	env.Setenv("LOGIN_URL", logins.URL)
	return os.MkdirAll(home, 0o700)
}
