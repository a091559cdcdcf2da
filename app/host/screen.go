package host

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/app/client"
	"buddy/app/commands"
	"buddy/app/compose"
	"buddy/app/input"
	"buddy/app/slash"
	"buddy/tools/target"
)

// screen is one screen's connection to the session. The host's lock guards its fields.
type screen struct {
	host    *Host
	looks   bool                     // it shows nothing to a user
	place   string                   // its unique name
	watched []string                 // panes whose contents it shows
	fits    map[string]event.FitPane // by pane: the wanted size
}

// Hello implements [client.Session].
func (s *screen) Hello(context.Context) (client.Hello, error) {
	hello := s.host.hello()
	hello.Screen = s.place
	if s.looks && s.host.failed == nil {
		about := s.host.describe()
		hello.About = &about
	}
	return hello, nil
}

// Subscribe implements [client.Session]. The first call starts the session.
func (s *screen) Subscribe(ctx context.Context, after uint64, every time.Duration) (<-chan []event.Envelope, error) {
	if failed := s.host.failed; failed != nil {
		return nil, *failed
	}
	batches := s.host.ready.Join(ctx, after, every)
	if every != client.DurableOnly {
		s.host.begin()
	}
	return batches, nil
}

// Err implements [client.Session]: a session in the same process is never lost.
func (s *screen) Err() error { return nil }

// Send implements [client.Session].
func (s *screen) Send(c event.Command) {
	h := s.host
	if h.failed != nil || h.ended() {
		return
	}
	h.touch()
	switch c := c.(type) {
	case event.WatchPanes:
		h.mu.Lock()
		defer h.mu.Unlock()
		s.watched = slices.Clone(c.IDs)
		h.watch()
	case event.FitPane:
		h.mu.Lock()
		defer h.mu.Unlock()
		s.fitTo(c)
	case event.SetMode:
		c.Screen = s.place
		h.program.Live.Send(c)
	case event.CycleMode:
		c.Screen = s.place
		h.program.Live.Send(c)
	case event.AnswerApproval:
		if c.Screen = s.place; h.isOpen(c.ID) { // otherwise another screen answered first, and this one sees that answer
			h.program.Live.Send(c)
		}
	case event.Answer:
		if c.Screen = s.place; h.isOpen(c.ID) {
			h.program.Live.Send(c)
		}
	case event.Submit:
		h.readUnwatched()
		h.program.Live.Send(c)
	default:
		h.program.Live.Send(c)
	}
}

// fitTo sets the size that this screen wants for a pane; zeros reset it. The caller holds the host's lock.
func (s *screen) fitTo(c event.FitPane) {
	if c.W == 0 {
		delete(s.fits, c.Pane)
		s.host.fit(c.Pane)
		return
	}
	if s.fits == nil {
		s.fits = make(map[string]event.FitPane)
	}
	s.fits[c.Pane] = c
	s.host.program.Live.Send(c)
}

// Request implements [client.Session].
func (s *screen) Request(ctx context.Context, q client.Request) (any, error) {
	h := s.host
	if _, looks := q.(client.Describe); !looks { // every new screen asks all sessions to describe themselves
		h.touch()
	}
	if failed := h.failed; failed != nil {
		return nil, *failed
	}
	switch q := q.(type) {
	case client.ChangedSince:
		changes, err := compose.ChangedSince(h.program)
		return &client.ChangedSinceReply{Changes: changes}, err
	case client.Describe:
		reply := h.describe()
		return &reply, nil
	case client.Run:
		session := commands.In(h.program, s.Send)
		session.Now = q.Now
		answer, err := commands.Run(ctx, session, q.Words...)
		return &answer, err
	case client.Named, client.Arguments:
		return askProgram(ctx, h.program, q)
	case client.Files:
		return &client.FilesReply{Paths: h.files.find(q.Query)}, nil
	case client.Close:
		if q.WhenIdle && h.endLater(q) {
			return &client.CloseReply{Later: true}, nil
		}
		if !q.Kill && !q.Abandon && s.quits() {
			return &client.CloseReply{
				Lines:  []string{fmt.Sprintf("buddy: the session keeps running on another screen · buddy attach %s", Short(h.program.ID))},
				Stored: h.program.Stored(),
			}, nil
		}
		reply := h.End(q)
		return &reply, nil
	}
	return nil, fmt.Errorf("unknown request %q", client.Name(q))
}

// askProgram answers a screen's requests for completions.
func askProgram(ctx context.Context, p *compose.Program, q client.Request) (any, error) {
	switch q := q.(type) {
	case client.Named:
		return &client.FilesReply{Paths: append(input.Agents(q.Query, p.Live.AgentNames(ctx)), p.Servers.Names(q.Query)...)}, nil
	case client.Arguments:
		reply := client.ArgumentsReply{Words: []client.Argument{}}
		for _, c := range slash.Complete(slash.Offers{Workflows: p.Workflows.Offered}, q.Line) {
			reply.Words = append(reply.Words, client.Argument(c))
		}
		return &reply, nil
	}
	return nil, fmt.Errorf("unknown request %q", client.Name(q))
}

// quits reports whether quitting this screen must not end the session, because another screen is attached and nothing
// runs.
func (s *screen) quits() bool {
	h := s.host
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.screens[s] || len(h.screens) < 2 || h.busy() {
		return false
	}
	delete(h.screens, s)
	return true
}

// files finds files of the current target, for completion.
type files struct {
	targets *target.Set

	mu      sync.Mutex // guards indexes
	indexes input.FileIndexes
}

// find returns the best matches of a query, nothing if there is a later query.
func (f *files) find(query string) []string {
	f.mu.Lock()
	find := f.indexes.Of(f.targets).Request(query)
	f.mu.Unlock()
	paths, _ := find()
	return paths
}
