package shell

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/tools"
)

// sentAway runs a command and sends it to the background once it has written "here". It returns the call's result and
// the task.
func sentAway(t *testing.T, tool *Shell, command string) (ran, tools.Task) {
	t.Helper()
	call := shellCall(t, command)
	release, printed := make(chan struct{}), make(chan struct{}, 1)
	call.Release = release
	call.Output = func(c tools.Chunk) {
		if strings.Contains(string(c.Text), "here") {
			printed <- struct{}{}
		}
	}
	var task tools.Task
	call.Begin = func(begun tools.Task) int { task = begun; return 7 }
	ended := make(chan tools.Result)
	go func() { ended <- tool.Run(t.Context(), call) }()
	<-printed
	close(release)
	r := <-ended
	if r.IsError {
		t.Fatalf("%+v", r)
	}
	return payload(t, r), task
}

// TestSentToTheBackground: a command in the shared pane keeps running as a task when a person sends it to the
// background. Other commands run in their own panes until it ends; later ones start where it left the shell.
func TestSentToTheBackground(t *testing.T) {
	tool := shellTool(t, func(text string) { t.Errorf("said %q", text) })
	release, to := filepath.Join(t.TempDir(), "go"), t.TempDir()
	payload(t, tool.Run(t.Context(), shellCall(t, "cd /; x=before")))
	got, task := sentAway(t, tool, "cd "+to+"; x=after; echo here; until [ -e "+release+" ]; do sleep 0.05; done; exit 3")
	if got.ID != 7 || got.Pane != tool.panes.Pane() || got.Stdout != "here\n" || !strings.HasPrefix(got.Note, "the user sent it to the background; it still runs as task 7 in pane ") {
		t.Errorf("result %+v", got)
	}
	if use := tool.Pane(shellCall(t, "true")); use.Pane.ID != "" {
		t.Errorf("the next one is said to work in %v", use.Pane)
	}
	if got := payload(t, tool.Run(t.Context(), shellCall(t, "echo $PWD $x"))); got.Stdout != "/ before\n" {
		t.Errorf("beside it: %+v", got)
	}
	waits := shellCall(t, "pwd") // waits for approval until after the end
	if waits.Planned, _ = tool.Plan(waits); waits.Planned.Cwd != "/" {
		t.Errorf("planned in %q", waits.Planned.Cwd)
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-task.Done
	if e := task.End(); e.ExitCode != 3 || e.Tail != "here\n" {
		t.Errorf("end %+v", e)
	}
	if use := tool.Pane(shellCall(t, "true")); use.Pane.ID != tool.panes.Pane() || tool.Cwd() != to {
		t.Errorf("after it: in %v, in folder %s", use.Pane, tool.Cwd())
	}
	if r := tool.Run(t.Context(), waits); !r.IsError || !strings.Contains(r.Content, "not started: the command in the background has ended meanwhile") {
		t.Errorf("what was approved for another folder: %+v", r)
	}
	if got := payload(t, tool.Run(t.Context(), shellCall(t, "echo $PWD $x"))); got.Stdout != to+" after\n" {
		t.Errorf("after it: %+v", got)
	}
}

// TestSentToTheBackgroundRevived: the next process knows that the command occupies the shared pane.
func TestSentToTheBackgroundRevived(t *testing.T) {
	tool := shellTool(t, func(text string) { t.Errorf("said %q", text) })
	_, was := sentAway(t, tool, "echo here; sleep 60")
	next := New(tool.panes, tool.plain, "local", "", tool.warn)
	task, err := next.Revive(t.Context(), 7, was)
	if err != nil || task.Pane != tool.panes.Pane() {
		t.Fatalf("%+v, %v", task, err)
	}
	if got := payload(t, next.Run(t.Context(), shellCall(t, "echo beside"))); got.Stdout != "beside\n" {
		t.Errorf("%+v", got)
	}
	task.Stop()
	<-task.Done
	if e := task.End(); !e.Cancelled {
		t.Errorf("end %+v", e)
	}
}

// TestSentToTheBackgroundWhileWaiting: a call waiting for the shared pane stops waiting when the command in it is sent
// to the background.
func TestSentToTheBackgroundWhileWaiting(t *testing.T) {
	tool := shellTool(t, func(text string) { t.Errorf("said %q", text) })
	ctx, cancel := context.WithCancel(t.Context())
	first, running, ended := shellCall(t, "echo here; sleep 60"), make(chan struct{}, 1), make(chan tools.Result)
	first.Output = func(tools.Chunk) { running <- struct{}{} }
	go func() { ended <- tool.Run(ctx, first) }()
	<-running
	release := make(chan struct{})
	second := shellCall(t, "echo second")
	second.Release = release
	time.AfterFunc(100*time.Millisecond, func() { close(release) })
	if r := tool.Run(t.Context(), second); !r.IsError || !strings.Contains(r.Content, "not started: this command waited for another one") {
		t.Errorf("%+v", r)
	}
	cancel()
	<-ended
}

// TestSentToTheBackgroundWithoutTmux: commands without panes can be sent to the background, too.
func TestSentToTheBackgroundWithoutTmux(t *testing.T) {
	tool := shellTool(t, func(string) {})
	tool.noPanes.Store(true)
	got, task := sentAway(t, tool, "echo here; sleep 60")
	if got.Pane != "" || got.Stdout != "here\n" {
		t.Errorf("result %+v", got)
	}
	if got := payload(t, tool.Run(t.Context(), shellCall(t, "echo beside"))); got.Stdout != "beside\n" {
		t.Errorf("%+v", got)
	}
	task.Stop()
	<-task.Done
}
