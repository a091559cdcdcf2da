package socket

import (
	"errors"

	"buddy/agent/event"
	"buddy/app/client"
)

var errWatches = errors.New("without a terminal, a program can only watch or stop a session; to allow more, set [host] without_terminal = true in your settings")

// stops reports whether a command only watches or stops something. A denial with a reason does more: the model reads
// the reason as the user's words.
func stops(c event.Command) bool {
	switch c := c.(type) {
	case event.AnswerApproval:
		return c == event.AnswerApproval{ID: c.ID, Decision: event.Deny}
	case event.WatchPanes, event.ReadPane, event.Cancel, event.CancelWorkflow, event.KillPane:
		return true
	}
	return false
}

// watches reports whether a request only reads, or ends the session.
func watches(q client.Request) bool {
	switch q := q.(type) {
	case client.Close:
		return q.Reason == ""
	case client.ChangedSince, client.Describe:
		return true
	}
	return false
}
