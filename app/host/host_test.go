package host

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/app/apptest"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/app/socket"
	"buddy/sessions"
)

// limit bounds a step of a test on a busy machine.
const limit = time.Minute

// openHost opens a new session with the demo in its own folder.
func openHost(t *testing.T, options compose.Options) *Host {
	t.Helper()
	options.Model = "demo"
	return openHostWith(t, &options)
}

// openHostWith opens a new session with the model of the options.
func openHostWith(t *testing.T, options *compose.Options) *Host {
	t.Helper()
	apptest.Home(t)
	run, err := os.MkdirTemp("", "b") // short, because the path of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	tmux := filepath.Join(run, "tmux")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", tmux, "kill-server").Run() }) // if it was started
	t.Setenv("BUDDY_TMUX_SOCKET", tmux)
	t.Setenv("TMUX", "")
	options.Session = sessions.NewID()
	h := Open(options, false)
	if h.program != nil {
		h.program.Config.Sessions.IdleExit = 0 // it ends at once when nothing runs
	}
	t.Cleanup(func() { h.End(client.Close{Kill: true}) })
	return h
}

// viewer is a screen that records its events.
type viewer struct {
	t *testing.T
	client.Session
	leave  func()
	events <-chan []event.Envelope
	seen   []event.Envelope
}

func look(t *testing.T, h *Host) *viewer {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	v := &viewer{t: t, Session: h.Connect(ctx, socket.Screen{}), leave: cancel}
	var err error
	if v.events, err = v.Subscribe(ctx, 0, 0); err != nil {
		t.Fatal(err)
	}
	return v
}

// until waits for an event.
func (v *viewer) until(what string, is func(event.Event) bool) {
	v.t.Helper()
	late := time.After(limit)
	for {
		select {
		case batch, ok := <-v.events:
			if !ok {
				v.t.Fatalf("the events ended before %s", what)
			}
			v.seen = append(v.seen, batch...)
			if slices.ContainsFunc(batch, func(e event.Envelope) bool { return is(e.Payload) }) {
				return
			}
		case <-late:
			v.t.Fatalf("no %s in %d events", what, len(v.seen))
		}
	}
}

func finished(e event.Event) bool { _, ok := e.(event.TaskFinished); return ok }

func over(t *testing.T, h *Host) {
	t.Helper()
	select {
	case <-h.Over():
	case <-time.After(limit):
		t.Fatal("the session goes on")
	}
}

// TestScreens: every screen sees the commands of each, whenever it came; the session continues without the first and
// ends with the last.
func TestScreens(t *testing.T) {
	h := openHost(t, compose.Options{})
	first, second := look(t, h), look(t, h)
	first.Send(event.Submit{Text: "help"})
	first.until("end of the exchange", finished)
	second.until("end of the exchange", finished)
	first.leave()
	late := look(t, h)
	late.until("end of the exchange", finished)
	if len(late.seen) < len(second.seen)/2 || event.Type(late.seen[0].Payload) != event.Type(event.SessionCreated{}) {
		t.Errorf("who came later saw %d events, the others %d", len(late.seen), len(second.seen))
	}
	hello, err := late.Hello(t.Context())
	if err != nil || hello.Session != h.program.ID || hello.Last < late.seen[len(late.seen)-1].Seq || hello.PID != os.Getpid() || hello.Failed != nil {
		t.Errorf("%+v, %v", hello, err)
	}
	if _, err := os.Stat(hello.Journal); err != nil {
		t.Error(err)
	}
	late.leave()
	select {
	case <-h.Over():
		t.Fatal("it ended with a screen there")
	default:
	}
	second.leave()
	over(t, h)
}

// TestEnd: the first end of the session decides how it ends; all get the same reply, and the last event is that of the
// end.
func TestEnd(t *testing.T) {
	h := openHost(t, compose.Options{})
	v := look(t, h)
	v.Send(event.Submit{Text: "help"})
	v.until("end of the exchange", finished)
	for range 2 {
		reply, err := client.Ask[client.CloseReply](t.Context(), v, client.Close{})
		if err != nil || !reply.Stored {
			t.Errorf("%+v, %v", reply, err)
		}
	}
	v.until("end of the session", func(e event.Event) bool { _, ok := e.(event.SessionClosed); return ok })
	if _, open := <-v.events; open {
		t.Error("something comes after the end")
	}
	v.Send(event.Submit{Text: "help"}) // has no effect
}

// TestQuitBesideAnotherScreen: quitting an idle session that another screen has leaves it to that screen; the last one
// ends it, and so does a program that stops it.
func TestQuitBesideAnotherScreen(t *testing.T) {
	h := openHost(t, compose.Options{})
	first, second := look(t, h), look(t, h)
	first.Send(event.Submit{Text: "help"})
	first.until("end of the exchange", finished)
	reply, err := client.Ask[client.CloseReply](t.Context(), first, client.Close{})
	if err != nil || !reply.Stored || len(reply.Lines) != 1 || !strings.Contains(reply.Lines[0], "keeps running on another screen · buddy attach "+Short(h.program.ID)) {
		t.Errorf("%+v, %v", reply, err)
	}
	first.leave()
	stays(t, "the session", running(h))
	second.Send(event.Submit{Text: "help"})
	second.until("end of the exchange", finished)
	if reply, err := client.Ask[client.CloseReply](t.Context(), second, client.Close{}); err != nil || len(reply.Lines) > 0 {
		t.Errorf("%+v, %v", reply, err)
	}
	over(t, h)
	for name, end := range map[string]func(h *Host, v *viewer) (any, error){
		"stop": func(h *Host, _ *viewer) (any, error) {
			return h.Look(t.Context(), socket.Screen{}).Request(t.Context(), client.Close{})
		},
		"killing": func(_ *Host, v *viewer) (any, error) { return v.Request(t.Context(), client.Close{Kill: true}) },
	} {
		h := openHost(t, compose.Options{})
		v, _ := look(t, h), look(t, h)
		if _, err := end(h, v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		over(t, h)
	}
}

// TestLeftAlone: a running command continues when the last screen has left, and the session ends after it.
func TestLeftAlone(t *testing.T) {
	h := openHost(t, compose.Options{Approve: action.ModeAll})
	v := look(t, h)
	v.Send(event.Submit{Text: "run until test -e go; do sleep 0.02; done; echo done > went"})
	v.until("command", func(e event.Event) bool { _, ok := e.(event.ToolStarted); return ok })
	v.leave()
	time.Sleep(100 * time.Millisecond) // a real process
	select {
	case <-h.Over():
		t.Fatal("it ended while a command ran")
	default:
	}
	if err := os.WriteFile("go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	over(t, h)
	if _, err := os.Stat("went"); err != nil {
		t.Error(err)
	}
}

// TestFailed: the greeting has the error of a session that could not start, with its exit code.
func TestFailed(t *testing.T) {
	h := openHost(t, compose.Options{Place: compose.Place{Targets: []string{"nowhere"}}})
	ctx, cancel := context.WithCancel(t.Context())
	s := h.Connect(ctx, socket.Screen{})
	hello, err := s.Hello(ctx)
	if err != nil || hello.Failed == nil || hello.Failed.Code != 2 || !strings.Contains(hello.Failed.Text, `"nowhere"`) {
		t.Errorf("%+v, %v", hello, err)
	}
	if _, err := s.Subscribe(ctx, 0, 0); err == nil {
		t.Error("there are events")
	}
	if _, err := s.Request(ctx, client.Run{Words: []string{"target"}}); err == nil {
		t.Error("a command ran")
	}
	s.Send(event.Submit{Text: "help"}) // has no effect
	cancel()
	over(t, h)
}

// TestRequests: a screen gets replies to its requests.
func TestRequests(t *testing.T) {
	h := openHost(t, compose.Options{})
	v := look(t, h)
	if err := os.WriteFile("needle.txt", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := client.Ask[client.FilesReply](t.Context(), v, client.Files{Query: "needle"})
	if err != nil || !slices.Equal(found.Paths, []string{"needle.txt"}) {
		t.Errorf("files %+v, %v", found, err)
	}
	for _, tt := range []struct{ line, want string }{
		{"target", "commands run on this machine, the only target, in "},
		{"target elsewhere", `unknown target "elsewhere" (have: local)`},
		{"permissions", "No rules: the permission mode decides. To"},
		{"permissions delete 12345678", `there is no rule "12345678"`},
		{"diff", "No file changes in this session"},
		{"memory add Use x.", "remembered: Use x. (r-"},
		{"memory", "Memory:\n  1  r-"},
		{"mcp", "none: buddy mcp add adds a server"},
		{"nobody trust", "only a screen that is connected to the session can do that"},
		{"nobody rewind 1", "only a screen that is connected to the session can do that"},
		{"trust apply", ""},
		{"nonsense", `unknown command "nonsense"`},
	} {
		now, line := new(slash.Now), tt.line
		if words, ok := strings.CutPrefix(line, "nobody "); ok {
			now, line = nil, words
		}
		answer, err := client.Ask[show.Answer](t.Context(), v, client.Run{Words: strings.Fields(line), Now: now})
		got := answer.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}

// TestWishes: the host requests the contents of all panes that any screen shows, and a pane has the size that an
// attached screen wants.
func TestWishes(t *testing.T) {
	a := &screen{watched: []string{"%1", "%2"}, fits: map[string]event.FitPane{"%1": {Pane: "%1", W: 80, H: 24}}}
	b := &screen{watched: []string{"%2", "%3"}}
	h := &Host{screens: map[*screen]bool{a: true, b: true}}
	if got := h.watched(); !slices.Equal(got, []string{"%1", "%2", "%3"}) {
		t.Errorf("watched %v", got)
	}
	if got := h.sizeOf("%1"); got.W != 80 {
		t.Errorf("size %+v", got)
	}
	delete(h.screens, a)
	if got := h.watched(); !slices.Equal(got, []string{"%2", "%3"}) {
		t.Errorf("watched %v", got)
	}
	if got := h.sizeOf("%1"); got != (event.FitPane{Pane: "%1"}) {
		t.Errorf("size %+v", got)
	}
}

// A session with only a running server is not working; with a prompt or an agent it is, and an open request comes
// first.
func TestStateOfASession(t *testing.T) {
	var r record.Record
	for i, step := range []struct {
		e    event.Event
		want client.State
	}{
		{event.TaskStarted{ID: 1, Kind: event.MainTask}, client.Working},
		{event.TaskStarted{ID: 2, Kind: event.ShellTask}, client.Working},
		{event.TaskFinished{ID: 1, Outcome: event.Failed}, client.Background},
		{event.TaskStarted{ID: 3, Kind: event.SubagentTask}, client.Working},
		{event.ApprovalAsked{ID: "a"}, client.WaitsForApproval},
		{event.ApprovalAnswered{ID: "a"}, client.Working},
		{event.TaskFinished{ID: 3}, client.Background},
		{event.TaskFinished{ID: 2}, client.Failed},
	} {
		r.Apply(event.Envelope{Seq: uint64(i), Payload: step.e})
		if got := stateOf(&r); got != step.want {
			t.Errorf("after %s %+v: %q, want %q", event.Type(step.e), step.e, got, step.want)
		}
	}
}

// TestDescribingDoesNotReadTheSessionAgain: each new screen asks all sessions for their titles.
func TestDescribingDoesNotReadTheSessionAgain(t *testing.T) {
	var n naming
	reads := 0
	entry, err := sessions.Entry{}, error(sessions.ErrNone)
	renamed := ""
	named := func() (string, int64) {
		return n.of(renamed, renamed != "", func() (sessions.Entry, error) { reads++; return entry, err })
	}
	if title, began := named(); title != "" || began != 0 || reads != 1 {
		t.Errorf("before the first prompt: %q, %d, %d reads", title, began, reads)
	}
	entry, err = sessions.Entry{Title: "the first prompt", Header: sessions.Header{Created: 7}}, nil
	for range 3 {
		if title, began := named(); title != "the first prompt" || began != 7 || reads != 2 {
			t.Errorf("%q, %d, %d reads", title, began, reads)
		}
	}
	renamed = "another"
	if title, began := named(); title != "another" || began != 7 || reads != 2 {
		t.Errorf("renamed: %q, %d, %d reads", title, began, reads)
	}
}
