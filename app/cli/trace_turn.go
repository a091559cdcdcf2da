package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/exit"
	"buddy/sessions"
	"buddy/sessions/trace"
	"buddy/views/markup"
)

// shownTurns limits the table of turns; the JSON has all.
const shownTurns = 20

// printTurns prints the latest turns with the growth of their requests.
func printTurns(w io.Writer, t *trace.Trace) {
	turns := t.Turns[max(0, len(t.Turns)-shownTurns):]
	rows := [][]string{{"turn", "context", "in", "cached", "out", "cost", "wait", "stream", "tools", "calls", "retries", "task"}}
	for _, u := range turns {
		rows = append(rows, []string{
			fmt.Sprint(u.Number), fmt.Sprint(u.Context), fmt.Sprint(u.Prompt), fmt.Sprint(u.Cached), fmt.Sprint(u.Completion), costText(u.Counts),
			durationText(u.Wait), durationText(u.Stream), durationText(u.Tools), fmt.Sprint(u.Calls), fmt.Sprint(u.Retries), fmt.Sprintf("#%d", u.Task),
		})
	}
	title := "Turns"
	if t.Totals.Turns > len(turns) {
		title = fmt.Sprintf("Turns (the latest %d of %d)", len(turns), t.Totals.Turns)
	}
	table(w, title, rows)
}

// turnMessages is one turn of a session file.
type turnMessages struct {
	ID     string               `json:"id"`
	Turn   int                  `json:"turn"`
	Sent   event.RequestStarted `json:"request"` // the last of the turn
	Asked  []model.Message      `json:"messages"`
	Answer []model.Message      `json:"answer"` // with the results of its calls
	// Decisions holds the reasons for the turn's calls, and what decided about them.
	Decisions []event.DecisionExplained `json:"decisions"`
}

// traceTurn prints the messages of a request and its answer.
func traceTurn(s *cli, store sessions.Store, id string, turn int) error {
	j, err := store.View(id)
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }()
	if err := hasTurn(j, turn); err != nil {
		return err
	}
	t, err := messagesOf(j, turn)
	if err != nil {
		return err
	}
	t.ID = id
	if s.json {
		return s.encode(t)
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "turn %d of %s · %s · about %d tokens in %d messages, %d tools\n", turn, id, cmp.Or(t.Sent.Model, "no request"), t.Sent.EstimatedTokens, t.Sent.Messages, t.Sent.Tools)
	printMessages(&b, "sent", t.Asked)
	printMessages(&b, "answered", t.Answer)
	printExplained(&b, t)
	return s.print("%s", strings.TrimSuffix(b.String(), "\n"))
}

// hasTurn returns an error if the session has no turn with the given number. 0 means that no turn was named, and is no
// error.
func hasTurn(j *sessions.Journal, turn int) error {
	if turn == 0 {
		return nil
	}
	last := 0
	err := j.Lines(func(l sessions.Line) bool {
		last = max(last, l.Turn)
		return true
	})
	switch {
	case err != nil:
		return err
	case turn < 0 || turn > last:
		return exit.Usage("--turn %d: the session has turns 1 to %d; buddy trace lists them", turn, last)
	}
	return nil
}

// messagesOf rebuilds the conversation of a turn as of its first request, and reads the answer.
func messagesOf(j *sessions.Journal, turn int) (t turnMessages, err error) {
	t.Turn, t.Asked, t.Answer, t.Decisions = turn, []model.Message{}, []model.Message{}, []event.DecisionExplained{}
	tree, began := conversation.NewTree(nil, ""), false
	err = j.Range(0, func(env event.Envelope) bool {
		if env.Turn == turn {
			switch p := env.Payload.(type) {
			case event.RequestStarted:
				if c := tree.At(env.Branch); c != nil && !began {
					t.Asked, began = c.Messages(), true
				}
				t.Sent = p
			case event.ModelMessage:
				t.Answer = append(t.Answer, p.Message)
			case event.ToolResult:
				t.Answer = append(t.Answer, model.Message{Role: model.Tool, ToolCallID: p.CallID, Name: p.Name, Content: p.Result})
			case event.DecisionExplained:
				t.Decisions = append(t.Decisions, p)
			case event.TurnFinished:
				return false
			}
		}
		tree.Replay(env)
		return true
	})
	return t, err
}

// printMessages prints messages under a title, their texts without escape sequences.
func printMessages(w io.Writer, title string, all []model.Message) {
	_, _ = fmt.Fprintf(w, "\n%s\n", title)
	for _, m := range all {
		head := string(m.Role)
		if m.Name != "" {
			head += " " + m.Name
		}
		_, _ = fmt.Fprintf(w, "[%s]\n", markup.Plain(head))
		if m.Content != "" {
			_, _ = fmt.Fprintln(w, markup.Plain(m.Content))
		}
		for _, c := range m.ToolCalls {
			_, _ = fmt.Fprintln(w, markup.Plain("→ "+c.Name+" "+c.Arguments))
		}
		if n := len(m.Images); n > 0 {
			_, _ = fmt.Fprintf(w, "(%d images)\n", n)
		}
	}
}
