package shell

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tools"
)

// asked answers every question, like a person.
func asked(context.Context, tools.Question) (string, error) { return "", nil }

// TestRunShellOnTheTerminal: the modes captty and tty, with a person who types.
func TestRunShellOnTheTerminal(t *testing.T) {
	tool := shellTool(t, nil)
	answer := func(text string) {
		t.Helper()
		deadline := time.Now().Add(time.Minute)
		for {
			_, screen, err := tool.panes.Capture(t.Context(), "", tmux.View{})
			if err == nil && strings.HasSuffix(screen, "Name?") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("no prompt within a minute: %v, screen %q", err, screen)
			}
			<-time.After(5 * time.Millisecond)
		}
		if _, err := tool.panes.Keys(t.Context(), "", text, []string{"Enter"}); err != nil {
			t.Fatal(err)
		}
	}
	for mode, want := range map[string]string{"captty": "hello Ann\n", "tty": "Name?Ann\nhello Ann\n"} {
		call := shellCall(t, "printf Name'?' >/dev/tty; read x; echo hello $x; exit 3", mode)
		act, err := tool.Plan(call)
		if err != nil || act.Preview == "" {
			t.Errorf("plan: %+v, %v", act, err)
		}
		ended := make(chan tools.Result)
		call.Ask = asked
		go func() { ended <- tool.Run(t.Context(), call) }()
		answer("Ann")
		r := <-ended
		if got := payload(t, r); got.Stdout != want || got.ExitCode != 3 || got.Stderr != "" {
			t.Errorf("%s: %+v, want stdout %q", mode, got, want)
		}
	}
	call := shellCall(t, `printf '\033[?1049h\033[Hpicture\033[?1049l'; echo '\033[1mafter'`, "tty")
	call.Ask = asked
	if got := payload(t, tool.Run(t.Context(), call)); !strings.Contains(got.Note, "full-screen output is left out") || strings.Contains(got.Stdout, "picture") {
		t.Errorf("a full-screen program: %+v", got)
	}
	if _, err := tool.Plan(shellCall(t, "true", "other")); err == nil || !strings.Contains(err.Error(), "cap, merge, captty, tty") {
		t.Errorf("an unknown mode: %v", err)
	}
}

// TestTerminalUnattended: if nobody can type, a command that reads keys is left running after some time, in a pane of
// its own.
func TestTerminalUnattended(t *testing.T) {
	tool := shellTool(t, nil)
	call := shellCall(t, "read x; echo got $x", "captty")
	old := unattended
	unattended = 100 * time.Millisecond
	t.Cleanup(func() { unattended = old })
	r := tool.Run(t.Context(), call)
	if r.IsError || !strings.Contains(r.Content, "it still runs as task 1 in pane") {
		t.Fatalf("%+v", r)
	}
	job, err := tool.jobs.find(1, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool.panes.Keys(t.Context(), job.pane, "it", []string{"Enter"}); err != nil {
		t.Fatal(err)
	}
	<-job.run.Done()
	if got := payload(t, job.result("", DefaultLimits.Output)); got.Stdout != "got it\n" {
		t.Errorf("%+v", got)
	}
}

// TestNobodyTypes: when nobody is there, the model gets the question of a command that waits for keys and can answer
// it, even if someone could answer questions of tools.
func TestNobodyTypes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a process waits for is seen on Linux only")
	}
	tool := shellTool(t, nil)
	tool.Unattend()
	old := unattended
	unattended = time.Hour
	t.Cleanup(func() { unattended = old })
	call := shellCall(t, `printf 'Name? ' >/dev/tty; read x; echo got $x`, "captty")
	call.Ask = asked
	r := tool.Run(t.Context(), call)
	if r.IsError || !strings.Contains(r.Content, "Name?") || !strings.Contains(r.Content, "it waits for keys, and nobody is there to type") || !strings.Contains(r.Content, "task 1 in pane") {
		t.Fatalf("%+v", r)
	}
	job, err := tool.jobs.find(1, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool.panes.Keys(t.Context(), job.pane, "it", []string{"Enter"}); err != nil {
		t.Fatal(err)
	}
	<-job.run.Done()
	if got := payload(t, job.result("", DefaultLimits.Output)); got.Stdout != "got it\n" {
		t.Errorf("%+v", got)
	}
}

// TestTerminalWithoutPanes: nothing runs, and the model gets the reason.
func TestTerminalWithoutPanes(t *testing.T) {
	tool := shellTool(t, func(string) {})
	tool.noPanes.Store(true)
	mark := filepath.Join(t.TempDir(), "ran")
	call := shellCall(t, "touch "+mark, "tty")
	call.Ask = asked
	if r := tool.Run(t.Context(), call); !r.IsError || !strings.Contains(r.Content, "needs a terminal") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
}
