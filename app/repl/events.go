package repl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/plain"
	"buddy/app/state"
	"buddy/texts"
	"buddy/views/markup"
)

// apply applies an event and prints it.
func (r *repl) apply(env event.Envelope) {
	subagent := state.IsSubagent(&r.state, env.Branch)
	r.state.Apply(env)
	if _, ended := env.Payload.(event.ReviewFinished); ended {
		r.reviews = max(0, r.reviews-1)
	}
	if subagent {
		printSubagent(r, env)
	} else {
		r.wait.release(env.Payload)
		printEvent(r, env)
	}
	switch env.Payload.(type) {
	case event.ApprovalAsked, event.ApprovalAnswered, event.QuestionAsked, event.QuestionAnswered, event.TaskFinished:
		turnAway(r)
	}
}

// printSubagent prints only the important events of a subagent's conversation, because the main conversation shows its
// task and result.
func printSubagent(r *repl, env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.ApprovalAsked:
		if !r.con.tty {
			go r.print.Approve(p)
		}
	case event.ApprovalAnswered:
		r.wait.release(p)
	case event.Warning:
		p.Text = r.state.Tasks.Get(env.Task).Label() + ": " + p.Text
		r.print.Remark(p)
	case event.TaskFinished:
		if t := r.state.Tasks.Get(p.ID); t.Agent != nil && t.Agent.Background {
			r.printLine(fmt.Sprintf("%s (%s) has ended: %s", t.Label(), markup.Shorten(t.Title, 40), p.Outcome))
		}
		r.wait.release(p) // the end of the input waits for background work
	}
}

// printEvent prints an event of a conversation that is not a subagent's.
func printEvent(r *repl, env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.TextDelta:
		if env.Branch == 0 {
			r.con.print(r.con.out, markup.Plain(r.text.add(p.Text)))
		}
	case event.ModelRetry, event.ModelFallback:
		r.startOver(env.Branch == 0)
		r.print.Remark(p)
	case event.ModelMessage:
		if !ofAgent(r.state.Tasks, env.Task) { // a subagent's answer is the result of a call
			r.message(env.Branch, p)
		}
	case event.ContextUsage:
		if env.Branch == 0 {
			r.print.Remark(p)
		}
	case event.ToolResult:
		r.result(p)
	case event.ApprovalAsked:
		if !r.con.tty {
			go r.print.Approve(p)
		}
	case event.TaskFinished:
		r.finished(p)
	default:
		r.changed(env)
	}
}

// changed prints changes of the session and other one-line events.
func (r *repl) changed(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.ModeChanged:
		r.mode(p)
	case event.ModelSwitched, event.TargetSwitched, event.RuleAdded, event.RuleRemoved, event.FileRestored, event.HistoryRewound,
		event.ContextCompacted, event.ContextPinned, event.MicroCompacted:
		if n := len(r.state.Blocks); n > 0 && r.state.Blocks[n-1].Seq == env.Seq { // as on the full screen
			r.printLine(string(r.state.Blocks[n-1].Text))
		}
	case event.TaskDeadline:
		r.printLine(fmt.Sprintf("the time limit of task #%d ends at %s", p.ID, clock(p.Deadline)))
	case event.WorkflowChanged:
		if w := state.WorkflowOf(&r.state, p.Run); w != nil {
			r.printLine(state.WorkflowEnd(w.Name, p))
		}
	case event.PaneOpened:
		if r.con.tty && !r.attachSaid && p.Attach != "" {
			r.attachSaid = true
			r.printLine("commands run in a tmux pane; to watch it from another terminal: " + p.Attach)
		}
	case event.Interrupted:
		if p.CanContinue {
			r.printLine("the last answer was interrupted; press Enter to continue")
		}
	default:
		r.print.Remark(p)
	}
}

// clock formats a time in the future, in Unix milliseconds.
func clock(ms int64) string { return texts.Until(time.Now(), time.UnixMilli(ms), "15:04:05") }

// streamed is the streaming answer, printed line by line.
type streamed struct {
	text    string // the whole text
	printed int    // printed bytes of text
}

// add appends text and returns the complete lines that are not printed yet.
func (s *streamed) add(text string) string {
	s.text += text
	end := strings.LastIndexByte(s.text, '\n') + 1
	if end <= s.printed {
		return ""
	}
	lines := s.text[s.printed:end]
	s.printed = end
	return lines
}

// rest returns the part of the complete answer that is not printed yet.
func (s *streamed) rest(whole string) string {
	printed := s.text[:s.printed]
	*s = streamed{}
	if rest, ok := strings.CutPrefix(whole, printed); ok {
		return rest
	}
	return whole
}

// startOver tells the user to ignore the part of an answer that was printed before the request failed. mine means that
// the answer belongs to the main conversation.
func (r *repl) startOver(mine bool) {
	if mine && r.text.printed > 0 {
		r.printLine("(ignore the partial answer above; the model starts again)")
	}
	if mine {
		r.text = streamed{}
	}
}

// ofAgent reports whether a task is a subagent's.
func ofAgent(tasks []*state.Task, task int) bool {
	return slices.ContainsFunc(tasks, func(t *state.Task) bool { return t.ID == task && t.Kind == event.SubagentTask })
}

// message prints the part of an answer that was not streamed, or the whole answer of a parallel task.
func (r *repl) message(branch int, m event.ModelMessage) {
	text := m.Message.Content
	if branch == 0 {
		if m.Reasoning != "" {
			r.printLine("✎ " + m.Reasoning)
		}
		text = r.text.rest(text)
	} else if len(m.Message.ToolCalls) > 0 {
		return
	}
	if text == "" {
		return
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	r.con.print(r.con.out, markup.Plain(text))
}

// Limits of the printed end of a command's output.
const (
	previewLines = 10
	maxLineShown = 500 // bytes of each
)

// result prints the end of a command's output, and its outcome.
func (r *repl) result(p event.ToolResult) {
	if p.ExitCode != nil && (*p.ExitCode != 0 || r.print.ShowToolCalls) {
		lines := strings.Split(strings.TrimRight(p.Tail, "\n"), "\n")
		if n := len(lines) - previewLines; n > 0 {
			r.printLine(fmt.Sprintf("  … %d lines above", n))
			lines = lines[n:]
		}
		for _, l := range lines {
			if l != "" {
				r.printLine("  " + texts.ClipBytes(l, maxLineShown))
			}
		}
	}
	r.print.Remark(p)
}

func (r *repl) finished(p event.TaskFinished) {
	name := ""
	for _, t := range r.state.Tasks {
		if t.ID != p.ID {
			continue
		}
		switch t.Kind {
		case event.BackgroundTask:
			name = fmt.Sprintf("task #%d (%s) ", t.ID, markup.Shorten(t.Title, 40))
		case event.LoopTask:
			return // a notice has reported it
		case event.SubagentTask:
			r.printLine(fmt.Sprintf("agent #%d (%s) has ended: %s", t.ID, markup.Shorten(t.Title, 40), p.Outcome))
			return
		case event.ShellTask:
			r.printLine(fmt.Sprintf("task #%d (%s) has ended: %s", t.ID, markup.Shorten(t.Title, 40), p.Outcome))
			return
		}
	}
	r.con.calm()
	r.confirming = r.confirming && r.reading
	if name == "" {
		r.outcome = p.Outcome
	}
	if p.Outcome == event.MaxTurns && name == "" {
		r.printLine(plain.Ended(p.Outcome) + "; press Enter to continue")
	} else if p.Outcome != event.Completed {
		if text := r.print.End(p.Outcome); text != "" || name != "" {
			r.printLine(name + cmp.Or(text, "failed"))
		}
	} else if name != "" {
		r.printLine(name + "has ended")
	}
}

// mode prints the new approval mode. It does not print ask mode at the start of a session.
func (r *repl) mode(p event.ModeChanged) {
	if p.Mode == action.ModeAsk && len(r.state.Blocks) == 0 {
		return
	}
	text := "approvals: " + p.Mode.Label()
	if p.Until > 0 {
		text += " until " + clock(p.Until)
	}
	r.printLine(text)
}
