package main

import (
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/sessions"
)

// files is a home with one session.
type files struct {
	t     *testing.T
	dir   string
	store sessions.Store
	j     *sessions.Journal
	seq   uint64
}

func newFiles(t *testing.T) *files {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	store, _, err := sessions.Dir(dir, sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	j, err := store.Create(sessions.Header{Cwd: dir, Target: "local", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return &files{t: t, dir: dir, store: store, j: j}
}

// add appends events of a task, ten milliseconds apart.
func (f *files) add(task int, all ...event.Event) {
	f.t.Helper()
	for _, e := range all {
		f.seq++
		env := event.Envelope{Seq: f.seq, Time: time.Now().UnixMilli() + 10*int64(f.seq), Session: f.j.Info().Header.ID, Task: task, Payload: e}
		if err := f.j.Append(env); err != nil {
			f.t.Fatal(err)
		}
	}
}

// exchange is a task with one request and one call.
func (f *files) exchange(task int, call string) {
	f.add(task, event.PromptSubmitted{ID: task, Text: "the prompt", Kind: event.Opening}, event.TaskStarted{ID: task, Kind: event.MainTask},
		event.RequestStarted{Profile: "gemini", Model: "m"}, event.ToolRequested{CallID: call, Name: "run_shell"}, event.ToolStarted{CallID: call},
		event.ResponseFinished{FinishReason: "tool_calls"}, event.MetricsUsage{Model: "m-1", Prompt: 70, Completion: 3, Cost: model.Dollar},
		event.ToolResult{CallID: call, Result: "the result"}, event.TaskFinished{ID: task, Outcome: event.Completed}, event.ExchangeFinished{Outcome: event.Completed})
}

// follow starts to read, as after a start of the program.
func (f *files) follow() *follower {
	f.t.Helper()
	follow := &follower{state: filepath.Join(f.dir, "telemetry.json")}
	unlock, err := follow.open()
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = unlock() })
	return follow
}

func read(t *testing.T, f *follower) *batch {
	t.Helper()
	b, more, err := f.read()
	if err != nil || more {
		t.Fatal(err, more)
	}
	return b
}

func names(b *batch) (all []string) {
	for _, s := range b.spans {
		all = append(all, s.Name)
	}
	return all
}

func named(t *testing.T, b *batch, name string) tracetest.SpanStub {
	t.Helper()
	i := slices.IndexFunc(b.spans, func(s tracetest.SpanStub) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no span %q in %q", name, names(b))
	}
	return b.spans[i]
}

func value(s tracetest.SpanStub, key string) string {
	set := attribute.NewSet(s.Attributes...)
	v, _ := set.Value(attribute.Key(key))
	return v.String()
}

// A second program can't read the same positions.
func TestOneProgram(t *testing.T) {
	f := newFiles(t)
	f.follow()
	second := &follower{state: filepath.Join(f.dir, "telemetry.json")}
	if _, err := second.open(); err == nil || !strings.Contains(err.Error(), "another buddy-telemetry is running") {
		t.Errorf("%v", err)
	}
}

// A program that was restarted in the middle of an exchange sends the rest, with the same parents, and nothing again.
func TestRestart(t *testing.T) {
	f := newFiles(t)
	first := &follower{state: filepath.Join(f.dir, "telemetry.json")}
	unlock, err := first.open()
	if err != nil {
		t.Fatal(err)
	}
	f.add(1, event.TaskStarted{ID: 1, Kind: event.MainTask}, event.RequestStarted{Model: "m"}, event.ResponseFinished{}, event.MetricsUsage{Model: "m", Prompt: 5},
		event.ToolRequested{CallID: "c", Name: "read_file"}, event.ToolStarted{CallID: "c"})
	before := read(t, first)
	if err := first.save(first.positions); err != nil {
		t.Fatal(err)
	}
	_ = unlock()
	second := f.follow()
	f.add(1, event.ToolResult{CallID: "c"}, event.TaskFinished{ID: 1, Outcome: event.Completed})
	after := read(t, second)
	if got := strings.Join(names(before), ","); got != "chat m" {
		t.Errorf("before: %s", got)
	}
	if got := strings.Join(names(after), ","); got != "execute_tool read_file,invoke_agent buddy" {
		t.Errorf("after: %s", got)
	}
	if id := named(t, after, "invoke_agent buddy").SpanContext; before.spans[0].Parent.SpanID() != id.SpanID() || before.spans[0].SpanContext.TraceID() != id.TraceID() {
		t.Error("the request has another parent")
	}
	for _, m := range after.measured {
		if m.of == tokenUsage {
			t.Error("tokens are counted again")
		}
	}
	if rest := read(t, second); len(rest.spans)+len(rest.measured) > 0 {
		t.Errorf("again: %q", names(rest))
	}
}

// What was there before the program's first start is not sent.
func TestHistory(t *testing.T) {
	f := newFiles(t)
	f.exchange(1, "a")
	follow := f.follow()
	follow.Since += 60_000
	if b := read(t, follow); len(b.spans)+len(b.measured) > 0 {
		t.Errorf("%q", names(b))
	}
}

// With -session, other sessions are not sent.
func TestOneSession(t *testing.T) {
	f := newFiles(t)
	follow, id := f.follow(), f.j.Info().Header.ID
	f.exchange(1, "a")
	for only, spans := range map[string]int{"x": 0, id[:4]: 3} {
		follow.only = only
		if b := read(t, follow); len(b.spans) != spans {
			t.Errorf("%s: %q", only, names(b))
		}
	}
}

// A fork's copied events are not sent again, its own are.
func TestFork(t *testing.T) {
	f := newFiles(t)
	follow := f.follow()
	f.exchange(1, "a")
	if n := len(read(t, follow).spans); n != 3 {
		t.Fatalf("%d spans", n)
	}
	id, _, err := f.store.Fork(f.j.Info().Header.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if b := read(t, follow); len(b.spans)+len(b.measured) > 0 {
		t.Errorf("copied: %q", names(b))
	}
	if f.j, err = f.store.Open(id); err != nil {
		t.Fatal(err)
	}
	f.seq = f.j.Info().LastSeq
	f.exchange(2, "b")
	if b := read(t, follow); len(b.spans) != 3 || value(b.spans[0], "gen_ai.conversation.id") != id {
		t.Errorf("%q", names(b))
	}
}

// What a killed process left open ends as interrupted when the session continues; a subagent's work belongs to its call.
func TestOpenWork(t *testing.T) {
	f := newFiles(t)
	follow := f.follow()
	f.add(1, event.TaskStarted{ID: 1, Kind: event.MainTask}, event.ToolRequested{CallID: "c", Name: "agent"}, event.ToolStarted{CallID: "c"})
	f.add(2, event.TaskStarted{ID: 2, Kind: event.SubagentTask, Agent: "explorer", Parent: 1, Call: "c"}, event.RequestStarted{Profile: "xai", Model: "m"})
	_ = read(t, follow)
	f.add(0, event.SessionResumed{Profile: "xai"})
	b := read(t, follow)
	main, call, sub, chat := named(t, b, "invoke_agent buddy"), named(t, b, "execute_tool agent"), named(t, b, "invoke_agent explorer"), named(t, b, "chat m")
	for _, s := range []struct{ child, parent tracetest.SpanStub }{{call, main}, {sub, call}, {chat, sub}} {
		if s.child.Parent.SpanID() != s.parent.SpanContext.SpanID() || s.child.SpanContext.TraceID() != main.SpanContext.TraceID() {
			t.Errorf("%s is not below %s", s.child.Name, s.parent.Name)
		}
	}
	if main.Parent.IsValid() || main.Status.Code != codes.Error || value(main, "error.type") != "interrupted" || value(chat, "error.type") != "_OTHER" || value(chat, "gen_ai.provider.name") != "x_ai" {
		t.Errorf("%+v\n%+v", main, chat)
	}
	if len(b.spans) != 4 {
		t.Errorf("%q", names(b))
	}
}

// A command that a person types, and a prompt that a hook refuses, are nothing that an agent does.
func TestNoAgent(t *testing.T) {
	f := newFiles(t)
	follow := f.follow()
	f.add(1, event.PromptSubmitted{ID: 1, Text: "!make", Kind: event.Typed}, event.TaskStarted{ID: 1, Kind: event.MainTask},
		event.ToolRequested{CallID: "c", Name: "run_shell"}, event.ToolStarted{CallID: "c"}, event.ToolResult{CallID: "c"}, event.TaskFinished{ID: 1, Outcome: event.Completed})
	f.add(2, event.PromptSubmitted{ID: 2, Text: "refused", Kind: event.Opening}, event.PromptBlocked{ID: 2})
	f.add(0, event.SessionResumed{})
	f.exchange(3, "a")
	if b := read(t, follow); len(b.spans) != 3 {
		t.Errorf("%q", names(b))
	}
}

// Hostile files can't make the program keep more than its limits, or send texts that are not UTF-8.
func TestLimits(t *testing.T) {
	s, out := newSession("id", true, 0, 0), &batch{}
	for i := range 3 * maxOpen {
		s.add(event.Envelope{Seq: uint64(i + 1), Task: i + 1, Payload: event.TaskStarted{ID: i + 1, Kind: event.MainTask}}, out)
		s.add(event.Envelope{Seq: uint64(i + 1), Task: 1, Payload: event.ToolRequested{CallID: string(rune(i + 5000)), Name: strings.Repeat("\xff", i)}}, out)
	}
	if len(s.tasks) != maxOpen || len(s.calls) != maxOpen {
		t.Errorf("%d tasks, %d calls", len(s.tasks), len(s.calls))
	}
	if got := cut("a\xffé"+strings.Repeat("b", maxName), 3); got != "a" {
		t.Errorf("%q", got)
	}
}

// A full batch ends in the middle of a file, and the next one continues there.
func TestFullBatch(t *testing.T) {
	f := newFiles(t)
	follow := f.follow()
	const exchanges = maxBatch
	for i := range exchanges {
		f.exchange(i+1, string(rune('a'+i)))
	}
	seen := make(map[string]bool)
	for more := true; more; {
		var b *batch
		var err error
		if b, more, err = follow.read(); err != nil || len(b.spans) > maxBatch+2 {
			t.Fatal(err, len(b.spans))
		}
		for _, s := range b.spans {
			if id := s.SpanContext.SpanID().String(); seen[id] {
				t.Fatalf("%s twice", id)
			} else {
				seen[id] = true
			}
		}
	}
	if len(seen) != 3*exchanges {
		t.Errorf("%d spans", len(seen))
	}
}

// Nothing is lost at a collector whose certificate isn't trusted, because nothing was sent.
func TestUntrustedCollector(t *testing.T) {
	f := newFiles(t)
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	s, err := newSender(t.Context(), f.follow())
	if err != nil {
		t.Fatal(err)
	}
	f.exchange(1, "a")
	s.round(t.Context())
	if s.held == nil || len(s.held.spans) != 3 || s.dropped > 0 || !strings.Contains(s.complaint, "certificate") {
		t.Errorf("%q, %d dropped", s.complaint, s.dropped)
	}
}
