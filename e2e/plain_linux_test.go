package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/tmux/tmuxtest"
)

// plainLimit is long, because it only detects hangs.
const plainLimit = time.Minute

// dialog is the program in plain mode on a terminal, with a test model.
type dialog struct {
	t      testing.TB
	work   string
	master *os.File
	cmd    *exec.Cmd
	server *modeltest.Server
	ended  chan struct{}
	held   sync.Mutex // locked: the terminal is not read

	mu   sync.Mutex // guards the fields below
	text bytes.Buffer
	seen int // bytes of text
}

// reply answers depending on the last prompt.
func reply(req modeltest.Request) modeltest.Answer {
	if req.Model == "small" {
		return modeltest.Answer{modeltest.Text("\"Talk about\ta shell\"")}
	}
	last := lastMessage(req)
	last.Content = promptIn(unreminded(last.Content))
	call := func(name string, args map[string]any) modeltest.Answer {
		text, _ := json.Marshal(args)
		return modeltest.Answer{modeltest.Call{ID: fmt.Sprintf("c%d", len(req.Messages)), Name: name, Arguments: string(text)}}
	}
	switch {
	case last.Role == model.Tool:
		return modeltest.Answer{modeltest.Text("It said: " + last.Content)}
	case last.Content == "touch twice":
		return modeltest.Answer{shellCall("c1", "touch one"), shellCall("c2", "touch two")}
	case strings.HasPrefix(last.Content, "run "):
		return call("run_shell", map[string]any{"command": strings.TrimPrefix(last.Content, "run ")})
	case strings.HasPrefix(last.Content, "touch "):
		return call("run_shell", map[string]any{"command": last.Content, "why": "to \x1b[31mtest", "risk": "low", "mutation": true, "privesc": false})
	case strings.HasPrefix(last.Content, "Write the AGENTS.md of this project"):
		return call("write_file", map[string]any{"path": "sub/AGENTS.md", "content": "Use make.\n", "why": "asked to"})
	case last.Content == "ask me":
		return call("ask_user", map[string]any{"question": "Which one?", "choices": []string{"red", "blue"}, "why": "to know"})
	case last.Content == "wait":
		return modeltest.Answer{modeltest.Text("I am waiting.\n"), modeltest.Hang{}}
	case last.Content == "flood":
		var a modeltest.Answer
		for i := range 20_000 {
			a = append(a, modeltest.Text(fmt.Sprintf("word%d ", i)))
		}
		return append(a, modeltest.Text("\n\nENDMARK"))
	case last.Content == "refuse":
		return modeltest.Answer{modeltest.Status{Code: 400, Body: `{"error":{"message":"refused"}}`}}
	case last.Content == "stream": // 200 tokens a second for a minute
		return modeltest.Answer{modeltest.Chunks{Bytes: 4, Every: 5 * time.Millisecond}, modeltest.Text(manyLines(2_000))}
	case last.Content == "be evil":
		return modeltest.Answer{modeltest.Text("a\x1b[2Jb\u202ec\n\tindented")}
	}
	return modeltest.Answer{modeltest.Text(fmt.Sprintf("You said %q.", last.Content))}
}

// converse starts the program on a terminal with the given name.
func converse(t testing.TB, terminal string, args ...string) *dialog {
	t.Helper()
	d := newDialog(t, terminal)
	d.start(args...)
	return d
}

// workFolder returns a folder that is removed after the test, once no killed program writes to it any more.
func workFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "work")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tmuxtest.Until(t, "the folder is removed", func() bool { return os.RemoveAll(dir) == nil })
	})
	return dir
}

// newDialog returns a home, a folder and a model for the program, without starting it.
func newDialog(t testing.TB, terminal string) *dialog {
	t.Helper()
	d := &dialog{t: t, work: workFolder(t), server: modeltest.Start(t, reply)}
	run, err := os.MkdirTemp("", "b") // short, because the paths of sockets are limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	home := filepath.Join(d.work, "home")
	profile := "api_base_url = %q\napi_key = \"\"\nmodel = %q\ncontext_limit = 100000\n"
	for name, text := range map[string]string{
		"home/.config/buddy/buddy.toml": "[host]\nwithout_terminal = true\n[agent]\nmodel = \"test\"\nsmall_model = \"tiny\"\n[models.test]\n" +
			fmt.Sprintf(profile, d.server.URL, "test") + "[models.tiny]\n" + fmt.Sprintf(profile, d.server.URL, "small"),
		"home/.config/buddy/AGENTS.md": "Answer in short words.",
		"AGENTS.md":                    "Use tabs. @more.md",
		"more.md":                      "And spaces.",
	} {
		path := filepath.Join(d.work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.cmd = exec.Command("buddy")
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name != "TMUX" && name != "TMUX_PANE" && !strings.HasPrefix(name, "BUDDY_") {
			d.cmd.Env = append(d.cmd.Env, e)
		}
	}
	d.cmd.Dir = d.work
	d.cmd.Env = append(d.cmd.Env, "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.local/state",
		"XDG_RUNTIME_DIR="+run, "BUDDY_TMUX_SOCKET="+filepath.Join(run, "tmux"), "TERM="+terminal, "GORACE=atexit_sleep_ms=0")
	t.Cleanup(func() {
		endHosts(d.work)
		endTmux(filepath.Join(run, "tmux"), d.cmd.Env)
	})
	return d
}

// another starts the program again, in the same folder and home, on its own terminal.
func (d *dialog) another(args ...string) *dialog {
	d.t.Helper()
	other := &dialog{t: d.t, work: d.work, server: d.server, cmd: &exec.Cmd{Dir: d.cmd.Dir, Env: d.cmd.Env}}
	other.start(args...)
	return other
}

// start opens a terminal and starts the program on it.
func (d *dialog) start(args ...string) {
	d.t.Helper()
	cmd, ended := exec.Command("buddy", args...), make(chan struct{})
	cmd.Dir, cmd.Env = d.cmd.Dir, d.cmd.Env
	d.cmd, d.ended = cmd, ended
	d.mu.Lock()
	d.text.Reset()
	d.seen = 0
	d.mu.Unlock()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		d.t.Skipf("no pty: %v", err)
	}
	var n int
	conn, err := master.SyscallConn()
	if err == nil {
		err = conn.Control(func(fd uintptr) { // Fd would make reads uninterruptible
			_ = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
			_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
			n, _ = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		})
	}
	if err != nil {
		d.t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	d.master = master
	d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = slave, slave, slave
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	_ = slave.Close()
	go func() {
		defer close(ended)
		buf := make([]byte, 4096)
		for {
			d.held.Lock()
			d.held.Unlock() //nolint:staticcheck // the process has ended
			n, err := master.Read(buf)
			d.mu.Lock()
			d.text.Write(buf[:n])
			d.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = master.Close()
		<-ended
	})
}

// want waits for texts, in this order, after those of earlier calls.
func (d *dialog) want(texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		for deadline := time.Now().Add(plainLimit); ; time.Sleep(5 * time.Millisecond) { // a real process
			d.mu.Lock()
			all := d.text.String()
			i := strings.Index(all[d.seen:], text)
			if i >= 0 {
				d.seen += i + len(text)
			}
			d.mu.Unlock()
			if i >= 0 {
				break
			}
			if time.Now().After(deadline) {
				d.t.Fatalf("no %q in\n%q\nafter\n%q", text, all[d.seen:], all[:d.seen])
			}
		}
	}
}

func (d *dialog) types(keys string) {
	d.t.Helper()
	if _, err := d.master.WriteString(keys); err != nil {
		d.t.Fatal(err)
	}
}

// ends waits for the end of the program and returns all its output.
func (d *dialog) ends() string {
	d.t.Helper()
	late := time.AfterFunc(plainLimit, func() { _ = d.cmd.Process.Kill() })
	defer late.Stop()
	if err := d.cmd.Wait(); err != nil {
		d.t.Errorf("ended with %v", err)
	}
	<-d.ended
	return d.text.String()
}

// TestPlainDialog runs a conversation on terminals that can edit a line and on one that can't: answers, approvals, a
// question, Ctrl-C, commands.
func TestPlainDialog(t *testing.T) {
	for _, terminal := range []string{"xterm-256color", "dumb"} {
		t.Run(terminal, func(t *testing.T) {
			d := converse(t, terminal, "--plain")
			d.want("buddy ", "new session", "> ")
			d.types("hello\r")
			d.want(`You said "hello".`, "> ")
			d.types("ask me\r")
			d.want("? Which one?", "2  blue", "Answer: ")
			d.types("2\r")
			d.want("blue", "> ")
			d.types("touch a.txt\r")
			d.want("Run this command?", "| touch a.txt", "to ␛[31mtest", "Enter for no): ")
			d.types("maybe\r")
			d.want("nothing was approved or denied", "Enter for no): ")
			d.types("?\r")
			d.want("Once approved, it runs in", "Enter for no): ")
			d.types("d\r")
			d.want("Why? ")
			d.types("not that one\r")
			d.want("no, don't save it")
			d.types("\r")
			d.want("⊘ not run (denied: not that one)", "Reason: not that one", "> ")
			d.types("touch a.txt\r")
			d.want("Enter for no): ")
			d.types("\r") // an empty answer denies
			d.want("⊘ not run (denied)", "> ")
			d.types("touch b.txt\r")
			d.want("Enter for no): ")
			d.types("1\r")
			d.want("exit 0", "It said:", "> ")
			d.types("/init and the tests\r")
			d.want("| +Use make.", "Enter for no): ")
			d.types("y\r")
			d.want("It said:", "> ")
			d.types("be evil\r")
			d.want("a␛[2Jb", "\tindented", "> ")
			d.types("wait\r")
			d.want("I am waiting.")
			d.types("\x03")
			d.want("cancelling", "cancelled", "> ")
			d.types("/session list\r")
			d.want("Talk about a shell", "> ")
			d.types("/context\r")
			d.want("Instruction files", "/more.md · 11 bytes", "> ")
			d.types("/quit\r")
			all := d.ends()
			if !strings.Contains(all, "buddy resume ") {
				t.Errorf("leaving does not say how to come back:\n%q", all)
			}
			if strings.Contains(all, "\x1b[2J") || strings.Contains(all, "\u202e") {
				t.Errorf("what the model said reached the terminal raw:\n%q", all)
			}
			if terminal == "dumb" && strings.Contains(all, "\x1b") {
				t.Errorf("escape sequences on a terminal that has none:\n%q", all)
			}
			if _, err := os.Stat(filepath.Join(d.work, "a.txt")); err == nil {
				t.Error("what was denied ran")
			}
			if _, err := os.Stat(filepath.Join(d.work, "b.txt")); err != nil {
				t.Error("what was allowed did not run: ", err)
			}
			if text, err := os.ReadFile(filepath.Join(d.work, "sub/AGENTS.md")); err != nil || string(text) != "Use make.\n" {
				t.Errorf("/init: %q, %v", text, err)
			}
			first := opening(d.server.Requests()[0])
			for _, want := range []string{"Answer in short words.", `from="person"`, "Use tabs.", "And spaces.", `from="project"`} {
				if !strings.Contains(first, want) {
					t.Errorf("the model is not told %q:\n%s", want, first)
				}
			}
		})
	}
}

// TestPlainKeys edits a line: history, words, completion, pasted lines, Ctrl-C twice.
func TestPlainKeys(t *testing.T) {
	d := converse(t, "xterm-256color", "--plain")
	d.want("> ")
	d.types("worldx\x7f\x01hello \r")
	d.want(`You said "hello world".`, "> ")
	d.types("\x1b[A\r")
	d.want(`You said "hello world".`, "> ")
	d.types("/sess\tli\x7f\x7flist\r")
	d.want("Sessions of this folder (1)", "> ")
	d.types("see @mor\tnow\r")
	d.want(`You said "see @more.md now".`, "> ")
	d.types("\x1b[200~one\rtwo\r\x1b[201~three\r")
	d.want(`You said "one\ntwo\nthree".`, "> ")
	d.types("a\\\rb\r")
	d.want("...... ", `You said "a\nb".`, "> ")
	d.types("gone\x03")
	d.want("Ctrl-C again", "> ")
	d.types("\x03")
	d.ends()
}
