package approval

import (
	"slices"
	"time"

	"buddy/agent/action"
	"buddy/agent/autorun"
	"buddy/agent/policy"
	"buddy/texts/unseen"
)

// fence holds a Broker's state for auto mode. The broker's lock guards it.
type fence struct {
	suspended *modeFor // auto mode, suspended by a prompt injection until the next prompt; nil: not suspended
	tally     Tally
}

// Tally counts the model's commands by outcome.
type Tally struct {
	Inside int // ran in the sandbox
	Asked  int // needed a person's approval
	Denied int // did not run
}

// Count adds the counts in t to the broker's tally.
func Count(b *Broker, t Tally) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tally = Tally{b.tally.Inside + t.Inside, b.tally.Asked + t.Asked, b.tally.Denied + t.Denied}
}

// Counted returns the broker's tally: the counts since the process started.
func Counted(b *Broker) Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tally
}

// CanFence returns nil if auto mode is available on the session's first target, otherwise an error with the reason and
// the next step. The first call may take some milliseconds.
func CanFence(b *Broker) error {
	b.mu.Lock()
	p := b.policy
	b.mu.Unlock()
	return policy.CanFence(p, b.target)
}

// Fences reports whether a command, once approved, runs in the sandbox. most is as in Judge.
func Fences(b *Broker, act action.Action, most action.Mode) bool {
	p, mode := b.rules(most)
	return policy.Fences(p, act, mode)
}

// CycleMode changes to the next mode: ask, edits, auto where available, plan. screen is as in [Broker.SetMode]. While a
// request is open, it does nothing: the user may have pressed the key before seeing the request, and a looser mode
// would approve it.
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

// Suspend changes auto mode to ask mode until the next prompt, because of a prompt injection in a task.
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

// BeginUnseen marks the workspace before a call that may change it without the user's approval: a command in the
// sandbox, or a tool that writes files. After an error the call must not run; otherwise the caller must call end after
// the call. most is as in Judge.
func BeginUnseen(b *Broker, act action.Action, fenced bool, most action.Mode) (end func(), err error) {
	p, mode := b.rules(most)
	if !fenced && (act.Kind != action.FileWrite && act.Kind != action.FileDelete || policy.Elsewhere(p, act)) {
		return func() {}, nil
	}
	return policy.PlaceOf(p, act).Begin(fenced || mode == action.ModeAuto)
}

// lookTime limits the search for changes before a dialog.
const lookTime = time.Second

// changes returns the files that were changed without approval, for the user to see before a command runs outside the
// sandbox. It also returns the marks to clear once the command is approved. Both are nil if there are no such files, or
// if the command runs in the sandbox.
func changes(b *Broker, act action.Action, most action.Mode) (*action.Unseen, []unseen.Mark) {
	p, mode := b.rules(most)
	if !policy.Unseen(p, act, mode) {
		return nil, nil
	}
	marks, err := policy.PlaceOf(p, act).Marks()
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

// maxPaths limits the changed files in one dialog.
const maxPaths = 100

// rank returns the sort key of a changed file; files that other programs execute come first.
func rank(path string) int {
	if autorun.Reason(path) != "" {
		return 0
	}
	return 1
}
