package dialog

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
	"buddy/views/draw"
	"buddy/views/edit"
)

// Approval asks a person about the oldest request that waits. The whole command shows,
// with every hidden character made visible; what was not drawn cannot be answered.
type Approval struct {
	draw.Frame
	now func() time.Time

	asked    event.ApprovalAsked
	total    int // requests that wait; 0 = there is none
	answered bool
	drawn    bool
	since    time.Time    // when it was first drawn
	lines    body         // what the action does, laid out
	body     body         // what scrolls
	args     string       // of the call that is asked about
	typing   *edit.Editor // a reason, or what runs instead; nil unless one is typed
	amends   bool         // typing is what runs instead
	explain  explaining

	OnAnswer func(event.Approve)
	OnCopy   func(text string) // what the mouse selected
	OnLeave  func()            // the person went elsewhere; the request stays open
}

// explaining says whether all that is known shows.
type explaining struct {
	on      bool
	changed bool // just now: the place is to be found
}

// NewApproval returns a dialog without a request. now tells the time.
func NewApproval(theme *themes.Theme, keys *keymap.Map, now func() time.Time) *Approval {
	return &Approval{Frame: draw.NewFrame(theme, keys), now: now}
}

// Update takes over what changed.
func (a *Approval) Update(s *state.State, ch state.Changed) {
	if ch&state.Approvals == 0 {
		return
	}
	a.total = len(s.Approvals)
	if a.total == 0 {
		a.asked, a.lines, a.body, a.typing = event.ApprovalAsked{}, body{}, body{}, nil
		return
	}
	if first := s.Approvals[0]; first.ID != a.asked.ID {
		a.asked, a.lines, a.body, a.typing, a.explain = first, body{}, body{}, nil, explaining{}
		a.drawn, a.answered = false, false
		a.args = ""
		if c := s.Call(first.CallID); c != nil {
			a.args = c.Arguments
		}
	}
}

// Asked returns the id of the request that is shown, "" if there is none.
func (a *Approval) Asked() string { return a.asked.ID }

// Scope returns the scope in which keys are looked up: to the question or to what is typed.
func (a *Approval) Scope() keymap.Scope {
	switch {
	case a.typing == nil:
		return keymap.Approval
	case a.amends:
		return keymap.Amend
	}
	return keymap.Reason
}

// ready reports whether a key is an answer to what the person has seen.
func (a *Approval) ready() bool {
	return a.total > 0 && a.drawn && !a.answered && a.now().Sub(a.since) >= draw.GracePeriod
}

// InputHandler answers, scrolls, takes a reason or leaves.
func (a *Approval) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return a.WrapInputHandler(func(ev *tcell.EventKey, _ func(tview.Primitive)) {
		if !a.ready() {
			return
		}
		p := a.Keys.Lookup(ev, a.Scope())
		if a.typing != nil {
			a.typingKey(p)
		} else if p.Bound() {
			a.action(p.Action)
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
		a.typing, a.amends = edit.New(), false
	case keymap.AllowSimilar:
		if a.asked.Context.Similar != "" {
			a.answer(event.Similar, "")
		}
	case keymap.AmendCall:
		a.amend()
	case keymap.Explain:
		a.explain = explaining{!a.explain.on, true}
	case keymap.Back:
		if a.OnLeave != nil {
			a.OnLeave()
		}
	default:
		a.body.Move(act)
	}
}

func (a *Approval) typingKey(p keymap.Press) {
	switch p.Action {
	case keymap.ReasonSend:
		a.answer(event.Reject, strings.TrimSpace(a.typing.Text()))
	case keymap.AmendRun:
		a.run(a.typing.Text())
	case keymap.ReasonBack:
		a.typing = nil
	default:
		a.typing.Press(p)
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
	return a.Frame.KeyAt(x, y)
}

// MouseHandler scrolls what is asked about and selects text of it. It never answers; a click
// on the name of a key does, see KeyAt.
func (a *Approval) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return a.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		a.body.onCopy = a.OnCopy
		return mouseIn(&a.Frame, &a.body, action, ev), nil
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
	const all = 1 << 20 // rows: nothing scrolls
	p := a.plan(w-4, all)
	return w, min(maxH, p.height()+2)
}

// Draw draws the dialog.
func (a *Approval) Draw(screen tcell.Screen) {
	if a.total == 0 {
		return
	}
	all := a.Whole(screen)
	p := a.plan(all.W-4, all.H-2)
	in := a.Bordered(screen, draw.Titles{Left: []draw.Span{draw.Text(themes.Warning, "Approve?")}, Right: p.title}).Cleared().Inset()
	if in.W <= 0 || p.room <= 0 {
		in.Spans(0, draw.Text(themes.Warning, "too small to show"))
		return
	}
	if a.body.width != a.lines.width {
		a.body.relay(a.lines.width)
	}
	a.body.rows = p.scrolled
	if a.explain.changed {
		a.explain.changed, a.body.Top = false, a.explainedAt(&p)
	}
	in = in.Below(in.Rows(p.head) + p.gap)
	from, to := a.body.draw(draw.Area{Canvas: in.Canvas, H: min(p.room, len(p.scrolled))})
	in = in.Below(to - from + p.gap)
	if len(p.pinned) > 0 {
		in = in.Below(in.Rows(p.pinned) + p.gap)
	}
	if a.typing != nil {
		a.drawTyping(in)
	} else {
		in.Rows(p.keys)
	}
	a.DrawMore(screen, a.body.Viewport, len(p.scrolled))
	if !a.drawn {
		a.drawn, a.since = true, a.now()
	}
}

// head says who wants what where, and the risk: at the right, or below if both do not fit.
func (a *Approval) head(w int) [][]draw.Span {
	act := a.asked.Action
	what := draw.Untrusted(themes.ToolName, draw.OneLine(act.Tool))
	where := act.Target
	if n := len(act.Targets); n > 0 {
		where = fmt.Sprintf("%d targets", n) // the body names them, however many there are
	}
	if where != "" {
		what = append(append(what, draw.Text(themes.Muted, " on ")), draw.Untrusted(themes.Strong, where)...)
	}
	risk := a.risk(act)
	if gap := w - draw.Width(what) - draw.Width(risk); gap > 0 {
		return [][]draw.Span{append(append(what, draw.Text(themes.Text, strings.Repeat(" ", gap))), risk...)}
	}
	rows := draw.WrapSpans(what, w)
	rows = rows[:min(len(rows), 2)]
	if len(risk) > 0 {
		rows = append(rows, risk)
	}
	return rows
}

// risk says in words what the policy knows of the danger.
func (a *Approval) risk(act action.Action) []draw.Span {
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
	if act.Mutation || a.asked.Context.Mutation {
		words = append(words, "changes")
	}
	if act.Privesc || a.asked.Context.Privesc {
		words = append(words, "privileged")
	}
	return draw.Untrusted(role, strings.Join(words, " · "))
}

const maxNote = 4096 // bytes of one note that are looked at

// The notes, in their order. Each stands behind its name.
const (
	noteWhy     = "why"
	noteDir     = "dir"
	noteRule    = "rule"
	noteLoses   = "lost"
	noteSimilar = "[s]"
	noteDoes    = "does"
	noteUndo    = "undo"
	noteElse    = "else"
	noteKept    = "kept"
)

// notes are what is known of the command: what would be lost, why, where, which rule, and all else if that is
// wanted; each has at most so many rows.
func (a *Approval) notes(w, most int) [][][]draw.Span {
	names := []string{noteLoses, noteWhy, noteDir, noteRule, noteSimilar}
	if a.explain.on {
		names = append(names, noteDoes, noteUndo, noteElse, noteKept)
	}
	var all [][][]draw.Span
	for _, name := range names {
		rows := a.note(name, w, most)
		if name == noteLoses { // names of files need room
			rows = a.note(name, w, max(most, maxExplained))
		}
		if len(rows) > 0 {
			all = append(all, rows)
		}
	}
	return all
}

// note is a note in rows.
func (a *Approval) note(name string, w, most int) [][]draw.Span {
	text := a.noteText(name)
	if text == "" {
		return nil
	}
	w -= noteIndent
	wrap := draw.WrapSentence
	if name == noteSimilar || name == noteDir {
		wrap = draw.WrapSpans // it is to be seen to the letter
	}
	rows := draw.AtMost(wrap(draw.Untrusted(themes.Text, text[:min(len(text), maxNote)]), w), most, w)
	for i, r := range rows {
		rows[i] = append([]draw.Span{draw.Text(themes.Muted, fmt.Sprintf("%-*s", noteIndent, name))}, r...)
		name = ""
	}
	return rows
}

func (a *Approval) noteText(name string) string {
	act, c := a.asked.Action, a.asked.Context
	switch name {
	case noteWhy:
		return act.Why
	case noteDir:
		return folders(act)
	case noteRule:
		if v := a.asked.Verdict; v.Rule != "" && v.Rule != v.Reason {
			return v.Reason + " (" + v.Rule + ")"
		}
		return a.asked.Verdict.Reason
	case noteSimilar:
		return c.Similar
	case noteLoses:
		return strings.Join(c.Loses, "; ")
	case noteDoes:
		return strings.Join(c.Consequences, "; ")
	case noteUndo:
		if c.Undo == "" && !c.Reversible {
			return "not possible"
		}
		return c.Undo
	case noteKept:
		return strings.Join(c.Kept, "; ")
	}
	return alternatives(c)
}

// alternatives are what else would do, or that nothing is known at all.
func alternatives(c action.ApprovalContext) string {
	if len(c.Alternatives) == 0 && len(c.Consequences) == 0 && c.Undo == "" && c.Reversible {
		return "nothing more is known"
	}
	return strings.Join(c.Alternatives, "; ")
}

const noteIndent = 5

// keyRows are the keys that answer, as many rows as they need.
func (a *Approval) keyRows(w int) [][]draw.Span {
	var choices []draw.Hint
	for _, e := range a.Keys.In(keymap.Approval) {
		if e.Label != "" && len(e.Keys) > 0 && (e.Action != keymap.AllowSimilar || a.asked.Context.Similar != "") {
			choices = append(choices, draw.Hint{Key: e.Keys[0], Label: e.Label})
		}
	}
	return draw.Choices(choices, w)
}
