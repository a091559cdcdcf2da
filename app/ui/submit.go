package ui

import (
	"fmt"

	"buddy/agent/event"
	"buddy/app/layout"
	"buddy/app/slash"
)

// submit handles a line sent from the prompt.
func (u *UI) submit(text string) {
	if runOffer(u, text) {
		return
	}
	if u.received.lost && !quits(text) {
		u.v.prompt.SetText(text)
		u.hint("", "not sent: the session is restarting; press Enter again to send")
		resumeSession(u)
		return
	}
	if !slash.Private(text) {
		u.deps.Record(text)
	}
	u.v.conversation.Bottom() // shows the sent prompt and the answer
	u.arranged.tab, u.arranged.zoom = layout.Conversation, false
	if runCommand(u, text) || u.runTyped(text) {
		return
	}
	if u.dock.reply(text) {
		return
	}
	u.dock.stayAway()
	if u.following.on() {
		sendTo(u, u.following.agent(&u.state), text)
		return
	}
	u.send(event.Submit{Text: text})
}

// quits reports whether a line is /quit, which works without a running session.
func quits(line string) bool {
	name, _, _ := slash.Split(line)
	c, known := slash.Find(name)
	return known && c.Name == "quit"
}

// resumeSession continues an interrupted exchange. If no process runs the session, it restarts the session, whichever
// conversation is shown.
func resumeSession(u *UI) {
	if u.received.lost {
		u.received.lost = false // one restart is enough
		u.deps.Send(event.Continue{})
		return
	}
	sendForMain(u, event.Continue{})
}

// runTyped runs a line that starts with "!" as a shell command of the user, and returns false for other lines.
func (u *UI) runTyped(text string) bool {
	if !slash.ShellLine(text) {
		return false
	}
	if u.following.on() {
		u.hint("", errMainOnly.Error())
		u.v.prompt.SetText(text)
		return true
	}
	if t := u.state.Running(); t != nil {
		u.hint("", fmt.Sprintf("task #%d is running; run your command when it is done", t.ID))
		u.v.prompt.SetText(text)
		return true
	}
	u.deps.Send(event.Submit{Text: text, Shell: true})
	return true
}

// send sends a prompt with the pictures that it names. If the prompt can't be sent, its text is put back into the
// prompt.
func (u *UI) send(s event.Submit) {
	if err := mainOnly(u, s); err != nil {
		u.hint("", err.Error())
		u.v.prompt.SetText(s.Text)
		return
	}
	images, err := u.deps.Attach(s.Text)
	if err != nil {
		u.hint("", err.Error())
		u.v.prompt.SetText(s.Text)
		return
	}
	s.Images = images
	u.deps.Send(s)
}
