package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
)

// ended tells how one hook ended.
type ended struct {
	handler Handler
	code    int
	failure string // why there is no answer: it could not start, was ended, took too long
	gone    bool   // nobody wants the answer any more
	inside  bool   // it ran inside the fence
	stdout  []byte
	stderr  string
}

// answer holds what one hook said.
type answer struct {
	handler  Handler
	decision action.Decision // "": nothing
	reason   string          // of decision or block
	failure  string          // why a hook has no answer
	block    bool
	halt     bool // ends the exchange
	why      string
	context  string // for the model
	message  string // for the person
	input    json.RawMessage
	output   *string // replaces what the tool gave
}

// said is the form of a hook's JSON.
type said struct {
	Continue      *bool  `json:"continue"`
	StopReason    string `json:"stopReason"`
	SystemMessage string `json:"systemMessage"`
	Decision      string `json:"decision"`
	Reason        string `json:"reason"`
	Specific      struct {
		Event    string          `json:"hookEventName"`
		Context  string          `json:"additionalContext"`
		Decision string          `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason"`
		Input    json.RawMessage `json:"updatedInput"`
		Output   json.RawMessage `json:"updatedToolOutput"`
		Verdict  struct {
			Behavior string          `json:"behavior"`
			Message  string          `json:"message"`
			Input    json.RawMessage `json:"updatedInput"`
		} `json:"decision"`
	} `json:"hookSpecificOutput"`
}

// answer reads what a hook said by its exit code and its output.
func (e ended) answer() answer {
	a := answer{handler: e.handler}
	event := e.handler.Event
	text := bytes.TrimSpace(e.stdout)
	switch {
	case e.gone:
	case e.failure != "":
		a.failure = e.failure
	case e.code == 2:
		a.refuse(refusal(e))
	case e.code != 0:
		a.failure = fmt.Sprintf("it ended with exit code %d", e.code)
		if first := texts.OneLine(e.stderr); first != "" {
			a.failure += ": " + texts.Clip(first, 200)
		}
	case bytes.HasPrefix(text, []byte("{")):
		var s said
		if err := json.Unmarshal(text, &s); err != nil {
			a.failure = "its output is broken JSON: " + err.Error()
			break
		}
		a.failure = a.read(s)
	case event == SessionStart || event == UserPromptSubmit:
		a.context = string(text)
	}
	if a.failure != "" && e.inside {
		a.failure += "; " + e.handler.wayOut()
	}
	return a
}

// wayOut says how a hook that failed inside the fence gets out of it.
func (h Handler) wayOut() string {
	if h.Origin.Source == Person {
		return `it ran inside the fence, as mode auto wants; "outside": true at the hook lets it run outside`
	}
	return `it ran inside the fence, as mode auto wants; the same hook in your own hooks.json with "outside": true runs outside`
}

// refusal returns why a hook refuses with exit code 2.
func refusal(e ended) string {
	if text := strings.TrimSpace(e.stderr); text != "" {
		return text
	}
	return "it gave no reason"
}

// refuse takes up exit code 2.
func (a *answer) refuse(reason string) {
	switch a.handler.Event {
	case PreToolUse, PermissionRequest:
		a.decision, a.reason = action.Deny, reason
	case UserPromptSubmit, Stop, SubagentStop, PreCompact:
		a.block, a.reason = true, reason
	case PostToolUse, PostToolUseFailure:
		a.block, a.reason = true, reason
	default:
		a.message = reason
	}
}

// read takes up the JSON of a hook. It returns what is wrong with it.
func (a *answer) read(s said) (wrong string) {
	event := a.handler.Event
	if n := s.Specific.Event; n != "" && n != string(event) {
		return fmt.Sprintf("its output is for %s, not for %s", quoted(n), event)
	}
	a.message, a.context = s.SystemMessage, s.Specific.Context
	if event != PermissionRequest && s.Continue != nil && !*s.Continue {
		a.halt, a.why = true, s.StopReason
	}
	switch event {
	case PreToolUse:
		return a.judge(s)
	case PermissionRequest:
		v := s.Specific.Verdict
		a.input = v.Input
		return a.decide(v.Behavior, v.Message)
	case PostToolUse, PostToolUseFailure:
		a.replace(s.Specific.Output)
	}
	switch s.Decision {
	case "":
	case "block":
		a.block, a.reason = true, s.Reason
	default:
		return fmt.Sprintf("its decision %s is unknown (have: block)", quoted(s.Decision))
	}
	return ""
}

// judge reads the decision of PreToolUse, in the present form or in the earlier one.
func (a *answer) judge(s said) (wrong string) {
	a.input = s.Specific.Input
	if d := s.Specific.Decision; d != "" || s.Decision == "" {
		return a.decide(d, s.Specific.Reason)
	}
	switch s.Decision {
	case "approve":
		return a.decide("allow", s.Reason)
	case "block":
		return a.decide("deny", s.Reason)
	}
	return a.decide(s.Decision, s.Reason)
}

func (a *answer) decide(d, reason string) (wrong string) {
	switch d {
	case "", "defer":
		return ""
	case "allow", "ask", "deny":
		a.decision, a.reason = action.Decision(d), reason
		return ""
	}
	return fmt.Sprintf("its decision %s is unknown (have: allow, deny, ask)", quoted(d))
}

// replace takes up what the model shall read instead of a tool's output.
func (a *answer) replace(raw json.RawMessage) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	a.output = &text
}

// outcome says on one line what came of the hook, for the journal.
func (a answer) outcome() string {
	switch {
	case a.failure != "":
		return "failed: " + a.failure
	case a.decision != "":
		return string(a.decision)
	case a.block:
		return "block"
	case a.halt:
		return "stop"
	}
	return "ok"
}
