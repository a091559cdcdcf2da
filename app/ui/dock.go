package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/views/dialog"
	"buddy/views/prompt"
)

// dock decides whether keys belong to the dialog between the conversation and the prompt, or to
// the prompt. A dialog that opened by itself gets them only with an empty prompt and after a
// pause without a key, or when the person asks for it.
type dock struct {
	approval *dialog.Approval
	question *dialog.Confirm // of the model
	confirm  *dialog.Confirm
	line     *dialog.Ask // for what is missing in a plan
	prompt   *prompt.Prompt
	arranged *arrangement
	state    *state.State
	deps     *Deps
	target   func() (keymap.Scope, keyView) // takes the keys

	docked
	typed   time.Time // when the last key came that was for the prompt
	timer   bool      // the pause is waited for
	answers string    // id of the question that the draft answers
	stopped int       // the main task that Esc stopped last
}

// docked holds what is forgotten when another request shows.
type docked struct {
	request string        // id of the approval or question that shows, "" for none
	held    bool          // it has the keys
	heldAt  time.Time     // since when
	left    bool          // the person went back to the prompt: only a key or a click leads to it again
	full    bool          // it has all rows between header and prompt
	pressed time.Time     // when the last key came, or the request, if that was later
	letter  *keymap.Press // that waits for what follows it; nil: none does
}

// dockedView is a dialog that docks on the prompt.
type dockedView interface {
	overlayView
	Rows(w int) int
	SetPlace(dialog.DockPlace)
	Cut() bool
	Dragging() bool
	CopySelection() bool
}

// view returns what is docked, nil if nothing is.
func (d *dock) view() dockedView {
	switch {
	case d.confirm.Open():
		return d.confirm
	case d.approval.Open():
		return d.approval
	case d.question.Open():
		return d.question
	}
	return nil
}

// hasKeys reports whether what is docked has the keys. A person called the confirmation with a
// key of their own.
func (d *dock) hasKeys() bool { return d.confirm.Open() || d.held && d.request != "" }

// requestsIn returns the ids of what waits for the person.
func requestsIn(s *state.State) []string {
	var ids []string
	for _, a := range s.Approvals {
		ids = append(ids, a.ID)
	}
	for _, q := range s.Questions {
		ids = append(ids, q.ID)
	}
	return ids
}

// sync shows the request that showed, or another one when that is settled. It reports whether
// another one shows.
func (d *dock) sync() (other bool) {
	ids := requestsIn(d.state)
	if d.answers != "" && !slices.Contains(ids, d.answers) {
		d.answers = ""
	}
	switch {
	case slices.Contains(ids, d.request):
	case len(ids) == 0:
		d.show("")
	default:
		d.show(ids[0])
		other = true
	}
	d.place(ids)
	d.awaitPause()
	return other
}

// show docks a request, which does not have the keys yet.
func (d *dock) show(id string) {
	d.loseLetter()
	d.docked = docked{request: id, pressed: d.deps.Now()}
	if text := d.approval.UnsentReason(); text != "" { // what it was for has been answered elsewhere, or has ended
		d.prompt.Replace(strings.TrimPrefix(d.prompt.Text()+"\n"+text, "\n"))
	}
	d.approval.Clear()
	d.question.Close()
	for _, a := range d.state.Approvals {
		if a.ID == id {
			args := ""
			if c := state.CallOf(d.state, a); c != nil {
				args = c.Arguments
			}
			d.approval.Ask(a, args)
			return
		}
	}
	for _, q := range d.state.Questions {
		if q.ID == id {
			d.ask(q)
		}
	}
}

// ask docks a question of the model or of a server.
func (d *dock) ask(q event.QuestionAsked) {
	if q.Plan != "" {
		d.askPlan(q)
		return
	}
	title, lines := q.Text, []string(nil)
	if q.From != "" {
		title, lines = q.From+" asks", strings.Split(q.Text, "\n")
	}
	d.question.Ask(dialog.Question{
		ID: q.ID, Title: title, Scope: keymap.Question, Lines: lines, Choices: q.Choices, Own: true,
		Take: func(n int) { d.deps.Send(event.Answer{ID: q.ID, Text: q.Choices[n]}) },
	})
}

// place tells the dialogs where in the queue they are.
func (d *dock) place(ids []string) {
	p := dialog.DockPlace{N: slices.Index(ids, d.request) + 1, Of: len(ids), Full: d.full, Who: whoAsks(d.state, d.request)}
	d.approval.SetPlace(p)
	d.question.SetPlace(p)
	d.confirm.SetPlace(dialog.DockPlace{Full: d.full})
}

// whoAsks names the task that waits for the answer of a request, "" if it is the main one.
func whoAsks(s *state.State, request string) string {
	for _, a := range s.Approvals {
		if a.ID == request && a.Agent != "" {
			return a.Agent + " asks"
		}
	}
	switch t := s.Tasks.Waiting(request); {
	case t == nil || t.Kind == event.MainTask:
		return ""
	case t.Agent != nil:
		return t.Label()
	default:
		return fmt.Sprintf("background task #%d", t.ID)
	}
}

// mayTakeKeys reports whether the docked request gets the keys after a pause.
func (d *dock) mayTakeKeys() bool {
	scope, view := d.target()
	return d.request != "" && !d.held && !d.left && view == d.prompt && d.prompt.Empty() &&
		(scope == keymap.Prompt || scope == keymap.Vi)
}

// awaitPause gives the docked request the keys when none has come for a while.
func (d *dock) awaitPause() {
	if d.timer || !d.mayTakeKeys() {
		return
	}
	d.timer = true
	d.deps.After(max(dialog.Pause-d.deps.Now().Sub(d.pressed), time.Millisecond), func() {
		d.timer = false
		switch {
		case !d.mayTakeKeys():
		case d.deps.Now().Sub(d.pressed) < dialog.Pause:
			d.awaitPause()
		default:
			d.hold(d.deps.Now())
		}
	})
}

// mode returns what stands on the border of the prompt.
func (d *dock) mode() string {
	if d.replies() {
		return "answer"
	}
	return d.prompt.Mode()
}

// replies reports whether what is typed in the prompt answers a question.
func (d *dock) replies() bool { return d.answers != "" && !d.prompt.Empty() }

// hold gives what is docked the keys from a time on.
func (d *dock) hold(now time.Time) { d.held, d.left, d.heldAt = true, false, now }

// leave gives the prompt the keys, until the person asks for the dialog again.
func (d *dock) leave() {
	d.loseLetter()
	d.held, d.left, d.full = false, true, false
	d.place(requestsIn(d.state))
	d.arranged.setFocus(layout.Prompt)
}

// next goes to what waits, from there to the next that does, and from the last one back
// to the prompt. It reports whether what shows got the keys.
func (d *dock) next() (got bool) {
	ids := requestsIn(d.state)
	at := slices.Index(ids, d.request)
	switch {
	case at < 0 || d.confirm.Open():
	case !d.held:
		got = true
		d.hold(d.deps.Now())
	case at+1 < len(ids) && !d.approval.Typing():
		d.show(ids[at+1])
		d.hold(d.deps.Now())
	default:
		d.leave()
		if at > 0 {
			d.show(ids[0])
			d.left = true
		}
	}
	d.place(ids)
	return got
}

// key takes a key of what is docked that is not for its view, and reports whether it was one.
func (d *dock) key(p keymap.Press) bool {
	full := p.Action == keymap.FullScreen
	switch {
	case d.confirm.Open():
		if full {
			d.toggleFull()
		}
		return full
	case d.waits(p):
		d.holdLetter(p)
	case d.startsText(p):
		d.write(p.Text)
	case full:
		d.toggleFull()
	case p.Action == keymap.Back:
		d.leave()
	case p.Action == keymap.EditPrompt:
		d.editAnswer()
	case p.Action == keymap.ReasonBack && d.reasonToPrompt():
	default:
		return false
	}
	return true
}

func (d *dock) toggleFull() {
	d.full = !d.full
	d.place(requestsIn(d.state))
}

// toPrompt gives the prompt the keys, for a text.
func (d *dock) toPrompt() {
	d.held = false
	d.arranged.setFocus(layout.Prompt)
	d.prompt.BeginTyping()
}

// typeOn begins to type in the prompt.
func (d *dock) typeOn(text string) {
	d.toPrompt()
	d.prompt.Press(keymap.Press{Text: text})
}

// noteKey remembers that a key came at a time, for which scope and what it means there.
func (d *dock) noteKey(now time.Time, scope keymap.Scope, a keymap.Action) {
	if a == keymap.ShowApproval {
		return
	}
	d.pressed = now
	if a == keymap.NextPane || a == keymap.PreviousPane {
		return
	}
	switch scope {
	case keymap.Prompt, keymap.Popup, keymap.Vi, keymap.Search:
		if a != keymap.ReadUp && a != keymap.ReadDown && a != keymap.Back { // those type nothing
			d.typed = now
		}
	case keymap.Conversation, keymap.Selecting, keymap.Finding, keymap.Panes, keymap.Tasks:
		d.stayAway() // who reads there goes on there
	}
}

// stayAway leaves the keys where they are until the person asks for the approval: they do
// something else while it waits, and may go on with that after a pause.
func (d *dock) stayAway() {
	if d.approval.Open() && !d.held {
		d.left = true
	}
}

// typing reports whether a person is in the middle of typing a prompt, and takes it that they
// go on.
func (d *dock) typing(now time.Time) bool {
	if d.arranged.focus != layout.Prompt || now.Sub(d.typed) >= dialog.Pause {
		return false
	}
	d.typed = now
	return true
}

// cycleMode changes how approvals are decided, but never while something waits for an answer:
// the mode might be one. It returns what there is to tell about that.
func (d *dock) cycleMode() (told string) {
	if d.request != "" {
		return "Answer first: the mode can't change while a question is open"
	}
	d.deps.Send(event.CycleMode{})
	return ""
}

// reply sends what was typed as the answer of a question if that is what it was begun as, and
// reports whether it was.
func (d *dock) reply(text string) bool {
	id := d.answers
	d.answers = ""
	for _, q := range d.state.Questions {
		if q.ID == id && id != "" {
			d.answer(q, slash.Reply(q, text))
			return true
		}
	}
	return false
}

// goTo shows a request and gives it the keys.
func (d *dock) goTo(id string) {
	if ids := requestsIn(d.state); slices.Contains(ids, id) {
		d.show(id)
		d.hold(d.deps.Now())
		d.place(ids)
	}
}
