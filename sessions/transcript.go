package sessions

import (
	"fmt"
	"strings"

	"buddy/agent/event"
)

// maxTranscript limits the bytes of a transcript; the session file has the rest.
const maxTranscript = 16 << 20

// Transcript returns the complete conversation of a session as the model sees it: prompts, reminders, calls with their
// arguments, results. Above 16 MB it returns the end. Subagents have transcripts of their own, which are not included.
func (s Store) Transcript(id string) (string, error) { return s.transcript(id, maxTranscript) }

// transcript returns about the last limit bytes of the conversation.
func (s Store) transcript(id string, limit int) (string, error) {
	j, err := s.View(id)
	if err != nil {
		return "", err
	}
	defer j.Close() //nolint:errcheck // nothing was written
	var b strings.Builder
	missing := 0
	err = j.Range(0, func(env event.Envelope) bool {
		if env.Branch == 0 {
			b.WriteString(eventText(env.Payload))
		}
		if b.Len() > 2*limit {
			whole := b.String()
			missing += len(whole) - limit
			b.Reset()
			b.WriteString(whole[len(whole)-limit:])
		}
		return true
	})
	text := b.String()
	if over := len(text) - limit; over > 0 {
		missing, text = missing+over, text[over:]
	}
	if missing > 0 {
		text = fmt.Sprintf("[%d MB before this are in the session file only]\n%s", missing>>20+1, strings.ToValidUTF8(text, ""))
	}
	return text, err
}

// eventText returns the text that an event adds to the conversation of a model, "" for none.
func eventText(e event.Event) string {
	switch p := e.(type) {
	case event.PromptSubmitted:
		if p.Queued {
			return ""
		}
		return message("user", fmt.Sprintf("%s%s", p.Text, pictures(len(p.Images))))
	case event.ReminderAttached:
		return message("user", p.Text+pictures(len(p.Images)))
	case event.ModelMessage:
		text := p.Message.Content
		for _, c := range p.Message.ToolCalls {
			text = strings.TrimPrefix(text+"\n→ "+c.Name+" "+c.Arguments, "\n")
		}
		return message("assistant", text)
	case event.ToolResult:
		return message("tool "+p.Name, p.Result)
	case event.ResultSpilled:
		if p.Result == "" {
			return ""
		}
		return message("replaces the result above of call "+p.CallID, p.Result)
	case event.ContextCompacted:
		return message(fmt.Sprintf("replaces %d messages above", p.Removed), strings.TrimSpace(p.Summary+"\n"+p.Restored))
	}
	return ""
}

func message(head, text string) string {
	return "[" + head + "]\n" + strings.TrimRight(text, "\n") + "\n\n"
}

func pictures(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n(pictures: %d)", n)
}
