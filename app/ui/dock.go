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

// dock decides whether keys go to the docked dialog, which is between the conversation and the prompt, or to the
// prompt. A dialog that has opened by itself gets the keys only when the prompt is empty and no key was pressed for a
// while, or when the user asks for the dialog.
type dock struct {
	approval *dialog.Approval
	question *dialog.Confirm // asked by the model
	confirm  *dialog.Confirm
	line     *dialog.Ask // for a missing part of a plan
	prompt   *prompt.Prompt
	arranged *arrangement
	state    *state.State
	deps     *Deps
	target   func() (keymap.Scope, keyView) // has the keys

	docked
	typed   time.Time // time of the last key for the prompt
	timer   bool      // whether the pause timer runs
	answers string    // id of the question that the draft answers
	stopped int       // the main task that Esc last stopped
}

// docked holds the part of dock's state that is reset when another request is shown.
type docked struct {
	request   string        // id of the shown approval or question, "" for none
	held      bool          // whether it has the keys
	heldAt    time.Time     // since when
	dismissed bool          // the user went back to the prompt: only a key or a click leads to the request again
	full      bool          // whether it fills all rows between header and prompt
	pressed   time.Time     // time of the last key, or of the request if that was later
	letter    *keymap.Press // a letter kept back until the next key; nil for none
}

// dockedView is a dialog in the dock, directly above the prompt.
type dockedView interface {
	overlayView
	Rows(w int) int
	SetPlace(dialog.DockPlace)
	Cut() bool
	Dragging() bool
	CopySelection() bool
}

// view returns the docked dialog, nil for none.
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

// hasKeys reports whether the docked dialog has the keys. A confirmation always has them, because the user opened it.
func (d *dock) hasKeys() bool { return d.confirm.Open() || d.held && d.request != "" }

// requestsIn returns the ids of the pending approvals and questions.
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

// sync shows the next request if the current one is settled. It reports whether another request is shown now.
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

// show docks a request without giving it the keys. For "" it removes the docked request.
func (d *dock) show(id string) {
	d.loseLetter()
	d.docked = docked{request: id, pressed: d.deps.Now()}
	if text := d.approval.UnsentReason(); text != "" { // its request was answered elsewhere or has ended
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

// ask docks a question from the model, a server or a workflow.
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

// place passes the position of the request in the queue to the dialogs.
func (d *dock) place(ids []string) {
	p := dialog.DockPlace{N: slices.Index(ids, d.request) + 1, Of: len(ids), Full: d.full, Who: whoAsks(d.state, d.request)}
	d.approval.SetPlace(p)
	d.question.SetPlace(p)
	d.confirm.SetPlace(dialog.DockPlace{Full: d.full})
}

// whoAsks names the task that a request belongs to, "" for the main task.
func whoAsks(s *state.State, request string) string {
	for _, a := range s.Approvals {
		if a.ID == request && a.Agent != "" {
			return "asked by " + a.Agent
		}
	}
	switch t := s.Tasks.Waiting(request); {
	case t == nil || t.Kind == event.MainTask:
		return ""
	case t.Agent != nil:
		return "asked by " + t.Label()
	default:
		return fmt.Sprintf("asked by background task #%d", t.ID)
	}
}

// mayTakeKeys reports whether the docked request may get the keys after a pause.
func (d *dock) mayTakeKeys() bool {
	scope, view := d.target()
	return d.request != "" && !d.held && !d.dismissed && view == d.prompt && d.prompt.Empty() &&
		(scope == keymap.Prompt || scope == keymap.Vi)
}

// awaitPause gives the keys to the docked request when no key was pressed for a while.
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

// mode returns the label on the border of the prompt.
func (d *dock) mode() string {
	if d.replies() {
		return "answer"
	}
	return d.prompt.Mode()
}

// replies reports whether the text in the prompt is the answer to a question.
func (d *dock) replies() bool { return d.answers != "" && !d.prompt.Empty() }

// hold gives the docked dialog the keys.
func (d *dock) hold(now time.Time) { d.held, d.dismissed, d.heldAt = true, false, now }

// leave gives the prompt the keys until the user asks for the dialog again.
func (d *dock) leave() {
	d.loseLetter()
	d.held, d.dismissed, d.full = false, true, false
	d.place(requestsIn(d.state))
	d.arranged.setFocus(layout.Prompt)
}

// next gives the keys to the shown request. If the request has them already, next goes to the next request, and after
// the last request back to the prompt. It reports whether the shown request did not have the keys before and has them
// now.
func (d *dock) next() (focused bool) {
	ids := requestsIn(d.state)
	at := slices.Index(ids, d.request)
	switch {
	case at < 0 || d.confirm.Open():
	case !d.held:
		focused = true
		d.hold(d.deps.Now())
	case at+1 < len(ids) && !d.approval.Typing():
		d.show(ids[at+1])
		d.hold(d.deps.Now())
	default:
		d.leave()
		if at > 0 {
			d.show(ids[0])
			d.dismissed = true
		}
	}
	d.place(ids)
	return focused
}

// key handles a key of the docked dialog that the dialog's view must not get, and returns false for other keys.
func (d *dock) key(p keymap.Press) bool {
	full := p.Action == keymap.FullScreen
	switch {
	case d.confirm.Open():
		if full {
			d.toggleFull()
		}
		return full
	case d.mustWait(p):
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

// toPrompt gives the keys to the prompt, so that the user can type text.
func (d *dock) toPrompt() {
	d.held = false
	d.arranged.setFocus(layout.Prompt)
	d.prompt.BeginTyping()
}

// typeOn gives the keys to the prompt and types text into it.
func (d *dock) typeOn(text string) {
	d.toPrompt()
	d.prompt.Press(keymap.Press{Text: text})
}

// noteKey records the time of a key, and its meaning in a scope.
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
		if a != keymap.ReadUp && a != keymap.ReadDown && a != keymap.Back { // these type nothing
			d.typed = now
		}
	case keymap.Conversation, keymap.Selecting, keymap.Finding, keymap.Panes, keymap.Tasks:
		d.stayAway() // the user is reading there
	}
}

// stayAway keeps the approval from getting the keys until the user asks for it, because the user is doing something
// else and may continue after a pause.
func (d *dock) stayAway() {
	if d.approval.Open() && !d.held {
		d.dismissed = true
	}
}

// typing reports whether the user is in the middle of typing a prompt, and extends the typing time.
func (d *dock) typing(now time.Time) bool {
	if d.arranged.focus != layout.Prompt || now.Sub(d.typed) >= dialog.Pause {
		return false
	}
	d.typed = now
	return true
}

// cycleMode changes to the next approval mode, unless a request is pending, because the new mode could answer it. It
// returns the message to show.
func (d *dock) cycleMode() (message string) {
	if d.request != "" {
		return "Answer first: the mode can't change while a question is open"
	}
	d.deps.Send(event.CycleMode{})
	return ""
}

// reply sends text as the answer to the question for which the user started the draft. It returns false if there is no
// such question.
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
