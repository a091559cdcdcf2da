package host

import (
	"slices"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/show"
	"buddy/app/socket"
)

// The name of a screen comes from the kernel, except for a valid IP address.
func TestPlaceOf(t *testing.T) {
	ssh := func(tty, connection string) map[string]string {
		return map[string]string{"SSH_TTY": tty, "SSH_CONNECTION": connection}
	}
	for want, s := range map[string]socket.Screen{
		"pts/3, process 7":                    {Terminal: "pts/3", PID: 7},
		"ssh from 10.0.0.5, pts/4, process 7": {Terminal: "pts/4", PID: 7, Env: ssh("/dev/pts/4", "10.0.0.5 5022 10.0.0.1 22")},
		"ssh from fe80::1, pts/5, process 7":  {Terminal: "pts/5", PID: 7, Env: ssh("/dev/pts/5", "fe80::1%\x1b[2Jeth0 5022 fe80::2 22")},
		"pts/6, process 7":                    {Terminal: "pts/6", PID: 7, Env: ssh("/dev/pts/2", "10.0.0.5 5022 10.0.0.1 22")}, // in tmux
		"pts/7, process 7":                    {Terminal: "pts/7", PID: 7, Env: ssh("/dev/pts/7", "\x1b]0;evil\a 1 2 3")},
		"process 8":                           {PID: 8, Env: ssh("/dev/", "10.0.0.5 5022 10.0.0.1 22")},
		"buddy approve, pts/8, process 12":    {Terminal: "pts/8", Looks: true, PID: 12},
		"buddy approve, process 13":           {Looks: true, PID: 13},
	} {
		if got := placeOf(s); got != want {
			t.Errorf("%+v is at %q, want %q", s, got, want)
		}
	}
}

// An answer has the name of its screen, whatever the sender claims; a second answer is dropped silently, because its
// screen sees the first.
func TestAnswersSayWhere(t *testing.T) {
	h := openHost(t, compose.Options{})
	at := func(terminal string, pid int) *viewer {
		v := &viewer{t: t, Session: h.Connect(t.Context(), socket.Screen{Terminal: terminal, PID: pid})}
		var err error
		if v.events, err = v.Subscribe(t.Context(), 0, 0); err != nil {
			t.Fatal(err)
		}
		return v
	}
	first, second, third := at("pts/1", 1), at("pts/2", 2), at("pts/2", 3)
	for want, v := range map[string]*viewer{"pts/1, process 1": first, "pts/2, process 2": second, "pts/2, process 3": third} {
		if hello, err := v.Hello(t.Context()); err != nil || hello.Screen != want {
			t.Errorf("it is called %q (%v), want %q", hello.Screen, err, want)
		}
	}
	first.Send(event.Submit{Text: "run touch a"})
	for _, v := range []*viewer{first, second} {
		v.until("approval", asks)
	}
	id := h.approvals()[0]
	second.Send(event.AnswerApproval{ID: id, Decision: event.Deny, Screen: "pts/1"})
	first.until("answer", func(e event.Event) bool { _, ok := e.(event.ApprovalAnswered); return ok })
	first.Send(event.AnswerApproval{ID: id, Decision: event.Once})
	first.Send(event.Answer{ID: "unknown", Text: "x"})
	first.until("end of the exchange", finished)
	if _, err := client.Ask[show.Answer](t.Context(), first, client.Run{Words: []string{"permissions"}}); err != nil {
		t.Error(err)
	}
	first.Send(event.Submit{Text: "help"})
	first.until("end of the next exchange", finished)
	var answers []string
	for _, env := range first.seen {
		switch p := env.Payload.(type) {
		case event.ApprovalAnswered:
			answers = append(answers, string(p.Decision)+" "+p.By+" "+p.Screen)
		case event.Error:
			t.Errorf("an error: %s", p.Text)
		}
	}
	if !slices.Equal(answers, []string{"deny user pts/2, process 2"}) {
		t.Errorf("answers %q", answers)
	}
}

// A mode change has the name of its screen, whatever the sender claims.
func TestModesSayWhere(t *testing.T) {
	h := openHost(t, compose.Options{})
	other := look(t, h)
	chooses := h.Connect(t.Context(), socket.Screen{Terminal: "pts/9", PID: 9})
	chooses.Send(event.SetMode{Mode: action.ModeStrict, Screen: "pts/1"})
	chooses.Send(event.CycleMode{Screen: "pts/1"})
	other.until("mode ask", func(e event.Event) bool {
		p, ok := e.(event.ModeChanged)
		return ok && p.Mode == action.ModeAsk && p.Screen != ""
	})
	var modes []string
	for _, env := range other.seen {
		if p, ok := env.Payload.(event.ModeChanged); ok && p.Screen != "" {
			modes = append(modes, string(p.Mode)+" "+p.Screen)
		}
	}
	if !slices.Equal(modes, []string{"strict pts/9, process 9", "ask pts/9, process 9"}) {
		t.Errorf("modes %q", modes)
	}
}
