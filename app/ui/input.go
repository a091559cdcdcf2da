package ui

import (
	"slices"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/slash"
	"buddy/app/state"
)

// target returns what takes the keys, and as what.
func (u *UI) target() (keymap.Scope, tview.Primitive) {
	if o := u.overlay(); o != nil {
		return o.Scope(), o
	}
	switch u.focus {
	case layout.Conversation:
		return u.v.conversation.Scope(), u.v.conversation
	case layout.Output:
		return u.v.output.Scope(), u.v.output
	case layout.Panes:
		return u.v.panes.Scope(), u.v.panes
	case layout.Tasks:
		return u.v.tasks.Scope(), u.v.tasks
	default:
		return u.v.prompt.Scope(), u.v.prompt
	}
}

// covered reports whether an overlay takes keys and the mouse.
func (u *UI) covered() bool { return u.overlay() != nil }

// global does what a key means everywhere. pending is the action that the key before asked to confirm.
func (u *UI) global(a, pending keymap.Action) {
	switch a {
	case keymap.Interrupt:
		u.interrupt(pending)
	case keymap.Back:
		u.back()
	case keymap.NextPane, keymap.PreviousPane:
		u.cycle(a)
	case keymap.CycleMode:
		u.cycleMode()
	case keymap.ShowHelp:
		scope, _ := u.target()
		u.v.help.SetScope(scope)
		u.overlays.help = !u.overlays.help && !u.v.secret.Asking() // which lies over it
	case keymap.ShowApproval:
		u.nextRequest()
	case keymap.ShowSessions:
		u.toggle(u.browse)
	case keymap.ShowPalette:
		u.toggle(u.pickCommand)
	case keymap.Redraw:
		u.deps.Repaint()
	default:
		u.arrange(a)
	}
}

// cycleMode changes how approvals are decided, but never while something waits for an answer:
// the mode might be one.
func (u *UI) cycleMode() {
	if u.dock.request != "" {
		u.hint("", "answer first what waits: the mode stays while something does")
		return
	}
	next := action.ModeAsk
	switch u.state.Info.Mode {
	case action.ModeAsk:
		next = action.ModeEdits
	case action.ModeEdits:
		next = action.ModePlan
	}
	u.deps.Send(event.SetMode{Mode: next})
}

// answerFirst reports whether what is docked has the keys, and tells the person about it.
func (u *UI) answerFirst() bool {
	if !u.dockHeld() {
		return false
	}
	u.hint("", "answer first, or go back to the prompt with "+u.keyName(keymap.Back))
	return true
}

// interrupt is Ctrl-C: it closes a list that a person opened, else copies what is selected, else stops the running task, else drops the draft, else quits when
// it comes twice.
func (u *UI) interrupt(pending keymap.Action) {
	switch t := u.state.Running(); {
	case u.overlays.changes != nil && u.dialogCopies():
	case u.overlays.listOpen() && !u.overlays.help && !u.dockHeld():
		u.toggle(nil)
	case u.dialogCopies() || u.v.conversation.CopySelection():
	case pending == keymap.Interrupt:
		if !u.leaving() {
			u.deps.Leave(slash.Next{})
		}
	case t != nil:
		u.deps.Send(event.Cancel{Task: t.ID})
		u.hint(keymap.Interrupt, "cancelling · "+u.keyName(keymap.Interrupt)+" again quits")
		u.pending.running = true
	case !u.v.prompt.Empty():
		u.v.prompt.Discard()
	default:
		u.hint(keymap.Interrupt, u.keyName(keymap.Interrupt)+" again quits")
	}
}

// dialogCopies copies what is selected in the dialog that has the keys.
func (u *UI) dialogCopies() bool {
	if u.dockShows() && u.dockedView().CopySelection() {
		return true
	}
	_, view := u.target()
	v, ok := view.(interface{ CopySelection() bool })
	return ok && u.covered() && v.CopySelection()
}

// back is Esc: it closes what lies on top, else goes to the prompt, else stops the main task,
// whatever is typed. What the task waits for ends as cancelled; nothing is denied.
func (u *UI) back() {
	switch {
	case u.focus == layout.Prompt && u.v.prompt.EndInsert():
	case u.v.conversation.EndSelection():
	case u.focus == layout.Conversation && u.v.conversation.EndFind():
	case u.focus == layout.Panes && u.v.panes.EndScroll():
	case u.zoom:
		u.zoom = false
	case u.focus != layout.Prompt:
		u.setFocus(layout.Prompt)
	default:
		if t := u.state.Running(); t != nil && t.State != state.TaskCancelling && t.ID != u.dock.stopped {
			u.dock.stopped = t.ID
			u.deps.Send(event.Cancel{})
		}
	}
}

// keyName is how people write the key of an action.
func (u *UI) keyName(a keymap.Action) string { return u.deps.Keys.Name(a) }

// cycle moves the focus to the next pane that there is, or to the one before. Below a
// dialog nobody would see that it moved, and who is in the middle of typing goes on.
func (u *UI) cycle(a keymap.Action) {
	if u.covered() {
		return
	}
	if u.focus == layout.Prompt && u.dock.typing(u.deps.Now()) {
		u.dock.typed = u.deps.Now()
		return
	}
	by := 1
	if a == keymap.PreviousPane {
		by = -1
	}
	const n = int(layout.Tasks) + 1
	for p := int(u.focus); ; {
		p = (p + by + n) % n
		if pane := layout.Pane(p); u.exists(pane) {
			u.setFocus(pane)
			return
		}
	}
}

// exists reports whether there is something to see in a pane.
func (u *UI) exists(p layout.Pane) bool {
	in := u.input(0, 0)
	switch p {
	case layout.Output:
		return in.Output
	case layout.Panes:
		return in.Panes
	case layout.Tasks:
		return in.Tasks > 0
	default:
		return true
	}
}

func (u *UI) setFocus(p layout.Pane) {
	if u.focus = p; p != layout.Panes {
		u.v.panes.EndTyping()
	}
	u.v.panes.SetHeld(p == layout.Panes)
	if p != layout.Prompt {
		u.tab = p
	}
}

// MouseHandler focuses the pane under the pointer and passes the action to it. A dialog
// keeps everything below it from being touched. A key that is named can be clicked.
func (u *UI) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		if u.click(action, ev) {
			return true, nil
		}
		if v := u.mouseInto(ev); v != nil {
			return v.MouseHandler()(action, ev, setFocus)
		}
		if p := u.v.prompt.Popup(); p.Open() && p.InRect(ev.Position()) {
			return p.MouseHandler()(action, ev, setFocus)
		}
		if u.drag(action, ev) {
			return true, nil
		}
		i := slices.IndexFunc(u.lay.Panes[:], func(r layout.Rect) bool { return r.Holds(ev.Position()) })
		if i < 0 {
			return false, nil
		}
		if action == tview.MouseLeftDown {
			if u.dock.held {
				u.leaveDock()
			}
			u.setFocus(layout.Pane(i))
		}
		return u.view(layout.Pane(i)).MouseHandler()(action, ev, setFocus)
	}
}

// mouseInto returns the view over the panes that the mouse is for, nil if it is for a pane. What is
// docked leaves the panes above it to the mouse, other overlays don't.
func (u *UI) mouseInto(ev *tcell.EventMouse) tview.Primitive {
	v := u.dockedView()
	switch {
	case u.dockShows() && (v.Dragging() || u.lay.Dock.Holds(ev.Position())):
		return v
	case u.covered() && !u.dockShows():
		return u.overlay()
	}
	return nil
}

func (u *UI) toggleZoom() { u.zoom = !u.zoom }

func (u *UI) view(p layout.Pane) tview.Primitive {
	return [...]tview.Primitive{u.v.prompt, u.v.conversation, u.v.output, u.v.panes, u.v.tasks}[p]
}
