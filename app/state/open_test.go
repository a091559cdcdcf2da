package state

import (
	"reflect"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
)

// TestApplyOpen: a screen that joins a running session and reads its end shows what started earlier and is still open;
// once the rest is read it equals a screen that was there from the start.
func TestApplyOpen(t *testing.T) {
	all := envelopes(
		event.SessionCreated{Cwd: "/work", Target: "local", Model: "demo", Title: "a title"},
		event.ModeChanged{Mode: action.ModeAll},
		event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "the task"},
		event.ToolRequested{CallID: "c", Name: "run_shell"},
		event.ToolStarted{CallID: "c", Name: "run_shell"},
		event.Notice{Text: "a notice"},
		event.Notice{Text: "another notice"},
	)
	var whole State
	for _, env := range all {
		whole.Apply(env)
	}
	var joined State
	joined.ApplyTail(all[6:])
	ApplyOpen(&joined, all[:5])
	if running := joined.Running(); running == nil || running.Title != "the task" || joined.Info.Mode != action.ModeAll || joined.Call("c") == nil || joined.Info.Event.Model != "demo" {
		t.Errorf("%+v", joined)
	}
	var before State
	for _, env := range all[:6] {
		before.Apply(env)
	}
	joined.PrependState(&before)
	if len(joined.Blocks) != len(whole.Blocks) || len(joined.Tasks) != 1 || !reflect.DeepEqual(joined.Info, whole.Info) {
		t.Errorf("%d blocks, want %d; tasks %+v; %+v, want %+v", len(joined.Blocks), len(whole.Blocks), joined.Tasks, joined.Info, whole.Info)
	}
	// Events in the end are not applied twice, and a fully read session needs nothing.
	var again State
	again.ApplyTail(all[1:])
	ApplyOpen(&again, all[1:])
	if n := len(again.Blocks); n != 3 {
		t.Errorf("%d blocks", n)
	}
	if ch := ApplyOpen(&whole, all); ch != 0 || len(whole.Tasks) != 1 {
		t.Error("it was told again")
	}
}

// envelopes numbers events from 1.
func envelopes(all ...event.Event) []event.Envelope {
	var envs []event.Envelope
	for i, e := range all {
		envs = append(envs, event.Envelope{Seq: uint64(i + 1), Time: int64(i), Session: "s", Task: 1, Payload: e})
	}
	return envs
}
