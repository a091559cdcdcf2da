package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/tmux/tmuxtest"
)

// states is a model that brings a session into any state.
func states(req modeltest.Request) modeltest.Answer {
	all := ""
	for _, m := range req.Messages {
		all += m.Content + "\n"
	}
	switch prompt := promptIn(lastOf(req, model.User)); {
	case strings.Contains(all, "has become too long"): // the request for a summary
		return modeltest.Answer{modeltest.Text("Goal: "), modeltest.Hang{}}
	case strings.Contains(prompt, "remember"):
		var long strings.Builder
		for i := range 500 {
			fmt.Fprintf(&long, "and so on %d ", i)
		}
		return modeltest.Answer{modeltest.Text(long.String() + "to the end of " + prompt)}
	case strings.Contains(prompt, "recall"):
		return modeltest.Answer{modeltest.Text(fmt.Sprint("known: ", strings.Count(all, "of remember one")))}
	case strings.Contains(prompt, "wait"):
		if lastMessage(req).Role == model.Tool {
			return modeltest.Answer{modeltest.Text("The command has " + strings.Split(lastMessage(req).Content, "\n")[1] + ".")}
		}
		return modeltest.Answer{shellCall("c1", "echo beg''un; until test -e go; do sleep 0.02; done; echo waited")}
	case strings.Contains(all, "a word 9"): // continued
		return modeltest.Answer{modeltest.Text("and the end")}
	case strings.Contains(prompt, "speak"):
		return modeltest.Answer{modeltest.Text(strings.Repeat("a word ", 8) + "a word 9"), modeltest.Pause(2500 * time.Millisecond), modeltest.Text(" more"), modeltest.Hang{}}
	}
	return modeltest.Answer{modeltest.Text("Yes?")}
}

// TestHostKilledInEveryState: in whatever state the host was killed, the screen reports that, and the session continues
// with the whole conversation so far. TestKilledHost covers an open approval.
func TestHostKilledInEveryState(t *testing.T) {
	for name, tt := range map[string]struct {
		to   func(x *terminal) // brings it into the state
		from func(x *terminal) // continues from there in another host
	}{
		"idle": {
			func(x *terminal) {},
			func(x *terminal) { x.gone("Enter to continue") },
		},
		"streaming": {
			func(x *terminal) {
				x.send("speak")
				x.want("a word 9 more") // past a checkpoint
			},
			func(x *terminal) {
				x.want("Enter to continue", "a word 9")
				if screen := x.screen(); strings.Count(screen, "a word 9") != 1 {
					x.t.Errorf("what there was of the answer does not show once:\n%s", screen)
				}
				x.keys("Enter")
				x.want("and the end")
			},
		},
		"command": {
			func(x *terminal) {
				x.send("wait")
				x.want("Run this command?")
				<-time.After(approvalGrace)
				x.keys("y")
				x.want("begun")
			},
			func(x *terminal) {
				if err := os.WriteFile(filepath.Join(x.work, "go"), nil, 0o600); err != nil {
					x.t.Fatal(err)
				}
				x.want("Enter to continue")
				x.keys("Enter")
				x.want("The command has waited.")
			},
		},
		"compaction": {
			func(x *terminal) {
				x.send("remember two")
				x.want("end of remember two")
				x.rests()
				x.send("/compact")
				x.want("summarising")
			},
			func(x *terminal) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, states)
			x.send("remember one")
			x.want("end of remember one")
			x.rests()
			tt.to(x)
			first := x.hostPID()
			if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			x.want("the process that ran this session has", "to restart it")
			x.keys("Enter")
			x.want("continues in a new process")
			tmuxtest.Until(t, "another process has the session", func() bool { pid := x.hostPID(); return pid != 0 && pid != first })
			tt.from(x)
			x.send("recall")
			x.want("known: 1")
			x.rests() // nothing runs that quitting would ask about
			x.keys("C-c")
			x.keys("C-c")
			x.want("ended 0")
		})
	}
}

// TestPromptThatNoHostTookComesBack: a prompt sent to a host that died before it received it returns to the input, and
// the session has it once after it is sent again.
func TestPromptThatNoHostTookComesBack(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, states)
	x.send("remember one")
	x.want("end of remember one")
	x.rests()
	x.keys("S-Tab") // another mode, which the screen shows even without a running session
	x.want(" edits ")
	first := x.hostPID()
	if err := syscall.Kill(first, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	x.send("remember two")
	x.gone("> remember two")
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	x.want("it is back in the prompt", "> remember two")
	if screen := x.screen(); !strings.Contains(screen, " edits ") {
		t.Errorf("the screen says another mode:\n%s", screen)
	}
	x.keys("Enter")
	x.want("continues in a new process", "> remember two")
	x.keys("Enter")
	x.want("end of remember two")
	x.gone("your input will be sent")
	files, _ := filepath.Glob(filepath.Join(x.work, ".buddyx/sessions/*.jsonl"))
	if len(files) != 1 {
		t.Fatalf("%d sessions", len(files))
	}
	text, err := os.ReadFile(files[0])
	if n := strings.Count(string(text), `"text":"remember two"`); err != nil || n != 1 {
		t.Errorf("the prompt was stored %d times, %v", n, err)
	}
	x.rests()
	x.keys("C-c")
	x.keys("C-c")
	x.want("ended 0")
}
