package approval

import (
	"slices"
	"time"

	"buddy/agent/action"
	"buddy/agent/autorun"
	"buddy/agent/policy"
	"buddy/texts/unseen"
)

// fence holds what a Broker needs for mode auto only. Whoever reads or writes it holds the lock of the broker.
type fence struct {
	suspended *modeFor // mode auto, after a prompt injection and until the next prompt; nil: it is not
	tally     Tally
}

// Tally counts the commands of a session.
type Tally struct {
	Inside int // ran in the fence
	Asked  int // a person was asked about
	Denied int // did not run
}

// Count adds to the tally.
func Count(b *Broker, t Tally) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tally = Tally{b.tally.Inside + t.Inside, b.tally.Asked + t.Asked, b.tally.Denied + t.Denied}
}

// Counted returns what was counted since the process began.
func Counted(b *Broker) Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tally
}

// CanFence returns why mode auto is not available on the target where the session began, with the next
// step; nil if it is. The first call may take some milliseconds.
func CanFence(b *Broker) error {
	b.mu.Lock()
	p := b.policy
	b.mu.Unlock()
	return policy.CanFence(p, b.target)
}

// Fences reports whether a command runs in the fence once a person has approved it. most is as in Judge.
func Fences(b *Broker, act action.Action, most action.Mode) bool {
	p, mode := b.rules(most)
	return policy.Fences(p, act, mode)
}

// CycleMode changes to the next mode: ask, edits, auto where it is available, plan, from a screen as in SetMode. It does nothing while a request
// is open: its key may have been pressed before the request showed, and a looser mode would answer it.
func CycleMode(b *Broker, screen string) {
	b.mu.Lock()
	mode, waits := b.mode, len(b.open) > 0
	b.mu.Unlock()
	if waits {
		return
	}
	next := map[action.Mode]action.Mode{action.ModeAsk: action.ModeEdits, action.ModeEdits: action.ModeAuto, action.ModeAuto: action.ModePlan}[mode]
	switch {
	case next == "":
		next = action.ModeAsk
	case next == action.ModeAuto && CanFence(b) != nil:
		next = action.ModePlan
	}
	b.SetMode(next, 0, screen)
}

// Suspend changes mode auto to ask until the next prompt, because of a prompt injection that a task has met.
func Suspend(b *Broker, task int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.mode == action.ModeAuto:
		was := b.modeFor
		b.turnTo(task, modeFor{mode: action.ModeAsk, stood: true})
		b.suspended = &was
	case b.mode == action.ModePlan && b.before.mode == action.ModeAuto:
		b.before = modeFor{mode: action.ModeAsk}
	}
}

// BeginUnseen marks the workspace before a call changes it that no person was asked about: a command in the fence, or a
// tool that writes files. After an error nothing may run; else end is to be called after the call. most is as in Judge.
func BeginUnseen(b *Broker, act action.Action, fenced bool, most action.Mode) (end func(), err error) {
	p, mode := b.rules(most)
	if !fenced && (act.Kind != action.FileWrite && act.Kind != action.FileDelete || policy.Elsewhere(p, act)) {
		return func() {}, nil
	}
	return p.Unseen.Begin(fenced || mode == action.ModeAuto)
}

// lookTime limits the search for changes before a dialog opens.
const lookTime = time.Second

// changes returns what a person is to see before a command leaves the fence, and the marks that are cleared once it is
// approved; nil if the command does not, or nothing was changed without asking.
func changes(b *Broker, act action.Action, most action.Mode) (*action.Unseen, []unseen.Mark) {
	p, mode := b.rules(most)
	if !policy.Unseen(p, act, mode) {
		return nil, nil
	}
	marks, err := p.Unseen.Marks()
	if err != nil {
		return &action.Unseen{More: true}, nil
	}
	paths, more := unseen.Changes(marks, lookTime)
	slices.SortStableFunc(paths, func(a, b string) int { return rank(a) - rank(b) })
	if len(paths) > maxPaths {
		paths, more = paths[:maxPaths], true
	}
	return &action.Unseen{Paths: paths, More: more}, marks
}

// maxPaths limits the changed files that one dialog has.
const maxPaths = 100

// rank sorts files that another program executes before all others.
func rank(path string) int {
	if autorun.Reason(path) != "" {
		return 0
	}
	return 1
}
