package goal

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/texts"
)

// Reasons for pausing a goal together with its task. Continuing the task then also resumes the goal.
const (
	Ended    = "buddy ended while it worked on the goal"
	MaxTurns = "the limit of turns of one prompt is reached (max_iterations)"
)

// maxGoal limits the text of a goal and its command, in bytes.
const maxGoal = 4000

// maxReason limits the reason of a change, in characters.
const maxReason = 300

// ErrNone is returned where a command needs a goal.
var ErrNone = errors.New("there is no goal (/goal TEXT sets one)")

// keeper holds the goal of a session, what it has used of its limits, and its state. It calls no model and runs no
// command. Replaying its events from the stream makes an equal keeper. It is safe for concurrent use.
type keeper struct {
	stream *stream.Stream
	limits *Limits // defaults

	mu       sync.Mutex // guards all below, and the order of events
	ids      int
	set      event.GoalSet
	now      event.GoalChanged // State "": no goal was set yet
	round    rounds
	reminded bool // the model knows the goal
}

// Replay applies a stored event of an earlier process.
func (k *keeper) Replay(e event.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch p := e.(type) {
	case event.GoalSet:
		k.ids, k.set = max(k.ids, p.ID), p
		k.now = event.GoalChanged{ID: p.ID, State: event.GoalActive, Limit: p.Limit}
	case event.GoalChanged:
		k.now = p
	}
}

// Rewind goes back to the goal of then, a keeper that has replayed the events up to an earlier moment. It restores a
// goal that was paused at that moment, and otherwise ends the present goal, because it was set later or by the prompt
// that is undone.
func (k *keeper) Rewind(then *keeper) {
	then.mu.Lock()
	set, now := then.set, then.now
	then.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case now.State == event.GoalPaused && k.now != now:
		k.set, k.now, k.reminded = set, now, false
		k.stream.Publish(0, 0, set)
		k.stream.Publish(0, 0, now)
	case now.State != event.GoalPaused && (k.now.State == event.GoalActive || k.now.State == event.GoalPaused):
		k.turnTo(event.GoalOff, "you rewound to before the goal was set")
	}
}

// valid returns why a goal can't be set, or nil.
func valid(c event.SetGoal) error {
	switch {
	case strings.TrimSpace(c.Goal) == "":
		return errors.New("it has no text")
	case len(c.Goal) > maxGoal:
		return fmt.Errorf("it has %d bytes (at most %d); write the details into a file and name the file with @", len(c.Goal), maxGoal)
	case len(c.Check) > maxGoal:
		return fmt.Errorf("the check command has %d bytes (at most %d); put it into a script", len(c.Check), maxGoal)
	case c.Limit.Turns < 0 || c.Limit.Cost < 0 || c.Limit.TimeMS < 0:
		return errors.New("a limit is negative")
	}
	return nil
}

// Set starts a valid goal and ends the previous one.
func (k *keeper) Set(c event.SetGoal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now.State == event.GoalActive || k.now.State == event.GoalPaused {
		k.turnTo(event.GoalOff, "another goal replaced it")
	}
	ms := (time.Duration(k.limits.Minutes) * time.Minute).Milliseconds()
	limit := event.GoalUse{Turns: cmp.Or(c.Limit.Turns, k.limits.Turns), Cost: cmp.Or(c.Limit.Cost, k.limits.Cost), TimeMS: cmp.Or(c.Limit.TimeMS, ms)}
	k.ids++
	k.set = event.GoalSet{ID: k.ids, Goal: c.Goal, Check: c.Check, Outside: c.Outside, Verdict: c.Verdict || c.Check == "", Limit: limit}
	k.now = event.GoalChanged{ID: k.ids, State: event.GoalActive, Limit: limit}
	k.round, k.reminded = rounds{}, false
	k.stream.Publish(0, 0, k.set)
	k.stream.Publish(0, 0, k.now)
}

// Active returns the goal if it is active.
func (k *keeper) Active() (set event.GoalSet, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.set, k.now.State == event.GoalActive
}

// Due returns the active goal. It reports once that the model needs a reminder of the goal, because the goal is new,
// resumed or forgotten.
func (k *keeper) Due() (set event.GoalSet, due bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	due = k.now.State == event.GoalActive && !k.reminded
	k.reminded = k.reminded || due
	return k.set, due
}

// Forgotten makes Due remind the model again.
func (k *keeper) Forgotten() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reminded = false
}

// Spend adds to the use of the goal with an id and publishes the total, if that goal is still active.
func (k *keeper) Spend(id int, used event.GoalUse) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now.ID != id || k.now.State != event.GoalActive || used == (event.GoalUse{}) {
		return
	}
	k.now.Used.Turns += used.Turns
	k.now.Used.Cost += used.Cost
	k.now.Used.TimeMS += used.TimeMS
	k.now.Reason = ""
	k.stream.Publish(0, 0, k.now)
}

// Exhausted names the limit that is reached, or returns "".
func (k *keeper) Exhausted() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now.Used.Reached(k.now.Limit)
}

// Checked publishes the outcome of a check of the goal with an id, and ends the goal if it is met. It reports whether a
// goal is still active, and does nothing if another goal has replaced it.
func (k *keeper) Checked(id int, met bool, why string) (active bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now.ID != id || k.now.State == event.GoalMet || k.now.State == event.GoalOff {
		return false
	}
	k.stream.Publish(0, 0, event.GoalChecked{ID: id, Met: met, Why: line(why)})
	if met {
		k.turnTo(event.GoalMet, "")
	}
	return k.now.State == event.GoalActive
}

// Pause pauses the goal if it is active.
func (k *keeper) Pause(why string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now.State == event.GoalActive {
		k.turnTo(event.GoalPaused, why)
	}
}

// Resume reactivates a paused goal. A limit that was reached is extended by its original amount.
func (k *keeper) Resume() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch k.now.State {
	case event.GoalPaused:
	case event.GoalActive:
		return errors.New("the goal is not paused")
	default:
		return ErrNone
	}
	used, limit := k.now.Used, &k.now.Limit
	if limit.Turns > 0 && used.Turns >= limit.Turns {
		limit.Turns = used.Turns + k.set.Limit.Turns
	}
	if limit.Cost > 0 && used.Cost >= limit.Cost {
		limit.Cost = used.Cost + k.set.Limit.Cost
	}
	if limit.TimeMS > 0 && used.TimeMS >= limit.TimeMS {
		limit.TimeMS = used.TimeMS + k.set.Limit.TimeMS
	}
	k.round, k.reminded = rounds{}, false
	k.turnTo(event.GoalActive, "resumed")
	return nil
}

// End ends the goal, met or not.
func (k *keeper) End(why string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now.State != event.GoalActive && k.now.State != event.GoalPaused {
		return ErrNone
	}
	k.turnTo(event.GoalOff, why)
	return nil
}

// turnTo changes the state and publishes it. The caller holds k.mu.
func (k *keeper) turnTo(to event.GoalState, why string) {
	k.now.State, k.now.Reason = to, line(why)
	k.stream.Publish(0, 0, k.now)
}

// line shortens a reason to one line.
func line(why string) string { return texts.Clip(texts.OneLine(why), maxReason) }

// Goal returns the goal and its progress; State is "" if there was none.
func (k *keeper) Goal() (set event.GoalSet, now event.GoalChanged) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.set, k.now
}
