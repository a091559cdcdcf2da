package agent

import (
	"errors"
	"fmt"

	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/agent/turn"
)

// replay counts a subagent of an earlier process.
func (set *subagentSet) replay() { set.began++ }

// noteEnd announces the end of a subagent of an earlier process, unless a later event shows that the main agent knows
// about it. The result of a review has an event of its own.
func (set *subagentSet) noteEnd(was event.TaskStarted, e event.TaskFinished) {
	if !was.Background || ofReview(was) {
		return
	}
	end := agentEnd{outcome: e.Outcome}
	if e.Error != "" {
		end.err = errors.New(e.Error)
	}
	set.tasks.main.conv.Announce(agentNews(was.ID, was.Agent, was.Title, end.how(), "", "") + lookInto(was.Dir))
}

// lookInto returns a sentence with the file of an agent's result.
func lookInto(dir string) string {
	if dir == "" {
		return ""
	}
	return " Its answer, if any, is in " + (&subagentRun{dir: dir}).file() + "."
}

// errAgentInterrupted is the failure of a subagent that worked when buddy ended.
var errAgentInterrupted = errors.New("interrupted: buddy ended while it was working")

// dropAll ends the subagents and the review that ran when an earlier process ended. The caller holds the lock of tasks.
func (set *subagentSet) dropAll(shells *shells) {
	recovery := set.tasks.recovery
	for _, number := range recovery.Working() {
		if b, l := set.tasks.on(number), recovery.Branches[number]; b.agent != nil && l.Open {
			set.drop(b, l, shells)
			delete(recovery.Branches, number)
		}
	}
	if set.cutOff != nil {
		set.tasks.stream.Publish(0, 0, *set.cutOff)
		set.cutOff = nil
	}
}

// drop ends a subagent that was interrupted. The subagent does not continue, because nobody knows how much of its work
// is done. Its commands that may still run become tasks of the main agent. The caller holds the lock of tasks.
func (set *subagentSet) drop(b *branch, l *record.Branch, shells *shells) {
	id := l.Agent.ID
	set.tasks.stream.Bind(id, b.conv.Branch())
	for _, c := range b.conv.Open() {
		gone := event.ToolResult{CallID: c.ID, Name: c.Name, Result: turn.NotStarted, IsError: true}
		if was := l.Calls[c.ID]; was != nil && was.Started != nil {
			gone.Result = OutcomeUnknown
			if adopted := shells.adopt(*was.Started, was.Action(), set.tasks.selection.Tools()); adopted != "" {
				gone.Result = "interrupted: buddy ended while this ran; it is now " + adopted
				set.tasks.main.conv.Announce(fmt.Sprintf("A command of the interrupted agent %s (task %d) is now %s; you get a message when it ends. The command: %s", l.Agent.Agent, id, adopted, cut(was.Action().Command)))
			}
		}
		b.conv.StoreResult(id, 0, c.Arguments, gone)
	}
	set.tasks.stream.Publish(id, 0, event.Interrupted{Task: id, Text: "interrupted"})
	end := event.TaskFinished{ID: id, Outcome: event.Failed, Error: errAgentInterrupted.Error()}
	set.tasks.stream.Publish(id, 0, end)
	set.tasks.stream.Bind(id, 0)
	set.noteEnd(l.Agent, end)
	set.tasks.endBranch(b)
}
