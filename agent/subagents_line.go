package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"buddy/agent/event"
	"buddy/agent/turn"
)

// agentLine holds the subagents that wait until fewer work, in the order in which they came, and those that work for none
// of their own because they wait for an agent that they have called: else agents of agents could wait for each other for ever.
type agentLine struct {
	moved  sync.Cond // with the lock of tasks: there may be room, or the first has left
	last   int       // that came
	waits  []int
	paused map[int]int // calls that the agent of a conversation waits for
}

// works returns how many subagents work. The caller holds the lock of tasks.
func (set *subagentSet) works() (n int) {
	for branch, b := range set.tasks.forks {
		if b.agent != nil && set.line.paused[branch] == 0 {
			n++
		}
	}
	return n
}

// await returns when one more subagent may work, which the caller then lets work; its error is what may returns, or why
// ctx ended. The caller holds the lock of tasks, which is free meanwhile.
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

// pause notes that a subagent waits for an agent that it calls.
func (set *subagentSet) pause(by turn.Caller) {
	set.tasks.mu.Lock()
	defer set.tasks.mu.Unlock()
	if set.line.paused == nil {
		set.line.paused = make(map[int]int)
	}
	set.line.paused[by.Talk.Branch()]++
	set.line.moved.Broadcast()
}

// goOn lets a subagent work again once there is room, after the last agent has ended that it waits for.
func (set *subagentSet) goOn(ctx context.Context, by turn.Caller) {
	set.tasks.mu.Lock()
	defer set.tasks.mu.Unlock()
	branch := by.Talk.Branch()
	if set.line.paused[branch] == 1 {
		_ = set.await(ctx, func() error { return nil }) // when ctx ends it ends
	}
	if set.line.paused[branch]--; set.line.paused[branch] == 0 {
		delete(set.line.paused, branch)
	}
}
