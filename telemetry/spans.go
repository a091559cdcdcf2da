package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"

	"buddy/agent/event"
)

// The names of spans and attributes follow the OpenTelemetry conventions for generative AI, which are in development:
// github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai, read in December 2026.

const (
	maxOpen    = 1000     // tasks or calls of a session at once; others get no span
	maxName    = 200      // bytes of a name
	maxContent = 16 << 10 // bytes of a text that -content adds
)

// session turns the events of one session into spans and measurements. Spans are identified by the session and the
// event that starts them, so that they are the same each time a session is read.
type session struct {
	id       string
	content  bool   // add prompts, answers, arguments and results
	sent     uint64 // what events up to this one end was sent before
	since    int64  // what ended before this time is not sent
	provider string // of the latest request
	last     event.Envelope
	prompt   event.PromptSubmitted // the latest that opens a task
	opens    int                   // that task
	tasks    map[int]*task
	calls    map[string]*call
	out      *batch
}

// task is an exchange, a subagent or other work on a conversation.
type task struct {
	span    tracetest.SpanStub
	agent   string
	prompt  string
	typed   bool     // a command that the person typed: no agent is involved
	request *request // the open one
}

// request is a request to the model.
type request struct {
	span     tracetest.SpanStub
	provider string
	model    string
	retries  int
	answer   string
	ended    *event.Envelope // its ResponseFinished
}

// call is a tool call.
type call struct {
	span tracetest.SpanStub
	ran  bool
}

func newSession(id string, content bool, sent uint64, since int64) *session {
	return &session{id: id, content: content, sent: sent, since: since, tasks: make(map[int]*task), calls: make(map[string]*call)}
}

// add processes the next event; what it ends goes to out.
func (s *session) add(env event.Envelope, out *batch) {
	s.out = out
	switch p := env.Payload.(type) {
	case event.SessionCreated:
		s.provider = p.Profile
	case event.SessionResumed:
		s.provider = p.Profile
		s.interrupt(env)
	case event.PromptSubmitted:
		if !p.Queued && s.tasks[env.Task] == nil { // otherwise it is added to a running task
			s.prompt, s.opens = p, env.Task
		}
	case event.TaskStarted:
		s.started(env, p)
	case event.TaskFinished:
		if t := s.tasks[p.ID]; t != nil {
			s.endTask(env, p.ID, t, p)
		}
	case event.TurnFinished:
		if t := s.tasks[env.Task]; t != nil {
			s.endRequest(env, t, nil)
		}
	case event.RequestStarted, event.ModelRetry, event.ModelMessage, event.ResponseFinished, event.MetricsUsage:
		s.model(env)
	case event.ToolRequested, event.ToolStarted, event.ToolResult:
		s.tool(env)
	}
	s.last = env
}

// started gives a task its span, and a subagent the call that started it as parent.
func (s *session) started(env event.Envelope, p event.TaskStarted) {
	if !p.Kind.HasConversation() {
		delete(s.tasks, p.ID)
		return
	}
	env.Task = p.ID
	t := s.task(env)
	if t == nil {
		return
	}
	if s.opens == p.ID {
		t.typed = s.prompt.Command() && strings.HasPrefix(s.prompt.Text, "!")
		if s.content {
			t.prompt = cut(s.prompt.Text, maxContent)
		}
	}
	switch p.Kind {
	case event.SubagentTask:
		t.agent = cut(cmp.Or(p.Agent, string(p.Kind)), maxName)
	case event.CompactionTask:
		t.agent = string(p.Kind)
	}
	if c := s.calls[p.Call]; c != nil {
		t.span = s.span(env, c.span.SpanContext, api.SpanKindInternal)
	} else if parent := s.tasks[p.Parent]; parent != nil && p.Parent != p.ID {
		t.span = s.span(env, parent.span.SpanContext, api.SpanKindInternal)
	} else {
		t.span = s.span(env, api.SpanContext{}, api.SpanKindInternal)
	}
}

// task returns the task of an event. A task whose start is missing, such as one that another process continues, starts
// with the event.
func (s *session) task(env event.Envelope) *task {
	t := s.tasks[env.Task]
	if t == nil && env.Task != 0 && len(s.tasks) < maxOpen {
		t = &task{agent: "buddy", span: s.span(env, api.SpanContext{}, api.SpanKindInternal)}
		s.tasks[env.Task] = t
	}
	return t
}

func (s *session) endTask(env event.Envelope, id int, t *task, p event.TaskFinished) {
	delete(s.tasks, id)
	if t.typed {
		return
	}
	s.endRequest(env, t, nil)
	failure := ""
	if p.Outcome != event.Completed {
		failure = string(p.Outcome)
	}
	t.span.Name = "invoke_agent " + t.agent
	t.span.Attributes = append(t.span.Attributes, attribute.String("gen_ai.operation.name", "invoke_agent"),
		attribute.String("gen_ai.agent.name", t.agent))
	if t.prompt != "" {
		t.span.Attributes = append(t.span.Attributes, attribute.String("gen_ai.input.messages", message("user", t.prompt)))
	}
	if s.end(env, &t.span, failure, p.Error) {
		s.out.measure(agentDuration, seconds(t.span), failure, attribute.String("gen_ai.agent.name", t.agent))
	}
}

// model handles the events of requests.
func (s *session) model(env event.Envelope) {
	t := s.tasks[env.Task]
	if p, ok := env.Payload.(event.MetricsUsage); ok {
		s.usage(env, t, p)
		return
	}
	if t = s.task(env); t == nil {
		return
	}
	r := t.request
	if p, ok := env.Payload.(event.RequestStarted); ok {
		s.endRequest(env, t, nil)
		s.provider = p.Profile
		t.request = &request{span: s.span(env, t.span.SpanContext, api.SpanKindClient), provider: provider(p.Profile), model: cut(p.Model, maxName)}
		return
	}
	if r == nil {
		return
	}
	switch p := env.Payload.(type) {
	case event.ModelRetry:
		r.retries++
	case event.ModelMessage:
		if s.content {
			r.answer = cut(p.Message.Content, maxContent)
		}
	case event.ResponseFinished:
		r.ended = &env
	}
}

// usage counts the tokens of a request. They are reported after its end, which is why the span waits for them.
func (s *session) usage(env event.Envelope, t *task, p event.MetricsUsage) {
	of := chat(provider(s.provider), cut(p.Model, maxName))
	answer := p.For == event.OfAnswer || p.For == event.OfSubagent
	if answer && t != nil && t.request != nil && t.request.ended != nil {
		of = chat(t.request.provider, t.request.model)
		s.endRequest(env, t, &p)
	}
	if env.Seq <= s.sent || env.Time < s.since {
		return
	}
	of = append(of, attribute.String("gen_ai.response.model", cut(p.Model, maxName)))
	s.out.measure(tokenUsage, float64(p.Prompt), "", append(slices.Clone(of), attribute.String("gen_ai.token.type", "input"))...)
	s.out.measure(tokenUsage, float64(p.Completion), "", append(slices.Clone(of), attribute.String("gen_ai.token.type", "output"))...)
	if p.Cost > 0 {
		s.out.measure(cost, float64(p.Cost)/1e6, "", of...)
	}
}

// chat returns the attributes of a request that its span and all its metrics have.
func chat(provider, model string) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", provider), attribute.String("gen_ai.request.model", model),
	}
}

// endRequest ends the open request of a task; used is nil if its tokens are not known.
func (s *session) endRequest(env event.Envelope, t *task, used *event.MetricsUsage) {
	r := t.request
	if r == nil {
		return
	}
	t.request = nil
	failure, end := "_OTHER", env // no answer
	of := chat(r.provider, r.model)
	more := []attribute.KeyValue{attribute.String("gen_ai.agent.name", t.agent)}
	if r.retries > 0 {
		more = append(more, attribute.Int("buddy.retries", r.retries))
	}
	if r.ended != nil {
		p := r.ended.Payload.(event.ResponseFinished)
		failure, end.Time = "", r.ended.Time
		more = append(more, attribute.StringSlice("gen_ai.response.finish_reasons", []string{cut(p.FinishReason, maxName)}))
		if p.FirstMS > 0 {
			more = append(more, attribute.Float64("gen_ai.response.time_to_first_chunk", float64(p.FirstMS)/1000))
		}
	}
	if used != nil {
		of = append(of, attribute.String("gen_ai.response.model", cut(used.Model, maxName)))
		more = append(more, attribute.Int("gen_ai.usage.input_tokens", used.Prompt), attribute.Int("gen_ai.usage.output_tokens", used.Completion))
		if used.Cached > 0 {
			more = append(more, attribute.Int("gen_ai.usage.cache_read.input_tokens", used.Cached))
		}
		if used.CacheWrite > 0 {
			more = append(more, attribute.Int("gen_ai.usage.cache_creation.input_tokens", used.CacheWrite))
		}
		if used.Cost > 0 {
			more = append(more, attribute.Float64("buddy.cost", float64(used.Cost)/1e6))
		}
	}
	if r.answer != "" {
		more = append(more, attribute.String("gen_ai.output.messages", message("assistant", r.answer)))
	}
	r.span.Name = "chat " + r.model
	r.span.Attributes = append(append(r.span.Attributes, of...), more...)
	if s.end(end, &r.span, failure, "") {
		s.out.measure(chatDuration, seconds(r.span), failure, of...)
	}
}

// tool handles the events of tool calls.
func (s *session) tool(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.ToolRequested:
		s.requested(env, p)
	case event.ToolStarted:
		if c := s.calls[p.CallID]; c != nil && !c.ran { // it may have waited for approval
			c.ran, c.span.StartTime = true, time.UnixMilli(env.Time)
		}
	case event.ToolResult:
		c := s.calls[p.CallID]
		if c == nil { // a person's own command
			return
		}
		failure := ""
		switch {
		case !p.Failed():
		case !c.ran:
			failure = "not_run"
		case p.IsError:
			failure = "tool_error"
		default:
			failure = "exit_code"
		}
		if s.content {
			c.span.Attributes = append(c.span.Attributes, attribute.String("gen_ai.tool.call.result", cut(p.Result, maxContent)))
		}
		s.endCall(env, p.CallID, c, failure)
	}
}

// requested starts the span of a call. A call is requested again if a person edits it; the latest arguments count.
func (s *session) requested(env event.Envelope, p event.ToolRequested) {
	t := s.task(env)
	if t == nil || t.typed || len(s.calls) >= maxOpen && s.calls[p.CallID] == nil {
		return
	}
	c := &call{span: s.span(env, t.span.SpanContext, api.SpanKindInternal)}
	name := cut(p.Counted(), maxName)
	c.span.Name = "execute_tool " + name
	c.span.Attributes = append(c.span.Attributes, attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", name), attribute.String("gen_ai.tool.call.id", cut(p.CallID, maxName)),
		attribute.String("gen_ai.agent.name", t.agent))
	if s.content {
		c.span.Attributes = append(c.span.Attributes, attribute.String("gen_ai.tool.call.arguments", cut(p.Arguments, maxContent)))
	}
	s.calls[p.CallID] = c
}

func (s *session) endCall(env event.Envelope, id string, c *call, failure string) {
	delete(s.calls, id)
	if s.end(env, &c.span, failure, "") && c.ran {
		s.out.measure(toolDuration, seconds(c.span), failure, attribute.String("gen_ai.tool.name", strings.TrimPrefix(c.span.Name, "execute_tool ")))
	}
}

// interrupt ends what an earlier process left open, at the time of its last event.
func (s *session) interrupt(resumed event.Envelope) {
	resumed.Time = s.last.Time
	for _, id := range slices.Sorted(maps.Keys(s.calls)) {
		s.endCall(resumed, id, s.calls[id], "interrupted")
	}
	for _, id := range slices.Sorted(maps.Keys(s.tasks)) {
		s.endTask(resumed, id, s.tasks[id], event.TaskFinished{Outcome: "interrupted"})
	}
}

// span starts a span with an event. Without a parent, it starts a trace.
func (s *session) span(env event.Envelope, parent api.SpanContext, kind api.SpanKind) tracetest.SpanStub {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", s.id, env.Seq))
	c := api.SpanContextConfig{TraceID: api.TraceID(sum[:16]), SpanID: api.SpanID(sum[16:24]), TraceFlags: api.FlagsSampled}
	if parent.IsValid() {
		c.TraceID = parent.TraceID()
	}
	return tracetest.SpanStub{
		SpanContext: api.NewSpanContext(c), Parent: parent, SpanKind: kind, StartTime: time.UnixMilli(env.Time),
		Attributes: []attribute.KeyValue{attribute.String("gen_ai.conversation.id", s.id)},
	}
}

// end ends a span and reports whether it has to be sent. failure is a word for error.type, "" for success.
func (s *session) end(env event.Envelope, span *tracetest.SpanStub, failure, text string) bool {
	if span.EndTime = time.UnixMilli(env.Time); span.EndTime.Before(span.StartTime) { // the clock was set back
		span.EndTime = span.StartTime
	}
	if failure != "" {
		span.Attributes = append(span.Attributes, attribute.String("error.type", failure))
		span.Status = trace.Status{Code: codes.Error}
		if s.content {
			span.Status.Description = cut(text, maxContent)
		}
	}
	if env.Seq <= s.sent || env.Time < s.since {
		return false
	}
	s.out.spans = append(s.out.spans, *span)
	return true
}

func seconds(span tracetest.SpanStub) float64 { return span.EndTime.Sub(span.StartTime).Seconds() }

// cut returns the first bytes of a text, which can come from a model or a tool, as valid UTF-8.
func cut(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// message returns a list with one message in the form of the conventions.
func message(role, text string) string {
	type part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	type one struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}
	list, _ := json.Marshal([]one{{role, []part{{"text", text}}}}) // strings can always be encoded
	return string(list)
}

// provider returns the name of the conventions for a profile of buddy's settings, otherwise the profile's name.
func provider(profile string) string {
	switch profile {
	case "gemini":
		return "gcp.gemini"
	case "mistralai":
		return "mistral_ai"
	case "xai":
		return "x_ai"
	}
	return cut(profile, maxName)
}
