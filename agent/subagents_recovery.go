package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"buddy/agent/event"
	"buddy/agent/turn"
)

// replay counts a subagent of an earlier process.
func (set *subagentSet) replay() { set.began++ }

// noteEnd feeds that a subagent of an earlier process has ended: unless the main agent was told
// later, it still has to be.
func (set *subagentSet) noteEnd(was event.TaskStarted, e event.TaskFinished) {
	if !was.Background {
		return
	}
	end := agentEnd{outcome: e.Outcome}
	if e.Error != "" {
		end.err = errors.New(e.Error)
	}
	set.tasks.main.talk.Announce(agentNews(was.ID, was.Agent, was.Title, end.how(), "", "") + lookInto(was.Dir))
}

// lookInto says where the result of an agent is.
func lookInto(dir string) string {
	if dir == "" {
		return ""
	}
	return " What it answered, if anything, is in " + (&subagentRun{dir: dir}).file() + "."
}

// errAgentInterrupted says why a subagent failed that worked when buddy ended.
var errAgentInterrupted = errors.New("interrupted: buddy ended while it worked")

// dropAll ends the subagents that worked when an earlier process ended. The caller holds
// the lock of tasks.
func (set *subagentSet) dropAll(shells *shells) {
	for _, b := range slices.SortedFunc(maps.Keys(set.tasks.left), func(a, b *branch) int { return a.talk.Branch() - b.talk.Branch() }) {
		if b.agent != nil {
			set.drop(b, set.tasks.left[b], shells)
			delete(set.tasks.left, b)
		}
	}
}

// drop ends one of them: it does not go on by itself, because nobody knows what of its work is
// done. Commands of its that may still run become tasks of the main agent. The caller holds the
// lock of tasks.
func (set *subagentSet) drop(b *branch, l *recovery, shells *shells) {
	id := l.agent.ID
	set.tasks.stream.Bind(id, b.talk.Branch())
	for _, c := range b.talk.Open() {
		gone := event.ToolResult{CallID: c.ID, Name: c.Name, Result: turn.NotStarted, IsError: true}
		if began, ok := l.calls.Started[c.ID]; ok {
			gone.Result = OutcomeUnknown
			if adopted := shells.adopt(began, l.calls.Asked[c.ID], set.tasks.selection.Tools()); adopted != "" {
				gone.Result = "interrupted: buddy ended while this ran; it is now " + adopted
				set.tasks.main.talk.Announce(fmt.Sprintf("A command of the agent %s (task %d), which was interrupted, is now %s; you are told when it ends. The command: %s", l.agent.Agent, id, adopted, cut(l.calls.Asked[c.ID].Command)))
			}
		}
		b.talk.StoreResult(id, 0, c.Arguments, gone)
	}
	set.tasks.stream.Publish(id, 0, event.Interrupted{Task: id, Text: "interrupted"})
	end := event.TaskFinished{ID: id, Outcome: event.Failed, Error: errAgentInterrupted.Error()}
	set.tasks.stream.Publish(id, 0, end)
	set.tasks.stream.Bind(id, 0)
	set.noteEnd(l.agent, end)
	set.tasks.endBranch(b)
}
