package ui

import (
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/agent/plan"
	"buddy/app/dashboard"
	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/themes"
	"buddy/views/dialog"
	"buddy/views/markup"
)

// ask opens the dialog for the open request of a session. A request on another machine is answered there: the dashboard
// attaches to its session.
func (b *board) ask(s dashboard.Session) {
	switch {
	case s.Group != dashboard.Waiting:
		b.next()
		return
	case s.Machine != "":
		b.attach(show.Row{ID: s.Key()})
		return
	case b.d.Own(s.ID):
		b.p.Say("this is the session you are in: close the dashboard to answer")
		return
	}
	b.drop("")
	b.answer.number++
	number := b.answer.number
	b.work(func() func() {
		asked, err := b.d.Live.Ask(s)
		return func() {
			switch {
			case err != nil:
				b.p.Say(err.Error())
			case b.answer.number != number:
				asked.Close()
			default:
				b.open(s, asked)
			}
		}
	})
}

// next selects the session that waits longest.
func (b *board) next() {
	for _, s := range b.table.Sessions() {
		if s.Group == dashboard.Waiting {
			b.p.Select(s.Key())
			b.p.Say("that session is not waiting for you; this one is")
			return
		}
	}
	b.p.Say("no session is waiting for you")
}

// open shows the dialog for a request, and closes it when the request has been answered.
func (b *board) open(s dashboard.Session, asked *dashboard.Asked) {
	b.answer.asked, b.answer.of = asked, s
	switch p := asked.Request.(type) {
	case event.ApprovalAsked:
		b.approval.Ask(p, asked.Args)
	case event.QuestionAsked:
		b.askQuestion(p)
	}
	number := b.answer.number
	b.work(func() func() {
		e, ok := <-asked.Answered
		return func() {
			if b.answer.number != number || b.answer.asked != asked {
				return
			}
			b.drop(b.outcome(e, ok))
		}
	})
}

// outcome describes how a request was settled. ok is false if its session has ended without an answer.
func (b *board) outcome(e event.Event, ok bool) string {
	if other := elsewhere(e, b.answer.asked.Place); other != "" {
		return other + " before you could"
	}
	switch p := e.(type) {
	case event.ApprovalAnswered:
		switch {
		case p.By != "user":
			return "the request was settled without you (" + p.By + ")"
		case p.Decision == event.Deny:
			return "denied"
		}
		return "approved"
	case event.QuestionAnswered:
		if p.By == "user" {
			return "answered"
		}
		return "the question was settled without you (" + p.By + ")"
	}
	if !ok {
		return "the session has ended"
	}
	return ""
}

// askQuestion shows a question of the model, or a plan.
func (b *board) askQuestion(q event.QuestionAsked) {
	title, lines := q.Text, []string(nil)
	if q.From != "" {
		title, lines = q.From+" asks", strings.Split(q.Text, "\n")
	}
	asked := dialog.Question{ID: q.ID, Title: title, Lines: lines, Choices: q.Choices, Scope: keymap.Question, Own: true}
	asked.Take = func(n int) { b.send(event.Answer{ID: q.ID, Text: q.Choices[n]}) }
	if q.Plan != "" {
		asked.Title, asked.Lines, asked.Markdown, asked.OwnLabel = plan.Question, []string{plan.Shown(q.Text)}, true, "type feedback"
		asked.Choices = nil
		var offered []string
		for _, c := range q.Choices {
			if c != event.PlanEdit { // needs the editor of an attached screen
				offered = append(offered, c)
				asked.Choices = append(asked.Choices, plan.Label(c, q.Before))
			}
		}
		asked.Take = func(n int) {
			if offered[n] == event.PlanKeep {
				b.answerInWords(q, "", offered[n])
				return
			}
			b.send(event.Answer{ID: q.ID, Text: offered[n]})
		}
	}
	b.question.Ask(asked)
}

// answerInWords lets the user type an answer that starts with typed. If the line is empty, it sends empty as the
// answer, or nothing if empty is "".
func (b *board) answerInWords(q event.QuestionAsked, typed, empty string) {
	label := "Your answer:"
	if q.Plan != "" {
		label = "What should change?"
	}
	b.line.Show(titleOf(b.answer.of), label, func(text string) error {
		if text == "" {
			text = empty
		}
		if text != "" {
			b.send(event.Answer{ID: q.ID, Text: text})
		}
		return nil
	})
	b.line.Press(keymap.Press{Text: typed})
}

// send sends the user's answer to the session. The dialog closes when the session has recorded the answer.
func (b *board) send(c event.Command) {
	if a := b.answer.asked; a != nil {
		b.answer.sent = true
		a.Send(c)
	}
}

// drop closes the dialog and shows a message. A request without an answer stays open in its session.
func (b *board) drop(message string) {
	if a := b.answer.asked; a != nil {
		b.work(func() func() { a.Close(); return nil })
	}
	b.answer = answering{number: b.answer.number + 1}
	b.approval.Clear()
	b.question.Close()
	if b.line.Open() {
		b.line.Press(keymap.Press{Action: keymap.AskClose})
	}
	if message != "" {
		b.p.Say(message)
	}
}

// top returns the view that has the keys.
func (b *board) top() overlayView {
	switch {
	case b.line.Open():
		return b.line
	case b.answer.asked == nil:
		return b.p
	case b.approval.Open():
		return b.approval
	case b.question.Open():
		return b.question
	}
	return b.p
}

// docked returns the dialog below the list, nil for none.
func (b *board) docked() dockedView {
	switch {
	case b.answer.asked == nil:
		return nil
	case b.approval.Open():
		return b.approval
	case b.question.Open():
		return b.question
	}
	return nil
}

// Scope returns the key scope of the view that has the keys.
func (b *board) Scope() keymap.Scope { return b.top().Scope() }

// SetTheme changes the colours.
func (b *board) SetTheme(t *themes.Theme) {
	b.d.Theme = t
	for _, v := range []overlayView{b.p, b.approval, b.question, b.line} {
		v.SetTheme(t)
	}
}

// Press passes a key to the view that has the keys.
func (b *board) Press(p keymap.Press) {
	b.fresh = time.Time{}
	if b.handles(p) {
		return
	}
	b.top().Press(p)
}

// handles handles a key that the dialog's view must not get yet or at all, and returns false for other keys. A letter
// that answers has to wait for the next key, because it may be the start of a word that was meant for the filter.
func (b *board) handles(p keymap.Press) bool {
	kept := b.answer.letter
	b.answer.letter = nil
	if b.docked() == nil || b.line.Open() || b.approval.Typing() {
		return false
	}
	switch {
	case kept != nil && p.Text != "": // two letters are a word
		b.approval.Hear()
	case kept != nil && p.Action == keymap.ChoiceTake: // a digit, then Enter
		b.pass(*kept)
	case p.Action == keymap.Back:
		b.drop("")
	case p.Action == keymap.FullScreen:
		b.answer.full = !b.answer.full
	case b.startsAnswer(p):
		q, _ := b.answer.asked.Request.(event.QuestionAsked) // only a question is answered in words
		b.answerInWords(q, p.Text, "")
	case b.mustWait(p):
		b.keep(p)
	default:
		return false
	}
	return true
}

// startsAnswer reports whether a key starts an answer in the user's own words to a question.
func (b *board) startsAnswer(p keymap.Press) bool {
	return b.question.Open() && p.Text != "" && (p.Types() || p.Action == keymap.ChoiceNumber && !b.question.Has(p.Text))
}

// mustWait reports whether a key is a letter or a digit that answers.
func (b *board) mustWait(p keymap.Press) bool {
	switch {
	case p.Text == "", p.Text == " ", !p.Bound(), b.approval.Ignores(p):
		return false
	}
	return p.Action != keymap.DenyWithReason && p.Action != keymap.Explain
}

// keep holds a letter back. The dialog gets it if no other key follows within the pause.
func (b *board) keep(p keymap.Press) {
	letter := &p
	b.answer.letter = letter
	b.approval.Hear()
	b.d.After(dialog.LetterPause, func() {
		if b.answer.letter == letter {
			b.answer.letter = nil
			b.pass(p)
		}
	})
}

func (b *board) pass(p keymap.Press) {
	if b.approval.Open() {
		b.approval.Do(p)
	} else if b.question.Open() {
		b.question.Press(p)
	}
}

// PasteHandler pastes into the view that has the keys.
func (b *board) PasteHandler() func(string, func(tview.Primitive)) { return b.top().PasteHandler() }

// KeyAt returns the key whose name is at a position, if the view that has the keys takes clicks on them.
func (b *board) KeyAt(x, y int) (keymap.Key, bool) {
	if v, ok := b.top().(interface {
		KeyAt(x, y int) (keymap.Key, bool)
	}); ok {
		return v.KeyAt(x, y)
	}
	return keymap.Key{}, false
}

// CopySelection copies the text that is selected in the dialog and reports whether there was any.
func (b *board) CopySelection() bool {
	v := b.docked()
	return v != nil && v.CopySelection()
}

// MouseHandler passes the mouse to the view that has the keys.
func (b *board) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return b.top().MouseHandler()
}

// Size returns the size of the dashboard, which fills the available space.
func (b *board) Size(maxW, maxH int) (w, h int) { return maxW, maxH }

// leastList is the minimum number of rows with which the list is shown above a dialog.
const leastList = 6

// Draw draws the list, and the dialog below it. Only the view with the keys is drawn as focused.
func (b *board) Draw(s tcell.Screen) {
	x, y, w, h := b.GetRect()
	top := b.top()
	for _, v := range []overlayView{b.p, b.approval, b.question, b.line} {
		if v == top {
			v.Focus(func(tview.Primitive) {})
		} else {
			v.Blur()
		}
	}
	list := h
	if v := b.docked(); v != nil {
		v.SetPlace(dialog.DockPlace{N: 1, Of: b.answer.asked.Of, Who: "in " + markup.Shorten(titleOf(b.answer.of), 30), Full: b.answer.full, List: true})
		rows := min(v.Rows(w), h)
		if b.answer.full || h-rows < leastList {
			rows = h
		}
		list = h - rows
		v.SetRect(x, y+list, w, rows)
		v.Draw(s)
	}
	if list > 0 {
		b.p.SetRect(x, y, w, list)
		b.p.Draw(s)
	}
	if b.line.Open() {
		lw, lh := b.line.Size(w-2, h)
		b.line.SetRect(x+(w-lw)/2, y+(h-lh)/2, lw, lh)
		b.line.Draw(s)
	}
}
