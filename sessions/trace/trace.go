// Package trace computes where the time, the tokens and the money of a session were spent. It reads the session's
// events once, with limited memory for sessions of any length.
//
//	var t trace.Trace
//	for _, env := range events {
//		t.Add(env)
//	}
//	fmt.Println(t.Totals.Turns, t.Totals.Wait, t.Slowest)
package trace

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/record"
	"buddy/texts"
)

const (
	maxExchanges = 50  // the latest
	maxTurns     = 200 // the latest
	maxSlow      = 10  // the slowest calls
	maxFailures  = 20  // the latest
	maxTools     = 100 // by name; the others are counted as one
	maxUses      = 50  // purposes and models
	textMax      = 200 // bytes of a stored text
)

// Times holds milliseconds by kind. Concurrent calls each count in full, so Tools may exceed
// the elapsed time.
type Times struct {
	Wait      int64 `json:"wait_ms"`     // from a request to the first piece of its answer
	Stream    int64 `json:"stream_ms"`   // until the answer was complete
	Tools     int64 `json:"tools_ms"`    // from the start of a call to its result
	Approvals int64 `json:"approval_ms"` // waiting for a person's approvals and answers
}

// Counts holds the totals of a part of a session.
type Counts struct {
	Turns      int         `json:"turns"`
	Requests   int         `json:"requests"`
	Retries    int         `json:"retries"`
	Calls      int         `json:"calls"`
	Failed     int         `json:"failed_calls"`
	Asked      int         `json:"approvals"`
	Denied     int         `json:"denied"`
	Prompt     int         `json:"tokens_in"`
	Completion int         `json:"tokens_out"`
	Cached     int         `json:"tokens_cached"`
	Cost       model.Money `json:"cost_micro_dollars"`
	Unpriced   int         `json:"requests_without_price"`
	Times
}

// Exchange sums up one prompt up to its outcome, in any branch.
type Exchange struct {
	Number  int    `json:"number"`
	Task    int    `json:"task"`
	Text    string `json:"prompt"` // beginning of the prompt
	Began   int64  `json:"ts_unix_ms"`
	Took    int64  `json:"took_ms"`
	Outcome string `json:"outcome"` // "" while it has not ended
	Counts

	seq uint64 // of its prompt
}

// Turn sums up one request and the calls in its answer, in any branch.
type Turn struct {
	Number  int `json:"number"` // within the session, from 1
	Task    int `json:"task"`
	Context int `json:"context_tokens"` // estimated size of the request
	Counts
}

// Call describes one tool call.
type Call struct {
	ID   string `json:"call_id"`
	Seq  uint64 `json:"seq"` // of its result
	Name string `json:"name"`
	What string `json:"what"` // beginning of its command, its path or its arguments
	Took int64  `json:"took_ms"`
}

// Tool sums up the calls of one tool.
type Tool struct {
	Name   string `json:"name"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed"`
	Tokens int    `json:"tokens"` // tokens of its results for the model, at four bytes each
	Took   int64  `json:"took_ms"`
	Max    int64  `json:"max_ms"`
}

// Use sums up the requests to one model for one purpose.
type Use struct {
	For        event.Purpose `json:"for"` // "" for the conversation itself
	Model      string        `json:"model"`
	Requests   int           `json:"requests"`
	Prompt     int           `json:"tokens_in"`
	Completion int           `json:"tokens_out"`
	Cached     int           `json:"tokens_cached"`
	Cost       model.Money   `json:"cost_micro_dollars"`
}

// Failure describes something that went wrong.
type Failure struct {
	Seq  uint64 `json:"seq"`
	Time int64  `json:"ts_unix_ms"`
	Type string `json:"type"` // of the event
	Text string `json:"text"`
}

// Trace is the summary. The zero value is that of an empty session.
type Trace struct {
	First     int64      `json:"first_unix_ms"`
	Last      int64      `json:"last_unix_ms"`
	Exchanges []Exchange `json:"exchanges"` // the latest
	Turns     []Turn     `json:"turns"`     // the latest
	Tools     []Tool     `json:"tools"`     // in the order of their first call
	Requests  []Use      `json:"requests"`  // by purpose and model, in the order of the first request
	Goals     []Goal     `json:"goals"`     // the latest
	Decisions []Decision `json:"decisions"` // the latest
	Slowest   []Call     `json:"slowest"`   // the slowest first
	Failures  []Failure  `json:"failures"`  // the latest
	Totals    Counts     `json:"totals"`
	Count     int        `json:"exchange_count"`
	Failed    int        `json:"failure_count"`

	unpriced int // requests of the session without a known price so far

	record record.Record
}

// Needs reports whether Add uses events of a type. Callers need not decode others.
func Needs(name string) bool {
	switch event.Named(name).(type) {
	case event.PromptSubmitted, event.TaskStarted, event.TaskFinished, event.TurnStarted, event.RequestStarted, event.ResponseFinished,
		event.MetricsUsage, event.ModelRetry, event.ModelStalled, event.ModelFallback, event.ToolRequested, event.ToolResult,
		event.ApprovalAsked, event.ApprovalAnswered, event.QuestionAsked, event.QuestionAnswered, event.Error, event.SessionResumed,
		event.DecisionExplained, event.GoalSet, event.GoalChecked, event.GoalChanged, event.Interrupted, nil:
		return true
	}
	return false
}

// Add processes the next event.
func (t *Trace) Add(env event.Envelope) {
	if t.First == 0 {
		t.First = env.Time
	}
	t.Last = max(t.Last, env.Time)
	about := t.record.Apply(env)
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		t.prompt(env, p)
	case event.TaskStarted:
		t.begin(p)
	case event.TaskFinished:
		t.end(env, p)
	case event.DecisionExplained:
		t.explained(env, p, about.Call)
	case event.ToolResult:
		t.result(env, p, about.Call.Request)
	case event.ApprovalAsked:
		t.count(env, Counts{Asked: 1})
	case event.ApprovalAnswered:
		t.answered(env, about.Answered, p.Decision == event.Deny && p.By != "cancel")
	case event.QuestionAnswered:
		t.answered(env, about.Answered, false)
	case event.GoalSet, event.GoalChecked, event.GoalChanged:
		t.goal(p)
	default:
		t.model(env)
	}
}

// model handles events about requests and failures.
func (t *Trace) model(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.TurnStarted:
		t.Turns = appendNewest(t.Turns, maxTurns, Turn{Number: p.Number, Task: env.Task})
		t.count(env, Counts{Turns: 1})
	case event.RequestStarted:
		t.count(env, Counts{Requests: 1})
		if u := t.turn(env.Turn); u != nil {
			u.Context = p.EstimatedTokens
		}
	case event.ResponseFinished:
		t.count(env, Counts{Times: Times{Wait: p.FirstMS, Stream: p.PhaseMS - p.FirstMS}})
	case event.MetricsUsage:
		c := Counts{Prompt: p.Prompt, Completion: p.Completion, Cached: p.Cached, Cost: p.Cost}
		if p.SessionUnpriced > t.unpriced {
			c.Unpriced = 1
		}
		t.unpriced = p.SessionUnpriced
		t.count(env, c)
		t.use(p)
	case event.ModelRetry:
		t.count(env, Counts{Retries: 1})
		t.failure(env, p.Why)
	case event.ModelStalled:
		t.failure(env, "the server sent nothing for a while")
	case event.ModelFallback:
		t.failure(env, p.Reason())
	case event.Error:
		t.failure(env, p.Text)
	}
}

// prompt starts an exchange, or continues the one that it steers.
func (t *Trace) prompt(env event.Envelope, p event.PromptSubmitted) {
	if p.Queued || p.Command() { // queued prompts are sent later, commands are no request to the model
		return
	}
	if env.Task != 0 && t.exchange(env.Task) != nil {
		return
	}
	t.Count++
	t.Exchanges = appendNewest(t.Exchanges, maxExchanges, Exchange{Number: t.Count, Task: env.Task, Text: begin(p.Text), Began: env.Time, seq: env.Seq})
}

// begin counts a task without a prompt of its own as part of the exchange that it continues.
func (t *Trace) begin(p event.TaskStarted) {
	main, ok := t.newest()
	if !ok || p.Kind != event.MainTask || t.exchange(p.ID) != nil {
		return
	}
	for i := range t.Exchanges {
		if x := &t.Exchanges[i]; x.seq == main.Seq {
			x.Task, x.Outcome = p.ID, ""
		}
	}
}

// end sets the outcome of the exchange of a task.
func (t *Trace) end(env event.Envelope, p event.TaskFinished) {
	x := t.exchange(p.ID)
	if x == nil {
		return
	}
	x.Outcome, x.Took = string(p.Outcome), env.Time-x.Began
	if main, ok := t.newest(); ok && main.Seq == x.seq {
		x.Outcome = string(main.Outcome) // possibly interrupted
	}
}

// newest returns the newest exchange of the main conversation, if there is one.
func (t *Trace) newest() (record.Exchange, bool) {
	all := t.record.Exchanges()
	if len(all) == 0 {
		return record.Exchange{}, false
	}
	return all[len(all)-1], true
}

// appendNewest appends an item to a list and drops the oldest item above most.
func appendNewest[T any](list []T, most int, item T) []T {
	if len(list) == most {
		list = slices.Delete(list, 0, 1)
	}
	return append(list, item)
}

// exchange returns the open exchange of a task, or nil.
func (t *Trace) exchange(task int) *Exchange {
	for i := len(t.Exchanges) - 1; i >= 0; i-- {
		if x := &t.Exchanges[i]; x.Task == task && x.Outcome == "" {
			return x
		}
	}
	return nil
}

// turn returns the turn with a number, nil for 0 and if it was dropped.
func (t *Trace) turn(number int) *Turn {
	for i := len(t.Turns) - 1; i >= 0 && number != 0; i-- {
		if t.Turns[i].Number == number {
			return &t.Turns[i]
		}
	}
	return nil
}

// count adds to the totals, and to the exchange and the turn of an event.
func (t *Trace) count(env event.Envelope, c Counts) {
	t.Totals.add(c)
	if x := t.exchange(env.Task); x != nil && env.Task != 0 {
		x.add(c)
	}
	if u := t.turn(env.Turn); u != nil {
		u.add(c)
	}
}

func (c *Counts) add(d Counts) {
	c.Turns += d.Turns
	c.Requests += d.Requests
	c.Retries += d.Retries
	c.Calls += d.Calls
	c.Failed += d.Failed
	c.Asked += d.Asked
	c.Denied += d.Denied
	c.Prompt += d.Prompt
	c.Completion += d.Completion
	c.Cached += d.Cached
	c.Cost += d.Cost
	c.Unpriced += d.Unpriced
	c.Wait += d.Wait
	c.Stream += d.Stream
	c.Tools += d.Tools
	c.Approvals += d.Approvals
}

// answered counts how long an approval or a question waited; asked is zero if unknown.
func (t *Trace) answered(env, asked event.Envelope, denied bool) {
	var c Counts
	if denied {
		c.Denied = 1
	}
	if asked.Payload != nil {
		c.Approvals = max(0, env.Time-asked.Time)
	}
	t.count(env, c)
}

// what returns the beginning of the subject of a call, "" if unknown.
func what(p *event.ToolRequested) string {
	if p == nil {
		return ""
	}
	return begin(cmp.Or(p.Action.Command, p.Action.Path, p.Action.URL, p.Arguments))
}

// result counts the result of a call; request is nil if unknown.
func (t *Trace) result(env event.Envelope, p event.ToolResult, request *event.ToolRequested) {
	c := Counts{Calls: 1, Times: Times{Tools: p.DurationMS}}
	if p.IsError {
		c.Failed = 1
		t.failure(env, p.Name+": "+p.Result)
	}
	t.count(env, c)
	name := p.Name
	if request != nil {
		name = cmp.Or(request.Counted(), name)
	}
	t.tool(begin(name), p)
	call := Call{ID: p.CallID, Seq: env.Seq, Name: p.Name, What: what(request), Took: p.DurationMS}
	i, _ := slices.BinarySearchFunc(t.Slowest, call, func(a, b Call) int { return cmp.Compare(b.Took, a.Took) })
	if t.Slowest = slices.Insert(t.Slowest, i, call); len(t.Slowest) > maxSlow {
		t.Slowest = t.Slowest[:maxSlow]
	}
}

// use counts a request by its purpose and the model that answered.
func (t *Trace) use(p event.MetricsUsage) {
	name := begin(p.Model)
	i := slices.IndexFunc(t.Requests, func(u Use) bool { return u.For == p.For && u.Model == name })
	if i < 0 {
		if i = len(t.Requests); i == maxUses {
			i--
			t.Requests[i].For, t.Requests[i].Model = "others", ""
		} else {
			t.Requests = append(t.Requests, Use{For: p.For, Model: name})
		}
	}
	u := &t.Requests[i]
	u.Requests++
	u.Prompt += p.Prompt
	u.Completion += p.Completion
	u.Cached += p.Cached
	u.Cost += p.Cost
}

func (t *Trace) tool(name string, p event.ToolResult) {
	i := slices.IndexFunc(t.Tools, func(u Tool) bool { return u.Name == name })
	if i < 0 {
		i = len(t.Tools)
		if i == maxTools {
			i--
			t.Tools[i].Name = "others"
		} else {
			t.Tools = append(t.Tools, Tool{Name: name})
		}
	}
	u := &t.Tools[i]
	u.Calls++
	u.Tokens += len(p.Result) / 4
	u.Took += p.DurationMS
	u.Max = max(u.Max, p.DurationMS)
	if p.IsError {
		u.Failed++
	}
}

func (t *Trace) failure(env event.Envelope, text string) {
	t.Failed++
	t.Failures = appendNewest(t.Failures, maxFailures, Failure{Seq: env.Seq, Time: env.Time, Type: event.Type(env.Payload), Text: begin(text)})
}

// begin returns the beginning of a text on one line, without keeping the rest in memory.
func begin(s string) string {
	cut := s[:min(len(s), 4*textMax)]
	cut = texts.OneLine(cut)
	if len(cut) > textMax {
		n := textMax
		for n > 0 && !utf8.RuneStart(cut[n]) {
			n--
		}
		cut = cut[:n] + "…"
	}
	return strings.Clone(cut)
}
