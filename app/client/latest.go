package client

import (
	"strings"

	"buddy/agent/event"
	"buddy/texts"
)

// maxLatest limits each text of a Latest, in bytes.
const maxLatest = 2 << 10

// Latest holds the newest texts of a session's main conversation, for lists of sessions. Hosts and dashboards fold
// events into it in the same way. Its texts are untrusted.
type Latest struct {
	Prompt  string `json:"prompt,omitempty"`
	Said    string `json:"said,omitempty"`    // the agent's last text since the prompt
	Failure string `json:"failure,omitempty"` // why the last task failed
	Since   int64  `json:"since_unix_ms,omitempty"`
}

// Apply applies the next event of the session. Since becomes the time of the event if the event changes the session's
// state.
func (l *Latest) Apply(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		if p.Queued || env.Branch != 0 {
			return
		}
		l.Prompt, l.Said, l.Failure = latestText(p.Text), "", ""
	case event.ModelMessage:
		if text := strings.TrimSpace(p.Message.Content); text != "" && env.Branch == 0 {
			l.Said = latestText(text)
		}
		return
	case event.TaskFinished:
		if env.Branch == 0 && p.Outcome == event.Failed {
			l.Failure = latestText(p.Error)
		}
	case event.TaskStarted, event.ApprovalAsked, event.ApprovalAnswered, event.QuestionAsked, event.QuestionAnswered:
	default:
		return
	}
	l.Since = env.Time
}

// latestText returns the start of a text as a copy, so that the event can be freed.
func latestText(text string) string { return strings.Clone(texts.ClipBytes(text, maxLatest)) }
