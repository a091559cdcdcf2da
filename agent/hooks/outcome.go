package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
)

// ended is the raw result of one hook.
type ended struct {
	handler Handler
	code    int
	failure string // why there is no answer: the hook could not start, was ended or took too long
	gone    bool   // the caller no longer waits for the answer
	inside  bool   // it ran in the sandbox
	stdout  []byte
	stderr  string
}

// answer is the parsed answer of one hook.
type answer struct {
	handler  Handler
	decision action.Decision // "": none
	reason   string          // of decision or block
	failure  string          // why the hook has no answer
	block    bool
	halt     bool // ends the exchange
	why      string
	context  string // for the model
	message  string // for the person
	input    json.RawMessage
	output   *string // replaces the tool's output
}

// answer parses the exit code and the output of a hook.
func (e ended) answer() answer {
	a := answer{handler: e.handler}
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
	default:
		a.failure = a.parse(e.stdout)
	}
	if a.failure != "" && e.inside {
		a.failure += "; " + e.handler.wayOut()
	}
	return a
}

// wayOut tells the user how to run a hook that failed in the sandbox outside of it.
func (h Handler) wayOut() string {
	if h.Origin.Source == Person {
		return `it ran in the sandbox, because auto mode is on; "outside": true in the hook lets it run outside`
	}
	return `it ran in the sandbox, because auto mode is on; the same hook in your own hooks.json with "outside": true runs outside`
}

// refusal returns a hook's reason for refusing with exit code 2.
func refusal(e ended) string {
	if text := strings.TrimSpace(e.stderr); text != "" {
		return text
	}
	return "it gave no reason"
}

// refuse records that a hook refused with exit code 2.
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

// replace records the text that replaces a tool's output for the model.
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

// outcome returns the result of the hook on one line, for the journal.
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
