package approval

import (
	"slices"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/texts"
)

// SetMode changes the mode, for the duration d unless d is 0. Plan mode lasts until a plan is approved or the user sets
// another mode. screen identifies the screen on which the user did it, "" if unknown.
func (b *Broker) SetMode(m action.Mode, d time.Duration, screen string) {
	switch {
	case !slices.Contains(action.Modes, m):
		b.stream.Reject("unknown mode %q (have: %s)", m, texts.Names(action.Modes))
		return
	case m == action.ModePlan && d > 0:
		b.stream.Reject("plan mode has no time limit: it ends when you approve or drop a plan")
		return
	}
	if m == action.ModeAuto {
		if err := CanFence(b); err != nil {
			b.stream.Reject("auto mode is not available: %v", err)
			return
		}
	}
	to := modeFor{mode: m, screen: screen}
	b.mu.Lock()
	if d > 0 {
		to.until = b.now().Add(d)
	}
	b.turnTo(0, to)
	b.mu.Unlock()
	b.reviewMode(m)
}

// turnTo changes the mode on behalf of a task (0 for none) and publishes the change. If the old mode counts, plan mode
// will return to that. The caller holds b.mu.
func (b *Broker) turnTo(task int, to modeFor) {
	now, planned := b.now(), b.mode == action.ModePlan
	was := b.follows(b.modeFor)
	if was.counts(now) {
		b.before = was
	}
	if to.since = now; to.mode == was.mode {
		to.since, to.stood = was.since, to.stood || was.stood
	}
	b.modeFor, b.suspended = to, nil
	switch {
	case to.mode == action.ModePlan && !planned:
		b.before, b.approved = b.follows(b.before), ""
		b.stream.Publish(task, 0, event.PlanEntered{File: b.policy.Plan, Before: b.before.mode, Until: millis(b.before.until)})
	case to.mode != action.ModePlan && planned:
		b.stream.Publish(task, 0, event.PlanExited{})
	}
	b.stream.Publish(task, 0, event.ModeChanged{Mode: to.mode, Until: millis(to.until), Screen: to.screen})
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// EnterPlan changes to plan mode for a task. It returns false if plan mode is already on.
func (b *Broker) EnterPlan(task int) (entered bool) {
	b.mu.Lock()
	if b.mode != action.ModePlan || b.ended(b.now()) {
		b.turnTo(task, modeFor{mode: action.ModePlan})
		entered = true
	}
	b.mu.Unlock()
	b.reviewMode(action.ModePlan)
	return entered
}

// Prompted marks the current mode as used, because the user has sent a prompt in it.
func (b *Broker) Prompted() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stood = true
}

// AfterPlan returns the mode that follows when a plan is approved.
func (b *Broker) AfterPlan() action.Mode {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.follows(b.before).mode
}

// EndPlan publishes e, ends plan mode and returns the new mode. That is edits if the user chose it; otherwise the mode
// before plan mode or, if its time limit is over, the session's first mode. The approval dialog named the mode most, so
// the new mode is never looser than most, unless the user chose edits. If the user has already left plan mode, the
// current mode stays. If an earlier process has already ended plan mode with this plan, nothing is published.
func (b *Broker) EndPlan(task int, e event.PlanExited, most action.Mode) action.Mode {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mode != action.ModePlan && b.approved == e.Plan {
		return b.mode
	}
	b.approved = e.Plan
	b.stream.Publish(task, 0, e)
	if b.mode != action.ModePlan {
		return b.mode
	}
	to := b.follows(b.before)
	switch {
	case e.Edits:
		to = modeFor{mode: action.ModeEdits}
	case action.Stricter(to.mode, most) != to.mode:
		to = modeFor{mode: most}
	}
	to.since, to.stood = b.now(), true
	b.modeFor = to
	b.stream.Publish(task, 0, event.ModeChanged{Mode: b.mode, Until: millis(b.until)})
	return b.mode
}

// follows returns m or, if its time limit is over, the session's first mode, with ask mode in place of plan mode. The
// caller holds b.mu.
func (b *Broker) follows(m modeFor) modeFor {
	switch {
	case !m.ended(b.now()):
		return m
	case b.rest == action.ModePlan: // the session's first mode
		return modeFor{mode: action.ModeAsk, stood: true}
	}
	return modeFor{mode: b.rest, stood: true}
}

// ApprovedPlan returns the text of the last approved plan, "" if plan mode has started since.
func (b *Broker) ApprovedPlan() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.approved
}

// Replay follows plan mode through stored events.
func (b *Broker) Replay(e event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch p := e.(type) {
	case event.PlanEntered:
		b.restored, b.approved = &p, ""
	case event.PlanExited:
		b.restored, b.approved = nil, p.Plan
	}
}

// Resume ends the replay. It restores plan mode if an earlier process ended in it and the user chose no other mode for
// this process.
func (b *Broker) Resume(chosen bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.restored != nil && (!chosen || b.mode == action.ModePlan) {
		b.modeFor, b.before = modeFor{mode: action.ModePlan}, stricter(b.restored, b.mode)
	}
}

// Begin publishes the mode with which the process starts.
func (b *Broker) Begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch planned := b.mode == action.ModePlan; {
	case b.restored != nil && !planned:
		b.stream.Publish(0, 0, event.PlanExited{})
	case b.restored == nil && planned:
		b.stream.Publish(0, 0, event.PlanEntered{File: b.policy.Plan, Before: b.before.mode})
	}
	b.restored = nil
	b.stream.Publish(0, 0, event.ModeChanged{Mode: b.mode})
}

// stricter returns the mode that restored plan mode returns to: the stricter of the mode before plan mode and this
// process's first mode (ask if that is plan).
func stricter(plan *event.PlanEntered, first action.Mode) modeFor {
	if first == action.ModePlan {
		first = action.ModeAsk
	}
	before := modeFor{mode: plan.Before}
	if plan.Until > 0 {
		before.until = time.UnixMilli(plan.Until)
	}
	if action.Stricter(before.mode, first) != before.mode {
		return modeFor{mode: first}
	}
	return before
}
