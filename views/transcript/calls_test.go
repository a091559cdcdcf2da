package transcript

import (
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/app/state"
	"buddy/views/draw"
)

// TestCallSummary: the line of a call shows 80 cells of its arguments, and … if there are more.
func TestCallSummary(t *testing.T) {
	for _, c := range []string{"x", "漢"} { // of one cell and of two
		cells := draw.TextWidth(c)
		if got, want := callSummary(&state.Call{Arguments: strings.Repeat(c, 80/cells)}, ""), strings.Repeat(c, 80/cells); got != want {
			t.Errorf("80 cells: %q", got)
		}
		if got, want := callSummary(&state.Call{Arguments: strings.Repeat(c, 80/cells+1)}, ""), strings.Repeat(c, 79/cells)+"…"; got != want {
			t.Errorf("%d cells: %q", 80+cells, got)
		}
	}
}

// The row of a question says what was asked and what was answered, never how the model wrote it.
func TestQuestionRow(t *testing.T) {
	c := &state.Call{
		Name: "ask_user", Arguments: `{"question":"Which\nport?"}`, State: state.CallDone,
		Action: action.Action{Kind: action.Internal, Tool: "ask_user", Preview: "Which\nport?"},
		Result: `{"harness_timestamp":{},"result":{"answer":"8443, as on the\u001b[31m other host"}}`,
	}
	if got, want := callSummary(c, ""), draw.OneLine("Which\nport?"); got != want {
		t.Errorf("asked: %q, want %q", got, want)
	}
	if got, want := callGain(c), "→ 8443, as on the␛[31m …"; got != want {
		t.Errorf("answered: %q, want %q", got, want)
	}
	if c.State = state.CallCancelled; callOutcome(c) != "not answered (cancelled)" || callGain(c) != "" {
		t.Errorf("cancelled: %q, %q", callOutcome(c), callGain(c))
	}
}

// What never ran does not say that it failed.
func TestCallOutcome(t *testing.T) {
	one := 1
	for _, tt := range []struct {
		call state.Call
		want string
	}{
		{state.Call{State: state.CallWaiting}, "waiting for approval"},
		{state.Call{State: state.CallDenied}, "not run (denied)"},
		{state.Call{State: state.CallCancelled}, "not run (cancelled)"},
		{state.Call{State: state.CallLeft}, "left when buddy ended"},
		{state.Call{State: state.CallFailed}, "not run"},
		{state.Call{State: state.CallFailed, Started: 1}, "failed"},
		{state.Call{State: state.CallFailed, Started: 1, ExitCode: &one}, "exit 1"},
		{state.Call{State: state.CallDone, Started: 1}, ""},
	} {
		if got := callOutcome(&tt.call); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.call, got, tt.want)
		}
	}
}
