package views

import (
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
)

// ApprovalGrace is how long a request must have been on the screen before a key answers
// it, so that text meant for the prompt never approves.
const ApprovalGrace = 300 * time.Millisecond

// Approval asks a person about the oldest request that waits. The whole command shows,
// with every hidden character made visible; what was not drawn cannot be answered.
type Approval struct {
	frame
	now func() time.Time

	asked    event.ApprovalAsked
	total    int // requests that wait; 0 = there is none
	answered bool
	drawn    bool
	since    time.Time // when it was first drawn
	body     body
	args     string  // of the call that is asked about
	typing   *Editor // a reason, or what runs instead; nil unless one is typed
	amends   bool    // typing is what runs instead
	explains bool    // all that is known shows

	OnAnswer func(event.Approve)
	OnCopy   func(text string) // what the mouse selected
	OnLeave  func()            // the person went elsewhere; the request stays open
}

// NewApproval returns a dialog without a request. now tells the time.
func NewApproval(theme *themes.Theme, keys *keymap.Map, now func() time.Time) *Approval {
	return &Approval{frame: newFrame(theme, keys), now: now}
}

// Update takes over what changed.
func (a *Approval) Update(s *state.State, ch state.Changed) {
	if ch&state.Approvals == 0 {
		return
	}
	a.total = len(s.Approvals)
	if a.total == 0 {
		a.asked, a.body, a.typing = event.ApprovalAsked{}, body{}, nil
		return
	}
	if first := s.Approvals[0]; first.ID != a.asked.ID {
		a.asked, a.body, a.typing, a.explains = first, body{}, nil, false
		a.drawn, a.answered = false, false
		a.args = ""
		if c := s.Call(first.CallID); c != nil {
			a.args = c.Arguments
		}
	}
}

// Asked returns the id of the request that is shown, "" if there is none.
func (a *Approval) Asked() string { return a.asked.ID }

// Scope says where keys go: to the question or to what is typed.
func (a *Approval) Scope() keymap.Scope {
	switch {
	case a.typing == nil:
		return keymap.Approval
	case a.amends:
		return keymap.Amend
	}
	return keymap.Reason
}

// ready says that a key is an answer to what the person has seen.
func (a *Approval) ready() bool {
	return a.total > 0 && a.drawn && !a.answered && a.now().Sub(a.since) >= ApprovalGrace
}

// InputHandler answers, scrolls, takes a reason or leaves.
func (a *Approval) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return a.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		if !a.ready() {
			return
		}
		act, ok := a.keys.Lookup(a.Scope(), ev)
		if a.typing != nil {
			a.typingKey(ev, act)
		} else if ok {
			a.action(act)
		}
	})
}

func (a *Approval) action(act keymap.Action) {
	switch act {
	case keymap.Approve:
		a.answer(event.Once, "")
	case keymap.Deny:
		a.answer(event.Reject, "")
	case keymap.DenyWithReason:
		a.typing, a.amends = NewEditor(), false
	case keymap.AllowSimilar:
		if a.asked.Context.Similar != "" {
			a.answer(event.Similar, "")
		}
	case keymap.AmendCall:
		a.amend()
	case keymap.Explain:
		a.explains = !a.explains
	case keymap.Back:
		if a.OnLeave != nil {
			a.OnLeave()
		}
	default:
		a.body.move(act)
	}
}

func (a *Approval) typingKey(ev *tcell.EventKey, act keymap.Action) {
	switch act {
	case keymap.ReasonSend:
		a.answer(event.Reject, strings.TrimSpace(a.typing.Text()))
	case keymap.AmendRun:
		a.run(a.typing.Text())
	case keymap.ReasonBack:
		a.typing = nil
	default:
		if text, typed := keymap.Text(ev); typed {
			a.typing.Insert(text)
			return
		}
		a.typing.Do(act)
	}
}

func (a *Approval) answer(d event.Decision, reason string) {
	a.send(event.Approve{ID: a.asked.ID, Decision: d, Reason: reason})
}

func (a *Approval) send(e event.Approve) {
	a.answered, a.typing = true, nil
	if a.OnAnswer != nil {
		a.OnAnswer(e)
	}
}

// PasteHandler pastes into what is typed, into a reason as one line.
func (a *Approval) PasteHandler() func(string, func(tview.Primitive)) {
	return a.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		switch {
		case a.typing == nil || !a.ready():
		case a.amends:
			a.typing.Insert(text)
		default:
			a.typing.Insert(strings.Join(strings.Fields(text), " "))
		}
	})
}

// KeyAt returns the key of an answer, once a key would be one: a click is no faster.
func (a *Approval) KeyAt(x, y int) (keymap.Key, bool) {
	if !a.ready() {
		return keymap.Key{}, false
	}
	return a.frame.KeyAt(x, y)
}

// MouseHandler scrolls what is asked about and selects text of it. It never answers; a click
// on the name of a key does, see KeyAt.
func (a *Approval) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return a.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		a.body.onCopy = a.OnCopy
		return a.mouse(&a.body, action, ev), nil
	})
}

// CopySelection gives what is selected to OnCopy and reports whether there was something.
func (a *Approval) CopySelection() bool { return a.body.CopySelection() }

const approvalWidth = 88 // more would make a short command look lost

// Size returns the cells that the dialog wants on a screen, border included; 0, 0 while
// nothing waits.
func (a *Approval) Size(maxW, maxH int) (w, h int) {
	if a.total == 0 {
		return 0, 0
	}
	w = min(maxW, approvalWidth)
	inner := w - 4
	a.layBody(inner)
	rows := 2 + len(a.head(inner)) + 1 + len(a.body.rows) + 1 + len(a.keyRows(inner)) // with borders and blank rows
	if notes := len(a.notes(inner, maxNoteRows)); notes > 0 {
		rows += notes + 1
	}
	return w, min(maxH, rows)
}

// Draw draws the dialog. Short of rows it gives up blank lines, then notes, never the
// command.
func (a *Approval) Draw(screen tcell.Screen) {
	if a.total == 0 {
		return
	}
	var count []span
	if a.total > 1 {
		count = []span{own(themes.Muted, fmt.Sprintf("1 of %d", a.total))}
	}
	in := a.bordered(screen, titles{left: []span{own(themes.Warning, "Approve?")}, right: count}).cleared().inset()
	keys := a.keyRows(in.w)
	a.layBody(in.w)
	head := a.head(in.w)
	// A command shows before all keys do: they are in the help, too.
	keys = keys[:max(1, min(len(keys), in.h-len(head)-min(len(a.body.rows), 4)))]
	need := len(head) + min(len(a.body.rows), 4) + len(keys)
	notes, gap := a.notes(in.w, maxNoteRows), 1
	if need+len(notes)+3 > in.h {
		gap = 0
	}
	if need+len(notes) > in.h {
		notes = a.notes(in.w, 1)
		notes = notes[min(len(notes), max(0, need+len(notes)-in.h)):]
	}
	room := in.h - len(head) - 3*gap - len(notes) - len(keys)
	if in.w <= 0 || room <= 0 {
		in.spans(0, own(themes.Warning, "too small to show"))
		return
	}
	in = in.below(in.rows(head) + gap)
	in = in.below(a.drawBody(in, min(room, len(a.body.rows))) + gap)
	if len(notes) > 0 {
		in = in.below(in.rows(notes) + gap)
	}
	if a.typing != nil {
		a.drawTyping(in.canvas)
	} else {
		in.rows(keys)
	}
	if !a.drawn {
		a.drawn, a.since = true, a.now()
	}
}

// head says who wants what where, and the risk: at the right, or below if both do not fit.
func (a *Approval) head(w int) [][]span {
	act := a.asked.Action
	what := foreign(themes.ToolName, oneLine(act.Tool))
	where := act.Target
	if n := len(act.Places); n > 0 {
		where = fmt.Sprintf("%d targets", n) // the body names them, however many there are
	}
	if where != "" {
		what = append(append(what, own(themes.Muted, " on ")), foreign(themes.Strong, where)...)
	}
	risk := a.risk(act)
	if gap := w - spansWidth(what) - spansWidth(risk); gap > 0 {
		return [][]span{append(append(what, own(themes.Text, strings.Repeat(" ", gap))), risk...)}
	}
	rows := wrapSpans(what, w)
	rows = rows[:min(len(rows), 2)]
	if len(risk) > 0 {
		rows = append(rows, risk)
	}
	return rows
}

// risk says in words what the policy knows of the danger.
func (a *Approval) risk(act action.Action) []span {
	role := themes.Muted
	if r := a.asked.Context.Risk; r != "" {
		act.Risk = r
	}
	switch act.Risk {
	case action.High:
		role = themes.Error
	case action.Medium:
		role = themes.Warning
	}
	var words []string
	if act.Risk != "" {
		words = append(words, "risk "+string(act.Risk))
	}
	if act.Mutation {
		words = append(words, "changes")
	}
	if act.Privesc {
		words = append(words, "privileged")
	}
	return foreign(role, strings.Join(words, " · "))
}

const (
	maxNoteRows = 3    // of one note, so that a long reason cannot hide the command
	maxNote     = 4096 // bytes of one note that are looked at
)

// notes are the rows below the command: why, where and which rule; each has at most so
// many rows.
func (a *Approval) notes(w, most int) [][]span {
	act, v := a.asked.Action, a.asked.Verdict
	rule := v.Reason
	if v.Rule != "" && v.Rule != v.Reason {
		rule += " (" + v.Rule + ")"
	}
	w -= noteIndent
	var rows [][]span
	all := [][2]string{{"why", act.Why}, {"dir", folders(act)}, {"rule", rule}, {"[s]", a.asked.Context.Similar}}
	if a.explains {
		all, most = append(all, a.explanation()...), maxExplained
	}
	for _, n := range all {
		if n[1] == "" {
			continue
		}
		lines := wrapSpans(foreign(themes.Text, n[1][:min(len(n[1]), maxNote)]), w)
		if len(lines) > most {
			lines[most-1] = clip(append(lines[most-1], lines[most]...), w)
			lines = lines[:most]
		}
		label := n[0]
		for _, l := range lines {
			head := own(themes.Muted, fmt.Sprintf("%-*s", noteIndent, label))
			rows = append(rows, append([]span{head}, l...))
			label = ""
		}
	}
	return rows
}

const noteIndent = 5

// keyRows are the keys that answer, as many rows as they need.
func (a *Approval) keyRows(w int) [][]span {
	var choices []choice
	for _, e := range a.keys.In(keymap.Approval) {
		if e.Label != "" && len(e.Keys) > 0 && (e.Action != keymap.AllowSimilar || a.asked.Context.Similar != "") {
			choices = append(choices, choice{e.Keys[0], e.Label})
		}
	}
	return choiceRows(choices, w)
}

func (a *Approval) drawTyping(c canvas) {
	what := "deny because "
	if a.amends {
		what = "run "
	}
	label := []span{own(themes.Accent, what)}
	if n := strings.Count(a.typing.Text(), "\n"); n > 0 {
		label = append(label, own(themes.Muted, fmt.Sprintf("(%d lines) ", n+1)))
	}
	if spansWidth(label) > c.w/2 {
		label = []span{own(themes.Accent, "> ")}
	}
	a.typing.SetWidth(textRoom(c.w, label))
	r, col := a.typing.cursorRow()
	text := c.at(c.spans(0, label...))
	text.editorRow(a.typing, r, 0)
	if a.HasFocus() {
		c.screen.ShowCursor(text.x+col, c.y)
	}
}
