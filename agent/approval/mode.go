package approval

import (
	"slices"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/texts"
)

// SetMode changes how approvals are decided, for a while if d is not 0. Mode plan lasts until a
// plan is approved or a person sets another mode. screen says where the person is, "" if that is not known.
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

// turnTo changes the mode because of a task, 0 for none, and says so. The one that applied becomes the mode
// before plan if it counts. Mode plan entered twice changes nothing. The caller holds b.mu.
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

// millis returns a time for events, 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// EnterPlan changes to mode plan for a task. In that mode it does nothing, and reports so.
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

// Prompted notes that a person has sent a prompt in the mode that applies, which counts from now on.
func (b *Broker) Prompted() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stood = true
}

// AfterPlan returns the mode that an approved plan returns to.
func (b *Broker) AfterPlan() action.Mode {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.follows(b.before).mode
}

// EndPlan ends mode plan as e says and returns the mode that applies then: mode edits if the person chose
// that, else the mode before plan, or, where the time of that is over, the one that follows it. The person was
// told of most: a looser one does not apply. Where a person has ended mode plan already, their mode stays.
func (b *Broker) EndPlan(task int, e event.PlanExited, most action.Mode) action.Mode {
	b.mu.Lock()
	defer b.mu.Unlock()
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

// follows returns a mode, or, where its time is over, the one that follows it. The caller holds b.mu.
func (b *Broker) follows(m modeFor) modeFor {
	switch {
	case !m.ended(b.now()):
		return m
	case b.rest == action.ModePlan: // in which the session began
		return modeFor{mode: action.ModeAsk, stood: true}
	}
	return modeFor{mode: b.rest, stood: true}
}

// ApprovedPlan returns the text of the plan that was approved last, "" if another one was begun since.
func (b *Broker) ApprovedPlan() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.approved
}

// Replay feeds a stored event of an earlier process.
func (b *Broker) Replay(e event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch p := e.(type) {
	case event.PlanEntered:
		b.left, b.approved = &p, ""
	case event.PlanExited:
		b.left, b.approved = nil, p.Plan
	}
}

// Resume ends the replay. The session is in mode plan again if an earlier process left it there and
// nobody chose another mode for this one.
func (b *Broker) Resume(chosen bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left != nil && (!chosen || b.mode == action.ModePlan) {
		b.modeFor, b.before = modeFor{mode: action.ModePlan}, stricter(b.left, b.mode)
	}
}

// Begin says which mode applies when a process begins to run the session.
func (b *Broker) Begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch planned := b.mode == action.ModePlan; {
	case b.left != nil && !planned:
		b.stream.Publish(0, 0, event.PlanExited{})
	case b.left == nil && planned:
		b.stream.Publish(0, 0, event.PlanEntered{File: b.policy.Plan, Before: b.before.mode})
	}
	b.left = nil
	b.stream.Publish(0, 0, event.ModeChanged{Mode: b.mode})
}

// stricter returns the mode before plan, or the one that a process begins with if that is stricter.
// One that begins with plan itself has no say in what follows it.
func stricter(left *event.PlanEntered, begun action.Mode) modeFor {
	if begun == action.ModePlan {
		begun = action.ModeAsk
	}
	before := modeFor{mode: left.Before}
	if left.Until > 0 {
		before.until = time.UnixMilli(left.Until)
	}
	if action.Stricter(before.mode, begun) != before.mode {
		return modeFor{mode: begun}
	}
	return before
}
