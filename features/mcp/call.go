package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/agent/event"
	"buddy/agent/settings"
	"buddy/features/mcp/form"
	"buddy/tools"
)

// Limits of what a server may ask the person.
const (
	maxAsksOfCall = 3
	maxAsksMinute = 10
)

// running is a call that a server works on.
type running struct {
	call  tools.Call
	alive chan struct{} // gets a value with each sign of life
	asks  chan bool     // true while the person is asked: no time runs

	done chan struct{} // closed when Run returns

	mu    sync.Mutex // guards what follows
	over  bool       // Run has returned, and call.Output must not be used any more
	asked int

	accepted bool // over HTTP the server has taken a request of it
	unknown  bool // over HTTP the server does not know its session, and has taken no request of it
}

// runningKey is the key of the running call in the context of its request.
type runningKey struct{}

// call calls a tool of the server and waits for its result.
func (s *server) call(ctx context.Context, call tools.Call, name string, args map[string]any) tools.Result {
	return s.ask(ctx, call, name, func(ctx context.Context, c *connection) (tools.Result, error) {
		params := &sdk.CallToolParams{Name: name, Arguments: args}
		params.SetProgressToken(call.ID)
		res, err := c.session.CallTool(ctx, params)
		if err != nil {
			return tools.Result{}, err
		}
		return resultOf(res), nil
	})
}

// ask makes a request of a server that is ready within the limits of a call, between two events. It is made once more
// in a new session where the server no longer knows the session.
func (s *server) ask(ctx context.Context, call tools.Call, name string, request func(context.Context, *connection) (tools.Result, error)) (res tools.Result) {
	c, err := s.await(ctx)
	if err != nil {
		return tools.Failure(err)
	}
	s.all.o.Publish(event.MCPCallStarted{Server: s.def.Name, Tool: name, CallID: call.ID})
	defer func() {
		s.all.o.Publish(event.MCPCallFinished{Server: s.def.Name, Tool: name, CallID: call.ID, IsError: res.IsError})
	}()
	res, again := s.askIn(ctx, c, call, name, request)
	if !again {
		return res
	}
	s.lose(c)
	go c.stop(nil)
	if c, err = s.await(ctx); err != nil {
		return tools.Failure(err)
	}
	res, _ = s.askIn(ctx, c, call, name, request)
	return res
}

// askIn makes a request in a connection. The end of ctx ends it at once: what the server does then is not waited for.
// again is true if the server has not executed it, because it does not know the session.
func (s *server) askIn(ctx context.Context, c *connection, call tools.Call, name string, request func(context.Context, *connection) (tools.Result, error)) (res tools.Result, again bool) {
	r := &running{call: call, alive: make(chan struct{}, 1), asks: make(chan bool), done: make(chan struct{})}
	c.begin(r)
	defer c.end(r)
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, runningKey{}, r))
	defer cancel(nil)
	type answer struct {
		res tools.Result
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		var err error
		res := tools.RunSafely(call.Name, func() (res tools.Result) {
			res, err = request(ctx, c)
			return res
		})
		answered <- answer{res, err}
	}()
	ended := c.ended
	clock := newCallClock(s.def.MCPTimes)
	defer clock.stop()
	for {
		select {
		case got := <-answered:
			if got.err == nil {
				return got.res, false
			}
			return s.failed(c, got.err), r.notExecuted()
		case <-ctx.Done():
			return tools.Problem("cancelled"), false
		case <-ended:
			ended = nil // the request fails now; its error comes at once, or here
			clock.hurry()
		case <-r.alive:
			clock.alive()
		case asking := <-r.asks:
			clock.pause(asking)
		case <-clock.wall.C:
			return tools.Failure(fmt.Errorf("%s: no result within %v, given up (the setting is timeout of [mcp.%s])", name, s.def.Timeout, s.def.Name)), false
		case <-clock.idle.C:
			if ended == nil {
				return s.failed(c, nil), r.notExecuted()
			}
			return tools.Failure(fmt.Errorf("%s: no sign of life for %v, given up (the setting is idle of [mcp.%s])", name, s.def.Idle, s.def.Name)), false
		}
	}
}

// failed returns the result of a call whose request failed.
func (s *server) failed(c *connection, err error) tools.Result {
	wire, answered := errors.AsType[*jsonrpc.Error](err)
	if answered && wire.Code == sdk.CodeURLElicitationRequired {
		return tools.Again("the server wants the user to visit a page first: " + addressIn(wire.Data) + ". Tell the user, and call it again when that is done.")
	}
	why := ""
	if answered && !errors.Is(err, sdk.ErrConnectionClosed) && !strings.Contains(err.Error(), rejected) {
		why = wire.Message
	} else {
		why = c.explain(err).Error()
		if c.over(err) { // so that the next call waits for the next start
			s.lose(c)
			go c.stop(nil)
		}
	}
	return tools.Problem("the MCP server " + s.def.Name + ": " + clip(why))
}

// over reports whether the connection is over, judging by the error of a request.
func (c *connection) over(err error) bool {
	select {
	case <-c.ended:
		return true
	default:
		return hungUp(err) || c.exit(false) != ""
	}
}

// addressIn returns the first address in the data of an error that wants one to be visited.
func addressIn(data json.RawMessage) string {
	var wants struct {
		Elicitations []struct {
			URL string `json:"url"`
		} `json:"elicitations"`
	}
	if err := json.Unmarshal(data, &wants); err != nil || len(wants.Elicitations) == 0 {
		return "(it did not say which)"
	}
	return oneLine(wants.Elicitations[0].URL)
}

// callClock measures the two limits of a call. No time runs while the person is asked.
type callClock struct {
	wall, idle *time.Timer
	limits     settings.MCPTimes
	left       time.Duration // of wall
	since      time.Time     // that wall runs
	asking     int           // questions that are open
}

func newCallClock(l settings.MCPTimes) *callClock {
	return &callClock{wall: time.NewTimer(l.Timeout), idle: time.NewTimer(l.Idle), limits: l, left: l.Timeout, since: time.Now()}
}

func (c *callClock) stop() { c.wall.Stop(); c.idle.Stop() }

// alive notes that the server has said something of the call.
func (c *callClock) alive() {
	if c.asking == 0 {
		c.idle.Reset(c.limits.Idle)
	}
}

// hurry gives a request of a connection that is over a moment for its error.
func (c *callClock) hurry() { c.idle.Reset(time.Second) }

// pause notes that one more question is open, or one less. A server may ask several at once.
func (c *callClock) pause(on bool) {
	if on {
		if c.asking++; c.asking == 1 {
			c.stop()
			c.left -= time.Since(c.since)
		}
		return
	}
	if c.asking--; c.asking > 0 {
		return
	}
	c.since = time.Now()
	c.wall.Reset(c.left)
	c.idle.Reset(c.limits.Idle)
}

// begin registers a call, for its progress and its questions.
func (c *connection) begin(r *running) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[r.call.ID] = r
}

// end forgets a call. Nothing of it reaches the screen any more.
func (c *connection) end(r *running) {
	c.mu.Lock()
	delete(c.running, r.call.ID)
	c.mu.Unlock()
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	close(r.done)
}

// progress shows what a server says of the progress of a call.
func (c *connection) progress(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
	token, ok := req.Params.ProgressToken.(string)
	c.mu.Lock()
	r := c.running[token]
	c.mu.Unlock()
	if !ok || r == nil {
		return
	}
	select {
	case r.alive <- struct{}{}:
	default:
	}
	text := oneLine(req.Params.Message)
	if req.Params.Total > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%g/%g %s", req.Params.Progress, req.Params.Total, text))
	} else if text == "" {
		text = fmt.Sprintf("%g", req.Params.Progress)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.call.Say(text + "\n")
	}
}

// elicit puts a question of the server to the person, on behalf of the call that it works on.
// Without one, or without a person, it is declined.
func (c *connection) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	declined := &sdk.ElicitResult{Action: form.Decline}
	r := c.asking(ctx)
	if r == nil || !c.server.mayAsk(r) {
		return declined, nil
	}
	if !r.pause(true) {
		return declined, nil
	}
	defer r.pause(false)
	answer, err := c.put(ctx, r, req.Params)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.over {
			r.call.Say(err.Error() + "\n")
		}
		if _, ok := errors.AsType[*form.ErrSecret](err); ok || errors.Is(err, form.ErrAddress) {
			c.server.all.o.Publish(event.Warning{Text: err.Error(), Code: "mcp"})
		}
		return &sdk.ElicitResult{Action: answer.Action}, nil
	}
	return &sdk.ElicitResult{Action: answer.Action, Content: answer.Values}, nil
}

// put asks the person.
func (c *connection) put(ctx context.Context, r *running, p *sdk.ElicitParams) (form.Answer, error) {
	name := c.server.def.Name
	if p.Mode == "url" || p.URL != "" {
		remote := c.server.def.Transport != Stdio
		return form.Visit(ctx, form.Address{Server: name, Message: p.Message, URL: p.URL, Remote: remote}, r.call.Ask, c.server.all.o.Open)
	}
	fields, err := form.Fields(p.RequestedSchema)
	if err != nil {
		return form.Answer{Action: form.Decline}, err
	}
	return form.Ask(ctx, form.Form{Server: name, Message: p.Message, Fields: fields}, r.call.Ask)
}

// asking returns the call on whose behalf a server asks: that of the request, or the only one
// that runs; else nil.
func (c *connection) asking(ctx context.Context) *running {
	if r, ok := ctx.Value(runningKey{}).(*running); ok {
		return r
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.running) != 1 {
		return nil
	}
	for _, r := range c.running {
		return r
	}
	return nil
}

// pause stops the clock of a call while the person is asked; it reports whether the call goes on.
func (r *running) pause(on bool) bool {
	select {
	case r.asks <- on:
		return true
	case <-r.done:
		return false
	}
}

// mayAsk counts a question of a server and reports whether it may be put.
func (s *server) mayAsk(r *running) bool {
	r.mu.Lock()
	r.asked++
	asked := r.asked
	r.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.asked = append(s.asked, now)
	for len(s.asked) > 0 && now.Sub(s.asked[0]) > time.Minute {
		s.asked = s.asked[1:]
	}
	return asked <= maxAsksOfCall && len(s.asked) <= maxAsksMinute
}

// await returns the connection of a server that is ready, after waiting for one that starts. One that is down is tried
// again, once and within a short time. The error is a sentence for the model.
func (s *server) await(ctx context.Context) (*connection, error) {
	limit := time.NewTimer(s.def.StartTimeout)
	defer limit.Stop()
	wanted := false
	for {
		s.mu.Lock()
		c, st, why, changed, down := s.conn, s.state, s.lastError, s.changed, s.down
		s.mu.Unlock()
		switch {
		case st == Ready && c != nil:
			return c, nil
		case st == Failed && wanted:
			return nil, fmt.Errorf("the MCP server %s failed: %s (each call tries to start it again)", s.def.Name, why)
		case st == Off:
			return nil, fmt.Errorf("the MCP server %s is off; only the user can start it", s.def.Name)
		case !wanted && down:
			wanted = true
			limit.Reset(min(wantedTime, s.def.StartTimeout))
			if st != Starting {
				s.want()
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-limit.C:
			if wanted {
				return nil, fmt.Errorf("the MCP server %s does not answer: %s (each call tries it again)", s.def.Name, why)
			}
			return nil, fmt.Errorf("the MCP server %s did not start within %v: %s", s.def.Name, s.def.StartTimeout, why)
		}
	}
}
