package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/record"
	"buddy/agent/redact"
	"buddy/agent/settings"
	"buddy/tools"
)

// script is a model that follows a script, one step per request.
type script struct {
	mu       sync.Mutex
	steps    []func(ctx context.Context, yield func(model.Delta, error) bool)
	requests []model.Request
}

func (*script) Info() model.Info { return model.Info{Profile: "test", Model: "scripted", Window: 1000} }

func (s *script) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	req.Messages = slices.Clone(req.Messages)
	s.requests = append(s.requests, req)
	if len(s.steps) == 0 {
		return func(yield func(model.Delta, error) bool) { yield(model.Delta{}, errors.New("the script is over")) }
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	return func(yield func(model.Delta, error) bool) { step(ctx, yield) }
}

type step = func(ctx context.Context, yield func(model.Delta, error) bool)

// says answers with a text and calls; a call is "id name args".
func says(text string, calls ...string) step {
	return func(_ context.Context, yield func(model.Delta, error) bool) {
		m := model.Message{Role: model.Assistant, Content: text}
		for _, c := range calls {
			m.ToolCalls = append(m.ToolCalls, toolCall(c))
		}
		for w := range strings.SplitAfterSeq(text, " ") {
			if w != "" && !yield(model.Delta{Kind: model.Text, Text: w}, nil) {
				return
			}
		}
		yield(model.Delta{Kind: model.Done, Message: &m, Finish: "stop", Usage: &model.Usage{Prompt: 10, Completion: 2}}, nil)
	}
}

// hangs answers with a text, and then hangs until it is cancelled.
func hangs(text string) step {
	return func(ctx context.Context, yield func(model.Delta, error) bool) {
		if yield(model.Delta{Kind: model.Text, Text: text}, nil) {
			<-ctx.Done()
			yield(model.Delta{}, ctx.Err())
		}
	}
}

func fails(text string, err error) step {
	return func(_ context.Context, yield func(model.Delta, error) bool) {
		if yield(model.Delta{Kind: model.Text, Text: text}, nil) {
			yield(model.Delta{}, err)
		}
	}
}

const aCall = `c1 do {"kind":"file_read","do":"echo"}`

// ends answers "half" and an optional call, with a finish reason.
func ends(finish, call string) step {
	return func(_ context.Context, yield func(model.Delta, error) bool) {
		m := model.Message{Content: "half"}
		if call != "" {
			m.ToolCalls = []model.ToolCall{toolCall(call)}
		}
		yield(model.Delta{Kind: model.Done, Message: &m, Finish: finish}, nil)
	}
}

// toolCall parses "id name args".
func toolCall(c string) model.ToolCall {
	f := strings.SplitN(c, " ", 3)
	return model.ToolCall{ID: f[0], Name: f[1], Arguments: f[2]}
}

// fakeTool behaves as its arguments request: {"kind":"file_read|shell","do":"echo|hang|fail|panic"}.
type fakeTool struct {
	mu  sync.Mutex
	ran []string
}

func (*fakeTool) Definition() model.ToolDef {
	return model.ToolDef{Name: "do", Parameters: json.RawMessage(`{"type":"object"}`)}
}

type fakeArgs struct {
	Kind, Do string
	Par      bool
	Seconds  int
}

func (*fakeTool) Parallel(c tools.Call) bool {
	var a fakeArgs
	_ = json.Unmarshal([]byte(c.Arguments), &a)
	return a.Par
}

func (*fakeTool) Plan(c tools.Call) (action.Action, error) {
	var a fakeArgs
	if err := json.Unmarshal([]byte(c.Arguments), &a); err != nil {
		return action.Action{}, fmt.Errorf("invalid arguments: %w", err)
	}
	return action.Action{Kind: action.Kind(a.Kind), Tool: "do", Path: "/w/file", Command: "./" + a.Do}, nil
}

func (f *fakeTool) Run(ctx context.Context, c tools.Call) tools.Result {
	var a fakeArgs
	_ = json.Unmarshal([]byte(c.Arguments), &a)
	f.mu.Lock()
	f.ran = append(f.ran, c.ID)
	f.mu.Unlock()
	switch a.Do {
	case "hang":
		<-ctx.Done()
		return tools.Result{Content: "operation cancelled by user", IsError: true}
	case "sleep":
		select {
		case <-time.After(time.Duration(a.Seconds) * time.Second):
		case <-ctx.Done():
			return tools.Result{Content: "operation cancelled by user", IsError: true}
		}
	case "panic":
		panic("boom")
	case "fail":
		return tools.Result{Content: "Tool error: it broke", IsError: true}
	case "retry":
		return tools.Result{Content: "use another path", IsError: true, Retry: true}
	}
	c.Output(tools.Chunk{Stream: tools.Stdout, Text: []byte("live"), Total: 4})
	return tools.Result{Content: "done " + c.ID}
}

func (f *fakeTool) Recover(_ context.Context, c tools.Call) tools.Result {
	return tools.Result{Content: "recovered from " + c.Dir}
}

// heldJournal is an in-memory journal that can fail.
type heldJournal struct {
	mu     sync.Mutex
	events []event.Envelope
	err    error
	full   string // type of the first event that finds no space
}

func (m *heldJournal) Append(env event.Envelope) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if event.Type(env.Payload) == m.full {
		m.err = errDiskFull
	}
	if m.err != nil {
		return m.err
	}
	// Encode as JSON, so that a resume reads the same as from a file.
	line, err := json.Marshal(env)
	if err != nil {
		return err
	}
	var back event.Envelope
	if err := json.Unmarshal(line, &back); err != nil {
		return err
	}
	m.events = append(m.events, back)
	return nil
}

func (m *heldJournal) Range(after uint64, f func(event.Envelope) bool) error {
	m.mu.Lock()
	events := slices.Clone(m.events)
	m.mu.Unlock()
	for _, env := range events {
		if env.Seq > after && !f(env) {
			break
		}
	}
	return nil
}

// session is a runtime under test.
type session struct {
	*Runtime
	t     *testing.T
	model *script
	tool  *fakeTool
	mem   *heldJournal
	mu    sync.Mutex
	seen  []event.Envelope
	ended chan struct{}
}

// start runs a session; inside a synctest bubble.
func start(t *testing.T, change func(*Options), steps ...step) *session {
	t.Helper()
	s := &session{t: t, model: &script{steps: steps}, tool: &fakeTool{}, mem: &heldJournal{}, ended: make(chan struct{})}
	o := Options{Session: "s1", Model: s.model, Tools: tools.NewRegistry(s.tool), Limits: settings.Limits{MaxIterations: 20}, Journal: s.mem, Places: Places{OutDir: "/out"}}
	o.Policy.Workspace = "/w"
	if change != nil {
		change(&o)
	}
	s.Runtime = New(o)
	events := s.Subscribe(t.Context())
	go func() {
		defer close(s.ended)
		for env := range events {
			s.mu.Lock()
			s.seen = append(s.seen, env)
			s.mu.Unlock()
		}
	}()
	s.Start()
	synctest.Wait()
	return s
}

// do sends commands and waits until the session is idle.
func (s *session) do(commands ...event.Command) {
	for _, c := range commands {
		s.Send(c)
	}
	synctest.Wait()
}

// stop closes the session and checks its invariants.
func (s *session) stop() {
	s.t.Helper()
	if err := s.Close(s.t.Context()); err != nil {
		s.t.Error(err)
	}
	<-s.ended
	last := uint64(0)
	for _, env := range s.seen {
		if env.Seq <= last {
			s.t.Errorf("event %s has number %d after %d", event.Type(env.Payload), env.Seq, last)
		}
		last = env.Seq
	}
	for _, req := range s.model.requests {
		checkPairs(s.t, req.Messages)
	}
}

func checkPairs(t *testing.T, msgs []model.Message) {
	t.Helper()
	for i := 0; i < len(msgs); i++ {
		if msgs[i].Role == model.Tool {
			t.Errorf("message %d: a result without a call", i)
		}
		for _, c := range msgs[i].ToolCalls {
			i++
			if i >= len(msgs) || msgs[i].ToolCallID != c.ID {
				t.Errorf("call %s has no result", c.ID)
			}
		}
	}
}

// types lists the types of events, one per line, from the first of a kind on.
func (s *session) types(from string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, env := range s.seen {
		if name := event.Type(env.Payload); name == from || len(out) > 0 {
			out = append(out, name)
		}
	}
	return out
}

func find[T event.Event](s *session) (last T, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, env := range s.seen {
		if p, ok := env.Payload.(T); ok {
			last = p
			n++
		}
	}
	return last, n
}

// results returns the contents of the tool messages of the last request.
func (s *session) results() []string {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	var out []string
	for _, m := range s.model.requests[len(s.model.requests)-1].Messages {
		if m.Role == model.Tool {
			out = append(out, m.Content)
		}
	}
	return out
}

func TestGoldenOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("let me look ", `c1 do {"kind":"shell","do":"echo"}`), says("all well"))
		s.do(event.Submit{Text: "look"})
		asked, n := find[event.ApprovalAsked](s)
		if n != 1 || asked.Action.Command != "./echo" || asked.Verdict.Reason == "" {
			t.Fatalf("approvals asked: %d, %+v", n, asked)
		}
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
		s.wantOrder("prompt.submitted", `
			prompt.submitted task.queued task.started context.usage turn.started model.request_started model.text_delta
			model.message model.response_finished metrics.usage tool.requested approval.asked approval.answered decision.explained tool.started
			tool.output tool.result turn.finished context.usage turn.started model.request_started model.text_delta
			model.message model.response_finished metrics.usage turn.finished context.usage task.finished exchange.finished`)
		done, _ := find[event.TaskFinished](s)
		if done.Outcome != event.Completed {
			t.Errorf("outcome %s, want completed", done.Outcome)
		}
		if got := s.results(); !slices.Equal(got, []string{"done c1"}) {
			t.Errorf("results %q", got)
		}
		if u, _ := find[event.MetricsUsage](s); u.SessionPrompt != 20 || u.SessionCompletion != 4 {
			t.Errorf("usage %+v, want 20 and 4 for the session", u)
		}
		s.stop()
	})
}

func TestToolFailuresGoToTheModel(t *testing.T) {
	tests := []struct{ name, call, want string }{
		{"unknown tool", `c1 nothing {}`, "Tool error: unknown tool: nothing (have: do)"},
		{"arguments are not JSON", `c1 do {oops`, "Tool error: invalid arguments: invalid character 'o' looking for beginning of object key string"},
		{"tool fails", `c1 do {"kind":"file_read","do":"fail"}`, "Tool error: it broke"},
		{"tool panics", `c1 do {"kind":"file_read","do":"panic"}`, "Tool error: do failed inside: boom"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, nil, says("", tt.call), says("ok"))
				s.do(event.Submit{Text: "go"})
				if got := s.results(); !slices.Equal(got, []string{tt.want}) {
					t.Errorf("results %q, want %q", got, tt.want)
				}
				s.stop()
			})
		})
	}
}

func TestDenial(t *testing.T) {
	tests := []struct {
		name string
		cmd  func(id string) event.Command
		want string
	}{
		{"by the person", func(id string) event.Command { return event.AnswerApproval{ID: id, Decision: event.Deny} }, "Command execution denied by user."},
		{"with a reason", func(id string) event.Command {
			return event.AnswerApproval{ID: id, Decision: event.Deny, Reason: "use make"}
		}, "Command execution denied by user. Reason: use make"},
		{"by mode none", func(string) event.Command { return event.SetMode{Mode: action.ModeNone} }, "Denied by the policy, nothing ran: none mode denies everything that needs approval: runs the program ./echo"},
		{"mode all runs it", func(string) event.Command { return event.SetMode{Mode: action.ModeAll} }, "done c1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, nil, says("", `c1 do {"kind":"shell","do":"echo"}`), says("ok"))
				s.do(event.Submit{Text: "go"})
				asked, _ := find[event.ApprovalAsked](s)
				s.do(tt.cmd(asked.ID))
				if got := s.results(); !slices.Equal(got, []string{tt.want}) {
					t.Errorf("results %q, want %q", got, tt.want)
				}
				s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once}) // late
				if e, n := find[event.Error](s); n != 1 || !strings.Contains(e.Text, "was already answered") {
					t.Errorf("late answer: %d errors, %+v", n, e)
				}
				s.stop()
			})
		})
	}
}

func TestModeExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("", `c1 do {"kind":"shell","do":"echo"}`), says("ok"), says("", `c2 do {"kind":"shell","do":"echo"}`), says("ok"))
		s.do(event.SetMode{Mode: action.ModeAll, Duration: time.Minute}, event.Submit{Text: "one"})
		if _, n := find[event.ApprovalAsked](s); n != 0 {
			t.Errorf("asked %d times within the minute", n)
		}
		time.Sleep(time.Minute)
		s.do(event.Submit{Text: "two"})
		if _, n := find[event.ApprovalAsked](s); n != 1 {
			t.Errorf("asked %d times after the minute, want once", n)
		}
		s.stop()
	})
}

func TestCancel(t *testing.T) {
	tests := []struct {
		name    string
		steps   []step
		history string // roles and contents of the next request
	}{
		{"while the model answers", []step{hangs("half ")}, "user:go assistant:half  user:next"},
		{
			"while a tool runs",
			[]step{says("", `c1 do {"kind":"file_read","do":"echo"}`, `c2 do {"kind":"file_read","do":"hang"}`, `c3 do {"kind":"file_read","do":"echo"}`)},
			"user:go assistant: tool:done c1 tool:operation cancelled by user tool:operation cancelled by user user:next",
		},
		{
			"while a person is asked",
			[]step{says("", `c1 do {"kind":"shell","do":"echo"}`, `c2 do {"kind":"shell","do":"echo"}`)},
			"user:go assistant: tool:operation cancelled by user tool:operation cancelled by user user:next",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, nil, append(tt.steps, says("fine"))...)
				s.do(event.Submit{Text: "go"})
				s.do(event.Cancel{})
				if f, n := find[event.TaskFinished](s); n != 1 || f.Outcome != event.Cancelled {
					t.Errorf("%d tasks finished, %+v, want cancelled", n, f)
				}
				if i, n := find[event.Interrupted](s); n != 1 || i.Text != "interrupted" {
					t.Errorf("%d times, the person reads %q, and not what the model is told", n, i.Text)
				}
				s.do(event.Submit{Text: "next"})
				var got []string
				for _, m := range s.model.requests[len(s.model.requests)-1].Messages {
					got = append(got, string(m.Role)+":"+m.Content)
				}
				if strings.Join(got, " ") != tt.history {
					t.Errorf("history %q\nwant    %q", strings.Join(got, " "), tt.history)
				}
				_, asked := find[event.ApprovalAsked](s)
				if _, answered := find[event.ApprovalAnswered](s); asked != answered {
					t.Errorf("%d approvals asked, %d answered", asked, answered)
				}
				s.stop()
			})
		})
	}
}

func TestModelFailure(t *testing.T) { // bad input: stream cut
	tests := []struct {
		name string
		step step
		want string
	}{
		{"error", fails("some ", errors.New("connection reset")), "connection reset"},
		{
			"no end", func(_ context.Context, yield func(model.Delta, error) bool) {
				yield(model.Delta{Kind: model.Text, Text: "some "}, nil)
			},
			`model "scripted": the answer ended before it was complete`,
		},
		{"token limit", ends(model.FinishLength, aCall), "the answer was cut off at the model's output limit; ask the model to continue, or ask for less"},
		{"content filter", ends(model.FinishContentFilter, aCall), "the provider's content filter stopped the answer; it may also refuse later prompts: /rewind removes this one"},
		{"panic", func(context.Context, func(model.Delta, error) bool) { panic("adapter") }, "internal error: adapter"},
	}
	nudged := map[string]bool{"token limit": true}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				steps := []step{tt.step, tt.step, tt.step, tt.step} // three more attempts
				if !nudged[tt.name] {
					steps = steps[:1]
				}
				s := start(t, nil, append(steps, says("fine"))...)
				s.do(event.Submit{Text: "go"})
				f, n := find[event.TaskFinished](s)
				if n != 1 || f.Outcome != event.Failed || f.Error != tt.want {
					t.Errorf("%d finished, %+v, want failed with %q", n, f, tt.want)
				}
				if _, n := find[event.Error](s); n != 1 || len(s.tool.ran) != 0 {
					t.Errorf("%d errors, want one; ran %v, want nothing", n, s.tool.ran)
				}
				s.do(event.Submit{Text: "again"})
				if f, _ := find[event.TaskFinished](s); f.Outcome != event.Completed {
					t.Errorf("the next prompt ended %s", f.Outcome)
				}
				s.stop()
			})
		})
	}
}

func TestMaxTurns(t *testing.T) { // exactly that many model calls
	synctest.Test(t, func(t *testing.T) {
		var steps []step
		for i := range 5 {
			steps = append(steps, says("", fmt.Sprintf(`c%d do {"kind":"file_read","do":"echo"}`, i)))
		}
		s := start(t, func(o *Options) { o.MaxIterations = 3 }, steps...)
		s.do(event.Submit{Text: "loop"})
		if n := len(s.model.requests); n != 3 {
			t.Errorf("%d model calls, want 3", n)
		}
		if f, _ := find[event.TaskFinished](s); f.Outcome != event.MaxTurns {
			t.Errorf("outcome %s, want max_turns", f.Outcome)
		}
		s.stop()
	})
}

func TestQueuedPromptsSteer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("", `c1 do {"kind":"shell","do":"echo"}`), says("ok"), says("ok"))
		s.do(event.Submit{Text: "go"})
		s.do(event.Submit{Text: "also a"}, event.Submit{Text: "also b"}, event.Submit{Text: "not this"}, event.Unqueue{ID: 4})
		asked, _ := find[event.ApprovalAsked](s)
		s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
		var users []string
		for _, m := range s.model.requests[1].Messages {
			if m.Role == model.User {
				users = append(users, m.Content)
			}
		}
		if !slices.Equal(users, []string{"go", "also a", "also b"}) {
			t.Errorf("user messages %q", users)
		}
		s.stop()
	})
}

func TestQueuedPromptStartsItsOwnExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		wait := func(ctx context.Context, yield func(model.Delta, error) bool) {
			<-release
			says("one")(ctx, yield)
		}
		s := start(t, nil, wait, says("two"), says("three"))
		s.do(event.Submit{Text: "a"}, event.Submit{Text: "b"}, event.Submit{Text: "c"})
		close(release)
		synctest.Wait()
		if _, n := find[event.TaskFinished](s); n != 3 {
			t.Errorf("%d exchanges, want 3", n)
		}
		if got := len(s.model.requests[2].Messages); got != 5 {
			t.Errorf("the last request has %d messages, want 5", got)
		}
		s.stop()
	})
}

func TestBadCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil)
		s.do(event.Submit{Text: " \n"}, event.Unqueue{ID: 9}, event.Continue{}, event.Cancel{}, event.Cancel{Task: 7},
			event.AnswerApproval{ID: "x", Decision: "maybe"}, event.SetMode{Mode: "yolo"}, event.WatchPanes{}, nil)
		if _, n := find[event.Error](s); n != 8 {
			t.Errorf("%d errors, want 8", n)
		}
		s.stop()
	})
}

func TestSwitchModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := &script{steps: []step{says("from the other")}}
		s := start(t, func(o *Options) {
			o.Models = func(profile, _ string) (model.Model, error) {
				if profile != "other" {
					return nil, fmt.Errorf("no profile %q", profile)
				}
				return other, nil
			}
		}, says("one"), hangs("two"))
		s.do(event.Submit{Text: "a"}, event.SwitchModel{Profile: "nobody"})
		if e, n := find[event.Error](s); n != 1 || !strings.Contains(e.Text, "nobody") {
			t.Errorf("unknown profile: %d errors, %+v", n, e)
		}
		s.do(event.Submit{Text: "b"})
		s.do(event.SwitchModel{Profile: "other"})
		if e, n := find[event.Error](s); n != 2 || !strings.Contains(e.Text, "while task #2 is running") {
			t.Errorf("while a task runs: %d errors, %+v", n, e)
		}
		s.do(event.Cancel{})
		s.do(event.SwitchModel{Profile: "other"}, event.Submit{Text: "c"})
		if len(other.requests) != 1 || len(other.requests[0].Messages) != 5 {
			t.Errorf("the other model got %d requests; the history must come along", len(other.requests))
		}
		if e, n := find[event.ModelSwitched](s); n != 1 {
			t.Errorf("%d switches, want one: %+v", n, e)
		}
		s.stop()
	})
}

func TestReports(t *testing.T) { // while a task runs, too
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, hangs("thinking"))
		if w := WorkOf(s.Runtime); len(w.Running)+len(w.Queued) > 0 {
			t.Errorf("tasks of an idle session: %+v", w)
		}
		s.Send(event.Submit{Text: "go on"})
		s.Send(event.Submit{Text: "and this"})
		Settle(t.Context(), s.Runtime) // earlier commands are handled
		if w := WorkOf(s.Runtime); len(w.Running) != 1 || w.Running[0].ID != 1 || w.Running[0].Title != "go on" || w.Running[0].Kind != event.MainTask || len(w.Queued) != 1 || w.Queued[0].Text != "and this" {
			t.Errorf("tasks: %+v", w)
		}
		s.do(event.SetMode{Mode: action.ModeAll, Duration: time.Hour})
		if text := textOf(Status(s.Runtime)); !strings.Contains(text, "scripted") || !strings.Contains(text, "all until") {
			t.Errorf("status: %q", text)
		}
		if text := textOf(ContextUse(s.Runtime)); !strings.Contains(text, "of 1.0k tokens") {
			t.Errorf("context: %q", text)
		}
		s.stop()
	})
}

func TestReusedCallIDs(t *testing.T) { // providers number calls from 1 in every answer
	synctest.Test(t, func(t *testing.T) {
		call := `c1 do {"kind":"file_read","do":"echo"}`
		s := start(t, nil, says("", call, call), says("", call), says("ok"))
		s.do(event.Submit{Text: "go"})
		ids := map[string]bool{}
		for _, m := range s.model.requests[2].Messages {
			for _, c := range m.ToolCalls {
				ids[c.ID] = true
			}
		}
		if len(ids) != 3 || len(s.tool.ran) != 3 {
			t.Errorf("ids %v, ran %v, want three of each", ids, s.tool.ran)
		}
		s.stop()
	})
}

func TestBrokenJournalStopsSideEffects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { o.Mode = action.ModeAll }, nil, says("ok"))
		s.model.steps[0] = func(ctx context.Context, yield func(model.Delta, error) bool) { // the disk becomes full
			s.mem.mu.Lock()
			s.mem.err = errors.New("no space left on device")
			s.mem.mu.Unlock()
			says("", `c1 do {"kind":"shell","do":"echo"}`)(ctx, yield)
		}
		s.do(event.Submit{Text: "go"})
		if len(s.tool.ran) != 0 {
			t.Errorf("ran %v without a journal", s.tool.ran)
		}
		if e, n := find[event.Error](s); n != 1 || e.Code != "journal_broken" {
			t.Errorf("%d errors, %+v", n, e)
		}
		s.do(event.Submit{Text: "more"})
		if e, n := find[event.Error](s); n != 2 || e.Code != "bad_command" {
			t.Errorf("a prompt for a read-only session: %d errors, %+v", n, e)
		}
		s.stop()
	})
}

// A prompt that can't be stored is not sent, because its answer would cost money for nothing.
func TestBrokenJournalAsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("ok"), says("ok"))
		s.do(event.Submit{Text: "stored"})
		s.mem.mu.Lock()
		s.mem.err = errors.New("no space left on device")
		s.mem.mu.Unlock()
		s.do(event.Submit{Text: "not stored"})
		if n := len(s.model.requests); n != 1 {
			t.Errorf("%d requests, want that of the prompt that was stored", n)
		}
		if e, n := find[event.Error](s); n != 1 || e.Code != record.Broken {
			t.Errorf("%d errors, %+v", n, e)
		}
		if f, n := find[event.TaskFinished](s); n != 2 || f.Outcome != event.Failed || !strings.Contains(f.Error, "no space left") {
			t.Errorf("%d tasks ended, %+v", n, f)
		}
		s.stop()
	})
}

// crash runs an exchange until it waits, and returns the journal as after a crash at that point.
func crash(t *testing.T, steps ...step) []event.Envelope {
	s := start(t, nil, steps...)
	s.do(event.Submit{Text: "go"})
	time.Sleep(3 * time.Second)
	synctest.Wait()
	s.mem.mu.Lock()
	stored := slices.Clone(s.mem.events)
	s.mem.mu.Unlock()
	s.stop()
	return stored
}

func TestResume(t *testing.T) {
	slow := func(ctx context.Context, yield func(model.Delta, error) bool) {
		for _, w := range []string{"one ", "two ", "three "} {
			time.Sleep(700 * time.Millisecond)
			if !yield(model.Delta{Kind: model.Text, Text: w}, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(model.Delta{}, ctx.Err())
	}
	tests := []struct {
		name     string
		steps    []step
		commands []event.Command // after the resume
		approve  bool
		requests int    // of the resumed process
		history  string // of its last request
	}{
		{"ended in order", []step{says("hello")}, []event.Command{event.Submit{Text: "next"}}, false, 1, "user:go assistant:hello user:next"},
		{"in an answer", []step{slow}, nil, false, 0, ""},
		{"in an answer, then Enter", []step{slow}, []event.Command{event.Continue{}}, false, 1, "user:go assistant:one two  user:" + brokeOff},
		{
			"in a tool that can be found again",
			[]step{says("", `c1 do {"kind":"file_read","do":"hang"}`)},
			[]event.Command{event.Continue{}},
			false, 1,
			"user:go assistant: tool:recovered from /out/000001",
		},
		{"in an approval", []step{says("", `c1 do {"kind":"shell","do":"echo"}`)}, nil, true, 1, "user:go assistant: tool:done c1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stored := crash(t, tt.steps...)
				s := start(t, func(o *Options) { o.Replay = stored }, says("fine"))
				if first := s.seen[0].Seq; first%1_000_000 != 1 || first < 1_000_000 {
					t.Errorf("the first number is %d, want just above a multiple of a million", first)
				}
				if n := len(s.model.requests); n != 0 {
					t.Errorf("resuming called the model %d times", n)
				}
				if tt.approve {
					asked, _ := find[event.ApprovalAsked](s)
					s.do(event.AnswerApproval{ID: asked.ID, Decision: event.Once})
				}
				s.do(tt.commands...)
				if n := len(s.model.requests); n != tt.requests {
					t.Fatalf("%d requests, want %d", n, tt.requests)
				}
				if tt.requests > 0 {
					var got []string
					for _, m := range s.model.requests[tt.requests-1].Messages {
						got = append(got, string(m.Role)+":"+m.Content)
					}
					if strings.Join(got, " ") != tt.history {
						t.Errorf("history %q\nwant    %q", strings.Join(got, " "), tt.history)
					}
				}
				s.stop()
			})
		})
	}
}

func TestSecretsAreTakenOut(t *testing.T) { // live, in the journal and for the model
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { o.Redact = redact.New("done call-1") }, says("", `call-1 do {"kind":"file_read","do":"echo"}`), says("ok"))
		s.do(event.Submit{Text: "go"})
		res, _ := find[event.ToolResult](s)
		if got := s.results()[0]; got != res.Result || strings.Contains(got, "done") {
			t.Errorf("the model read %q, the journal has %q", got, res.Result)
		}
		s.stop()
	})
}

// TestDifference: a switch reports effects that the person may not expect.
func TestDifference(t *testing.T) {
	a := model.Info{API: "completions", Auth: "a key"}
	for _, tt := range []struct {
		to   model.Info
		want string
	}{
		{a, ""},
		{model.Info{API: "anthropic", Auth: "a key"}, "the protocol is anthropic instead of completions: earlier reasoning is not sent to the new model"},
		{model.Info{API: "completions", Auth: "a key", BaseURL: "https://other.example"}, "earlier reasoning is not sent to the new model"},
		{model.Info{API: "completions", Auth: "a key", Model: "other"}, "earlier reasoning is not sent to the new model"},
		{model.Info{API: "completions", Auth: "a login"}, "it uses a login instead of a key"},
		{model.Info{API: "responses", Auth: "no key"}, "the protocol is responses instead of completions: earlier reasoning is not sent to the new model; it uses no key instead of a key"},
		{model.Info{API: model.Demo}, ""},
	} {
		if got := difference(a, tt.to); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.to, got, tt.want)
		}
	}
}

// TestEffort: the effort of a model can change while a task runs, from its next request on.
func TestEffort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		s := start(t, func(o *Options) {
			o.Models = func(profile, effort string) (model.Model, error) {
				asked = append(asked, profile+" "+effort)
				return o.Model, nil
			}
		}, hangs("one"))
		s.do(event.Submit{Text: "a"})
		s.do(event.SwitchModel{Effort: "high"})
		if _, n := find[event.ModelSwitched](s); n != 1 || len(asked) != 1 || asked[0] != "test high" {
			t.Errorf("%d switches, asked for %q", n, asked)
		}
		s.do(event.Cancel{})
		s.stop()
	})
}
