package ui

import (
	"errors"

	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/transcript"
)

// following records which conversation is shown: the main one, or a subagent's in its place. A prompt is sent to the
// shown conversation, so each conversation has its own draft.
type following struct {
	task   int                      // the shown subagent's task; 0 for the main conversation
	main   *transcript.Conversation // while another one is shown
	drafts map[int]unsent           // by task; 0 is the main conversation
}

// unsent is a draft in a conversation.
type unsent struct {
	text    string
	answers string // id of the question that it answers
}

// on reports whether the conversation of a subagent is shown.
func (f *following) on() bool { return f.task != 0 }

// shownColours passes the theme to a subagent's conversation that is shown.
type shownColours struct{ u *UI }

func (c *shownColours) SetTheme(t *themes.Theme) {
	if c.u.following.on() {
		c.u.v.conversation.SetTheme(t)
	}
}

// errMainOnly refuses a command while the conversation of a subagent is shown.
var errMainOnly = errors.New("this command works only in the main conversation: go back to it first")

// follow shows the conversation of the subagent with the task id, which then gets the prompts that the user sends. 0
// shows the main conversation again.
func follow(u *UI, id int) {
	f := &u.following
	if t := u.state.Tasks.Get(id); id == f.task || id != 0 && (t == nil || t.Agent == nil) {
		return
	}
	if f.drafts == nil {
		f.drafts = make(map[int]unsent)
	}
	f.drafts[f.task] = unsent{u.v.prompt.Text(), u.dock.answers}
	if !f.on() {
		f.main = u.v.conversation
	}
	f.task = id
	u.v.conversation = f.main
	if f.on() {
		u.v.conversation = newConversation(u)
		u.v.conversation.SetTheme(u.colours.Theme)
		t := u.state.Tasks.Get(id)
		u.v.conversation.SetWhose(t.Label() + " · " + texts.OneLine(t.Title))
	}
	draft := f.drafts[id]
	delete(f.drafts, id)
	u.v.prompt.SetText(draft.text)
	u.dock.answers = draft.answers
	u.v.status.Follow(id)
	u.v.tasks.Follow(id)
	u.arranged.zoom, u.arranged.tab = false, layout.Conversation
	u.arranged.setFocus(layout.Prompt)
	u.update(state.Everything)
}

// shown returns the state of the shown conversation.
func (f *following) shown(s *state.State) *state.State {
	if t := s.Tasks.Get(f.task); t != nil && t.Agent != nil {
		return t.Agent.Talk
	}
	return s
}

// agent returns the subagent whose conversation is shown, nil for the main one.
func (f *following) agent(s *state.State) *state.Task {
	if !f.on() {
		return nil
	}
	return s.Tasks.Get(f.task)
}

// sendTo sends a prompt to the subagent whose conversation is shown. If the subagent has ended, the text goes back to
// the prompt.
func sendTo(u *UI, t *state.Task, text string) {
	if t == nil || t.State == state.TaskDone || t.State == state.TaskCancelling {
		u.hint("", "this agent has ended and can't read your message · press "+u.deps.Keys.Name(keymap.Back)+" for the main conversation")
		u.v.prompt.SetText(text)
		return
	}
	u.send(event.Submit{Text: text, Task: t.ID})
}

// stoppable returns the task that Ctrl-C stops: the shown subagent's, else the main task. It returns nil if that task
// is not running.
func stoppable(u *UI) *state.Task {
	if !u.following.on() {
		return u.state.Running()
	}
	if t := u.following.agent(&u.state); t != nil && t.State != state.TaskDone {
		return t
	}
	return nil
}

// toWhom names the receiver of prompts, in a prefix of the prompt and in a label on its border. Both are "" for the
// main agent.
func (f *following) toWhom(s *state.State) (prefix, border string) {
	t := f.agent(s)
	switch {
	case t == nil:
		return "", ""
	case t.State == state.TaskDone:
		return "", t.Label() + " has ended"
	}
	return t.Label(), "to " + t.Label()
}

// borderMode returns the label on the border of the prompt.
func borderMode(u *UI) string {
	_, to := u.following.toWhom(&u.state)
	if mode := u.dock.mode(); to == "" || mode != "" && u.dock.answers != "" {
		return mode
	} else if mode != "" {
		to += " · " + mode
	}
	return to
}

// sendForMain sends a command. If the command needs the main conversation and another one is shown, it shows a hint
// instead.
func sendForMain(u *UI, c event.Command) {
	err := mainOnly(u, c)
	switch c.(type) {
	case event.Continue, event.RetryNow:
		if u.following.on() {
			err = errMainOnly
		}
	}
	if err != nil {
		u.hint("", err.Error())
		return
	}
	u.deps.Send(c)
}

// Send sends a command to the session as if the user had given it here. Call it on the UI goroutine.
func Send(u *UI, c event.Command) {
	noteRewind(u, c)
	sendForMain(u, c)
}

// mainOnly returns an error for commands that start something in the main conversation while another one is shown,
// because the user would not see the effect and did not mean the text for the main agent.
func mainOnly(u *UI, c event.Command) error {
	if !u.following.on() {
		return nil
	}
	switch c := c.(type) {
	case event.Submit:
		if c.Task == 0 {
			return errMainOnly
		}
	case event.SetGoal, event.StartLoop:
		return errMainOnly
	case event.ChangeGoal:
		if c.To == event.GoalActive {
			return errMainOnly
		}
	}
	return nil
}

// Draft returns the unsent prompt to the main agent. Call it on the UI goroutine.
func Draft(u *UI) string {
	if u.following.on() {
		return u.following.drafts[0].text
	}
	return u.v.prompt.Text()
}
