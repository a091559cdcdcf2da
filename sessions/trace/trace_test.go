package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
)

// add adds events of task 1, one every 100 ms.
func add(t *Trace, events ...event.Event) {
	for _, e := range events {
		t.Add(event.Envelope{Seq: uint64(t.Last + 1), Time: t.Last + 100, Task: 1, Payload: e})
	}
}

func TestTrace(t *testing.T) {
	var tr Trace
	add(&tr,
		event.PromptSubmitted{ID: 1, Text: "why\n does it fail?"}, event.TaskStarted{ID: 1, Kind: event.MainTask},
		event.TurnStarted{}, event.RequestStarted{}, event.ModelRetry{Why: "reset"},
		event.ResponseFinished{FirstMS: 300, PhaseMS: 1000}, event.MetricsUsage{Prompt: 100, Completion: 10, Cached: 60, Cost: 5},
		event.ToolRequested{CallID: "c1", Action: action.Action{Command: "go test ./..."}}, event.ApprovalAsked{ID: "a1", CallID: "c1"},
		event.ApprovalAnswered{ID: "a1", Decision: event.Once}, event.ToolResult{CallID: "c1", Name: "run_shell", DurationMS: 2500},
		event.ToolRequested{CallID: "c2", Arguments: "{}"}, event.ToolResult{CallID: "c2", Name: "grep", DurationMS: 5, IsError: true, Result: "no such file"},
		event.PromptSubmitted{ID: 2, Text: "steer"}, // belongs to the same exchange
		event.TurnStarted{}, event.RequestStarted{}, event.ResponseFinished{PhaseMS: 500}, event.MetricsUsage{Prompt: 200, Completion: 20, SessionUnpriced: 1},
		event.Error{Text: "disk full"}, event.TaskFinished{ID: 1, Outcome: event.Failed},
		event.PromptSubmitted{ID: 3, Text: "again"})
	want := Counts{
		Turns: 2, Requests: 2, Retries: 1, Calls: 2, Failed: 1, Asked: 1, Prompt: 300, Completion: 30, Cached: 60, Cost: 5, Unpriced: 1,
		Times: Times{Wait: 300, Stream: 1200, Tools: 2505, Approvals: 100},
	}
	if tr.Totals != want {
		t.Errorf("totals %+v, want %+v", tr.Totals, want)
	}
	if len(tr.Exchanges) != 2 || tr.Exchanges[0].Counts != want || tr.Exchanges[0].Text != "why does it fail?" || tr.Exchanges[0].Outcome != "failed" ||
		tr.Exchanges[0].Took != 1900 || tr.Exchanges[1].Outcome != "" || tr.Exchanges[1].Number != 2 {
		t.Errorf("exchanges %+v", tr.Exchanges)
	}
	if len(tr.Slowest) != 2 || tr.Slowest[0].What != "go test ./..." || tr.Slowest[1].What != "{}" {
		t.Errorf("slowest %+v", tr.Slowest)
	}
	var failures []string
	for _, f := range tr.Failures {
		failures = append(failures, f.Type+" "+f.Text)
	}
	if got := strings.Join(failures, "; "); got != "model.retry reset; tool.result grep: no such file; error disk full" {
		t.Errorf("failures %s", got)
	}
	if len(tr.Tools) != 2 || tr.Tools[1] != (Tool{"grep", 1, 1, 3, 5, 5}) {
		t.Errorf("tools %+v", tr.Tools)
	}
}

// A task that continues an interrupted exchange belongs to it: its turns and its outcome count there.
func TestTraceOfAnExchangeThatIsContinued(t *testing.T) {
	var tr Trace
	at := func(task int, e event.Event) {
		tr.Add(event.Envelope{Seq: uint64(tr.Last + 1), Time: tr.Last + 100, Task: task, Payload: e})
	}
	at(1, event.PromptSubmitted{ID: 1, Text: "go"})
	at(1, event.TaskStarted{ID: 1, Kind: event.MainTask})
	at(1, event.TurnStarted{Number: 1})
	at(0, event.SessionResumed{})
	at(2, event.TaskStarted{ID: 2, Kind: event.MainTask})
	at(2, event.Interrupted{Task: 2, CanContinue: true})
	at(2, event.TaskFinished{ID: 2, Outcome: event.Completed})
	if x := tr.Exchanges[0]; x.Outcome != "interrupted" {
		t.Errorf("while it waits for Continue: %+v", x)
	}
	at(3, event.TaskStarted{ID: 3, Kind: event.MainTask})
	at(3, event.TurnStarted{Number: 2})
	at(3, event.TaskFinished{ID: 3, Outcome: event.Completed})
	if x := tr.Exchanges[0]; len(tr.Exchanges) != 1 || x.Outcome != "completed" || x.Turns != 2 || x.Took != 900 {
		t.Errorf("%+v", tr.Exchanges)
	}
}

// The latest calls have their reasons and decisions, also in a session started by an earlier program, which recorded
// none.
func TestTraceOfDecisions(t *testing.T) {
	var tr Trace
	explained := event.DecisionExplained{
		CallID: "c2", Reasoning: "the log names it", From: event.FromText, Confidence: "high", Alternatives: []string{"ask"},
		Rules: []event.DecisionRule{{Rule: "workspace", Text: "allow: reads a file in the workspace"}},
	}
	add(&tr, event.ToolRequested{CallID: "c1", Name: "grep", Arguments: "{}"}, event.ToolResult{CallID: "c1", Name: "grep"},
		event.SessionResumed{},
		event.ToolRequested{CallID: "c2", Name: "read_file", Action: action.Action{Path: "/w/a"}}, explained, event.ToolResult{CallID: "c2", Name: "read_file"})
	if len(tr.Decisions) != 1 || tr.Decisions[0].Name != "read_file" || tr.Decisions[0].What != "/w/a" || fmt.Sprint(tr.Decisions[0].DecisionExplained) != fmt.Sprint(explained) {
		t.Errorf("%+v", tr.Decisions)
	}
	for range 2 * maxDecisions {
		add(&tr, explained)
	}
	if len(tr.Decisions) != maxDecisions {
		t.Errorf("%d decisions are kept", len(tr.Decisions))
	}
}

// Calls through use_tool count for the called tool.
func TestTraceOfToolsThatWereSearchedFor(t *testing.T) {
	var tr Trace
	add(&tr, event.ToolRequested{CallID: "c", Name: "use_tool", Action: action.Action{Tool: "db__find"}}, event.ToolResult{CallID: "c", Name: "use_tool", Result: strings.Repeat("x", 400)})
	if len(tr.Tools) != 1 || tr.Tools[0].Name != "db__find" || tr.Tools[0].Tokens != 100 {
		t.Errorf("%+v", tr.Tools)
	}
}

// The summary is bounded for any session, and Needs returns true for all types that count.
func TestTraceIsBounded(t *testing.T) {
	var tr Trace
	long := strings.Repeat("é", 10_000)
	explained := event.DecisionExplained{
		CallID: long, Reasoning: long, Confidence: long, Alternatives: slices.Repeat([]string{long}, 50),
		Rules: slices.Repeat([]event.DecisionRule{{Rule: long, Text: long}}, 50),
	}
	for i := range 5000 {
		id := fmt.Sprint(i)
		for _, e := range []event.Event{
			event.PromptSubmitted{Text: long},
			event.ToolRequested{CallID: id, Arguments: long},
			event.ToolRequested{CallID: "open" + id},
			event.ApprovalAsked{ID: id},
			event.QuestionAsked{ID: "q" + id},
			event.ToolResult{CallID: id, Name: "tool" + id, DurationMS: int64(i), IsError: true, Result: long},
			event.TaskFinished{ID: i, Outcome: event.Completed},
		} {
			if !Needs(event.Type(e)) {
				t.Fatalf("%s is not asked for", event.Type(e))
			}
			tr.Add(event.Envelope{Seq: 1, Time: 1, Task: i, Payload: e})
		}
		if i >= 5000-maxDecisions { // the last ones are kept
			tr.Add(event.Envelope{Seq: 1, Time: 1, Task: i, Payload: explained})
		}
	}
	data, err := json.Marshal(tr)
	if err != nil || len(data) > 300_000 {
		t.Errorf("the summary has %d bytes, error %v", len(data), err)
	}
	if asked, calls := len(tr.record.Asked), len(tr.record.Branches[0].Calls); asked > 10_000 || calls > 10_000 {
		t.Errorf("%d approvals and %d calls are kept", asked, calls)
	}
	if tr.Count != 5000 || tr.Totals.Calls != 5000 || tr.Slowest[0].Took != 4999 || tr.Tools[len(tr.Tools)-1].Name != "others" {
		t.Errorf("counted %d exchanges, %+v", tr.Count, tr.Totals)
	}
}

func BenchmarkAdd(b *testing.B) {
	b.ReportAllocs()
	var tr Trace
	result := event.ToolResult{CallID: "c", Name: "run_shell", DurationMS: 3, Result: strings.Repeat("x", 4096)}
	for b.Loop() {
		add(&tr, event.TurnStarted{}, event.RequestStarted{}, event.ResponseFinished{PhaseMS: 9}, event.ToolRequested{CallID: "c", Arguments: "{}"}, result)
	}
}
