package approval

import (
	"slices"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/executed"
	"buddy/agent/policy"
)

// fence holds what a Broker needs for mode auto only. Whoever reads or writes it holds the lock of the broker.
type fence struct {
	watch     *executed.Watch // over what commands inside change; nil: none ran
	suspended *modeFor        // mode auto, after a prompt injection and until the next prompt; nil: it is not
	tally     Tally
	told      map[string][]action.Executed // by approvals that an earlier process asked for
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
	b.mu.Lock()
	p, mode := b.policy, b.mode
	b.mu.Unlock()
	return policy.Fences(p, act, action.Stricter(mode, most))
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
		b.turnTo(task, modeFor{mode: action.ModeAsk})
		b.suspended = &was
	case b.mode == action.ModePlan && b.before.mode == action.ModeAuto:
		b.before = modeFor{mode: action.ModeAsk}
	}
}

// BeginInside notes the state of the files that other programs execute, before a call runs inside the fence.
func BeginInside(b *Broker, task, turn int, callID string, act action.Action) {
	b.mu.Lock()
	if b.watch == nil {
		b.watch = executed.NewWatch(policy.Folders(b.policy, act)...)
	}
	w := b.watch
	b.mu.Unlock()
	changedInside(b, task, turn, callID, w.Begin())
}

// EndInside says what a call has changed for which BeginInside was called. left is closed when what it left
// running has ended, nil if it left nothing.
func EndInside(b *Broker, task, turn int, callID string, left <-chan struct{}) {
	b.mu.Lock()
	w := b.watch
	b.mu.Unlock()
	changedInside(b, task, turn, callID, w.End(left))
}

// lookInside says what commands have changed that go on inside the fence.
func lookInside(b *Broker) {
	b.mu.Lock()
	w := b.watch
	b.mu.Unlock()
	if w != nil {
		changedInside(b, 0, 0, "", w.Now())
	}
}

// changedInside notes files that other programs execute and that a call has changed inside the fence, and
// says so. What was allowed for the session and may execute them ends.
func changedInside(b *Broker, task, turn int, callID string, files []action.Executed) {
	if len(files) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	note(b, files)
	b.stream.Publish(task, turn, event.FenceChanged{CallID: callID, Files: files})
	if !slices.ContainsFunc(files, action.Executed.ByCommands) {
		return
	}
	kept := slices.Clone(b.policy.Rules)
	b.policy.Rules = slices.DeleteFunc(kept, func(r action.Rule) bool {
		ends := r.Decision == action.Allow && r.Source == action.FromSession && r.Shape != action.Closed && len(r.Prefix) > 0
		if ends {
			b.stream.Publish(task, turn, event.RuleRemoved{Rule: r, Scope: "session"})
		}
		return ends
	})
}

// note adds files to those that no person has seen. The caller holds b.mu.
func note(b *Broker, files []action.Executed) {
	all := slices.Clone(b.policy.Inside)
	for _, f := range files {
		same := func(other action.Executed) bool { return other.Path == f.Path }
		all = append(slices.DeleteFunc(all, same), f)
	}
	b.policy.Inside = all
}

// seen takes files from those that no person has seen. The caller holds b.mu.
func seen(b *Broker, files []action.Executed) {
	b.policy.Inside = slices.DeleteFunc(slices.Clone(b.policy.Inside), func(f action.Executed) bool { return slices.Contains(files, f) })
}

// replayFence feeds a stored event of an earlier process. The caller holds b.mu.
func replayFence(b *Broker, e event.Event) {
	switch p := e.(type) {
	case event.FenceChanged:
		note(b, p.Files)
	case event.ApprovalAsked:
		if len(p.Context.Inside) > 0 {
			if b.told == nil {
				b.told = make(map[string][]action.Executed)
			}
			b.told[p.ID] = p.Context.Inside
		}
	case event.ApprovalAnswered:
		if p.By == "user" && p.Decision != event.Deny {
			seen(b, b.told[p.ID])
		}
		delete(b.told, p.ID)
	}
}
