package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"buddy/agent/event"
	"buddy/agent/turn"
)

// agentLine holds the queue of subagents that wait for room, and the agents that do not count as working because they
// wait for an agent that they called. If those counted, nested agents could wait for each other forever.
type agentLine struct {
	moved  sync.Cond // uses the lock of tasks; signals that there may be room, or that the queue has moved
	last   int       // last number in the queue
	waits  []int
	paused map[int]int // number of calls that an agent waits for, by conversation
}

// works returns the number of working subagents. The caller holds the lock of tasks.
func (set *subagentSet) works() (n int) {
	for branch, b := range set.tasks.forks {
		if b.agent != nil && set.line.paused[branch] == 0 {
			n++
		}
	}
	return n
}

// await waits until one more subagent may work. The caller must start it before it releases the lock. Whenever await
// checks, it first calls the function may and returns its error, if any. If ctx ends, await returns the cause. The
// caller holds the lock of tasks, which await releases while it waits.
func (set *subagentSet) await(ctx context.Context, may func() error) error {
	l := &set.line
	l.last++
	mine := l.last
	l.waits = append(l.waits, mine)
	defer func() {
		l.waits = slices.DeleteFunc(l.waits, func(other int) bool { return other == mine })
		l.moved.Broadcast()
	}()
	defer context.AfterFunc(ctx, func() {
		set.tasks.mu.Lock()
		defer set.tasks.mu.Unlock()
		l.moved.Broadcast()
	})()
	for waited := false; ; waited = true {
		if err := may(); err != nil {
			return err
		}
		if l.waits[0] == mine && set.works() < set.o.Limits.AtOnce {
			return nil
		}
		if !waited {
			set.tasks.stream.Publish(0, 0, event.Notice{Text: fmt.Sprintf("an agent is waiting until fewer than %d are working ([agents] at_once)", set.o.Limits.AtOnce), Code: "agents"})
		}
		if l.moved.Wait(); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// pause marks a subagent that waits for an agent that it calls.
func (set *subagentSet) pause(by turn.Caller) {
	set.tasks.mu.Lock()
	defer set.tasks.mu.Unlock()
	if set.line.paused == nil {
		set.line.paused = make(map[int]int)
	}
	set.line.paused[by.Conv.Branch()]++
	set.line.moved.Broadcast()
}

// unpause waits for room and makes a subagent count as working again, if the last agent that it waits for has ended.
func (set *subagentSet) unpause(ctx context.Context, by turn.Caller) {
	set.tasks.mu.Lock()
	defer set.tasks.mu.Unlock()
	branch := by.Conv.Branch()
	if set.line.paused[branch] == 1 {
		_ = set.await(ctx, func() error { return nil }) // an ended ctx ends the agent, too
	}
	if set.line.paused[branch]--; set.line.paused[branch] == 0 {
		delete(set.line.paused, branch)
	}
}
