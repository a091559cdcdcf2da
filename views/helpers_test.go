package views

import (
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/viewtest"
)

func dark(t testing.TB) *themes.Theme {
	t.Helper()
	theme, err := themes.Load("", "dark")
	if err != nil {
		t.Fatal(err)
	}
	return theme
}

// session is a state that is fed events.
type session struct {
	state.State
	seq uint64
	now int64
}

func (s *session) apply(events ...event.Event) *session {
	for _, e := range events {
		s.seq++
		s.Apply(event.Envelope{Seq: s.seq, Time: s.now, Payload: e})
	}
	return s
}

// say is a whole answer.
func say(text string) event.Event {
	return event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: text}}
}

func ptr(n int) *int { return &n }

const hostileText = "[red]no tag[-] [\"id\"] \x1b[31mred\x1b]52;c;aGk=\a \u202egnp.exe\u202c \xff"

// hostile is what every view must show inert: colour tags, escape sequences, bidi
// controls, zero width, wide characters.
const hostile = "[red]x[-] \x1b[31mred\x1b]52;c;aGk=\x07 \u202egnp.exe\u202c z\u200bw 日本 👨‍👩‍👧"

// screenRows returns what is inside the border.
func screenRows(t *testing.T, p tview.Primitive, w, h int) []string {
	t.Helper()
	rows := strings.Split(strings.TrimRight(viewtest.Text(t, p, w, h), "\n"), "\n")
	for i, r := range rows {
		rows[i] = strings.Trim(r, "│ ")
	}
	return rows[1 : len(rows)-1]
}

// at is the time of all goldens: 14:02:31.
var at = time.Date(2026, 11, 20, 14, 2, 31, 0, time.UTC)

func clockAt(now *time.Time) func() time.Time { return func() time.Time { return *now } }

func fixed() time.Time { return at }

// ms is a time so many seconds before at.
func ms(before int) int64 { return at.Add(-time.Duration(before) * time.Second).UnixMilli() }

// apply feeds events to a state.
func apply(s *state.State, events ...event.Event) state.Changed {
	var ch state.Changed
	for i, ev := range events {
		ch |= s.Apply(event.Envelope{Seq: uint64(i + 1), Time: ms(0), Session: "7f3a-11aa-22bb-33cc", Task: 4, Payload: ev})
	}
	return ch
}

// press sends the first key of actions, as the key map has them; other texts are typed.
func press(t testing.TB, p tview.Primitive, actions ...string) {
	t.Helper()
	handle := p.InputHandler()
	for _, a := range actions {
		if a[0] == '\'' {
			for _, r := range a[1:] {
				handle(tcell.NewEventKey(tcell.KeyRune, r, 0), nil)
			}
			continue
		}
		keys := keymap.Default().Keys(keymap.Action(a))
		if len(keys) == 0 {
			t.Fatalf("action %q has no key", a)
		}
		handle(keys[0].Event(), nil)
	}
}

// cellOf returns the style of the first cell that shows r, for tests of roles.
func cellOf(t testing.TB, s tcell.SimulationScreen, r rune) tcell.Style {
	t.Helper()
	cells, _, _ := s.GetContents()
	for _, c := range cells {
		if len(c.Runes) > 0 && c.Runes[0] == r {
			return c.Style
		}
	}
	t.Fatalf("%q is not on the screen", r)
	return tcell.StyleDefault
}

// wantRole compares the style of the first cell that shows r with a role's.
func wantRole(t testing.TB, s tcell.SimulationScreen, r rune, role themes.Role) {
	t.Helper()
	if got, want := cellOf(t, s, r), cellStyle(dark(t).Style(role)); got != want {
		t.Errorf("%q has style %+v, want that of %s: %+v", r, got, role, want)
	}
}

func ask(id string, a action.Action) event.ApprovalAsked {
	return event.ApprovalAsked{ID: id, CallID: "c" + id, Action: a, Verdict: action.Verdict{
		Decision: action.Ask, Reason: "not known to be read-only", Rule: "shell.unknown",
	}}
}

var restart = action.Action{
	Kind: action.Shell, Tool: "run_shell", Target: "root@web-02 (ssh)", Command: "systemctl restart nginx",
	Why: "upstream sockets are stale after the deploy", Risk: action.High, Mutation: true,
}

var someCommands = []CommandHelp{
	{"/approve", "how approvals are decided"},
	{"/context", "how full the context is"},
	{"/help", "keys and commands"},
	{"/kill", "cancel a task"},
	{"/ps", "what runs"},
	{"/quit", "end the program"},
	{"/status", "model, endpoint and counters"},
}
