package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/tmux/tmuxtest"
)

// hostPID returns the process that runs the session, 0 if none does.
func (x *terminal) hostPID() int {
	x.t.Helper()
	files, _ := filepath.Glob(filepath.Join(x.work, ".buddyx/sessions/*.pid"))
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
				return pid
			}
		}
	}
	return 0
}

// parent returns the process that started another: the screen that started a host.
func parent(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	parent, err := strconv.Atoi(fields[1])
	if err != nil || parent <= 1 {
		t.Fatalf("%q: %v", fields, err)
	}
	return parent
}

// writesOnce is a model that calls a command which needs approval, and says when it is done.
func writesOnce(req modeltest.Request) modeltest.Answer {
	if last := req.Messages[len(req.Messages)-1]; last.Role == model.Tool {
		return modeltest.Answer{modeltest.Text("The tool said: " + strings.Join(strings.Fields(last.Content), " "))}
	}
	return modeltest.Answer{modeltest.Text("I will."), shellCall("c1", "mkdir made && echo it is made")}
}

// TestKilledHost: the screen of a session whose process was killed says so, nothing runs on it any
// more, and Enter starts another process that goes on with what was open.
func TestKilledHost(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, writesOnce)
	x.say("write a folder")
	x.want("mkdir made && echo it is made", "run once")
	first := x.hostPID()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	x.want("the process that ran this session has", "Enter starts it again")
	x.gone("run once", "waits for your approval")
	x.keys("Enter")
	x.want("goes on in a new process")
	tmuxtest.Until(t, "another process has the session", func() bool { pid := x.hostPID(); return pid != 0 && pid != first })
	x.want("run once")
	<-time.After(approvalGrace)
	x.keys("y")
	x.want("The tool said:", "it is made", "✓ main")
	x.quit()
	tmuxtest.Until(t, "the process ends with its session", func() bool { return x.hostPID() == 0 })
}

// TestKilledScreen: an answer goes on when its screen is killed, another screen shows all of it, also
// while it comes, and the session ends with that.
func TestKilledScreen(t *testing.T) {
	t.Parallel()
	killed := make(chan struct{})
	x := newTerminal(t, func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{modeltest.Text("a word a word"), modeltest.Until(killed), modeltest.Text(" and the end")}
	})
	x.say("speak slowly")
	x.want("a word a word")
	path, err := exec.LookPath("buddy")
	if err != nil {
		t.Fatal(err)
	}
	x.srv.Tmux("new-window", "-d", "-n", "second", "-t", "t", "-c", x.work,
		"env -u TMUX -u TMUX_PANE '"+path+"' --config '"+filepath.Join(x.srv.Dir, "buddy.toml")+"' resume --last; echo ended $?; exec sleep 1000")
	second := func(texts ...string) {
		t.Helper()
		tmuxtest.Until(t, strings.Join(texts, ", "), func() bool {
			screen := x.srv.Tmux("capture-pane", "-p", "-t", "t:second")
			for _, text := range texts {
				if !strings.Contains(screen, text) {
					return false
				}
			}
			return true
		})
	}
	second("speak slowly", "a word a word", "answering")
	host := x.hostPID()
	if err := syscall.Kill(parent(t, host), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	close(killed)
	second("and the end", "✓ main") // nothing runs that quitting would ask about
	x.srv.Tmux("send-keys", "-t", "t:second", "C-c")
	x.srv.Tmux("send-keys", "-t", "t:second", "C-c")
	second("ended 0")
	tmuxtest.Until(t, "the process ends with its session", func() bool { return syscall.Kill(host, 0) != nil })
}
