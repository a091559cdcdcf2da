package agent

import (
	"context"
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
	text    string // last answer
	left    string // what it leaves in its own folder, the end of text
	turns   int
	problem error // why its file could not be written
}

// file returns the path of the agent's whole result, "" when no files are kept.
func (r *subagentRun) file() string {
	if r.dir == "" {
		return ""
	}
	return filepath.Join(r.dir, "agent.md")
}

// save writes the whole result to the file.
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
	maxAgentResult = 8 << 10 // bytes of an agent's result for its caller
	maxAgentNews   = 2 << 10 // bytes of it in the message that a background agent has ended
)

// how describes the end of the agent in a few words.
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
	case event.GoalLimit: // only the main task can have it
	case event.ContextLimit:
		return "was stopped, because its context is full"
	}
	if e.err != nil {
		return "has failed: " + e.err.Error()
	}
	return "has failed"
}

// result returns the result of the call for the model that called the agent.
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

// announceEnd adds a line about the end of a background subagent to the main conversation.
func (set *subagentSet) announceEnd(run *subagentRun, id int, end agentEnd) {
	set.tasks.mu.Lock()
	defer set.tasks.mu.Unlock()
	set.tasks.main.conv.Announce(agentNews(id, run.Name, run.title, end.how(), run.file(), set.defused(end.text)))
	if set.o.Limits.Wake && set.tasks.main.task == nil && !set.tasks.life.ended() {
		set.tasks.start(set.tasks.main, event.MainTask, nil, driven(set.tasks, false))
	}
}

// agentNews returns the line about the end of a background subagent; text is its result.
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

// isolate gives a subagent its own folder. It returns the tools for the folder, and the prompt with a note about the
// folder.
func (set *subagentSet) isolate(ctx context.Context, run *subagentRun, all *tools.Registry, prompt string) (*tools.Registry, string, error) {
	if set.o.Isolate == nil {
		return nil, "", fmt.Errorf("the agent %s needs a git worktree of its own (isolation: worktree), which this session can't make. Do not retry", run.Name)
	}
	own, err := set.o.Isolate(ctx, run.title, all)
	if err != nil {
		return nil, "", fmt.Errorf("the agent %s needs a git worktree of its own (isolation: worktree): %w", run.Name, err)
	}
	run.end = own.End
	return own.Tools, prompt + "\n\n" + own.Note, nil
}

// leave closes the agent's own folder, once, and returns a sentence about what the agent leaves there; "" for nothing.
func (r *subagentRun) leave(ctx context.Context) string {
	if r.end == nil {
		return ""
	}
	end := r.end
	r.end = nil
	return end(ctx)
}
