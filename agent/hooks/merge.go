package hooks

import (
	"encoding/json"
	"strings"

	"buddy/agent/action"
)

// Answer is the merged result of all hooks of an event. The zero value means no objection and no decision.
type Answer struct {
	// Decision is the strictest decision of the hooks: deny, ask, allow; "" if there is none. A project's hook can't
	// decide allow.
	Decision action.Decision
	Reason   string // of the decision
	By       string // name of the hook that decided
	// Failed means that Decision is Ask because the hook named in By failed. The user may choose to ignore further
	// failures of that hook, with [Runner.Pass].
	Failed bool
	// Arguments replace the arguments of the call, under buddy's names; "" changes nothing.
	Arguments string
	ChangedBy string // name of the hook that changed them

	Output *string // replaces the tool's output

	Blocked   string // why a prompt, a compaction or a stop is refused, or an objection to a result; "" if not
	BlockedBy string
	objection string // Blocked as text for the model
	Halt      bool   // ends the exchange
	HaltedBy  string // name of the hook that ended it
	Why       string // reason for Halt

	Context string // durable reminder for the model; "" if none
}

// level orders decisions by strictness.
func level(d action.Decision) int {
	switch d {
	case action.Deny:
		return 3
	case action.Ask:
		return 2
	case action.Allow:
		return 1
	}
	return 0
}

// merge combines the answers of all hooks, in the order of the hooks.
func (r *Runner) merge(call Call, all []answer) (m Answer) {
	var contexts []string
	decided, changed := -1, -1
	for i, a := range all {
		a.restrict()
		if r.guardFailed(a) {
			m.fail(a.handler, a.failure)
			continue
		}
		if m.decide(a.decision, r.clean(a.reason), a.handler) {
			decided = i
		}
		if had := m.Arguments; had == "" {
			if r.mergeInput(&m, call, a); m.Arguments != had {
				changed = i
			}
		}
		r.mergeRest(&m, a)
		if text := r.context(a); text != "" {
			contexts = append(contexts, text)
		}
	}
	if m.Decision == action.Allow && changed >= 0 && changed != decided {
		m.Decision, m.Reason, m.By = "", "", "" // the approval was for other arguments
	}
	m.Context = strings.Join(contexts, "\n\n")
	return m
}

// guardFailed reports whether the user must be asked because a guard failed. It returns false if the user has chosen to
// ignore failures of the guard.
func (r *Runner) guardFailed(a answer) bool {
	return a.failure != "" && a.handler.Event.guards() && !a.handler.Ignore && !r.passes(a.handler)
}

// fail makes the decision Ask because a hook failed, unless it is already Ask or Deny.
func (m *Answer) fail(h Handler, why string) {
	if level(m.Decision) < level(action.Ask) {
		m.Decision, m.Reason, m.By, m.Failed = action.Ask, "the hook failed, so its decision is unknown: "+why, h.Name(), true
	}
}

// decide records a hook's decision if it is stricter than those before, and reports whether it did. A hook's own
// decision to ask also replaces one that was made because another hook failed.
func (m *Answer) decide(d action.Decision, reason string, h Handler) bool {
	if level(d) <= level(m.Decision) && (!m.Failed || d != action.Ask) {
		return false
	}
	m.Decision, m.Reason, m.By, m.Failed = d, reason, h.Name(), false
	return true
}

// mergeRest merges what an answer holds besides its decision. For each part, the first hook that sets it wins.
func (r *Runner) mergeRest(m *Answer, a answer) {
	if a.output != nil && m.Output == nil {
		m.Output = a.output
	}
	if a.block && m.BlockedBy == "" {
		m.Blocked, m.BlockedBy = r.clean(a.reason), a.handler.Name()
		m.objection = mark(a.handler, m.Blocked)
	}
	if a.halt && !m.Halt {
		m.Halt, m.HaltedBy, m.Why = true, a.handler.Name(), r.clean(a.why)
	}
}

// restrict drops an approval by a hook that is not the user's own.
func (a *answer) restrict() {
	if a.handler.Origin.Source != Person && a.decision == action.Allow {
		a.decision, a.reason = "", ""
	}
}

// mergeInput applies changed arguments if no hook has denied the call.
func (r *Runner) mergeInput(m *Answer, call Call, a answer) {
	if len(a.input) == 0 || string(a.input) == "null" || m.Decision == action.Deny {
		return
	}
	changed, err := call.arguments(json.RawMessage(a.input))
	if err != nil {
		m.fail(a.handler, err.Error())
		return
	}
	m.Arguments, m.ChangedBy = changed, a.handler.Name()
}
