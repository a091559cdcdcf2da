package mcp

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/agent/event"
)

// server is a configured server and its present connection.
type server struct {
	all    *Servers
	def    Server
	http   *http.Client      // for its URL
	login  auth.OAuthHandler // authorizes requests; nil if a header does
	orders chan bool         // true starts the server again, false ends it
	wanted chan struct{}     // buffered: has a value when a call needs a server that is down
	ctx    context.Context
	cancel context.CancelFunc // ends the server
	ended  chan struct{}      // closed when run has returned

	mu           sync.Mutex // guards all below
	state        State
	lastError    string
	changed      chan struct{} // closed when the state changes
	down         bool          // the server failed or was unreachable, and has not been ready since
	conn         *connection   // nil unless Ready
	tools        []*tool
	prompts      []*sdk.Prompt
	resources    []*sdk.Resource
	instructions string
	notes        []string
	stderr       string          // of the last process
	listed       time.Time       // when the lists were fetched
	listAge      time.Duration   // maximum age of the lists
	published    event.MCPServer // the last published state
	asked        []time.Time     // times of questions to the person in the last minute
}

func newServer(all *Servers, def Server) *server {
	s := &server{all: all, def: def, http: all.o.HTTP, login: newLogin(all, def), orders: make(chan bool), wanted: make(chan struct{}, 1), ended: make(chan struct{}), state: Starting, changed: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(all.ctx)
	if !def.starts() {
		s.state, s.lastError = Off, def.Problem
	}
	return s
}

func (s *server) now() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// become changes the state and publishes it. why is the reason of a failure, or nil.
func (s *server) become(st State, why error) {
	s.mu.Lock()
	s.state = st
	switch st {
	case Ready, Off:
		s.down = false
	case Failed:
		s.down = true
	case Waiting:
		s.down = s.down || s.def.Transport != Stdio
	case Starting:
	}
	if why != nil {
		s.lastError = why.Error()
	}
	e := event.MCPServer{Server: s.def.Name, State: string(st), Tools: len(s.tools), Prompts: s.commands()}
	if why != nil {
		e.Error = s.lastError
	}
	news := !reflect.DeepEqual(e, s.published)
	s.published = e
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	if news {
		s.all.o.Publish(e)
	}
	if st != Starting {
		s.all.settle(s.def.Name)
	}
}

// run starts the server unless it is off, and executes orders until its context ends.
func (s *server) run() {
	defer close(s.ended)
	on := s.now() != Off
	for s.ctx.Err() == nil {
		if on {
			on = s.serve(s.ctx)
			continue
		}
		select {
		case on = <-s.orders:
		case <-s.ctx.Done():
		}
	}
}

// serve keeps the server running until an order comes, which it returns, or ctx ends.
func (s *server) serve(ctx context.Context) (on bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	go func() { defer close(ended); s.keep(ctx) }()
	select {
	case on = <-s.orders:
	case <-ctx.Done():
	}
	cancel()
	<-ended
	if !on && s.all.ctx.Err() == nil {
		s.forget()
		s.become(Off, nil)
	}
	return on
}

// keep starts the server, and restarts it when it has ended, until ctx ends.
func (s *server) keep(ctx context.Context) {
	var again retries
	reported := false // whether the failure was reported since the server was ready
	for ctx.Err() == nil {
		s.become(Starting, nil)
		c, err := s.start(ctx)
		if err == nil {
			again.ready(time.Now())
			reported = false
			select {
			case <-s.wanted: // the server is ready now
			default:
			}
			s.become(Ready, nil)
			s.follow(ctx, c)
			err = c.explain(nil)
			s.lose(c)
			c.stop(err)
		}
		if ctx.Err() != nil {
			return
		}
		pause, ok := again.next(s.def.Transport, time.Now())
		if !ok || isRefused(err) {
			s.forget()
			s.become(Failed, err)
			if !reported {
				s.all.fail(s.def.Name, err)
			}
			reported = true
			select {
			case <-s.wanted:
			case <-ctx.Done():
			}
			continue
		}
		s.become(Waiting, err)
		hurry := s.wanted
		if s.def.Transport == Stdio { // a program that ends again and again costs more than a request
			hurry = nil
		}
		select {
		case <-time.After(pause):
		case <-hurry:
		case <-ctx.Done():
		}
	}
}

// firstStart waits until the server has started or failed for the first time, or ctx ends.
func (s *server) firstStart(ctx context.Context) {
	for {
		s.mu.Lock()
		wait, changed := s.state == Starting && s.lastError == "", s.changed
		s.mu.Unlock()
		if !wait {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// want requests another attempt to start the server if it is down.
func (s *server) want() {
	select {
	case s.wanted <- struct{}{}:
	default: // already asked
	}
}

// wantedTime limits how long a call waits for a server that was down.
const wantedTime = 5 * time.Second

// Limits of restarts.
const (
	restartPause = time.Minute      // between two restarts of a program
	maxRestarts  = 3                // of a program
	healthyTime  = 10 * time.Minute // after running for this time, the count of restarts is reset
	maxReconnect = 5                // over HTTP: after 1, 2, 4, 8, 16 s
)

// retries decides when a server is restarted.
type retries struct {
	readyAt time.Time // when it was last ready; zero: never
	last    time.Time // the last restart
	count   int
}

func (r *retries) ready(now time.Time) { r.readyAt = now }

// next returns the pause before the next start, or false to give up. A program that was never ready is not restarted,
// because it would fail the same way.
func (r *retries) next(t Transport, now time.Time) (pause time.Duration, ok bool) {
	was := !r.readyAt.IsZero()
	if was && now.Sub(r.readyAt) > healthyTime {
		r.count, r.last = 0, time.Time{}
	}
	if t != Stdio {
		if was {
			r.count, r.readyAt = 0, time.Time{}
		}
		if r.count == maxReconnect {
			return 0, false
		}
		r.count++
		return time.Second << (r.count - 1), true
	}
	if !was || r.count == maxRestarts {
		return 0, false
	}
	r.count, r.readyAt = r.count+1, time.Time{}
	if !r.last.IsZero() {
		pause = max(0, restartPause-now.Sub(r.last))
	}
	r.last = now.Add(pause)
	return pause, true
}

// start connects and fetches the lists of the server, within StartTimeout. At most eight servers do this at once, not
// counting servers that take longer than slotTime.
func (s *server) start(ctx context.Context) (*connection, error) {
	select {
	case s.all.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	leave := sync.OnceFunc(func() { <-s.all.slots })
	defer leave()
	slow := time.AfterFunc(slotTime, leave)
	defer slow.Stop()
	late := time.Now().Add(s.def.StartTimeout)
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithDeadline(ctx, late)
	defer cancel()
	got, err := s.load(limited, c)
	if err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("it did not list its tools within %v", s.def.StartTimeout)
		}
		err = c.explain(err)
		c.stop(err)
		return nil, err
	}
	got.notes = append(got.notes, c.resubscribe(limited)...)
	s.mu.Lock()
	s.conn = c
	s.mu.Unlock()
	s.apply(got)
	return c, nil
}

// lose drops a connection that has ended. The tools stay known, and their calls wait for the next start.
func (s *server) lose(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == c {
		s.conn = nil
	}
}

// offer holds the lists and texts of a server.
type offer struct {
	tools        []definition
	prompts      []*sdk.Prompt
	resources    []*sdk.Resource
	instructions string
	notes        []string
	age          time.Duration // maximum age of the lists
}

// load fetches the server's lists. Only errors of its tools are fatal.
func (s *server) load(ctx context.Context, c *connection) (got offer, err error) {
	c.forgetAge()
	defer func() { got.age = c.listAge() }()
	res := c.session.InitializeResult()
	caps := res.Capabilities
	if caps == nil {
		caps = &sdk.ServerCapabilities{}
	}
	got.instructions = res.Instructions
	if caps.Tools != nil {
		if got.tools, got.notes, err = listTools(ctx, c.session, s.def.allows); err != nil {
			return got, err
		}
	}
	note := func(what, cut string, err error) {
		switch {
		case err != nil:
			got.notes = append(got.notes, what+" could not be listed: "+oneLine(err.Error()))
		case cut != "":
			got.notes = append(got.notes, what+": "+cut)
		}
	}
	if caps.Prompts != nil {
		prompts, cut, err := listAll(ctx, func(ctx context.Context, cursor string) ([]*sdk.Prompt, string, error) {
			res, err := c.session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return res.Prompts, res.NextCursor, nil
		})
		note("prompts", cut, err)
		got.prompts = prompts
	}
	if caps.Resources != nil {
		resources, cut, err := listAll(ctx, func(ctx context.Context, cursor string) ([]*sdk.Resource, string, error) {
			res, err := c.session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return res.Resources, res.NextCursor, nil
		})
		note("resources", cut, err)
		got.resources = resources
	}
	return got, nil
}

// apply replaces the lists of the server and the tools that the model can find.
func (s *server) apply(got offer) {
	var names []string
	for _, d := range got.tools {
		names = append(names, d.Name)
	}
	read := s.readTexts()
	var now []*tool
	for i, name := range modelNames(s.def.Name, names) {
		now = append(now, newTool(s, got.tools[i], name, read))
	}
	s.mu.Lock()
	before := s.tools
	s.tools, s.prompts, s.resources, s.instructions, s.notes = now, got.prompts, got.resources, got.instructions, got.notes
	s.listed, s.listAge = time.Now(), got.age
	s.mu.Unlock()
	s.offer(before, now)
}

// offer replaces tools in the set that the model can find.
func (s *server) offer(before, now []*tool) {
	var gone []string
	for _, t := range before {
		if !slices.ContainsFunc(now, func(n *tool) bool { return n.name == t.name }) {
			gone = append(gone, t.name)
		}
	}
	s.all.o.Deferred.Remove(gone...)
	for _, t := range now {
		s.all.o.Deferred.Add(t)
	}
}

// forget removes the server's tools from the set that the model can find.
func (s *server) forget() {
	s.mu.Lock()
	before := s.tools
	s.tools, s.prompts, s.resources, s.instructions = nil, nil, nil, ""
	s.mu.Unlock()
	s.offer(before, nil)
}

// burst is the interval in which changes of lists are merged.
const burst = time.Second

// follow fetches the lists of a connection when they have changed, until the connection or ctx ends.
func (s *server) follow(ctx context.Context, c *connection) {
	for {
		select {
		case <-c.changed:
			s.refetch(ctx, c)
		case <-c.ended:
			return
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(burst):
		case <-c.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

// refetch fetches the lists again. After an error the old lists stay.
func (s *server) refetch(ctx context.Context, c *connection) {
	limited, cancel := context.WithTimeout(ctx, s.def.StartTimeout)
	defer cancel()
	got, err := s.load(limited, c)
	if err != nil {
		s.mu.Lock()
		s.notes = append(s.notes, "its changed list could not be fetched, so the old list stays: "+oneLine(err.Error()))
		s.notes = s.notes[max(0, len(s.notes)-20):]
		s.mu.Unlock()
		return
	}
	s.apply(got)
	s.become(Ready, nil)
}

// Limits of the maximum age that a server of the present protocol gives its lists. The server need not announce
// changes, so a search fetches lists again that are too old.
const (
	minListAge = time.Minute
	maxListAge = time.Hour
)

// refreshOld fetches the lists again if they are too old.
func (s *server) refreshOld() {
	s.mu.Lock()
	c := s.conn
	s.mu.Unlock()
	if c == nil || !s.listsAreOld() {
		return
	}
	if res := c.session.InitializeResult(); res != nil && strings.Compare(res.ProtocolVersion, legacyVersion) > 0 {
		c.listsChanged()
	}
}

func (s *server) listsAreOld() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.listed) > s.listAge
}
