package dialog

import (
	"slices"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
	"buddy/views/markup"
	"buddy/views/words"
)

// Approval asks a person about a pending request. It shows the whole action with hidden characters made visible, and
// accepts an approval only after the end of the action has been drawn.
type Approval struct {
	docked
	now func() time.Time

	asked   event.ApprovalAsked // ID is "" without a request
	short   bool                // the answers share rows
	shown   shown
	lines   [3]body      // layouts of the action; each has fewer context lines in diffs than the previous one
	typing  *edit.Editor // the editor of reason or amend; nil if nothing is being typed
	reason  reason
	amend   amendment
	explain explaining

	OnAnswer    func(event.AnswerApproval)
	Highlighter *markup.Highlighter // colours the code of diffs; nil: plain
}

// shown records how much of a request a person has seen, and whether it is answered.
type shown struct {
	drawn    bool
	since    time.Time // the first draw
	end      bool      // the end of the action and all facts were on the screen
	answered bool
	lastKey  time.Time
	gap      time.Duration // between the last two keys
}

// explaining records whether the details are open.
type explaining struct {
	on      bool
	changed bool // since the last draw, so the scroll position must be set
}

// NewApproval returns a dialog without a request. now is its clock.
func NewApproval(theme *themes.Theme, keys *keymap.Map, now func() time.Time) *Approval {
	return &Approval{docked: docked{Frame: draw.NewFrame(theme, keys)}, now: now}
}

// Ask shows a request and the arguments of its call, unless it is shown already.
func (a *Approval) Ask(asked event.ApprovalAsked, args string) {
	if asked.ID == a.asked.ID {
		return
	}
	a.Clear()
	a.asked = asked
	if asked.Context.Tried == nil {
		a.amend.text, a.amend.put = Editable(asked.Action, args)
	}
	a.offer()
}

// Clear removes the request.
func (a *Approval) Clear() {
	a.asked, a.lines, a.body, a.typing = event.ApprovalAsked{}, [3]body{}, body{}, nil
	a.explain, a.shown, a.amend, a.reason, a.choices = explaining{}, shown{}, amendment{}, reason{}, choices{}
}

// offer makes the choices and marks the first one.
func (a *Approval) offer() {
	a.choices = choices{at: 1}
	for _, one := range offered(a) {
		a.choices.all = append(a.choices.all, choice{action: actionOf(a, one.Decision)})
	}
}

// offered returns the answers in the order of the choices.
func offered(a *Approval) []words.Answer { return words.Answers(a.asked, a.amend.done) }

// actionOf returns the key action that gives an answer.
func actionOf(a *Approval, d event.Decision) keymap.Action {
	if d == event.Once && a.asked.Context.Tried != nil {
		return keymap.RunForReal
	}
	return map[event.Decision]keymap.Action{
		event.Once: keymap.Approve, event.Keep: keymap.Approve, event.Similar: keymap.AllowSimilar, event.Try: keymap.TryFirst, event.Deny: keymap.DenyWithReason,
	}[d]
}

// Open reports whether there is a request.
func (a *Approval) Open() bool { return a.asked.ID != "" }

// Asked returns the id of the request, or "".
func (a *Approval) Asked() string { return a.asked.ID }

// Scope returns the key scope of the choices or of the text being typed.
func (a *Approval) Scope() keymap.Scope {
	switch {
	case a.typing == nil:
		return keymap.Approval
	case a.amend.typing:
		return keymap.Amend
	}
	return keymap.Reason
}

// ready reports whether keys can answer: the request is on the screen, its grace period is over, and it is unanswered.
func (a *Approval) ready() bool {
	return a.Open() && a.shown.drawn && !a.shown.answered && a.now().Sub(a.shown.since) >= draw.GracePeriod
}

// Ignores reports whether the request ignores a key, because it has just appeared, is answered or has no such choice.
func (a *Approval) Ignores(p keymap.Press) bool {
	switch {
	case !a.Open():
		return false
	case !a.ready():
		return true
	case p.Action == keymap.ChoiceNumber:
		return !a.choices.has(p.Text)
	case p.Action == keymap.AmendCall:
		return a.amend.put == nil
	case slices.Contains([]keymap.Action{keymap.Approve, keymap.AllowSimilar, keymap.TryFirst, keymap.RunForReal}, p.Action):
		return !slices.ContainsFunc(a.choices.all, func(c choice) bool { return c.action == p.Action })
	}
	return false
}

// Press answers, scrolls or edits a reason.
func (a *Approval) Press(p keymap.Press) {
	a.Hear()
	a.Do(p)
}

// Hear records the time of a key press, also of one that Do handles later or not at all.
func (a *Approval) Hear() {
	a.shown.gap = a.now().Sub(a.shown.lastKey)
	a.shown.lastKey = a.now()
}

// LiveIn returns how much longer the keyboard must be idle before an edited action can be approved. It is 0 if the
// action can be approved now or was not edited.
func (a *Approval) LiveIn() time.Duration {
	if !a.amend.done || a.typing != nil {
		return 0
	}
	return max(0, Pause-a.now().Sub(a.shown.lastKey))
}

// Do handles a key that Hear has recorded.
func (a *Approval) Do(p keymap.Press) {
	switch {
	case !a.ready():
	case a.typing != nil:
		a.typingKey(p)
	case p.Action == keymap.Explain:
		a.explain = explaining{!a.explain.on, true}
	case p.Action == keymap.Deny, p.Action == keymap.AmendCall && a.amend.put != nil:
		a.apply(p.Action, "")
	case a.body.scroll(p.Action):
	default:
		if i := a.choose(p); i >= 0 {
			letter := ""
			if p.Action == keymap.DenyWithReason {
				letter = p.Text
			}
			a.apply(a.choices.all[i].action, letter)
		}
	}
}

// apply executes a choice. letter is the letter typed for it, or "".
func (a *Approval) apply(act keymap.Action, letter string) {
	switch act {
	case keymap.RunForReal:
		a.answer(event.Once)
	case keymap.Approve, keymap.AllowSimilar, keymap.TryFirst:
		if mustSee(a, act) && !a.shown.end {
			a.hint(unseen(a.Keys))
			return
		}
		if a.amend.done && a.shown.gap < Pause {
			a.hint("pressed too soon after another key: press it again after a second")
			return
		}
		if a.amend.done {
			a.run(a.amend.text)
			return
		}
		for _, one := range offered(a) {
			if actionOf(a, one.Decision) == act {
				a.answer(one.Decision)
			}
		}
	case keymap.Deny:
		a.answer(event.Deny)
	case keymap.DenyWithReason:
		a.amend.typing = false
		a.typing = a.reason.start(letter, a.now())
	case keymap.AmendCall:
		a.amend.typing = true
		a.typing = a.amend.open()
	}
}

// mustSee reports whether a choice is accepted only after the person has seen the whole request. To try a command
// again, it need not be seen again.
func mustSee(a *Approval, act keymap.Action) bool {
	return act == keymap.Approve || act == keymap.AllowSimilar || act == keymap.TryFirst && a.asked.Context.Tried == nil
}

// unseen returns a hint that the whole request must be seen before it can be answered.
func unseen(keys *keymap.Map) string {
	text := "you haven't seen the whole request yet"
	if name := keys.Name(keymap.PageDown); name != "" {
		text += " · " + name + " shows more"
	}
	return text
}

func (a *Approval) typingKey(p keymap.Press) {
	switch p.Action {
	case keymap.ReasonSend:
		if a.reason.confirmed(a.shown.gap) {
			a.send(a.reason.denial(a.asked.ID, a.asked.Context.Memory.Scopes))
		}
	case keymap.ReasonRemember:
		a.reason.choose(a.asked.Context.Memory.Scopes, a.shown.gap)
	case keymap.AmendDone:
		a.amended(a.typing.Text())
		a.typing = nil
	case keymap.AmendLine:
		a.typing.Do(keymap.Newline)
	case keymap.LineUp:
		a.typing.Up()
	case keymap.LineDown:
		a.typing.Down()
	case keymap.ReasonBack:
		a.typing, a.amend.typing = nil, false
	default:
		if !a.amend.typing {
			a.reason.typed(p.Text != "", a.now())
		}
		a.typing.Press(p)
	}
}

func (a *Approval) answer(d event.Decision) {
	a.send(event.AnswerApproval{ID: a.asked.ID, Decision: d})
}

func (a *Approval) send(e event.AnswerApproval) {
	a.shown.answered, a.typing = true, nil
	if a.OnAnswer != nil {
		a.OnAnswer(e)
	}
}

// PasteHandler pastes into the edited call, or as one line into the reason for a denial.
func (a *Approval) PasteHandler() func(string, func(tview.Primitive)) {
	return a.WrapPasteHandler(func(text string, _ func(tview.Primitive)) {
		a.Hear()
		switch {
		case a.typing == nil || !a.ready():
		case a.amend.typing:
			a.typing.Insert(text)
		default:
			a.reason.typed(true, a.now())
			a.typing.Insert(texts.OneLine(text))
		}
	})
}

// Explains reports whether the details are open.
func (a *Approval) Explains() bool { return a.explain.on }

// Typing reports whether a text is being typed.
func (a *Approval) Typing() bool { return a.typing != nil }

// KeyAt returns the key of a clicked answer. Clicks in the grace period are ignored.
func (a *Approval) KeyAt(x, y int) (keymap.Key, bool) {
	if !a.ready() {
		return keymap.Key{}, false
	}
	return a.Frame.KeyAt(x, y)
}

// MouseHandler scrolls and selects text of the action. It never answers; clicks on the names of keys do, see KeyAt.
func (a *Approval) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return a.WrapMouseHandler(func(action tview.MouseAction, ev *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		a.body.onCopy = a.OnCopy
		return mouseIn(&a.Frame, &a.body, action, ev), nil
	})
}

// Rows returns the rows for a screen width, rules included; 0 without a request.
func (a *Approval) Rows(w int) int {
	if !a.Open() {
		return 0
	}
	const all = 1 << 20 // rows, more than any dialog needs, so that nothing scrolls
	if a.amend.typing && a.typing != nil {
		return all
	}
	p := a.plan(w-2, all)
	return p.height() + 2
}

// Draw draws the dialog.
func (a *Approval) Draw(screen tcell.Screen) {
	if !a.Open() {
		return
	}
	all := a.Whole(screen)
	p := a.plan(all.W-2, all.H-2)
	in := a.Ruled(screen, p.titles)
	if in.W <= 0 || p.room <= 0 {
		in.Spans(0, draw.Text(themes.Warning, "too small to show"))
		return
	}
	if !a.shown.drawn {
		a.shown.drawn, a.shown.since = true, a.now()
	}
	if a.typing != nil && a.amend.typing {
		a.drawEditor(in)
		return
	}
	if a.body.width != a.lines[0].width {
		a.body.relay(a.lines[0].width)
	}
	a.body.rows = p.scrolled
	if a.explain.changed {
		a.explain.changed, a.body.Top = false, a.explainedAt(&p)
	}
	if changesFile(a) && len(p.pinned) == 0 && p.height() < in.H { // a remaining row separates the answers
		p.gaps[1] = 1
	}
	in = in.Below(in.Rows(p.head))
	from, to := a.body.draw(draw.Area{Canvas: in.Canvas, H: min(p.room, len(p.scrolled))})
	if to >= p.decisive && !a.shown.end {
		a.shown.end = true
		p.keys = a.plan(all.W-2, all.H-2).keys // more keys may be active now
	}
	in = in.Below(to - from + p.gaps[0])
	in = in.Below(in.Rows(p.pinned) + p.gaps[1])
	if a.typing != nil {
		a.drawTyping(in)
	} else {
		in.Rows(p.keys)
	}
	a.DrawMore(screen, a.body.Viewport, len(p.scrolled))
}
