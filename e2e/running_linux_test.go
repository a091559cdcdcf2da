package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/tmux/tmuxtest"
)

// run runs the program without a terminal and returns its output and exit code.
func (d *dialog) run(args ...string) (out string, code int) {
	d.t.Helper()
	cmd := exec.Command("buddy", args...)
	cmd.Dir, cmd.Env = d.cmd.Dir, d.cmd.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	text, err := cmd.CombinedOutput()
	_, ok := errors.AsType[*exec.ExitError](err)
	if err != nil && !ok {
		d.t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// detached starts a session without a screen, which is stopped at the end of the test, and returns its id.
func (d *dialog) detached(args ...string) string {
	d.t.Helper()
	out, code := d.run(append([]string{"exec", "--detach"}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	id := lines[len(lines)-1]
	if code != 0 || strings.Contains(id, " ") {
		d.t.Fatalf("%d: %s", code, out)
	}
	d.t.Cleanup(func() {
		if d.state(id) != "" {
			d.run("stop", "--kill", id)
		}
	})
	return id
}

// listed returns the entry of a session in buddy ls, nil if the session does not run.
func (d *dialog) listed(id string) map[string]any {
	d.t.Helper()
	out, _ := d.run("ls", "--json")
	for line := range strings.Lines(out) { // other tests have running sessions, too
		var one map[string]any
		if json.Unmarshal([]byte(line), &one) == nil && one["id"] == id {
			return one
		}
	}
	return nil
}

func (d *dialog) state(id string) string {
	d.t.Helper()
	state, _ := d.listed(id)["state"].(string)
	return state
}

func (d *dialog) untilState(id, want string) {
	d.t.Helper()
	reached := false
	defer func() {
		if !reached {
			out, code := d.run("ls", "--json")
			d.t.Logf("ls exits %d: %s\nthe session has\n%s", code, out, d.journal())
		}
	}()
	tmuxtest.Until(d.t, id+" "+want, func() bool {
		<-time.After(30 * time.Millisecond) // each check starts a process
		reached = d.state(id) == want
		return reached
	})
}

// wants runs the program without a terminal and checks its output and exit code.
func (d *dialog) wants(code int, text string, args ...string) {
	d.t.Helper()
	if out, got := d.run(args...); got != code || !strings.Contains(out, text) {
		d.t.Errorf("buddy %s: exit %d, want %d\n%s\nwant %q", strings.Join(args, " "), got, code, out, text)
	}
}

// TestApprove: the command shows what would run and asks a person, denies without asking, and names the answer that
// counts when another was first.
func TestApprove(t *testing.T) {
	t.Parallel()
	d := newDialog(t, "xterm-256color")
	id := d.detached("touch a.txt")
	d.untilState(id, "waits for approval")
	d.wants(1, "--deny works without a terminal", "approve", id)
	d.wants(2, "--reason needs --deny", "approve", id, "--reason", "x")
	d.wants(1, `session "zzzz" is not running (running: `, "approve", "zzzz")
	d.start("approve", id) // asks, but another one answers first
	d.want("Run this command?  (medium risk)", "| touch a.txt", "Creates files.", "to ␛[31mtest", "1  Yes", "Enter for no): ")
	d.wants(0, "deny: touch a.txt", "approve", id, "--deny", "--reason", "use another file")
	d.types("y\r")
	d.want("already answered on buddy approve, ", ": deny", "touch a.txt")
	if code := d.code(); code != 0 {
		t.Errorf("exit %d", code)
	}
	d.untilState(id, "idle")
	d.wants(1, "session "+id+" is not waiting for an approval (idle)", "approve", id)
	d.wants(1, "session "+id+" is not waiting for an approval (idle)", "approve", "--deny", id)
	if _, err := os.Stat(filepath.Join(d.work, "a.txt")); err == nil || !strings.Contains(d.journal(), "use another file") {
		t.Errorf("it was run, or the model does not know why not: %v\n%s", err, d.journal())
	}

	id = d.detached("touch b.txt")
	d.untilState(id, "waits for approval")
	d.start("approve", id)
	d.want("| touch b.txt", "Enter for no): ")
	d.types("y\r")
	d.want("once: touch b.txt")
	d.untilState(id, "idle")
	if _, err := os.Stat(filepath.Join(d.work, "b.txt")); err != nil {
		t.Error(err)
	}
}

// TestStates: the list shows the state of a session, which can be stopped in each state.
func TestStates(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"touch a.txt": "waits for approval", "ask me": "waits for answer", "wait": "working", "hello": "idle", "refuse": "failed",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			d := newDialog(t, "xterm-256color")
			id := d.detached(prompt)
			d.untilState(id, want)
			if one := d.listed(id); one["title"] != prompt && one["title"] != "Talk about a shell" || one["here"] != d.work || one["folder"] != d.work ||
				one["target"] != "local" || one["screens"] != 0.0 {
				t.Errorf("listed as %v", one)
			}
			if out, code := d.run("ls"); code != 0 || !strings.Contains(out, id) || !strings.Contains(out, want) {
				t.Errorf("exit %d: %s", code, out)
			}
			d.wants(0, "stopped "+id, "stop", id[:4])
			if d.listed(id) != nil {
				t.Error("a stopped session is still listed")
			}
			d.wants(1, "not running", "stop", id)
			d.wants(1, "buddy resume "+id, "attach", id)
			d.wants(1, "not running", "logs", id)
		})
	}
}

// TestDetachResumes: a resumed session accepts a prompt although its file has an error and the same prompt already.
func TestDetachResumes(t *testing.T) {
	t.Parallel()
	d := newDialog(t, "xterm-256color")
	id := d.detached("refuse")
	d.untilState(id, "failed")
	d.wants(0, "stopped "+id, "stop", id)
	d.wants(0, id, "exec", "--detach", "--resume", id, "refuse")
	d.untilState(id, "idle")
	if n := strings.Count(d.journal(), `"type":"prompt.submitted"`); n != 2 {
		t.Errorf("%d prompts, want 2", n)
	}
	d.wants(0, "stopped "+id, "stop", id)
}

// TestLogs: the log contains all events so far; following it continues until the session ends.
func TestLogs(t *testing.T) {
	t.Parallel()
	d := newDialog(t, "xterm-256color")
	id := d.detached("touch a.txt")
	d.untilState(id, "waits for approval")
	d.wants(0, "› touch a.txt", "logs", id)
	d.wants(0, "waiting for approval: touch a.txt", "logs", id)
	d.wants(0, `"type":"approval.asked"`, "logs", id, "--json")
	d.start("logs", id, "-f")
	d.want("› touch a.txt", "waiting for approval: touch a.txt")
	d.wants(0, "deny: touch a.txt", "approve", id, "--deny", "--reason", "not here")
	d.want("approval: deny on buddy approve, ", ": not here", "It said:")
	d.untilState(id, "idle") // its title may come later
	d.wants(0, "stopped", "stop", id)
	if code := d.code(); code != 0 {
		t.Errorf("exit %d\n%s", code, d.printed())
	}

	id = d.detached("ask me")
	d.untilState(id, "waits for answer")
	d.start("logs", id, "--follow")
	d.want("? Which one?")
	d.types("\x03")
	d.code()
	if status := d.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
		t.Errorf("Ctrl-C: %v", d.cmd.ProcessState)
	}
	d.untilState(id, "waits for answer") // the session continues
}
