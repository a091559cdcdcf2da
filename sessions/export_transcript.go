package sessions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/record"
	"buddy/texts"
)

// transcript writes events as readable text.
type transcript struct {
	paper   transcriptWriter
	answers map[int]string        // the last answer of each branch
	open    []event.ToolRequested // calls without a result, in order
	early   []toolCall            // finished calls of an answer that still streams, which is written before them
	streams bool
	record  record.Record
}

// transcriptWriter writes the parts of a transcript in a format. Texts are untrusted.
type transcriptWriter interface {
	head(e Entry)
	exchange(n int, ms int64, prompt string)
	prompt(text string) // sent during the exchange
	pictures(all []model.Image)
	answer(text string)
	reasoning(text string)
	call(c toolCall)
	remark(text string)
	foot() (secrets int)
}

// toolCall holds the texts of a call and its result.
type toolCall struct {
	name, what     string // what is the command, the files, or the arguments
	diff           string // of the files that it changes
	status, output string // output is "" if there is none
	failed         bool
}

func (t *transcript) begin(e Entry) {
	t.answers = make(map[int]string)
	t.paper.head(e)
}

func (t *transcript) end() int {
	t.unfinished()
	return t.paper.foot()
}

func (t *transcript) print(env event.Envelope) error {
	t.record.Apply(env)
	if env.Branch != 0 {
		t.branch(env)
		return nil
	}
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		t.prompt(env, p)
	case event.TaskFinished:
		t.finished(p)
	case event.ModelMessage:
		t.message(p)
	case event.ToolRequested:
		t.closeCall(p.CallID)
		t.open = append(t.open, p)
	case event.ApprovalAnswered:
		t.answered(p)
	case event.ModelPrefix:
		t.streams = true
	case event.ToolResult:
		t.early = append(t.early, finishedCall(t.closeCall(p.CallID), p))
		if !t.streams {
			t.finishedCalls()
		}
	default:
		t.remark(p)
	}
	return nil
}

// closeCall removes an open call and returns its request.
func (t *transcript) closeCall(id string) (r event.ToolRequested) {
	if i := slices.IndexFunc(t.open, func(r event.ToolRequested) bool { return r.CallID == id }); i >= 0 {
		r = t.open[i]
		t.open = slices.Delete(t.open, i, i+1)
	}
	return r
}

// finishedCalls writes the calls whose answer is complete.
func (t *transcript) finishedCalls() {
	for _, c := range t.early {
		t.paper.call(c)
	}
	t.early, t.streams = nil, false
}

// unfinished writes the remaining calls when no answer and no result follows.
func (t *transcript) unfinished() {
	t.finishedCalls()
	for _, r := range t.open {
		c := requestedCall(r)
		c.status, c.failed = "no result", true
		t.paper.call(c)
	}
	t.open = nil
}

func requestedCall(r event.ToolRequested) toolCall {
	if a := r.Action; (a.Kind == action.FileWrite || a.Kind == action.FileDelete) && a.Preview != "" {
		return toolCall{name: r.Name, what: cmp.Or(strings.Join(a.Paths, ", "), a.Path), diff: a.Preview}
	}
	arguments, ok := texts.Listed(r.Arguments)
	if !ok {
		arguments = r.Arguments
	}
	return toolCall{name: r.Name, what: cmp.Or(r.Action.Command, arguments)}
}

func finishedCall(r event.ToolRequested, p event.ToolResult) toolCall {
	c := requestedCall(r)
	c.name = cmp.Or(c.name, p.Name)
	c.status, c.output, c.failed = "done", cmp.Or(p.Tail, p.Text()), p.Failed()
	switch {
	case p.ExitCode != nil:
		c.status = fmt.Sprintf("exit code %d", *p.ExitCode)
	case p.IsError:
		c.status = "failed"
	}
	if strings.TrimSpace(c.output) == "" {
		c.status, c.output = c.status+", no output", ""
	}
	return c
}

// finished writes the end of a task, with its outcome unless it completed.
func (t *transcript) finished(p event.TaskFinished) {
	if p.ID == t.record.Main.ID {
		t.unfinished()
	}
	if p.Outcome != event.Completed {
		t.paper.remark(strings.TrimSpace(string(p.Outcome) + " " + p.Error))
	}
}

// answered writes that a call was not approved.
func (t *transcript) answered(p event.ApprovalAnswered) {
	switch {
	case p.Decision != event.Deny:
	case p.By == "cancel":
		t.paper.remark("cancelled before it was approved")
	default:
		t.paper.remark("not allowed" + because(p.Reason))
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func (t *transcript) prompt(env event.Envelope, p event.PromptSubmitted) {
	all := t.record.Exchanges()
	switch n := len(all); {
	case p.Queued:
		return
	case n > 0 && all[n-1].Seq == env.Seq:
		t.unfinished()
		t.paper.exchange(n, env.Time, p.Text)
	default:
		t.paper.prompt(p.Text)
	}
	t.paper.pictures(p.Images)
}

func (t *transcript) message(p event.ModelMessage) {
	if strings.TrimSpace(p.Reasoning) != "" {
		t.paper.reasoning(p.Reasoning)
	}
	if strings.TrimSpace(p.Message.Content) != "" {
		t.paper.answer(p.Message.Content)
	}
	t.finishedCalls()
}

func (t *transcript) remark(e event.Event) {
	switch p := e.(type) {
	case event.Warning:
		t.paper.remark(p.Text)
	case event.Error:
		t.paper.remark(p.Text)
	case event.GoalChanged:
		if text := p.Text(); text != "" {
			t.paper.remark(text)
		}
	case event.ModelSwitched:
		t.paper.remark("switched to the model " + p.Model)
	case event.TargetSwitched:
		t.paper.remark("switched to the target " + p.Name)
	case event.ContextCompacted:
		t.paper.remark("context compacted")
	case event.HistoryRewound:
		t.paper.remark(p.Text())
	case event.SessionForked:
		t.paper.remark("from here on: a fork of session " + p.From)
	case event.ReminderAttached:
		t.paper.pictures(p.Images)
	case event.ContextHealed, event.ContextWithheld: // only requests change, not the conversation
	case event.Remark:
		t.paper.remark(p.Line())
	}
}

// branch collects the last answer of a background task until the task ends.
func (t *transcript) branch(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.ModelMessage:
		t.answers[env.Branch] = p.Message.Content
	case event.TaskFinished:
		t.paper.remark(fmt.Sprintf("background task #%d %s", p.ID, p.Outcome))
		if text := t.answers[env.Branch]; strings.TrimSpace(text) != "" {
			t.paper.answer(text)
		}
		delete(t.answers, env.Branch)
	}
}
