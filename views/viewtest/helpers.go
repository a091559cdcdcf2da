package viewtest

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
	"buddy/views/draw"
)

// Dark returns the theme of all goldens.
func Dark(t testing.TB) *themes.Theme {
	t.Helper()
	theme, err := themes.Load("", "dark")
	if err != nil {
		t.Fatal(err)
	}
	return theme
}

// Session is a state with a clock.
type Session struct {
	state.State
	seq uint64
	Now int64
}

// Feed applies events to the state, with increasing numbers and the time Now.
func (s *Session) Feed(events ...event.Event) *Session {
	for _, e := range events {
		s.seq++
		s.Apply(event.Envelope{Seq: s.seq, Time: s.Now, Payload: e})
	}
	return s
}

// Say returns a whole answer.
func Say(text string) event.Event {
	return event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: text}}
}

// Ptr returns a pointer to a number, such as an exit code.
func Ptr(n int) *int { return &n }

// HostileText is text that answers and output must show without any effect on the terminal. It is invalid UTF-8.
const HostileText = "[red]no tag[-] [\"id\"] \x1b[31mred\x1b]52;c;aGk=\a \u202egnp.exe\u202c \xff"

// Hostile is text that every view must show without any effect on the terminal: colour tags, escape sequences,
// bidirectional controls, zero-width and wide characters.
const Hostile = "[red]x[-] \x1b[31mred\x1b]52;c;aGk=\x07 \u202egnp.exe\u202c z\u200bw 日本 👨‍👩‍👧"

// ScreenRows returns the rows without spaces at their ends; for a view with a border, only its content.
func ScreenRows(t *testing.T, p tview.Primitive, w, h int) []string {
	t.Helper()
	rows := strings.Split(strings.TrimSuffix(Text(t, p, w, h), "\n"), "\n")
	if strings.HasPrefix(rows[0], "┌") {
		rows = rows[1 : len(rows)-1]
	}
	for i, r := range rows {
		rows[i] = strings.Trim(r, "│ ")
	}
	return rows
}

// Now is the time of all goldens: 14:02:31.
var Now = time.Date(2026, 11, 20, 14, 2, 31, 0, time.UTC)

// ClockAt returns a clock that reads *now.
func ClockAt(now *time.Time) func() time.Time { return func() time.Time { return *now } }

// Clock returns the time of all goldens.
func Clock() time.Time { return Now }

// MS returns Now minus some seconds, in Unix milliseconds.
func MS(before int) int64 { return Now.Add(-time.Duration(before) * time.Second).UnixMilli() }

// Feed applies events to a state s.
func Feed(s *state.State, events ...event.Event) state.Changed {
	var ch state.Changed
	for i, ev := range events {
		ch |= s.Apply(event.Envelope{Seq: uint64(i + 1), Time: MS(0), Session: "7f3a-11aa-22bb-33cc", Task: 4, Payload: ev})
	}
	return ch
}

// pressed is a view that handles keys.
type pressed interface {
	Scope() keymap.Scope
	Press(keymap.Press)
}

var keys = keymap.Default()

// Key looks a key up and passes it to a view as the screen does, without global keys.
func Key(v pressed, ev *tcell.EventKey) {
	if p := keys.Lookup(ev, v.Scope().Chain()...); p.Scope != keymap.Global {
		v.Press(p)
	}
}

// Press presses the first key of each action; other texts are typed.
func Press(t testing.TB, v pressed, actions ...string) {
	t.Helper()
	for _, a := range actions {
		if a[0] == '\'' {
			for _, r := range a[1:] {
				Key(v, keymap.Typed(r).Event())
			}
			continue
		}
		named := keys.Keys(keymap.Action(a))
		if len(named) == 0 {
			t.Fatalf("action %q has no key", a)
		}
		Key(v, named[0].Event())
	}
}

// CellOf returns the style of the first cell with r, for tests of roles.
func CellOf(t testing.TB, s tcell.SimulationScreen, r rune) tcell.Style {
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

// WantRole fails the test unless the first cell with r has the style of a role.
func WantRole(t testing.TB, s tcell.SimulationScreen, r rune, role themes.Role) {
	t.Helper()
	if got, want := CellOf(t, s, r), draw.CellStyle(Dark(t).Style(role)); got != want {
		t.Errorf("%q has style %+v, want that of %s: %+v", r, got, role, want)
	}
}

// Ask returns a request for the approval of an action.
func Ask(id string, a action.Action) event.ApprovalAsked {
	return event.ApprovalAsked{ID: id, CallID: "c" + id, Action: a, Verdict: action.Verdict{
		Decision: action.Ask, Reason: "not known to be read-only", Rule: "shell.unknown",
	}}
}

// Restart is an action with all information that a dialog shows.
var Restart = action.Action{
	Kind: action.Shell, Tool: "run_shell", Target: "root@web-02 (ssh)", Command: "systemctl restart nginx",
	Why: "upstream sockets are stale after the deploy", Risk: action.High, Mutation: true,
}

// SomeCommands are commands for the help and the prompt.
var SomeCommands = []draw.CommandHelp{
	{Name: "/approve", Help: "how approvals are decided"},
	{Name: "/context", Help: "how full the context is"},
	{Name: "/help", Help: "keys and commands"},
	{Name: "/kill", Help: "cancel a task"},
	{Name: "/ps", Help: "what runs"},
	{Name: "/quit", Help: "end the program"},
	{Name: "/status", Help: "model, endpoint and counters"},
}
