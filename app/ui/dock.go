package ui

import (
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/views/dialog"
)

// dock decides whether keys belong to the dialog between the conversation and the prompt, or to
// the prompt. A dialog that opened by itself gets them only with an empty prompt and after a
// pause without a key, or when the person asks for it.
type dock struct {
	request string    // id of the approval or question that shows, "" for none
	held    bool      // it has the keys
	heldAt  time.Time // since when
	left    bool      // the person went back to the prompt: only a key or a click leads to it again
	full    bool      // it has all rows between header and prompt
	pressed time.Time // when the last key came, or the request, if that was later
	typed   time.Time // when the last key came that was for the prompt
	timer   bool      // the pause is waited for
	answers string    // id of the question that the draft answers
	stopped int       // the main task that Esc stopped last
	digits  string    // that were typed in a question just now: a choice, or the start of an answer
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

// dockedView returns what is docked, nil if nothing is.
func (u *UI) dockedView() dockedView {
	switch {
	case u.v.confirm.Open():
		return u.v.confirm
	case u.v.approval.Open():
		return u.v.approval
	case u.v.question.Open():
		return u.v.question
	}
	return nil
}

// dockHeld reports whether what is docked has the keys. A person called the confirmation with a
// key of their own.
func (u *UI) dockHeld() bool {
	return u.v.confirm.Open() || u.dock.held && u.dock.request != ""
}

// dockShows reports whether something is docked and nothing lies over it.
func (u *UI) dockShows() bool {
	v := u.dockedView()
	return v != nil && (u.overlay() == nil || u.overlay() == overlayView(v))
}

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

// dockRequests shows the request that showed, or another one when that is settled.
func (u *UI) dockRequests() {
	ids := requestsIn(&u.state)
	d := &u.dock
	if d.answers != "" && !slices.Contains(ids, d.answers) {
		d.answers = ""
	}
	switch {
	case slices.Contains(ids, d.request):
	case len(ids) == 0:
		u.showRequest("")
	default:
		u.showRequest(ids[0])
		u.v.conversation.Bottom()
	}
	u.placeDock(ids)
	u.awaitPause()
}

// showRequest docks a request, which does not have the keys yet.
func (u *UI) showRequest(id string) {
	u.dock = dock{request: id, pressed: u.deps.Now(), typed: u.dock.typed, stopped: u.dock.stopped, timer: u.dock.timer, answers: u.dock.answers}
	u.v.approval.Clear()
	u.v.question.Close()
	for _, a := range u.state.Approvals {
		if a.ID == id {
			args := ""
			if c := u.state.Call(a.CallID); c != nil {
				args = c.Arguments
			}
			u.v.approval.Ask(a, args)
			return
		}
	}
	for _, q := range u.state.Questions {
		if q.ID == id {
			u.ask(q)
		}
	}
}

// ask docks a question of the model.
func (u *UI) ask(q event.QuestionAsked) {
	u.v.question.Ask(dialog.Question{
		ID: q.ID, Title: "Question", Scope: keymap.Question, Lines: strings.Split(q.Text, "\n"), Choices: q.Choices, Own: true,
		Take: func(n int) { u.deps.Send(event.Answer{ID: q.ID, Text: q.Choices[n]}) },
	})
}

// placeDock tells the dialogs where in the queue they are.
func (u *UI) placeDock(ids []string) {
	p := dialog.DockPlace{N: slices.Index(ids, u.dock.request) + 1, Of: len(ids), Full: u.dock.full}
	u.v.approval.SetPlace(p)
	u.v.question.SetPlace(p)
	u.v.confirm.SetPlace(dialog.DockPlace{Full: u.dock.full})
}

// mayTakeKeys reports whether the docked request gets the keys after a pause.
func (u *UI) mayTakeKeys() bool {
	scope, view := u.target()
	return u.dock.request != "" && !u.dock.held && !u.dock.left && view == u.v.prompt && u.v.prompt.Empty() &&
		(scope == keymap.Prompt || scope == keymap.Vi)
}

// awaitPause gives the docked request the keys when none has come for a while.
func (u *UI) awaitPause() {
	if u.dock.timer || !u.mayTakeKeys() {
		return
	}
	u.dock.timer = true
	u.deps.After(max(dialog.Pause-u.deps.Now().Sub(u.dock.pressed), time.Millisecond), func() {
		u.dock.timer = false
		switch {
		case !u.mayTakeKeys():
		case u.deps.Now().Sub(u.dock.pressed) < dialog.Pause:
			u.awaitPause()
		default:
			u.dock.hold(u.deps.Now())
		}
	})
}

// hold gives what is docked the keys from a time on.
func (d *dock) hold(now time.Time) { d.held, d.left, d.heldAt = true, false, now }

// leaveDock gives the prompt the keys, until the person asks for the dialog again.
func (u *UI) leaveDock() {
	u.dock.held, u.dock.left, u.dock.full = false, true, false
	u.placeDock(requestsIn(&u.state))
	u.setFocus(layout.Prompt)
}

// nextRequest goes to what waits, from there to the next that does, and from the last one back
// to the prompt.
func (u *UI) nextRequest() {
	ids := requestsIn(&u.state)
	at := slices.Index(ids, u.dock.request)
	switch {
	case at < 0 || u.v.confirm.Open():
	case !u.dock.held:
		u.overlays.help = false
		u.dock.hold(u.deps.Now())
	case at+1 < len(ids) && !u.v.approval.Typing():
		u.showRequest(ids[at+1])
		u.dock.hold(u.deps.Now())
	default:
		u.leaveDock()
		if at > 0 {
			u.showRequest(ids[0])
			u.dock.left = true
		}
	}
	u.placeDock(ids)
}

// dockKey takes a key of what is docked that is not for its view, and reports whether it was one.
func (u *UI) dockKey(p keymap.Press, ev *tcell.EventKey) bool {
	if !u.dockHeld() || u.overlay() != overlayView(u.dockedView()) {
		return false
	}
	confirms := u.v.confirm.Open()
	switch {
	case !confirms && u.v.question.Open() && u.ownWords(p, ev):
	case p.Action == keymap.FullScreen:
		u.dock.full = !u.dock.full
		u.placeDock(requestsIn(&u.state))
	case confirms:
		return false
	case p.Action == keymap.Back:
		u.leaveDock()
	case p.Types() && !u.v.approval.Typing():
		u.typeOn("", ev)
	default:
		return false
	}
	return true
}

// ownWords takes what a question has no choice for: it begins an answer in the prompt, with the
// digits that were typed before it. It reports whether the key was text.
func (u *UI) ownWords(p keymap.Press, ev *tcell.EventKey) bool {
	digits := u.dock.digits
	u.dock.digits = ""
	switch {
	case p.Text == "", p.Action == keymap.FullScreen && (u.v.question.Cut() || u.dock.full):
		return false
	case p.Action == keymap.ChoiceNumber && u.v.question.Has(p.Text):
		u.dock.digits = digits + p.Text
		return false
	}
	u.dock.answers = u.dock.request
	u.typeOn(digits, ev)
	return true
}

// typeOn begins to type in the prompt.
func (u *UI) typeOn(before string, ev *tcell.EventKey) {
	u.dock.held = false
	u.setFocus(layout.Prompt)
	u.v.prompt.BeginTyping()
	if before != "" {
		u.v.prompt.Paste(before)
	}
	u.v.prompt.InputHandler()(ev, nil)
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
		d.typed = now
	}
}

// typing reports whether a person is in the middle of typing a prompt.
func (d *dock) typing(now time.Time) bool { return now.Sub(d.typed) < dialog.Pause }

// reply sends what was typed as the answer of a question if that is what it was begun as, and
// reports whether it was.
func (u *UI) reply(text string) bool {
	id := u.dock.answers
	u.dock.answers = ""
	for _, q := range u.state.Questions {
		if q.ID == id && id != "" {
			u.deps.Send(slash.Reply(q, text))
			return true
		}
	}
	return false
}

// goToRequest shows a request and gives it the keys.
func (u *UI) goToRequest(id string) {
	if ids := requestsIn(&u.state); slices.Contains(ids, id) {
		u.showRequest(id)
		u.dock.hold(u.deps.Now())
		u.placeDock(ids)
	}
}
