package state

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
)

// script collects envelopes with increasing numbers and times.
type script struct{ envs []event.Envelope }

func (s *script) add(task int, payloads ...event.Event) {
	for _, p := range payloads {
		n := uint64(len(s.envs)) + 1
		s.envs = append(s.envs, event.Envelope{Seq: n, Time: 1_000 * int64(n), Session: "s", Task: task, Payload: p})
	}
}

// exchange adds one prompt with a reasoning answer, a call and a last answer, as a live screen receives it.
func (s *script) exchange(n int, decision event.Decision) {
	call, code := fmt.Sprintf("call_%d", n), n%2
	act := action.Action{Kind: action.Shell, Tool: "run_shell", Command: "make"}
	s.add(n,
		event.PromptSubmitted{ID: n, Text: fmt.Sprintf("prompt %d", n)},
		event.TaskQueued{ID: n, Kind: event.MainTask, Title: "main"},
		event.TaskStarted{ID: n, Kind: event.MainTask, Title: "main", Deadline: 5},
		event.ContextUsage{Estimated: n, Limit: 100, Percent: n},
		event.TurnStarted{TurnID: "t", Number: n},
		event.RequestStarted{Model: "m", Attempt: 1},
		event.ReasoningDelta{Text: "let "}, event.ReasoningDelta{Text: "me see"},
		event.TextDelta{Text: "I "}, event.TextDelta{Text: "will"},
		event.Checkpoint{Text: "I will", Reasoning: "let me see"},
		event.TextDelta{Text: " run"}, event.TextDelta{Text: " it"},
		event.CallDelta{CallID: call, Text: "{"},
		event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: "I will run it"}, Reasoning: "let me see"},
		event.ResponseFinished{FinishReason: "tool_calls", Calls: 1},
		event.MetricsUsage{Prompt: n},
		event.ToolRequested{CallID: call, Name: "run_shell", Arguments: "{}", Action: act},
		event.ApprovalAsked{ID: "a" + call, CallID: call, Action: act},
		event.ApprovalAnswered{ID: "a" + call, CallID: call, Decision: decision, By: "user"},
	)
	if decision == event.Once {
		s.add(n, event.PaneOpened{Pane: "%1", Title: "shell"},
			event.ToolStarted{CallID: call, Name: "run_shell", Pane: "%1"},
			event.ToolOutput{CallID: call, Stream: "stdout", Text: "line 1\n", BytesTotal: 7},
			event.PaneScreen{Pane: "%1", W: 80, H: 24, Rows: []string{"line 1"}},
			event.PromptSubmitted{ID: 100 + n, Text: "and then", Queued: true},
			event.ToolOutput{CallID: call, Stream: "stdout", Text: "line 2\n", BytesTotal: 14})
	}
	s.add(n,
		event.ToolResult{CallID: call, Name: "run_shell", Result: "out", ExitCode: &code, DurationMS: 7, Tail: "line 1\nline 2\n", IsError: decision == event.Deny},
		event.TurnFinished{TurnID: "t", Number: n},
		event.PromptWithdrawn{ID: 100 + n},
		event.TextDelta{Text: "Do"}, event.TextDelta{Text: "ne."},
		event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: "Done."}},
		event.TaskFinished{ID: n, Outcome: event.Completed},
	)
}

// realistic is a session with everything that can cross a division: a crash in the middle of an answer and with a
// running call, queued prompts, retries, panes that end.
func realistic() []event.Envelope {
	s := &script{}
	s.add(0, event.SessionCreated{Version: "1", Cwd: "/w", Model: "m", Title: "first"}, event.ModeChanged{Mode: action.ModeAsk})
	s.exchange(1, event.Once)
	s.exchange(2, event.Deny)
	s.add(3, event.Notice{Text: "hello"}, event.PromptSubmitted{ID: 3, Text: "third"},
		event.TaskStarted{ID: 3, Kind: event.MainTask, Title: "third"},
		event.PromptSubmitted{ID: 4, Text: "fourth", Queued: true}, event.PromptSubmitted{ID: 5, Text: "fifth", Queued: true},
		event.TextDelta{Text: "lost"}, event.Checkpoint{Text: "lost"}, event.ModelRetry{Attempt: 1, WaitMS: 500, Why: "reset"},
		event.ReasoningDelta{Text: "lost"}, event.TextDelta{Text: "lost"}, event.ModelStalled{TimeoutMS: 30_000}, event.Checkpoint{Text: "lost", Reasoning: "lost"},
		event.ModelFallback{From: "a", To: "b", Model: "m-b", Why: "overloaded"},
		event.TextDelta{Text: "first half"}, event.Checkpoint{Text: "first half"},
		event.TextDelta{Text: ", second half"},
		event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: "first half, second half"}},
		event.PromptSubmitted{ID: 4, Text: "fourth"},
		event.ToolRequested{CallID: "c8", Name: "read_file"}, event.ToolRequested{CallID: "c9", Name: "run_shell"},
		event.ToolStarted{CallID: "c8", Name: "read_file"}, event.ApprovalAsked{ID: "a9", CallID: "c9"},
		event.ToolResult{CallID: "c8", Name: "read_file", Result: "text"},
		event.ApprovalAnswered{ID: "a9", CallID: "c9", Decision: event.Once, By: "user"},
		event.TaskQueued{ID: 4, Kind: event.ShellTask, Title: "make"},
		event.ToolStarted{CallID: "c9", Name: "run_shell", Pane: "%1"},
		event.TextDelta{Text: "cut"}, event.Checkpoint{Text: "cut"})
	s.add(0, event.SessionResumed{Version: "2", Cwd: "/w", Model: "m2", Interrupted: true},
		event.Warning{Text: "line 7 is skipped", NextStep: "nothing"}, event.Error{Text: "no key"})
	s.add(3, event.ToolResult{CallID: "c9", Name: "run_shell", Result: "found again", Tail: "found again"},
		event.Interrupted{Task: 3, Text: "interrupted"},
		event.PaneLost{Pane: "%1", Why: "gone"}, event.PaneOpened{Pane: "%1", Title: "again"},
		event.PaneOpened{Pane: "%2", Title: "two"}, event.PaneClosed{Pane: "%2"},
		event.TaskStarted{ID: 4, Kind: event.ShellTask, Title: "make"}, event.TaskCancelling{ID: 4})
	s.exchange(6, event.Once)
	s.add(8, event.TaskStarted{ID: 8, Kind: event.MainTask}, event.ModelRetry{Attempt: 1, Of: 3, Why: "busy", Short: "529 overloaded"},
		event.ModelRetry{Attempt: 2, Of: 3, Why: "busy", Short: "529 overloaded"}, event.ModelMessage{Message: model.Message{Content: "at last"}},
		event.ModelRetry{Attempt: 1, Of: 3, Why: "busy", Short: "529 overloaded"}, event.ModelRetry{Attempt: 2, Of: 3, Why: "busy", Short: "529 overloaded"},
		event.Error{Text: "busy (tried 3 times)", Code: "task_failed", Raw: "{}"}, event.TaskFinished{ID: 8, Outcome: event.Failed})
	s.add(4, event.TaskFinished{ID: 4, Outcome: event.Cancelled}, event.MaxTurnsReached{Task: 6, Turns: 9})
	s.add(6, workflowRun()...)
	s.add(7, event.TaskStarted{ID: 7, Kind: event.MainTask}, event.ToolRequested{CallID: "c1", Name: "x"},
		event.ApprovalAsked{ID: "open", CallID: "c1"}, event.PromptSubmitted{ID: 9, Text: "waits", Queued: true},
		event.ModeChanged{Mode: action.ModeAll, Until: 99}, event.Checkpoint{Text: "an open answer"})
	return s.envs
}

func durable(envs []event.Envelope) []event.Envelope {
	return slices.DeleteFunc(slices.Clone(envs), func(e event.Envelope) bool { return !event.Durable(e.Payload) })
}

func replay(envs []event.Envelope) *State {
	s := new(State)
	for _, env := range envs {
		s.Apply(env)
	}
	return s
}

// shown holds the visible contents of a State.
type shown struct {
	Info      Info
	Blocks    []shownBlock
	Tasks     []Task
	Steps     []string // of workflows
	Approvals []event.ApprovalAsked
	Panes     []event.PaneOpened
	Lost      []string
	Queued    []event.PromptSubmitted
	Focused   string
}

type shownBlock struct {
	Kind Kind
	Text string
	Raw  string
	Open bool
	Call *Call
}

func show(s *State) shown {
	v := shown{Info: s.Info, Approvals: s.Approvals, Queued: s.Queued}
	v.Info.Last = 0 // transient events count as well
	for _, b := range s.Blocks {
		w := shownBlock{Kind: b.Kind, Text: string(b.Text), Raw: b.Raw, Open: b.Open}
		if b.Call != nil {
			c := *b.Call
			c.Output.Gen = 0
			w.Call = &c
		}
		v.Blocks = append(v.Blocks, w)
	}
	for _, t := range s.Tasks {
		task := *t
		if w := task.Workflow; w != nil {
			var steps []string
			for _, step := range w.Steps {
				steps = append(steps, step.Line())
			}
			v.Steps = append(v.Steps, fmt.Sprintf("#%d %s %s: %q", t.ID, w.Name, w.State, steps))
			task.Workflow = nil
		}
		v.Tasks = append(v.Tasks, task)
	}
	for _, p := range s.Panes {
		v.Panes, v.Lost = append(v.Panes, p.PaneOpened), append(v.Lost, p.Lost)
	}
	if s.Focused != nil {
		v.Focused = s.Focused.ID
	}
	return v
}

func wantSame(t testing.TB, what string, got, want *State) {
	t.Helper()
	opts := cmp.Options{cmp.Transformer("bytes", func(b []byte) string { return string(b) }), cmp.Transformer("empty", func(s []event.PromptSubmitted) string { return fmt.Sprint(s) }), cmp.Transformer("none", func(s []event.ApprovalAsked) string { return fmt.Sprint(s) })}
	if d := cmp.Diff(show(want), show(got), opts); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// Every event type has a case; an unknown type changes nothing.
func TestExhaustive(t *testing.T) {
	for _, e := range event.All {
		var s State
		s.Apply(event.Envelope{Seq: 1, Payload: e}) // an event without a case panics
		for _, env := range realistic() {
			s.Apply(env)
		}
		s.Apply(event.Envelope{Seq: 1000, Payload: e})
	}
	s, want := replay(realistic()), replay(realistic())
	if changed := s.Apply(event.Envelope{Seq: 1000, Payload: event.Unknown{Name: "future.fact", Raw: []byte("{}")}}); changed != 0 {
		t.Errorf("Apply(Unknown) = %b, want 0", changed)
	}
	if !reflect.DeepEqual(s, want) {
		t.Error("Unknown changed something")
	}
	defer func() {
		if recover() == nil {
			t.Error("an event without a case went unseen")
		}
	}()
	s.Apply(event.Envelope{Payload: unheardOf{}})
}

// TestFallbackIsTold: the text of the first model disappears, its calls stay as they ended.
func TestFallbackIsTold(t *testing.T) {
	var s State
	for i, e := range []event.Event{
		event.TaskStarted{ID: 1, Kind: event.MainTask},
		event.ReasoningDelta{Text: "a thought"},
		event.TextDelta{Text: "half an"},
		event.ToolRequested{CallID: "c1", Name: "look"},
		event.ToolStarted{CallID: "c1", Name: "look"},
		event.TextDelta{Text: " answer"},
		event.ModelStalled{TimeoutMS: 30_000},
		event.ToolResult{CallID: "c1", Name: "look", Result: "discarded", IsError: true},
		event.ModelFallback{From: "main", To: "spare", Model: "m-2", Why: "stream stalled"},
		event.TextDelta{Text: "a whole answer"},
		event.BudgetWarning{Kind: event.TurnBudget, Used: 16, Limit: 20, TopTools: []event.ToolUse{{Name: "grep", Tokens: 900}, {Name: "ls", Tokens: 1}}},
		event.BudgetWarning{Kind: event.CostBudget, Used: 400_000, Limit: 500_000},
		event.BudgetExceeded{Kind: event.CostBudget, Used: 520_000, Limit: 500_000},
		event.BudgetExceeded{Kind: event.TurnBudget, Used: 20, Limit: 20},
		event.MaxTurnsReached{Task: 1, Turns: 20, TopTools: []event.ToolUse{{Name: "grep", Tokens: 900, Calls: 3}, {Name: "ls", Tokens: 7, Calls: 1}}},
	} {
		s.Apply(event.Envelope{Seq: uint64(i) + 1, Task: 1, Payload: e})
	}
	var got []string
	for _, b := range s.Blocks {
		text := string(b.Text)
		if b.Call != nil {
			text = "call " + b.Call.Result
		}
		got = append(got, text)
	}
	want := []string{
		"call discarded", "stream stalled · using m-2 (spare) for some minutes", "a whole answer",
		"This prompt has used 16 of 20 turns · largest results: grep 900 tokens, ls 1 tokens",
		"This prompt has used $0.40 of $0.50", "Stopped: this prompt has used $0.52 of $0.50 · type a prompt to continue",
		"stopped after 20 turns (max_iterations) · largest results: grep 900 tokens in 3 calls, ls 7 tokens in 1 call · press Enter to continue",
	}
	if s.Info.Fallback != "m-2" {
		t.Errorf("the header names %q, want the model that answers", s.Info.Fallback)
	}
	if ch := s.Apply(event.Envelope{Seq: 99, Task: 1, Payload: event.FallbackEnded{From: "spare", To: "main"}}); ch&Header == 0 || s.Info.Fallback != "" {
		t.Errorf("after the fallback: %q, changed %b", s.Info.Fallback, ch)
	}
	if !s.Info.Interrupted {
		t.Error("Enter does not continue what stopped at the limit of turns")
	}
	if !slices.Equal(got, want) {
		t.Errorf("blocks %q\nwant   %q", got, want)
	}
}

// A compaction removes nothing from the shown conversation.
func TestCompactionKeepsTheConversation(t *testing.T) {
	s := &script{}
	s.exchange(1, event.Once)
	var before, after State
	for _, env := range s.envs {
		before.Apply(env)
		after.Apply(env)
	}
	after.Apply(event.Envelope{Seq: 1 << 20, Payload: event.ContextCompacted{Removed: 9, Before: 900, After: 400, Summary: "x", Boundary: 9}})
	was, is := show(&before).Blocks, show(&after).Blocks
	if len(was) == 0 || len(is) != len(was)+1 || !reflect.DeepEqual(is[:len(was)], was) {
		t.Errorf("blocks %+v\nbefore %+v", is, was)
	}
}

func TestCompactionIsTold(t *testing.T) {
	tests := []struct {
		e    event.Event
		want string
	}{
		{event.ContextCompacted{Removed: 1, Before: 900, After: 400, Summary: "x"}, "context compacted: 1 message became a summary, 900 → 400 tokens"},
		{event.ContextCompacted{Removed: 4, Before: 900, After: 400, Summary: "x"}, "context compacted: 4 messages became a summary, 900 → 400 tokens"},
		{event.ContextCompacted{Removed: 11, Turns: 3, Before: 900, After: 400, Summary: "x"}, "context compacted: 11 messages of 3 exchanges became a summary, 900 → 400 tokens"},
		{event.ContextCompacted{Removed: 4, Before: 900, After: 400}, "context compacted: 4 messages removed, 900 → 400 tokens"},
		{event.MicroCompacted{CallIDs: []string{"a", "b"}}, "2 old results compacted"},
	}
	for _, tt := range tests {
		var s State
		changed := s.Apply(event.Envelope{Seq: 1, Payload: tt.e})
		if changed != Conversation || len(s.Blocks) != 1 || string(s.Blocks[0].Text) != tt.want || s.Blocks[0].Kind != NoticeBlock {
			t.Errorf("Apply(%+v) = %b, %+v, want %q", tt.e, changed, s.Blocks, tt.want)
		}
	}
}

// A remark is a notice with its line.
func TestRemarksAreNotices(t *testing.T) {
	for _, e := range []event.Remark{
		event.Notice{Text: "n"},
		event.ContextHealed{Text: "without pictures"},
		event.ContextWithheld{Text: "a result is withheld"},
		event.GoalSet{Goal: "green tests"},
		event.GoalChecked{Met: true, Why: "they pass"},
	} {
		var s State
		changed := s.Apply(event.Envelope{Seq: 1, Payload: e})
		if changed != Conversation || len(s.Blocks) != 1 || s.Blocks[0].Kind != NoticeBlock || string(s.Blocks[0].Text) != e.Line() || e.Line() == "" {
			t.Errorf("Apply(%+v) = %b, %+v", e, changed, s.Blocks)
		}
	}
}

type unheardOf struct{ event.TurnStarted }

// The returned set covers everything that Apply changed.
func TestChangedBits(t *testing.T) {
	var s State
	old := show(&s)
	for _, env := range realistic() {
		c := s.Apply(env)
		now := show(&s)
		parts := []struct {
			name     string
			old, now any
			bit      Changed
		}{
			{"info", old.Info, now.Info, Header},
			{"tasks", old.Tasks, now.Tasks, Tasks},
			{"approvals", len(old.Approvals), len(now.Approvals), Approvals},
			{"panes", [2]any{old.Panes, old.Lost}, [2]any{now.Panes, now.Lost}, Panes},
			{"queue", len(old.Queued), len(now.Queued), Queue},
			{"blocks", old.Blocks, now.Blocks, Conversation | Output},
			{"focus", old.Focused, now.Focused, Output},
		}
		for _, p := range parts {
			if !reflect.DeepEqual(p.old, p.now) && c&p.bit == 0 {
				t.Errorf("event %d %T changed the %s and says %b", env.Seq, env.Payload, p.name, c)
			}
		}
		old = now
	}
}

// A session file gives the same screen as watching live.
func TestReplayIsLive(t *testing.T) {
	envs := realistic()
	for n := 1; n <= len(envs); n++ {
		switch envs[n-1].Payload.(type) {
		case event.TaskFinished, event.Checkpoint, event.SessionResumed:
			wantSame(t, fmt.Sprintf("up to event %d", n), replay(durable(envs[:n])), replay(envs[:n]))
		}
	}
}

// Reasoning that comes after text is moved to where a replay has it.
func TestReasoningAfterText(t *testing.T) {
	s := &script{}
	s.add(1, event.TextDelta{Text: "so"}, event.Notice{Text: "n"}, event.ReasoningDelta{Text: "hm"}, event.TextDelta{Text: "!"},
		event.Checkpoint{Text: "so!", Reasoning: "hm"}, event.ReasoningDelta{Text: "m"},
		event.ModelMessage{Message: model.Message{Content: "so!"}, Reasoning: "hmm"})
	var got []string
	for _, b := range replay(s.envs).Blocks {
		got = append(got, string(b.Text))
	}
	if want := "hmm so! n"; strings.Join(got, " ") != want {
		t.Errorf("blocks %q, want %q", got, want)
	}
}

// A screen's own report that its host died keeps an interrupted answer open for the next host, which reports how much
// of it is kept.
func TestAnswerOfALostHostShowsOnce(t *testing.T) {
	s := &script{}
	s.add(1, event.TaskStarted{ID: 1, Kind: event.MainTask}, event.TextDelta{Text: "so far and lost"})
	s.add(0, event.SessionResumed{}, event.Error{Text: "it has ended"}, event.Interrupted{Text: "what ran was interrupted", CanContinue: true},
		event.Interrupted{Text: "the session continues in a new process"}, event.SessionResumed{})
	s.add(2, event.TaskStarted{ID: 2, Kind: event.MainTask}, event.ModelMessage{Message: model.Message{Content: "so far"}, Partial: true},
		event.Interrupted{Task: 2, Text: "interrupted"}, event.TaskFinished{ID: 2})
	var got []string
	for _, b := range replay(s.envs).Blocks {
		if b.Kind == AssistantBlock {
			got = append(got, fmt.Sprint(string(b.Text), b.Open))
		}
	}
	if !slices.Equal(got, []string{"so farfalse"}) {
		t.Errorf("answers %q", got)
	}
}

// The end of a parallel shell command does not close the streaming answer.
func TestShellTaskBesideAnAnswer(t *testing.T) {
	s := &script{}
	s.add(1, event.TaskStarted{ID: 1, Kind: event.MainTask}, event.TextDelta{Text: "so "})
	s.add(2, event.TaskStarted{ID: 2, Kind: event.ShellTask, Title: "npm run dev"}, event.TaskFinished{ID: 2, Outcome: event.Completed})
	s.add(1, event.TextDelta{Text: "far"})
	got := replay(s.envs)
	if last := got.Blocks[len(got.Blocks)-1]; string(last.Text) != "so far" || !last.Open || got.Running() == nil || got.Running().ID != 1 {
		t.Errorf("block %q, open %v, running %+v", last.Text, last.Open, got.Running())
	}
}

// Merged deltas give the same state as single ones.
func TestMergedDeltas(t *testing.T) {
	envs := realistic()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var merged []event.Envelope
		for _, env := range envs {
			if n := len(merged); n > 0 && rnd.IntN(2) == 0 {
				if p, ok := merge(merged[n-1].Payload, env.Payload); ok {
					env.Payload = p // with the last number
					merged[n-1] = env
					continue
				}
			}
			merged = append(merged, env)
		}
		wantSame(t, "merged", replay(merged), replay(envs))
	}
}

func merge(a, b event.Event) (event.Event, bool) {
	switch a := a.(type) {
	case event.TextDelta:
		if b, ok := b.(event.TextDelta); ok {
			return event.TextDelta{Text: a.Text + b.Text}, true
		}
	case event.ReasoningDelta:
		if b, ok := b.(event.ReasoningDelta); ok {
			return event.ReasoningDelta{Text: a.Text + b.Text}, true
		}
	case event.ToolOutput:
		if b, ok := b.(event.ToolOutput); ok && a.CallID == b.CallID {
			b.Text = a.Text + b.Text
			return b, true
		}
	}
	return nil, false
}

// Events in any order, any number of times, never panic and keep the limits.
func TestRandomOrder(t *testing.T) {
	envs := realistic()
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		var s State
		if seed%2 == 0 {
			s.ApplyTail(nil)
		}
		for range 300 {
			if rnd.IntN(50) == 0 {
				i := rnd.IntN(len(envs))
				s.Prepend(envs[i:min(i+rnd.IntN(5), len(envs))])
			}
			s.Apply(envs[rnd.IntN(len(envs))])
		}
		s.Running()
		if len(s.Tasks) > maxFinished+10 || len(s.live) > maxLive {
			t.Fatalf("seed %d: %d tasks, %d outputs", seed, len(s.Tasks), len(s.live))
		}
		for _, b := range s.Blocks {
			if (b.Kind == ToolBlock) != (b.Call != nil) || b.Open && b != s.open.text && b != s.open.reasoning {
				t.Fatalf("seed %d: block %+v", seed, b)
			}
		}
	}
}

// An approval is settled once; the first answer wins.
func TestApprovals(t *testing.T) {
	ask := event.ApprovalAsked{ID: "a1", CallID: "c1"}
	yes := event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Once}
	no := event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Deny}
	cancelled := event.ApprovalAnswered{ID: "a1", CallID: "c1", Decision: event.Deny, By: "cancel"}
	other := event.ApprovalAsked{ID: "a2", CallID: "c2"}
	tests := []struct {
		name   string
		events []event.Event
		want   int
		call   CallState
		task   TaskState
	}{
		{"asked", []event.Event{ask}, 1, CallWaiting, TaskWaiting},
		{"settled", []event.Event{ask, yes}, 0, CallRequested, TaskRunning},
		{"denied", []event.Event{ask, no}, 0, CallDenied, TaskRunning},
		{"cancelled", []event.Event{ask, cancelled}, 0, CallCancelled, TaskRunning},
		{"cancelled and its result", []event.Event{ask, cancelled, event.ToolResult{CallID: "c1", IsError: true}}, 0, CallCancelled, TaskRunning},
		{"settled twice", []event.Event{ask, yes, yes}, 0, CallRequested, TaskRunning},
		{"settled before asked", []event.Event{yes, ask}, 1, CallWaiting, TaskWaiting},
		{"one of two", []event.Event{ask, other, yes}, 1, CallRequested, TaskWaiting},
		{"answered, then denied", []event.Event{ask, yes, no}, 0, CallRequested, TaskRunning},
		{"answered late, when it runs", []event.Event{ask, yes, event.ToolStarted{CallID: "c1"}, no}, 0, CallRunning, TaskRunning},
		{"denied and its result", []event.Event{ask, no, event.ToolResult{CallID: "c1", IsError: true}}, 0, CallDenied, TaskRunning},
		{"resumed", []event.Event{ask, event.SessionResumed{}}, 0, CallWaiting, TaskDone},
	}
	for _, tt := range tests {
		sc := &script{}
		sc.add(1, event.TaskStarted{ID: 1, Kind: event.MainTask}, event.ToolRequested{CallID: "c1"})
		sc.add(1, tt.events...)
		s := replay(sc.envs)
		if len(s.Approvals) != tt.want || s.Blocks[0].Call.State != tt.call || s.Tasks[0].State != tt.task {
			t.Errorf("%s: %d open, call %d, task %d, want %d, %d, %d", tt.name, len(s.Approvals), s.Blocks[0].Call.State, s.Tasks[0].State, tt.want, tt.call, tt.task)
		}
	}
}

// A call that starts again in the sandbox shows only the new output.
func TestSecondStartOfACallBeginsItsOutputAnew(t *testing.T) {
	sc := &script{}
	sc.add(1, event.ToolRequested{CallID: "c"}, event.ToolStarted{CallID: "c", Dir: "1"}, event.ToolOutput{CallID: "c", Text: "stopped"},
		event.ToolStarted{CallID: "c", Dir: "2", Fenced: true}, event.ToolOutput{CallID: "c", Text: "works"})
	if c := replay(sc.envs).Blocks[0].Call; string(c.Output.Buf) != "works" || c.Dir != "2" || c.State != CallRunning {
		t.Errorf("shows %q of %q in state %d", c.Output.Buf, c.Dir, c.State)
	}
}

// Output is bounded: 64 KiB per call, 16 finished calls.
func TestOutputBounds(t *testing.T) {
	var s State
	seq := uint64(0)
	apply := func(p event.Event) {
		seq++
		s.Apply(event.Envelope{Seq: seq, Payload: p})
	}
	for n := range 40 {
		id := fmt.Sprint(n)
		apply(event.ToolRequested{CallID: id})
		apply(event.ToolStarted{CallID: id})
		total := int64(0)
		for _, size := range []int{1, tailLimit - 1, 1, tailLimit, tailLimit + 1, 5 * tailLimit, 100} {
			text := strings.Repeat("x", size-1) + "e"
			total += int64(size)
			apply(event.ToolOutput{CallID: id, Text: text, BytesTotal: total})
			out := s.Focused.Output
			if len(out.Buf) > tailLimit || out.Dropped+int64(len(out.Buf)) != total || out.Buf[len(out.Buf)-1] != 'e' {
				t.Fatalf("after %d bytes: %d kept, %d dropped", total, len(out.Buf), out.Dropped)
			}
			if cap(out.Buf) > 4*tailLimit {
				t.Fatalf("%d bytes are held", cap(out.Buf))
			}
		}
		gen := s.Focused.Output.Gen
		apply(event.ToolResult{CallID: id, Tail: "the end"})
		if string(s.Focused.Output.Buf) != "the end" || s.Focused.Output.Gen == gen {
			t.Fatalf("output %q", s.Focused.Output.Buf)
		}
	}
	held := 0
	for _, b := range s.Blocks {
		if len(b.Call.Output.Buf) > 0 {
			held++
		}
	}
	if held != maxLive {
		t.Errorf("%d calls hold output, want %d", held, maxLive)
	}
}

// The size of the full output determines how much the tail dropped, live and replayed.
func TestDroppedAfterResult(t *testing.T) {
	text := strings.Repeat("x", 3*tailLimit)
	sc := &script{}
	sc.add(1, event.ToolRequested{CallID: "c"}, event.ToolOutput{CallID: "c", Text: text},
		event.ToolResult{CallID: "c", Tail: text[:tailLimit], FullOutput: &action.FullOutput{Bytes: int64(len(text))}})
	for _, envs := range [][]event.Envelope{sc.envs, durable(sc.envs)} {
		if out := replay(envs).Blocks[0].Call.Output; out.Dropped != 2*tailLimit {
			t.Errorf("%d bytes dropped, want %d", out.Dropped, 2*tailLimit)
		}
	}
}

// Collapsed frames are not missing output, however many bytes the file has.
func TestFramesAreNotDropped(t *testing.T) {
	for text, dropped := range map[int64]int64{4: 0, 10: 6} {
		sc := &script{}
		sc.add(1, event.ToolRequested{CallID: "c"}, event.ToolOutput{CallID: "c", Text: strings.Repeat("\r 1%", 1000)},
			event.ToolResult{CallID: "c", Tail: "100%", FullOutput: &action.FullOutput{Bytes: 5000, Text: text}})
		for _, envs := range [][]event.Envelope{sc.envs, durable(sc.envs)} {
			if out := replay(envs).Blocks[0].Call.Output; out.Dropped != dropped || string(out.Buf) != "100%" {
				t.Errorf("%q, %d bytes dropped, want %d", out.Buf, out.Dropped, dropped)
			}
		}
	}
}

// What ran during a crash has ended; an interrupted answer waits for the runtime to report how much of it is kept, and
// prompts stay queued.
func TestResumedEndsAll(t *testing.T) {
	envs := realistic()
	i := slices.IndexFunc(envs, func(e event.Envelope) bool { _, ok := e.Payload.(event.SessionResumed); return ok })
	s := replay(envs[:i])
	if s.Running() == nil || len(s.Queued) == 0 || !s.Blocks[len(s.Blocks)-1].Open {
		t.Fatal("nothing was open before")
	}
	s.Info.Mode = action.ModeAll
	s.Apply(envs[i])
	if s.Running() != nil || len(s.Queued) != 1 || len(s.Approvals) > 0 || s.Info.Mode != action.ModeAsk {
		t.Errorf("after resume: %+v", show(s))
	}
	last := s.Blocks[len(s.Blocks)-1]
	if !last.Open {
		t.Fatalf("block %q is closed", last.Text)
	}
	blocks := len(s.Blocks)
	s.Apply(event.Envelope{Seq: 1 << 40, Payload: event.ModelMessage{Message: model.Message{Content: "cut off"}, Partial: true}})
	if len(s.Blocks) != blocks || last.Open || string(last.Text) != "cut off" {
		t.Errorf("the kept answer is %q, open %v, in %d blocks instead of %d", last.Text, last.Open, len(s.Blocks), blocks)
	}
	if s.Info.Event.Title != "first" || s.Info.Event.Model != "m2" {
		t.Errorf("info %+v", s.Info.Event)
	}
}

// A fork names its origin; a title set by the user is the session's.
func TestForkedAndRenamed(t *testing.T) {
	var s State
	for i, p := range []event.Event{
		event.SessionCreated{Title: "a"}, event.SessionForked{From: "7f3a"}, event.SessionRenamed{Title: "b"}, event.SessionResumed{},
	} {
		s.Apply(event.Envelope{Seq: uint64(i + 1), Payload: p})
	}
	if s.Info.Event.Title != "b" || len(s.Blocks) != 1 || !strings.Contains(string(s.Blocks[0].Text), "7f3a") {
		t.Errorf("title %q, blocks %+v", s.Info.Event.Title, s.Blocks)
	}
}
