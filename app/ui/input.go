package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/screen"
	"buddy/app/slash"
	"buddy/app/state"
)

// paste passes pasted text to the view with the focus.
func (u *UI) paste(p screen.Paste) {
	u.hint("", "") // as a key does: cancels a pending confirmation
	u.overlays.cheat = false
	u.dock.loseLetter()
	text := p.Text
	var into tview.Primitive
	if o := u.overlays.pasteInto(); o != nil {
		into = o
	} else if scope, view := u.target(); scope == keymap.Finding || scope == keymap.Typing {
		into = view
	}
	if into != nil {
		into.PasteHandler()(text, func(tview.Primitive) {})
		return
	}
	if u.dock.hasKeys() && u.dock.question.Open() {
		u.dock.answers = u.dock.request
	}
	u.dock.held = false
	u.arranged.setFocus(layout.Prompt)
	if path := pastedPicture(u, text); path != "" {
		u.v.prompt.InsertPicture(path)
	} else {
		u.v.prompt.Paste(text)
		if slash.ShellLine(text) && strings.HasPrefix(u.v.prompt.Text(), " !") {
			u.hint("", "Pasted text is sent to the agent, not run. Delete the space before it to run it.")
		}
	}
	u.dock.noteKey(u.deps.Now(), keymap.Prompt, "")
	if p.Dropped > 0 {
		u.hint("", fmt.Sprintf("the pasted text was too long: the last %d bytes are missing", p.Dropped))
	}
}

// closeCheat closes the cheat sheet when a key is pressed, and reports whether the key is used up. A character starts a
// prompt. Other keys also have their usual effect, unless they would stop, send, quit or open something.
func closeCheat(u *UI, p keymap.Press) bool {
	was := u.overlays.cheat && !u.overlays.covered()
	u.overlays.cheat = false
	if was && p.Text != "" {
		u.dock.typeOn(p.Text)
		return true
	}
	switch p.Action {
	case keymap.Back, keymap.Interrupt, keymap.Send, keymap.EndOfInput, keymap.Fold, keymap.ItemOpen:
		return was
	}
	return false
}

// asksForHelp reports whether a question mark typed in a scope opens the cheat sheet. It does where it would be the
// first character of a prompt.
func asksForHelp(u *UI, scope keymap.Scope) bool {
	return u.v.prompt.Empty() && (scope == keymap.Prompt || scope == keymap.Vi || paneOf[scope] != layout.Prompt)
}

// typesOn handles a character that the focused view does not use: it opens the cheat sheet or starts a prompt. It
// reports whether it did.
func typesOn(u *UI, scope keymap.Scope, text string) bool {
	switch {
	case text == "?" && asksForHelp(u, scope):
		u.overlays.cheat = true
	case paneOf[scope] != layout.Prompt: // the pane has no use for it
		u.dock.typeOn(text)
	default:
		return false
	}
	return true
}

// lookUp returns the meaning of a key in the focused view, or else its global meaning.
func lookUp(u *UI, ev *tcell.EventKey) keymap.Press {
	scope, _ := u.target()
	scopes := scope.Chain()
	if u.dock.letter != nil { // the key may continue a text that starts with the letter
		scopes = slices.Insert(scopes, 1, keymap.Prompt)
	}
	return u.deps.Keys.Lookup(ev, scopes...)
}

// key passes a key to the focused view or runs the key's global action. It returns the meaning of the key, so that it
// need not be looked up again.
func (u *UI) key(ev *tcell.EventKey) (p keymap.Press) {
	if u.deps.Now().Before(u.grace) {
		return p
	}
	before := u.pending.action
	u.hint("", "")
	u.dock.catchUp(ev.When())
	p = lookUp(u, ev)
	if u.dock.afterLetter(&p) || closeCheat(u, p) {
		return p
	}
	defer u.dock.awaitPause()
	defer u.dock.awaitLive()
	scope, view := u.target()
	u.dock.noteKey(u.deps.Now(), scope, p.Action)
	switch {
	case view == keyView(u.dock.view()) && u.dock.key(p):
	case p.Types() && typesOn(u, scope, p.Text):
	case viewed(u, p.Action):
	case p.Scope != keymap.Global:
		view.Press(p)
	case scope == keymap.Secret && p.Action != keymap.Redraw: // the view below would change unseen
	default:
		u.dock.approval.Hear()
		u.global(p.Action, before)
	}
	return p
}

// viewed runs the action a if it zooms a pane or scrolls the conversation, whatever has the focus. It returns false for
// other actions.
func viewed(u *UI, a keymap.Action) bool {
	switch a {
	case keymap.FullScreen:
		u.arranged.toggleZoom()
	case keymap.ReadUp:
		readOn(u, -1)
	case keymap.ReadDown:
		readOn(u, 1)
	default:
		return false
	}
	return true
}

// readOn scrolls the conversation by pages while the prompt keeps the focus, down if pages is positive.
func readOn(u *UI, pages int) {
	_, _, _, h := u.v.conversation.GetRect()
	u.v.conversation.Scroll(pages * max(h-2, 1)) // one row overlaps, and one shows that there is more
}

// target returns the view that has the keys, and its scope.
func (u *UI) target() (keymap.Scope, keyView) {
	if o := u.overlays.top(); o != nil {
		return o.Scope(), o
	}
	v := u.v.pane(u.arranged.focus)
	return v.Scope(), v
}

// global runs an action that works everywhere. pending is the action that the previous key asked to confirm.
func (u *UI) global(a, pending keymap.Action) {
	switch a {
	case keymap.Interrupt:
		u.interrupt(pending)
	case keymap.Back:
		u.back(pending)
	case keymap.NextPane, keymap.PreviousPane:
		cyclePanes(u, a)
	case keymap.CycleMode:
		u.hint("", u.dock.cycleMode())
	case keymap.TypeInto:
		u.hint("", typeInto(u))
	case keymap.ShowHelp:
		toggleHelp(u)
	case keymap.ShowApproval:
		if u.dock.next() {
			u.overlays.help = false
		}
	case keymap.Rewind, keymap.ShowSessions, keymap.ShowBoard, keymap.Transcript, keymap.ShowPalette:
		u.toggle(func() { lists[a](u) })
	case keymap.Detach:
		u.deps.Leave(slash.Next{Detach: true})
	case keymap.Suspend:
		suspend(u)
	case keymap.Redraw:
		u.deps.Repaint()
	default:
		u.hint("", u.arranged.arrange(a))
	}
}

// toggleHelp opens the help, with the keys of the focused view first, or closes it.
func toggleHelp(u *UI) {
	scope, _ := u.target()
	u.v.help.SetScope(scope)
	u.overlays.help = !u.overlays.help && !u.v.secret.Asking() // the secret's dialog covers the help
}

// lists maps actions to the lists that they open over the panes.
var lists = map[keymap.Action]func(*UI){
	keymap.Rewind: func(u *UI) { runWords(u, []string{"rewind"}) }, keymap.ShowSessions: browse, keymap.Transcript: showTranscript,
	keymap.ShowBoard:   openBoard,
	keymap.ShowPalette: func(u *UI) { u.overlays.palette() },
}

// cyclePanes focuses the next or previous pane. If the user is in the middle of typing, it completes the typed word
// instead.
func cyclePanes(u *UI, a keymap.Action) {
	switch {
	case u.overlays.covered(): // the change of focus would be invisible
	case !u.dock.typing(u.deps.Now()):
		u.arranged.cycle(a, u.input(u.arranged.lay.in.W, u.arranged.lay.in.H))
	case !u.v.prompt.Popup().Reopen():
		u.hint("", "Nothing to complete. Press "+u.deps.Keys.Name(a)+" again in a second to move to the next pane.")
	}
}

// interrupt handles Ctrl-C. It does the first of these that applies: close an open list, copy the selection, quit if
// Ctrl-C was pressed twice, stop the running task, discard the draft, ask for a second press.
func (u *UI) interrupt(pending keymap.Action) {
	switch t := stoppable(u); {
	case u.overlays.sheet != nil && u.overlays.copySelection():
	case u.overlays.listOpen() && !u.overlays.help && !u.dock.hasKeys():
		u.toggle(nil)
	case u.overlays.copySelection() || u.v.conversation.CopySelection():
	case pending == keymap.Interrupt:
		u.quit()
	case t != nil:
		u.deps.Send(event.Cancel{Task: t.ID})
		u.hint(keymap.Interrupt, "Cancelling. Press "+u.deps.Keys.Name(keymap.Interrupt)+" again to quit.")
		u.pending.running = true
	case !u.v.prompt.Empty():
		u.v.prompt.Discard()
	default:
		u.hint(keymap.Interrupt, "Press "+u.deps.Keys.Name(keymap.Interrupt)+" again to quit")
	}
}

// suspend gives the terminal to the shell. Afterwards it names the key for undo, which users may have expected here.
func suspend(u *UI) {
	if err := u.deps.Suspend(); err != nil {
		u.hint("", err.Error())
		return
	}
	u.hint("", u.deps.Keys.Name(keymap.Suspend)+" suspends buddy; to undo typing, press "+u.deps.Keys.Name(keymap.Undo))
}

// back handles Esc: it closes the top view, else focuses the prompt, else stops the main task, whatever is typed.
// Requests of the task end as cancelled, not denied. Pressed twice while nothing runs, it opens the list of prompts to
// rewind to.
func (u *UI) back(pending keymap.Action) {
	switch {
	case u.arranged.focus == layout.Prompt && u.v.prompt.EndInsert():
	case u.v.conversation.EndSelection():
	case u.arranged.focus == layout.Conversation && u.v.conversation.EndFind():
		u.arranged.setFocus(layout.Prompt)
	case u.arranged.focus == layout.Live && u.v.panes.EndScroll():
	case u.arranged.zoom:
		u.arranged.zoom = false
	case u.arranged.focus != layout.Prompt:
		u.arranged.setFocus(layout.Prompt)
		u.arranged.tab = layout.Conversation
	case u.following.on():
		follow(u, 0)
	default:
		if t := u.state.Running(); t != nil && t.State != state.TaskCancelling && t.ID != u.dock.stopped {
			u.dock.stopped = t.ID
			u.deps.Send(event.Cancel{})
			return
		}
		backAtRest(u, pending)
	}
}

// MouseHandler focuses the pane under the pointer and passes the action to it. An overlay shields everything below it.
// Keys named on the screen can be clicked.
func (u *UI) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		u.overlays.cheat = u.overlays.cheat && action == tview.MouseMove
		if u.click(action, ev) {
			return true, nil
		}
		if v := u.overlays.under(ev, u.arranged.lay.Dock); v != nil {
			return v.MouseHandler()(action, ev, setFocus)
		}
		if p := u.v.prompt.Popup(); p.Open() && p.InRect(ev.Position()) {
			return p.MouseHandler()(action, ev, setFocus)
		}
		if u.arranged.drag(action, ev) {
			return true, nil
		}
		if u.arranged.lay.Strip.Holds(ev.Position()) {
			return u.v.strip.MouseHandler()(action, ev, setFocus)
		}
		i := slices.IndexFunc(u.arranged.lay.Panes[:], func(r layout.Rect) bool { return r.Holds(ev.Position()) })
		if i < 0 {
			return false, nil
		}
		if action == tview.MouseLeftDown {
			if u.dock.held {
				u.dock.leave()
			}
			u.arranged.setFocus(layout.Pane(i))
		}
		return u.v.pane(layout.Pane(i)).MouseHandler()(action, ev, setFocus)
	}
}
