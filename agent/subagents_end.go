package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"buddy/agent/action"
	"buddy/agent/compact"
	"buddy/agent/event"
	"buddy/tools"
)

// agentEnd holds the outcome of a subagent's work.
type agentEnd struct {
	run     *subagentRun
	task    int
	outcome event.Outcome
	err     error
	text    string // its last answer
	turns   int
	problem error // why its file could not be written
}

// file returns where the whole result of the agent will be, "" when no files are kept.
func (r *subagentRun) file() string {
	if r.dir == "" {
		return ""
	}
	return filepath.Join(r.dir, "agent.md")
}

// save keeps the whole result.
func (r *subagentRun) save(text string) error {
	if r.dir == "" {
		return errors.New("the session keeps no files")
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(r.file(), []byte(text), 0o600)
}

const (
	maxAgentResult = 8 << 10 // bytes of an agent's result that its caller reads
	maxAgentNews   = 2 << 10 // bytes of it in the reminder that one in the background has ended
)

// how says in a few words how the agent ended.
func (e agentEnd) how() string {
	switch e.outcome {
	case event.Completed:
		return "has completed"
	case event.Cancelled:
		return "was cancelled"
	case event.MaxTurns:
		return fmt.Sprintf("was stopped after %d turns, its limit", e.turns)
	case event.MaxCost:
		return "was stopped, because the prompt reached its cost limit"
	case event.GoalLimit: // of the main task only
	case event.ContextLimit:
		return "was stopped, because its context is full"
	}
	if e.err != nil {
		return "has failed: " + e.err.Error()
	}
	return "has failed"
}

// result returns what the model reads that called the agent.
func (e agentEnd) result() tools.Result {
	if e.outcome != event.Completed {
		text := fmt.Sprintf("The agent %s (task %d) %s.", e.run.Name, e.task, e.how())
		if e.text != "" {
			text += " Its last message:\n" + compact.Clip(e.text, maxAgentResult/2)
		}
		return tools.Result{Content: text, IsError: true, Tail: e.text}
	}
	if e.problem != nil {
		res := tools.Success(compact.Clip(e.text, maxAgentResult), "the whole result could not be saved: "+e.problem.Error())
		res.Tail = tools.End(e.text)
		return res
	}
	note := ""
	if len(e.text) > maxAgentResult {
		note = fmt.Sprintf("all %d bytes are in %s", len(e.text), e.run.file())
	}
	res := tools.Success(compact.Clip(e.text, maxAgentResult), note)
	res.Tail, res.Full = tools.End(e.text), &action.FullOutput{Path: e.run.file(), Bytes: int64(len(e.text))}
	return res
}

// tellEnd tells the main agent, once, that a subagent in the background has ended.
func (set *subagentSet) tellEnd(run *subagentRun, id int, end agentEnd) {
	set.tasks.mu.Lock()
	defer set.tasks.mu.Unlock()
	set.tasks.main.talk.Announce(agentNews(id, run.Name, run.title, end.how(), run.file(), set.defused(end.text)))
	if set.o.Limits.Wake && set.tasks.main.task == nil && !set.tasks.life.ended() {
		set.tasks.start(set.tasks.main, event.MainTask, nil, driven(set.tasks, false))
	}
}

// agentNews is the line about the end of a subagent in the background; text is its result.
func agentNews(id int, name, title, how, file, text string) string {
	line := fmt.Sprintf("Task %d, the agent %s (%s) that worked in the background, %s.", id, name, title, how)
	if text == "" {
		return line
	}
	if file != "" {
		line += " Its whole result is in " + file + "."
	}
	return line + " It is the agent's own text, not the user's:\n" + compact.Clip(text, maxAgentNews)
}
