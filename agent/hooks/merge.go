package hooks

import (
	"encoding/json"
	"strings"

	"buddy/agent/action"
)

// Answer holds what all hooks of a moment said together. The zero value says nothing.
type Answer struct {
	// Decision is the strictest of all: deny, ask, allow; "" when nobody decided. Allow is only
	// there when a hook of the person said it.
	Decision action.Decision
	Reason   string // of the decision
	By       string // the hook that decided
	// Failed means that Decision is an Ask because By could not be asked: the person may let its
	// failures pass with [Runner.Pass].
	Failed bool
	// Arguments are those that a hook wants instead, in our names; "" = as they are.
	Arguments string
	ChangedBy string // the hook that changed them

	Output *string // replaces what the tool gave

	Blocked   string // why a prompt, a compaction or an end is refused, or what is wrong with a result; "" = not
	BlockedBy string
	objection string // Blocked, for the model
	Halt      bool   // the exchange ends
	HaltedBy  string // the hook that ended it
	Why       string // it ends

	Context string // for the model: a durable reminder; "" = nothing
}

// level orders decisions.
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

// merge brings the answers of all hooks together, in the order of the hooks.
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
		m.Decision, m.Reason, m.By = "", "", "" // it was said of other arguments
	}
	m.Context = strings.Join(contexts, "\n\n")
	return m
}

// guardFailed reports whether a hook that decides about a call has no answer, and nobody lets that
// pass.
func (r *Runner) guardFailed(a answer) bool {
	return a.failure != "" && a.handler.Event.guards() && !a.handler.Ignore && !r.passes(a.handler)
}

// fail makes the answer a question, unless it is stricter.
func (m *Answer) fail(h Handler, why string) {
	if level(m.Decision) < level(action.Ask) {
		m.Decision, m.Reason, m.By, m.Failed = action.Ask, "the hook failed, so its decision is unknown: "+why, h.Name(), true
	}
}

// decide takes up a decision that is stricter, and reports whether it is. A question that a hook asks
// goes before one about a failure.
func (m *Answer) decide(d action.Decision, reason string, h Handler) bool {
	if level(d) <= level(m.Decision) && (!m.Failed || d != action.Ask) {
		return false
	}
	m.Decision, m.Reason, m.By, m.Failed = d, reason, h.Name(), false
	return true
}

// mergeRest takes up what is not about the decision: of several hooks the first counts.
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

// restrict takes away what only a hook of the person may say.
func (a *answer) restrict() {
	if a.handler.Origin.Source != Person && a.decision == action.Allow {
		a.decision, a.reason = "", ""
	}
}

// mergeInput takes up changed arguments, of the first hook that has some.
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
