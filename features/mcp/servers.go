package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"buddy/agent/event"
	"buddy/texts"
	"buddy/tmux/host/child"
	"buddy/tools"
)

const (
	startAtOnce = 8               // servers that begin to start at the same time
	slotTime    = 2 * time.Second // after which one that still starts does not count among those
)

// Options say which servers there are and what they work with.
type Options struct {
	Servers  []Server
	Deferred *tools.Deferred   // gets their tools; nil: a set of its own
	State    string            // folder for what is remembered: pins, processes
	Env      []string          // NAME=value, that every program gets beside the minimal environment
	Version  string            // of this program
	Publish  func(event.Event) // gets what happens to servers; nil drops it
	HTTP     *http.Client      // for servers at a URL; nil is Go's own
	// Secret reports whether arguments of a call hold what looks like a secret; nil finds none.
	Secret func(arguments string) bool
	// Open opens an address in the person's browser; nil can't.
	Open func(url string) error
	// Checked returns a server of a project as it is to start now, with copies of the files that were checked, or why it must
	// not start. It is asked before each start. nil: they start as they are.
	Checked func(Server) (Server, error)
	// Hold returns what holds a program that starts now, nil while nothing does, as in all modes but auto. It is asked
	// about servers that are Held. nil: nothing ever holds one.
	Hold func(Server) (child.Holder, error)
	// Login returns what lets requests in at a server over HTTP that wants a login; nil: there are none.
	Login func(Server) auth.OAuthHandler
}

// Servers are the servers of a session. It is safe for concurrent use; use [New].
type Servers struct {
	o      Options
	pins   *pins
	slots  chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex // guards what follows, and the options' HTTP
	servers []*server  // in the order of the options
	started bool
	pending map[string]bool // servers that are neither ready nor failed yet, since the start; also starting
	failed  []string        // what is to be said of those that failed since a moment
}

// New returns servers that do nothing until Start.
func New(o Options) *Servers {
	if o.Deferred == nil {
		o.Deferred = tools.NewDeferred()
	}
	if o.Publish == nil {
		o.Publish = func(event.Event) {}
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	if o.Secret == nil {
		o.Secret = func(string) bool { return false }
	}
	if o.Open == nil {
		o.Open = func(string) error { return errors.New("there is no browser here") }
	}
	s := &Servers{o: o, pins: &pins{path: filepath.Join(o.State, "mcp.json")}, slots: make(chan struct{}, startAtOnce), pending: make(map[string]bool)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for _, def := range checked(o.Servers) {
		s.servers = append(s.servers, newServer(s, def))
		if def.starts() {
			s.pending[def.Name] = true
		}
	}
	s.register()
	return s
}

// checked returns definitions with their limits, and with a problem where two servers' tools would
// have the same names.
func checked(all []Server) []Server {
	taken := make(map[string]string)
	all = slices.Clone(all)
	for i := range all {
		def := &all[i]
		if other, ok := taken[prefix(def.Name)]; ok && def.Problem == "" {
			def.Problem = fmt.Sprintf("its tools would have the names of those of %s (rename one of the two)", other)
		}
		taken[prefix(def.Name)] = cmp.Or(taken[prefix(def.Name)], def.Name)
		def.MCPTimes = def.WithDefaults()
	}
	return all
}

// register lets the model find tools, if there are servers.
func (s *Servers) register() {
	if len(s.every()) > 0 {
		s.o.Deferred.SetSource(s)
		s.o.Deferred.Add(newResourceTools(s)...)
	}
}

// every returns all servers, in the order of the options.
func (s *Servers) every() []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.servers)
}

// Replace makes others the servers of the session, which client reaches at their URLs (nil: as before): those that
// are defined as before go on, the others end with their tools, and new ones start. It waits for none.
func (s *Servers) Replace(all []Server, client *http.Client) {
	type change struct{ now, was *server }
	var fresh []change
	s.mu.Lock()
	if s.ctx.Err() != nil {
		s.mu.Unlock()
		return
	}
	if client != nil {
		s.o.HTTP = client
	}
	before := s.servers
	s.servers = nil
	for _, def := range checked(all) {
		i := slices.IndexFunc(before, func(one *server) bool { return one.def.Name == def.Name })
		if i >= 0 && reflect.DeepEqual(before[i].def, def) {
			s.servers = append(s.servers, before[i])
			continue
		}
		c := change{now: newServer(s, def)}
		if i >= 0 {
			c.was = before[i]
		}
		s.servers, fresh = append(s.servers, c.now), append(fresh, c)
	}
	for _, one := range before {
		if !slices.Contains(s.servers, one) {
			one.cancel()
			delete(s.pending, one.def.Name)
		}
	}
	for _, c := range fresh {
		if s.started {
			s.work.Go(func() { s.runAfter(c.now, c.was) })
		} else if c.now.def.starts() {
			s.pending[c.now.def.Name] = true
		}
	}
	s.mu.Unlock()
	s.register()
}

// runAfter runs a server once another one has ended, whose tools have the same names; nil is none.
func (s *Servers) runAfter(one, other *server) {
	if other != nil {
		<-other.ended
	}
	if one.def.starts() {
		s.mu.Lock()
		s.pending[one.def.Name] = true
		s.mu.Unlock()
	}
	one.run()
}

// Start ends what a killed process has left and starts the servers, eight at once but for slow ones. It returns at
// once. Call it once.
func (s *Servers) Start() {
	s.mu.Lock()
	s.started = true
	all := slices.Clone(s.servers)
	if len(all) > 0 {
		s.pending[starting] = true
	}
	s.mu.Unlock()
	if len(all) == 0 {
		return
	}
	s.work.Go(func() {
		if ended, err := child.Sweep(s.o.State); err != nil || ended > 0 {
			s.o.Publish(sweepNotice(ended, err))
		}
		for _, one := range all {
			s.work.Go(one.run)
		}
		s.settle(starting)
	})
}

func sweepNotice(ended int, err error) event.Event {
	if err != nil {
		return event.Warning{Text: "programs that an earlier session has left were not all ended: " + err.Error(), Code: "mcp"}
	}
	return event.Notice{Text: "ended " + texts.Plural(int(ended), "program") + " that an earlier session had left behind", Code: "mcp"}
}

// Close ends all servers and what they have started, and waits for that; about six seconds at
// the most.
func (s *Servers) Close() {
	s.mu.Lock() // nothing starts meanwhile
	s.cancel()
	s.mu.Unlock()
	s.work.Wait()
}

// starting is pending until all servers were told to start. Without it a server that fails early would be the last one
// pending, and nobody would say that all are ready where all are off.
const starting = ""

// settle notes that a server is ready or failed; after the last one it is said that all are.
func (s *Servers) settle(name string) {
	s.mu.Lock()
	last := s.pending[name] && len(s.pending) == 1
	delete(s.pending, name)
	s.mu.Unlock()
	if !last {
		return
	}
	ready := event.MCPReady{Servers: []string{}}
	for _, st := range s.List() {
		switch st.State {
		case Ready:
			ready.Servers = append(ready.Servers, st.Name)
		case Off:
		default:
			ready.Failed = append(ready.Failed, event.MCPFailure{Server: st.Name, Error: st.Error})
		}
	}
	s.o.Publish(ready)
}

// fail tells the person that a server failed, a moment later: many that do within a second are one warning.
func (s *Servers) fail(name string, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = append(s.failed, fmt.Sprintf("%s (%v)", name, why))
	if len(s.failed) > 1 {
		return // the first one waits
	}
	s.work.Go(func() {
		select {
		case <-time.After(burst):
		case <-s.ctx.Done():
			return
		}
		for _, w := range s.Unsaid() {
			s.o.Publish(w)
		}
	})
}

// Unsaid returns the warnings of servers that failed a moment ago, which nobody else gets any more: one each, or one for many.
func (s *Servers) Unsaid() (all []event.Warning) {
	s.mu.Lock()
	failed := s.failed
	s.failed = nil
	s.mu.Unlock()
	if len(failed) > maxFailures {
		return []event.Warning{failureWarning(failed)}
	}
	for _, one := range failed {
		all = append(all, event.Warning{Text: "MCP server failed: " + one, Code: "mcp", NextStep: howFailed})
	}
	return all
}

// maxFailures limits the failures that have a warning each, and those that a warning names.
const maxFailures = 3

// failureWarning says which servers failed.
func failureWarning(failed []string) event.Warning {
	text := texts.Plural(len(failed), "MCP server") + " failed: " + strings.Join(failed[:min(len(failed), maxFailures)], ", ")
	if more := len(failed) - maxFailures; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return event.Warning{Text: text, Code: "mcp", NextStep: howFailed}
}

const howFailed = "each call of its tools tries it again; buddy mcp check shows why"

// find returns the server of a name.
func (s *Servers) find(name string) (*server, error) {
	all := s.every()
	i := slices.IndexFunc(all, func(one *server) bool { return one.def.Name == name })
	if i < 0 {
		var names []string
		for _, one := range all {
			names = append(names, one.def.Name)
		}
		return nil, fmt.Errorf("there is no MCP server %q (have: %s)", name, cmp.Or(strings.Join(names, ", "), "none"))
	}
	return all[i], nil
}

// Switch starts a server anew, or ends it until the session ends or it is asked for again.
func (s *Servers) Switch(name string, on bool) error {
	one, err := s.find(name)
	if err != nil {
		return err
	}
	if on && one.def.Problem != "" {
		return fmt.Errorf("the MCP server %s can't be started: %s", name, one.def.Problem)
	}
	s.mu.Lock()
	started := s.started
	s.mu.Unlock()
	if !started {
		return errors.New("the MCP servers have not been started yet")
	}
	select {
	case one.orders <- on:
		return nil
	case <-one.ended:
		return errors.New("the server or the session ends")
	}
}

// Restart starts those anew that run and that something would hold now. It waits for none.
func (s *Servers) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started || s.ctx.Err() != nil {
		return
	}
	for _, one := range s.servers {
		if st := one.now(); !one.def.Held || st == Off || st == Failed {
			continue
		}
		s.work.Go(func() {
			select {
			case one.orders <- true:
			case <-one.ended:
			}
		})
	}
}

// MarkRead notes that the person has read what a server says of itself: texts that were withheld
// because they read like a prompt injection then reach the model.
func (s *Servers) MarkRead(name string) error {
	one, err := s.find(name)
	if err != nil {
		return err
	}
	return one.markRead()
}

// Pending returns a stand-in for a tool of a server that starts: it waits for the server. It is
// for use_tool; ok is false for names that no such server can have.
func (s *Servers) Pending(name string) (tools.Tool, bool) {
	for _, one := range s.every() {
		if own, ok := strings.CutPrefix(name, prefix(one.def.Name)); ok && own != "" {
			if st := one.now(); st == Ready || st == Off {
				return nil, false // it has no tool of this name
			}
			return &pendingTool{server: one, name: name}, true
		}
	}
	return nil, false
}

// searchTime limits how long a search waits for servers that start.
const searchTime = 15 * time.Second

// Await waits for the servers that start for the first time, within a limit: a search before that finds none of their
// tools, and a model takes that for an answer.
func (s *Servers) Await(ctx context.Context) {
	s.mu.Lock()
	started := s.started
	s.mu.Unlock()
	if !started {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	for _, one := range s.every() {
		one.firstStart(ctx)
	}
}

// Note tells the model which servers are missing in a search and what those say of themselves that
// its words name; "" for nothing. Lists that are old are fetched anew meanwhile.
func (s *Servers) Note(words []string) string {
	var starting, failed, notes []string
	for _, one := range s.every() {
		switch one.now() {
		case Starting, Waiting:
			starting = append(starting, one.def.Name)
		case Failed:
			failed = append(failed, one.def.Name)
		case Ready:
			one.refreshOld()
		}
		if text := one.told(words); text != "" {
			notes = append(notes, text)
		}
	}
	if len(starting) > 0 {
		notes = append(notes, "these MCP servers are still starting, their tools are not known yet: "+strings.Join(starting, ", "))
	}
	if len(failed) > 0 {
		notes = append(notes, "these MCP servers failed: "+strings.Join(failed, ", "))
	}
	return strings.Join(notes, "; ")
}
