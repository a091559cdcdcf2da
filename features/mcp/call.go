package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/agent/event"
	"buddy/agent/settings"
	"buddy/features/mcp/form"
	"buddy/texts/ansi"
	"buddy/tools"
)

// Limits on the questions that a server may ask the user.
const (
	maxAsksOfCall = 3
	maxAsksMinute = 10
)

// running is a call that a server executes.
type running struct {
	call  tools.Call
	alive chan struct{} // receives progress of the server
	asks  chan bool     // receives true when a question opens and false when it closes; the clock is paused meanwhile

	done chan struct{} // closed when the request has returned

	mu    sync.Mutex // guards the fields below
	over  bool       // the request has returned, and call.Output must not be used any more
	asked int

	accepted bool // over HTTP: the server accepted a request of this call
	unknown  bool // over HTTP: the server does not know the session and accepted no request of this call
}

// runningKey is the context key of the running call.
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

// ask sends a request to a server once it is ready, and publishes its start and end. If the server no longer knows the
// session, ask sends the request once more in a new session.
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

// askIn sends a request over a connection, within the limits of a call. It returns as soon as ctx ends, without waiting
// for the server. again is true if the server did not execute the request because it does not know the session.
func (s *server) askIn(ctx context.Context, c *connection, call tools.Call, name string, request func(context.Context, *connection) (tools.Result, error)) (res tools.Result, again bool) {
	r := &running{call: call, alive: make(chan struct{}, 1), asks: make(chan bool), done: make(chan struct{})}
	c.register(r)
	defer c.unregister(r)
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
			ended = nil // the request fails now, and its error comes at once or not at all
			clock.hurry()
		case <-r.alive:
			clock.alive()
		case asking := <-r.asks:
			clock.pause(asking)
		case <-clock.wall.C:
			return tools.Failure(fmt.Errorf("%s: gave up after %v without a result (the setting is timeout in [mcp.%s])", name, s.def.Timeout, s.def.Name)), false
		case <-clock.idle.C:
			if ended == nil {
				return s.failed(c, nil), r.notExecuted()
			}
			return tools.Failure(fmt.Errorf("%s: gave up after %v without a sign of life (the setting is idle in [mcp.%s])", name, s.def.Idle, s.def.Name)), false
		}
	}
}

// failed turns the error of a request into a result.
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
		if c.over(err) { // the next call waits for the next start
			s.lose(c)
			go c.stop(nil)
		}
	}
	return tools.Problem("the MCP server " + s.def.Name + ": " + clip(why))
}

// over reports whether the connection has ended, judging by the error of a request.
func (c *connection) over(err error) bool {
	select {
	case <-c.ended:
		return true
	default:
		return hungUp(err) || c.exit(false) != ""
	}
}

// addressIn returns the first URL in the data of an error that asks for a visit.
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

// callClock measures the two limits of a call. It is paused while questions to the person are open.
type callClock struct {
	wall, idle *time.Timer
	limits     settings.MCPTimes
	left       time.Duration // remaining time of wall at since
	since      time.Time     // when wall was last started
	asking     int           // open questions
}

func newCallClock(l settings.MCPTimes) *callClock {
	return &callClock{wall: time.NewTimer(l.Timeout), idle: time.NewTimer(l.Idle), limits: l, left: l.Timeout, since: time.Now()}
}

func (c *callClock) stop() { c.wall.Stop(); c.idle.Stop() }

// alive restarts the idle limit after progress.
func (c *callClock) alive() {
	if c.asking == 0 {
		c.idle.Reset(c.limits.Idle)
	}
}

// hurry gives a request on an ended connection a second to return its error.
func (c *callClock) hurry() { c.idle.Reset(time.Second) }

// pause counts open questions and stops the timers while there are any. A server may ask several at once.
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

// register adds a call, for progress and questions.
func (c *connection) register(r *running) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[r.call.ID] = r
}

// unregister removes a call. Its later output is dropped.
func (c *connection) unregister(r *running) {
	c.mu.Lock()
	delete(c.running, r.call.ID)
	c.mu.Unlock()
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	close(r.done)
}

// progress shows the progress of a call.
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
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.call.Say(progressLine(req.Params) + "\n")
	}
}

// progressLine describes the progress of a call in one line.
func progressLine(p *sdk.ProgressNotificationParams) string {
	text := oneLine(ansi.Strip(p.Message))
	if p.Total > 0 {
		return strings.TrimSpace(amount(p.Progress) + "/" + amount(p.Total) + " " + text)
	}
	return cmp.Or(text, amount(p.Progress))
}

// amount formats a number with at most two decimals, and very large numbers with an exponent.
func amount(n float64) string {
	if math.Abs(n) >= 1e15 {
		return strconv.FormatFloat(n, 'g', 3, 64)
	}
	return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64)
}

// elicit asks the person a question of the server, on behalf of a running call. It declines without such a call or
// without a person.
func (c *connection) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	declined := &sdk.ElicitResult{Action: form.Decline}
	r := c.asking(ctx)
	if r == nil || !c.server.allowQuestion(r) {
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

// put shows a URL or a form to the person.
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

// asking returns the call on whose behalf the server asks: the call of the request, or the only running call, or nil.
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

// pause tells the call's clock that a question opens or closes. It reports whether the call is still running.
func (r *running) pause(on bool) bool {
	select {
	case r.asks <- on:
		return true
	case <-r.done:
		return false
	}
}

// allowQuestion counts a question of the server and reports whether the limits allow it.
func (s *server) allowQuestion(r *running) bool {
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

// await returns the connection of a server once it is ready. It waits for a server that starts, and makes a server that
// is down try again once. The error is a sentence for the model.
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
				return nil, fmt.Errorf("the MCP server %s does not answer: %s (each call tries again)", s.def.Name, why)
			}
			return nil, fmt.Errorf("the MCP server %s did not start within %v: %s", s.def.Name, s.def.StartTimeout, why)
		}
	}
}
