package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// parent returns the parent of a process: the screen that started a host.
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

// writesOnce is a model that calls a command which needs approval, and then reports that it is done.
func writesOnce(req modeltest.Request) modeltest.Answer {
	if last := lastMessage(req); last.Role == model.Tool {
		return modeltest.Answer{modeltest.Text("The tool said: " + strings.Join(strings.Fields(last.Content), " "))}
	}
	return modeltest.Answer{modeltest.Text("I will."), shellCall("c1", "mkdir made && echo it is made")}
}

// TestKilledHost: the screen of a session whose process was killed reports that, nothing runs on the screen any more,
// and Enter starts another process that continues the open work.
func TestKilledHost(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, writesOnce)
	x.send("write a folder")
	x.want("mkdir made && echo it is made", "Run this command?")
	first := x.hostPID()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	x.want("the process that ran this session has", "press Enter to restart it")
	x.gone("Run this command?", "Waiting for your approval")
	x.keys("Enter")
	x.want("continues in a new process")
	tmuxtest.Until(t, "another process has the session", func() bool { pid := x.hostPID(); return pid != 0 && pid != first })
	x.want("Run this command?")
	<-time.After(approvalGrace)
	x.keys("y")
	x.want("The tool said:", "it is made")
	x.rests()
	x.quit()
	tmuxtest.Until(t, "the process ends with its session", func() bool { return x.hostPID() == 0 })
}

// TestKilledScreen: an answer continues when its screen is killed, another screen shows all of it, also while it is
// written, and the session then ends with that screen.
func TestKilledScreen(t *testing.T) {
	t.Parallel()
	killed := make(chan struct{})
	x := newTerminal(t, func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{modeltest.Text("a word a word"), modeltest.Until(killed), modeltest.Text(" and the end")}
	})
	x.send("speak slowly")
	x.want("a word a word")
	second := x.another("second", "resume --last")
	second.want("speak slowly", "a word a word", "Esc interrupts")
	host := x.hostPID()
	if err := syscall.Kill(parent(t, host), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	close(killed)
	second.want("and the end")
	second.rests() // nothing runs that quitting would ask about
	second.keys("C-c")
	second.keys("C-c")
	second.want("ended 0")
	tmuxtest.Until(t, "the process ends with its session", func() bool { return syscall.Kill(host, 0) != nil })
}

// TestEnterAfterTheHostDiedSendsNothing: text typed while the host was killed stays in the prompt when Enter starts
// another host. The next Enter sends it.
func TestEnterAfterTheHostDiedSendsNothing(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, echoes)
	x.send("first prompt")
	x.want("You said: first prompt.")
	x.rests()
	x.keys("-l", "please delete")
	x.want("> please delete")
	first := x.hostPID()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	x.want("press Enter to restart it", "> please delete")
	x.keys("Enter")
	x.want("continues in a new process", "not sent", "> please delete")
	tmuxtest.Until(t, "another process has the session", func() bool { pid := x.hostPID(); return pid != 0 && pid != first })
	x.keys("-l", " nothing")
	x.want("> please delete nothing")
	if _, journal := x.journal(); strings.Contains(journal, "please delete") {
		t.Errorf("the draft was sent: %s", journal)
	}
	x.keys("Enter")
	x.want("You said: please delete nothing.")
	x.rests()
	x.quit()
}

// window is an additional terminal.
type window struct {
	*terminal
	name string
}

// another runs buddy in an additional terminal.
func (x *terminal) another(name, args string) window {
	x.t.Helper()
	path, err := exec.LookPath("buddy")
	if err != nil {
		x.t.Fatal(err)
	}
	x.srv.Tmux("new-window", "-d", "-n", name, "-t", "t:", "-c", x.work,
		"env -u TMUX -u TMUX_PANE '"+path+"' --config '"+filepath.Join(x.srv.Dir, "buddy.toml")+"' "+args+"; echo ended $?; exec sleep 1000")
	return window{x, name}
}

func (w window) screen() string { return w.srv.Tmux("capture-pane", "-p", "-t", "t:"+w.name) }

func (w window) keys(keys ...string) {
	w.t.Helper()
	w.srv.Tmux(append([]string{"send-keys", "-t", "t:" + w.name}, keys...)...)
}

func (w window) rests() {
	w.t.Helper()
	tmuxtest.Until(w.t, "nothing runs", func() bool { return !strings.Contains(w.screen(), `Ctrl+\ detach`) })
}

func (w window) want(texts ...string) {
	w.t.Helper()
	tmuxtest.Until(w.t, strings.Join(texts, ", "), func() bool {
		screen := w.screen()
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
	})
}

// TestDraftOfEachScreen: a screen neither shows nor overwrites text being typed at another screen, and the next screen
// gets the text of a killed or closed one.
func TestDraftOfEachScreen(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, func(modeltest.Request) modeltest.Answer { return modeltest.Answer{modeltest.Text("It was heard.")} })
	x.send("hello")
	x.want("It was heard.")
	x.rests()
	stored := func(n, want string) {
		t.Helper()
		tmuxtest.Until(t, n+" has "+want, func() bool {
			files, _ := filepath.Glob(filepath.Join(x.work, ".buddyx/sessions/*.draft"+n))
			if len(files) != 1 {
				return want == ""
			}
			text, err := os.ReadFile(files[0])
			return err == nil && string(text) == want
		})
	}
	host := x.hostPID()
	x.keys("-l", "the first draft")
	stored("", "the first draft")
	second := x.another("second", "attach "+x.session())
	second.want("It was heard.", "F1 help")
	second.keys("-l", "the second draft")
	stored(".2", "the second draft")
	if screen := second.screen(); strings.Contains(screen, "the first draft") {
		t.Errorf("two screens have one draft:\n%s", screen)
	}
	second.keys("Enter")
	x.want("▌ the second draft", "> the first draft")
	stored(".2", "")
	stored("", "the first draft")
	if err := syscall.Kill(parent(t, host), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	third := x.another("third", "attach "+x.session())
	third.want("> the first draft")
	second.keys("-l", "left behind")
	stored(".2", "left behind")
	pid, err := strconv.Atoi(strings.TrimSpace(x.srv.Tmux("display-message", "-p", "-t", "t:second", "#{pane_pid}")))
	if err != nil {
		t.Fatal(err)
	}
	x.srv.Tmux("kill-window", "-t", "t:second")
	tmuxtest.Until(t, "the second screen has ended", func() bool { return syscall.Kill(pid, 0) != nil })
	fourth := x.another("fourth", "attach "+x.session())
	fourth.want("> left behind")
	fourth.keys("C-u") // deleted text does not come back
	stored(".2", "")
	fourth.keys("C-\\")
	fourth.want("Come back with: buddy attach")
	third.keys("C-u")
	stored("", "")
	third.keys("C-c")
	third.keys("C-c")
	third.want("ended 0")
	tmuxtest.Until(t, "the process ends with its session", func() bool { return syscall.Kill(host, 0) != nil })
}

// TestAttachBeforeTheFirstPrompt: one line explains that there is nothing to show yet.
func TestAttachBeforeTheFirstPrompt(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, writesOnce)
	id := regexp.MustCompile(` ([0-9a-f]{4})\n`).FindStringSubmatch(x.screen())
	if id == nil {
		t.Fatalf("no id:\n%s", x.screen())
	}
	x.another("second", "attach "+id[1]).want("buddy: session "+id[1], "has no prompt yet", "ended 1")
	x.keys("C-d")
	x.want("ended 0")
}

// TestAnsweredElsewhere: an answer given at one screen appears at the other with the place where it was given, and in
// the log of the session. An idle session with another screen outlives the screen that quits, and a screen whose
// session is ended from elsewhere reports that.
func TestAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, func(req modeltest.Request) modeltest.Answer {
		if last := lastMessage(req); last.Role == model.User && strings.Contains(last.Content, "which one") {
			return modeltest.Answer{modeltest.Call{ID: "c2", Name: "ask_user", Arguments: `{"question":"Which one?","choices":["red","blue"]}`}}
		}
		return writesOnce(req)
	})
	x.send("write a folder")
	x.want("Run this command?")
	second := x.another("second", "attach "+x.session())
	second.want("Run this command?")
	<-time.After(approvalGrace)
	second.keys("y")
	tty := strings.TrimPrefix(x.srv.Tmux("display-message", "-p", "-t", "t:second", "#{pane_tty}"), "/dev/")
	x.want("approved on another screen ("+tty+", process ", "The tool said:")
	if screen := second.screen(); strings.Contains(screen, "another screen") {
		t.Errorf("who answered is told so:\n%s", screen)
	}
	x.rests()
	x.send("which one")
	x.want("2  blue")
	second.want("2  blue")
	<-time.After(approvalGrace)
	second.keys("2")
	second.keys("Enter")
	x.want("answered on another screen (" + tty + ", process ")
	log := x.another("log", "logs "+x.session())
	log.want("approval: once on "+tty, "answer on "+tty+", process ", "ended 0")
	x.rests() // otherwise the first Ctrl+C is for the task
	x.keys("C-c")
	x.keys("C-c")
	x.want("the session keeps running on another screen · buddy attach", "ended 0")
	x.another("stop", "stop "+x.session()).want("stopped "+x.session(), "ended 0")
	second.want("the session was stopped from another terminal", "ended 0")
}

// session returns the id of the session.
func (x *terminal) session() string {
	x.t.Helper()
	files, _ := filepath.Glob(filepath.Join(x.work, ".buddyx/sessions/*.jsonl"))
	if len(files) != 1 {
		x.t.Fatalf("sessions: %q", files)
	}
	return strings.TrimSuffix(filepath.Base(files[0]), ".jsonl")
}
