package ui

import (
	"errors"
	"io"
	"iter"
	"strings"

	"buddy/app/slash"
	"buddy/app/state"
	"buddy/views/dialog"
)

// openOutput shows the full output of a call.
func (u *UI) openOutput(c *state.Call) {
	if c == nil {
		u.hint("", "there is no output yet")
		return
	}
	if c.Agent != nil && u.state.Tasks.Get(c.Agent.ID) != nil {
		follow(u, c.Agent.ID)
		return
	}
	d, err := slash.Document(c)
	if err != nil {
		u.hint("", "the output can't be read: "+err.Error())
		return
	}
	u.v.pager.Show(d)
}

// openRun shows the task or call that ran in a pane.
func (u *UI) openRun(c *state.Call, t *state.Task) {
	switch {
	case t != nil:
		openTask(u, t)
	case c != nil:
		u.openOutput(c)
	default:
		u.hint("", "no command of this session ran in this pane")
	}
}

// showOutput opens the output of the last call, or of the N-th last.
func showOutput(u *UI, args string) error {
	return lookBack(u, func(newest iter.Seq[*state.Block]) (func(), error) {
		c, err := slash.CallBack(newest, args)
		return func() { u.openOutput(c) }, err
	})
}

// showTranscript opens the messages to and from the model at their end, or closes them.
func showTranscript(u *UI) {
	if u.v.pager.Open() {
		u.v.pager.Close()
		return
	}
	if u.deps.File.Transcript == nil {
		u.hint("", "a replay has no transcript; buddy trace --turn shows the messages sent to the model")
		return
	}
	inBackground(u, func() func() {
		text, err := u.deps.File.Transcript()
		return func() {
			if err != nil {
				u.hint("", "the transcript: "+err.Error())
				return
			}
			u.v.pager.Show(dialog.Document{Title: "Transcript", Text: strings.NewReader(text), Size: int64(len(text)), Prose: true})
			u.v.pager.Bottom()
		}
	})
}

// editOutput shows a document in the user's editor.
func editOutput(u *UI, d dialog.Document) {
	if err := u.deps.Look("output.txt", io.NewSectionReader(d.Text, 0, d.Size)); err != nil {
		u.hint("", err.Error())
	}
}

// showLineReport shows the last run of the command for the status line.
func showLineReport(u *UI, _ string) error {
	if u.deps.Line.Report == nil {
		return errors.New("no session runs here")
	}
	text := u.deps.Line.Report()
	u.v.pager.Show(dialog.Document{Title: "Status line", Text: strings.NewReader(text), Size: int64(len(text))})
	return nil
}
