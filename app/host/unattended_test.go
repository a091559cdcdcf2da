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
	"buddy/app/compose"
	"buddy/app/socket"
)

func asks(e event.Event) bool { _, ok := e.(event.ApprovalAsked); return ok }

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(5 * time.Millisecond) { // real processes
		if time.Now().After(end) {
			t.Fatalf("not seen: %s", what)
		}
	}
}

// stays checks that something does not happen within a time in which it would.
func stays(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) { // real processes
		if !holds() {
			t.Fatalf("no longer so: %s", what)
		}
	}
}

func running(h *Host) func() bool { return func() bool { return !h.ended() } }

// notes returns a notify_command that adds a line for each call to a file, and that reads the file.
func notes(t *testing.T) (command string, read func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "notes")
	return fmt.Sprintf(`printf '%%s|%%s|%%s\n' "$BUDDY_SESSION" "$BUDDY_EVENT" "$BUDDY_TEXT" >> '%s'`, file), func() string {
		text, _ := os.ReadFile(file) // nothing was noted
		return string(text)
	}
}

// What waits and what has ended is told once each in the person's own way, while nobody is attached
// only, and what is told is never run.
func TestNotifyCommand(t *testing.T) {
	h := openHost(t, compose.Options{})
	command, read := notes(t)
	h.program.Config.UI.NotifyCommand = command
	h.program.Config.Sessions.IdleExit = 10
	v := look(t, h)
	v.Send(event.Submit{Text: "run touch first"})
	v.until("approval", asks)
	v.Send(event.AnswerApproval{ID: h.open.waiting()[0], Decision: event.Deny})
	v.until("end of the exchange", finished)
	stays(t, "nobody is told what somebody sees", func() bool { return read() == "" })

	const hostile = "echo \x1b[31m'; touch pwned; $(touch pwned) `touch pwned` \"$(touch pwned)"
	v.leave()
	eventually(t, "it is left", func() bool { return !h.attended() })
	h.Look(t.Context(), socket.Screen{}).Send(event.Submit{Text: "run touch second"})
	approval := h.program.ID + "|approval|touch second\n"
	eventually(t, "the approval is told", func() bool { return read() == approval })
	now := func(e event.Event) { h.note(event.Envelope{Seq: h.open.last + 1, Payload: e}) }
	for _, e := range []struct {
		event event.Event
		want  string
	}{
		{event.QuestionAsked{ID: "q", Text: hostile}, "question|echo ␛[31m'; touch pwned; $(touch pwned) `touch pwned` \"$(touch pwned)"},
		{event.TaskFinished{ID: 99, Outcome: event.Completed}, ""}, // no main task
	} {
		before := read()
		now(e.event)
		if e.want == "" {
			stays(t, "it is not told", func() bool { return read() == before })
			continue
		}
		want := before + h.program.ID + "|" + e.want + "\n"
		eventually(t, e.want, func() bool { return len(read()) >= len(want) })
		stays(t, "it is told once", func() bool { return read() == want })
	}
	// The answer of a program that shows nothing to a person leaves the session unattended.
	h.Look(t.Context(), socket.Screen{}).Send(event.AnswerApproval{ID: h.open.waiting()[0], Decision: event.Deny})
	eventually(t, "finished", func() bool { return strings.HasSuffix(read(), h.program.ID+"|finished|completed\n") })
	if _, err := os.Stat("pwned"); err == nil {
		t.Error("what the model wanted to say was run")
	}
	if n := strings.Count(read(), "\n"); n != 3 {
		t.Errorf("told %d times, want an approval, a question and an end:\n%s", n, read())
	}
}

// A notify_command that fails, hangs or is not there holds nothing up, and leaves no process behind.
func TestNotifyCommandThatFails(t *testing.T) {
	for name, command := range map[string]string{
		"fails": "exit 3", "is missing": "/nonexistent/program", "is no command": "'", "hangs": "echo $$ > pid; sleep 600; true",
	} {
		t.Run(name, func(t *testing.T) {
			h := openHost(t, compose.Options{})
			h.program.Config.UI.NotifyCommand, h.alone.notify = command, 200*time.Millisecond
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

// An approval waits for ever, or is denied after the time that the person has set: counted anew when
// they leave again, and not while they are attached.
func TestApprovalWait(t *testing.T) {
	for name, tt := range map[string]struct {
		wait, minute int // the setting; how many milliseconds a minute has
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
			id := h.open.waiting()[0]
			open := func() bool { return h.open.has("approval " + id) }
			if tt.visit {
				h.limit(id) // as when it was left before
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

// A screen that came and left again begins the wait anew.
func TestApprovalWaitBeginsAnew(t *testing.T) {
	h := openHost(t, compose.Options{})
	h.program.Config.Sessions.ApprovalWait, h.alone.minute = 1, 100*time.Millisecond
	h.program.Config.Sessions.IdleExit = 1_000_000
	v := look(t, h)
	v.Send(event.Submit{Text: "run touch a"})
	v.until("approval", asks)
	id := h.open.waiting()[0]
	h.limit(id)
	again := look(t, h) // what was begun before counts no more, also when all have left
	h.program.Config.Sessions.ApprovalWait = 0
	v.leave()
	again.leave()
	stays(t, "it waits", func() bool { return h.open.has("approval " + id) })
}

// A session that nobody is attached to ends after idle_exit, but not while anything runs or waits, and
// not when somebody has come again.
func TestIdleExit(t *testing.T) {
	h := openHost(t, compose.Options{})
	h.program.Config.Sessions.IdleExit, h.alone.minute = 1, 100*time.Millisecond
	v := look(t, h)
	v.Send(event.Submit{Text: "run touch a"})
	v.until("approval", asks)
	v.leave()
	stays(t, "an approval waits", running(h))
	v = look(t, h)
	v.until("approval", asks)
	v.Send(event.AnswerApproval{ID: h.open.waiting()[0], Decision: event.Deny})
	v.until("end of the exchange", finished)
	stays(t, "somebody is attached", running(h))
	v.leave()
	back := look(t, h) // before the time is over
	stays(t, "somebody is back", running(h))
	back.leave()
	over(t, h)
}

// alive reports whether any process of a group is there.
func alive(group string) bool {
	n, err := strconv.Atoi(group)
	return err == nil && syscall.Kill(-n, 0) == nil
}
