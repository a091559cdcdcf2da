package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/socket"
)

func asks(e event.Event) bool { _, ok := e.(event.ApprovalAsked); return ok }

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(5 * time.Millisecond) { // real processes
		if time.Now().After(end) {
			t.Fatalf("not seen: %s", what)
		}
	}
}

// stays checks that a condition holds for a while.
func stays(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) { // real processes
		if !holds() {
			t.Fatalf("no longer so: %s", what)
		}
	}
}

func running(h *Host) func() bool { return func() bool { return !h.ended() } }

// notes returns a notify_command that appends a line to a file for each call, and a function that reads the file.
func notes(t *testing.T) (command string, read func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "notes")
	return fmt.Sprintf(`printf '%%s|%%s|%%s\n' "$BUDDY_SESSION" "$BUDDY_EVENT" "$BUDDY_TEXT" >> '%s'`, file), func() string {
		text, _ := os.ReadFile(file) // a missing file has no notes
		return string(text)
	}
}

// An attached user gets no notifications.
func TestNotifyCommandWhileSomebodyIsAttached(t *testing.T) {
	h := openHost(t, compose.Options{})
	command, read := notes(t)
	h.program.Config.UI.NotifyCommand = command
	v := look(t, h)
	v.Send(event.Submit{Text: "run touch first"})
	v.until("approval", asks)
	v.Send(event.AnswerApproval{ID: h.approvals()[0], Decision: event.Deny})
	v.until("end of the exchange", finished)
	stays(t, "nobody is told", func() bool { return read() == "" })
}

// Open requests and finished tasks run notify_command once each while no screen is attached, and their text is never
// executed. A program without a user leaves the session unattended.
func TestNotifyCommand(t *testing.T) {
	h := openHost(t, compose.Options{})
	command, read := notes(t)
	h.program.Config.UI.NotifyCommand, h.program.Config.Sessions.IdleExit = command, 10
	s := h.Look(t.Context(), socket.Screen{})
	batches, err := s.Subscribe(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for range batches { // keeps the subscription alive
		}
	}()
	want := ""
	notified := func(event, text string) {
		t.Helper()
		want += h.program.ID + "|" + event + "|" + text + "\n"
		eventually(t, event, func() bool { return len(read()) >= len(want) })
		stays(t, "it is told once, and as it is", func() bool { return read() == want })
	}
	const hostile = "echo '; touch pwned; $(touch pwned) `touch pwned` \"$(touch pwned)"
	s.Send(event.Submit{Text: "run " + hostile})
	notified("approval", hostile)
	last := h.hello().Last
	h.note(event.Envelope{Seq: last + 1, Payload: event.QuestionAsked{ID: "q", Text: "\x1b[31mWhich? $(touch pwned)"}})
	notified("question", "␛[31mWhich? $(touch pwned)")
	h.note(event.Envelope{Seq: last + 2, Payload: event.TaskFinished{ID: 99, Outcome: event.Completed}}) // not the main task
	stays(t, "it is not told", func() bool { return read() == want })
	s.Send(event.AnswerApproval{ID: h.approvals()[0], Decision: event.Deny})
	notified("finished", "completed")
	if _, err := os.Stat("pwned"); err == nil {
		t.Error("what the model wanted to say was run")
	}
}

// A failed task runs notify_command as failed, with the error, and every call has the session's title.
func TestNotifyCommandOfAFailure(t *testing.T) {
	h := openHost(t, compose.Options{})
	file := filepath.Join(t.TempDir(), "notes")
	h.program.Config.UI.NotifyCommand = fmt.Sprintf(`printf '%%s|%%s|%%s\n' "$BUDDY_TITLE" "$BUDDY_EVENT" "$BUDDY_TEXT" >> '%s'`, file)
	h.program.Config.Sessions.IdleExit = 10
	v := look(t, h)
	v.Send(event.Submit{Text: "help"})
	v.until("end of the exchange", finished)
	v.leave()
	eventually(t, "nobody is attached", func() bool { return !h.attended() })
	hello := h.hello()
	h.note(event.Envelope{Seq: hello.Last + 1, Payload: event.TaskFinished{ID: 1, Outcome: event.Failed, Error: "no key $(touch pwned)"}})
	eventually(t, "failed", func() bool {
		text, _ := os.ReadFile(file) // a missing file has no notes
		return string(text) == "help|failed|no key $(touch pwned)\n"
	})
}

// A notify_command that fails, hangs or is missing blocks nothing and leaves no process.
func TestNotifyCommandThatFails(t *testing.T) {
	for name, command := range map[string]string{
		"fails": "exit 3", "is missing": "/nonexistent/program", "is no command": "'", "hangs": "echo $$ > pid; sleep 600; true",
	} {
		t.Run(name, func(t *testing.T) {
			h := openHost(t, compose.Options{})
			h.program.Config.UI.NotifyCommand, h.alone.notify = command, 2*time.Second
			h.program.Config.Sessions.IdleExit = 10
			v := look(t, h)
			v.Send(event.Submit{Text: "help"})
			v.until("end of the exchange", finished)
			v.leave()
			eventually(t, "it is left", func() bool { return !h.attended() })
			began := time.Now()
			h.call("question", "which?")
			if took := time.Since(began); took > limit/2 {
				t.Errorf("it took %s", took)
			}
			if pid, err := os.ReadFile("pid"); err == nil {
				group := strings.TrimSpace(string(pid))
				eventually(t, "nothing is left of it", func() bool { return !alive(group) })
			} else if name == "hangs" {
				t.Error("it was not run")
			}
			stays(t, "the session goes on", running(h))
		})
	}
}

// An approval waits forever, or is denied after the configured time, which starts again when the user leaves again and
// does not run while a screen is attached.
func TestApprovalWait(t *testing.T) {
	for name, tt := range map[string]struct {
		wait, minute int // the setting; the length of a minute in milliseconds
		visit        bool
		denied       bool
	}{
		"by default": {wait: 0, minute: 1, denied: false},
		"set":        {wait: 2, minute: 100, denied: true},
		"attached":   {wait: 1, minute: 50, visit: true, denied: false},
	} {
		t.Run(name, func(t *testing.T) {
			h := openHost(t, compose.Options{})
			h.program.Config.Sessions.ApprovalWait, h.alone.minute = tt.wait, time.Duration(tt.minute)*time.Millisecond
			h.program.Config.Sessions.IdleExit = 1_000_000
			v := look(t, h)
			v.Send(event.Submit{Text: "run touch a"})
			v.until("approval", asks)
			id := h.approvals()[0]
			open := func() bool { return h.isOpen(id) }
			if tt.visit {
				h.limit(id) // as when it was left
			}
			if !tt.visit {
				v.leave()
			}
			if !tt.denied {
				stays(t, "it waits", open)
				return
			}
			eventually(t, "it is denied", func() bool { return !open() })
			late := look(t, h)
			late.until("end of the exchange", finished)
			var why string
			for _, env := range late.seen {
				if p, ok := env.Payload.(event.ApprovalAnswered); ok {
					why = fmt.Sprint(p.Decision, p.By, p.Reason, p.Screen)
				}
			}
			if want := fmt.Sprint(event.Deny, "nobody", "nobody answered for 200ms", ""); why != want {
				t.Errorf("%q, want %q", why, want)
			}
		})
	}
}

// A screen that comes and leaves restarts the wait.
func TestApprovalWaitBeginsAnew(t *testing.T) {
	h := openHost(t, compose.Options{})
	h.program.Config.Sessions.IdleExit = 10
	v := look(t, h)
	v.Send(event.Submit{Text: "run touch a"})
	v.until("approval", asks)
	id, visits := h.approvals()[0], h.visits()
	open := func() bool { return h.isOpen(id) }
	h.denyIfUnattended(id, visits, time.Minute)
	stays(t, "it waits while somebody is attached", open)
	again := look(t, h)
	v.leave()
	again.leave()
	eventually(t, "it is left", func() bool { return !h.attended() })
	h.denyIfUnattended(id, visits, time.Minute)
	stays(t, "it waits: somebody was there meanwhile", open)
	h.denyIfUnattended(id, h.visits(), time.Minute)
	eventually(t, "it is denied", func() bool { return !open() })
}

// An unattended session ends after idle_exit, but not while anything runs or waits, and not after a screen has come.
func TestIdleExit(t *testing.T) {
	h := openHost(t, compose.Options{})
	h.program.Config.Sessions.IdleExit = 1
	ends := func() bool { // reports whether the end is scheduled
		h.scheduleEnd()
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.alone.idle != nil
	}
	v := look(t, h)
	v.Send(event.Submit{Text: "run touch a"})
	v.until("approval", asks)
	v.leave()
	eventually(t, "it is left", func() bool { return !h.attended() })
	if h.endIfUnattended(); ends() || h.ended() {
		t.Error("it ends while an approval waits")
	}
	v = look(t, h)
	v.until("approval", asks)
	v.Send(event.AnswerApproval{ID: h.approvals()[0], Decision: event.Deny})
	v.until("end of the exchange", finished)
	if ends() {
		t.Error("it ends while somebody is attached")
	}
	v.leave()
	eventually(t, "it ends in a while", ends)
	back := look(t, h)
	if h.endIfUnattended(); h.ended() {
		t.Fatal("it has ended though somebody is back")
	}
	h.mu.Lock()
	h.alone.minute = 10 * time.Millisecond
	h.mu.Unlock()
	back.leave()
	over(t, h)
}

// The first prompt is handled even if the screen leaves right after sending it: the session may not have received it
// yet, and has no file.
func TestPromptOfAScreenThatGoesAtOnce(t *testing.T) {
	for range 10 {
		h := openHost(t, compose.Options{})
		h.program.Config.Sessions.IdleExit = 10
		v := look(t, h)
		v.Send(event.Submit{Text: "run touch first"})
		v.leave()
		eventually(t, "the approval waits", func() bool { return len(h.approvals()) > 0 })
	}
}

// alive reports whether any process of a group exists.
func alive(group string) bool {
	n, err := strconv.Atoi(group)
	return err == nil && syscall.Kill(-n, 0) == nil
}

// A session that is to stop when it is idle finishes its work, waits for approvals, and then ends even though a screen
// shows it.
func TestEndWhenIdle(t *testing.T) {
	h := openHost(t, compose.Options{})
	h.program.Config.Sessions.IdleExit = 10
	v := look(t, h)
	v.Send(event.Submit{Text: "run touch first"})
	v.until("approval", asks)
	cli := h.Look(t.Context(), socket.Screen{})
	reply, err := client.Ask[client.CloseReply](t.Context(), cli, client.Close{WhenIdle: true})
	if err != nil || !reply.Later {
		t.Fatalf("%+v, %v", reply, err)
	}
	stays(t, "it waits for the approval", running(h))
	v.Send(event.AnswerApproval{ID: h.approvals()[0], Decision: event.Deny})
	v.until("end of the exchange", func(e event.Event) bool {
		p, ok := e.(event.ExchangeFinished)
		return ok && p.Outcome == event.Completed
	})
	over(t, h)
}

// A loop that waits for its next run does not keep a session that is to stop when it is idle.
func TestEndWhenIdleEndsTheLoop(t *testing.T) {
	h := openHost(t, compose.Options{})
	h.program.Config.Sessions.IdleExit = 10
	v := look(t, h)
	v.Send(event.StartLoop{Prompt: event.Submit{Text: "hello"}, Every: time.Hour})
	v.until("end of a run", func(e event.Event) bool {
		_, ok := e.(event.ExchangeFinished)
		return ok
	})
	stays(t, "the loop waits", running(h))
	if reply, err := client.Ask[client.CloseReply](t.Context(), h.Look(t.Context(), socket.Screen{}), client.Close{WhenIdle: true}); err != nil || !reply.Later {
		t.Fatalf("%+v, %v", reply, err)
	}
	v.until("end of the loop", func(e event.Event) bool {
		p, ok := e.(event.TaskFinished)
		return ok && p.Outcome == event.Cancelled
	})
	over(t, h)
}

func TestEndWhenIdleWithoutWork(t *testing.T) {
	h := openHost(t, compose.Options{})
	reply, err := client.Ask[client.CloseReply](t.Context(), h.Look(t.Context(), socket.Screen{}), client.Close{WhenIdle: true})
	if err != nil || reply.Later {
		t.Errorf("%+v, %v", reply, err)
	}
	over(t, h)
}

func TestShortIDs(t *testing.T) {
	for id, want := range map[string]string{"3ba9-360b-de23-0a95": "3ba9", "run-1": "run-1", "1234-5": "1234-5", "nightly": "nightly"} {
		if got := Short(id); got != want {
			t.Errorf("Short(%q) = %q, want %q", id, got, want)
		}
	}
}
