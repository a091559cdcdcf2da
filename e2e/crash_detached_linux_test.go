package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/app/socket"
	"buddy/sessions"
	"buddy/tmux/tmuxtest"
)

// TestCrashOfDetachedRuns kills the host of a detached run with -9 at any instant, sometimes the starting program, too,
// and starts the run with the same command again. In the end each run has one prompt, one end and its whole answer, and
// no command ran twice.
func TestCrashOfDetachedRuns(t *testing.T) {
	crash(t, *crashes/3, func(c *crasher) scene {
		c.serve(c.answer)
		r := &detachedRuns{crasher: c, number: 1}
		t.Cleanup(r.kill)
		return scene{r.run, r.checkRuns, r.checkRuns}
	})
}

// A start that reaches a host which is about to end starts another host.
func TestDetachedStartReachesAnEndingHost(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("needs tmux: ", err)
	}
	c := newCrasher(t, rand.New(rand.NewPCG(1, 1)))
	c.serve(c.answer)
	r := &detachedRuns{crasher: c, number: 1}
	t.Cleanup(r.kill)
	path, err := socket.Path(r.variable, r.id())
	if err != nil {
		t.Fatal(err)
	}
	ending, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	reached := make(chan struct{})
	go func() {
		defer close(reached)
		for {
			conn, err := ending.Accept()
			if err != nil {
				return
			}
			n, _ := conn.Read(make([]byte, 1)) // a client says hello; a process that only looks says nothing
			if n > 0 {
				_ = ending.Close()
			}
			_ = conn.Close()
		}
	}()
	r.start(0)
	<-reached
	r.run(0)
	r.checkRuns()
}

// A start ends the host that a killed start has left without a prompt, and starts another one.
func TestDetachedStartAfterAKilledStart(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("needs tmux: ", err)
	}
	c := newCrasher(t, rand.New(rand.NewPCG(1, 1)))
	c.serve(c.answer)
	r := &detachedRuns{crasher: c}
	t.Cleanup(r.kill)
	for left := false; !left; {
		r.number++
		if r.number > 200 {
			t.Fatal("no killed start has left a host without a prompt")
		}
		cmd := exec.Command("buddy", "exec", "--config", "buddy.toml", "--model", "test", "--approve", "all", "--detach", "--id", r.id(), "do it")
		cmd.Dir, cmd.Env = r.work, r.env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); socket.Find(r.variable, r.id()) == "" && time.Now().Before(end); {
		}
		<-time.After(time.Duration(r.number%20) * time.Millisecond) // at first the start itself listens, then its host
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		text, _ := os.ReadFile(r.path(".jsonl")) // without a prompt there may be no file
		if left = !strings.Contains(string(text), `"type":"prompt.submitted"`) && socket.Find(r.variable, r.id()) != ""; !left {
			r.kill()
		}
	}
	r.run(0)
}

// detachedRuns starts runs with ids, one after the other.
type detachedRuns struct {
	*crasher
	number int // of the current run
}

func (r *detachedRuns) id() string { return fmt.Sprintf("run-%d", r.number) }

// start starts the current run, and kills the starting program after a time, 0 for never.
func (r *detachedRuns) start(after time.Duration) {
	r.t.Helper()
	cmd := exec.Command("buddy", "exec", "--config", "buddy.toml", "--model", "test", "--approve", "all", "--detach", "--id", r.id(), "do it")
	cmd.Dir, cmd.Env = r.work, r.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal, as a service starts it
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	if after > 0 {
		defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
	}
	if err := cmd.Wait(); err != nil && after == 0 {
		r.t.Fatalf("%s: %v\n%s\n%s", r.id(), err, out.String(), r.journals())
	}
}

// run works on the current run and kills its host after a time; with 0 it waits for the end, and the next run follows.
func (r *detachedRuns) run(after time.Duration) {
	r.t.Helper()
	if after > 0 {
		if r.rng.IntN(4) == 0 {
			r.start(1 + time.Duration(r.rng.Int64N(int64(100*time.Millisecond))))
		} else {
			r.start(0)
			time.Sleep(after) // the instant of the crash
		}
		r.kill()
		return
	}
	began := time.Now()
	r.start(0)
	tmuxtest.Until(r.t, r.id()+" has finished", func() bool {
		text, _ := os.ReadFile(r.path(".jsonl"))
		return strings.Contains(string(text), `"type":"exchange.finished"`)
	})
	r.typical = max(r.typical, time.Since(began))
	r.kill()
	r.number++
}

// variable returns the value of a variable of the programs.
func (r *detachedRuns) variable(name string) (value string) {
	for _, e := range r.env {
		if key, text, _ := strings.Cut(e, "="); key == name {
			value = text
		}
	}
	return value
}

func (r *detachedRuns) path(ext string) string {
	return filepath.Join(r.work, ".buddyx", "sessions", r.id()+ext)
}

// kill kills the host of the current run, if it is known.
func (r *detachedRuns) kill() {
	text, _ := os.ReadFile(r.path(".host")) // no file: the run is not stored yet
	var noted sessions.Host
	if json.Unmarshal(text, &noted) == nil && noted.PID > 1 {
		_ = syscall.Kill(noted.PID, syscall.SIGKILL)
	}
}

// checkRuns verifies the prompts, ends and answers of the runs.
func (r *detachedRuns) checkRuns() {
	r.t.Helper()
	r.check()
	store := sessions.At(filepath.Join(r.work, ".buddyx", "sessions"))
	for _, path := range r.files() {
		id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		prompts, ends, said := 0, 0, ""
		for _, env := range r.load(store, id).Events {
			switch p := env.Payload.(type) {
			case event.PromptSubmitted:
				prompts++
			case event.ModelMessage:
				said = p.Message.Content
			case event.ExchangeFinished:
				if ends++; p.Outcome != event.Completed || !strings.HasSuffix(said, "to say so.") {
					r.t.Fatalf("%s: ended as %s after %q\n%s", id, p.Outcome, said, r.journals())
				}
			}
		}
		if prompts != 1 || ends > 1 || ends == 0 && id != r.id() {
			r.t.Fatalf("%s has %d prompts and %d ends\n%s", id, prompts, ends, r.journals())
		}
	}
}
