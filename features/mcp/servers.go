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
	startAtOnce = 8               // servers that start at the same time
	slotTime    = 2 * time.Second // after this time a starting server no longer counts
)

// Options configure Servers.
type Options struct {
	Servers  []Server
	Deferred *tools.Deferred   // receives the tools; nil: a set of its own
	State    string            // folder for pins and processes
	Env      []string          // NAME=value, for every program in addition to the minimal environment
	Version  string            // of buddy
	Folders  []string          // workspace folders on this machine, which programs may list as roots
	Publish  func(event.Event) // receives events about servers; nil drops them
	HTTP     *http.Client      // for servers at a URL; nil: the default client
	// Secret reports whether arguments of a call seem to contain a secret; nil finds none.
	Secret func(arguments string) bool
	// Open opens an address in the person's browser; nil: there is none.
	Open func(url string) error
	// Checked returns the definition with which a project's server may start, with copies of the checked files, or why
	// it must not start. It is called before each start. If Checked is nil, servers start as they are.
	Checked func(Server) (Server, error)
	// Hold returns the sandbox for a server that is Held, or nil outside of auto mode. If Hold is nil, there is no
	// sandbox.
	Hold func(Server) (child.Holder, error)
	// Login returns the OAuth handler for a server over HTTP; nil: there are no logins.
	Login func(Server) auth.OAuthHandler
}

// Servers runs the servers of a session. It is safe for concurrent use; use [New].
type Servers struct {
	o      Options
	pins   *pins
	slots  chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	subs   subscriptions

	mu      sync.Mutex // guards the fields below and o.HTTP
	servers []*server  // in the order of the options
	started bool
	pending map[string]bool // servers neither ready nor failed since the start, and the key starting
	failed  []string        // failures that were not reported yet
}

// New returns Servers that do nothing until Start.
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

// checked adds default limits to definitions, and a problem to a server whose tools would have the same names as
// another server's.
func checked(all []Server) []Server {
	taken := make(map[string]string)
	all = slices.Clone(all)
	for i := range all {
		def := &all[i]
		if other, ok := taken[prefix(def.Name)]; ok && def.Problem == "" {
			def.Problem = fmt.Sprintf("its tools would have the same names as those of %s (rename one of the servers)", other)
		}
		taken[prefix(def.Name)] = cmp.Or(taken[prefix(def.Name)], def.Name)
		def.MCPTimes = def.WithDefaults()
	}
	return all
}

// register offers the tools of servers to the model, if there are servers.
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

// Replace changes the servers of the session: servers with the same definition keep running, others end with their
// tools, and new ones start. client replaces the HTTP client unless it is nil. Replace waits for no server.
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
			s.subs.drop(one.def.Name)
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

// runAfter runs a server after another server has ended, whose tools have the same names; other may be nil.
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

// Start ends programs of servers that earlier processes of buddy left running when they were killed. Then it starts the
// servers, eight at a time, not counting slow ones. It returns at once. Call it once.
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
		return event.Warning{Text: "not all programs left by an earlier session were ended: " + err.Error(), Code: "mcp"}
	}
	return event.Notice{Text: "ended " + texts.Plural(int(ended), "program") + " left by an earlier session", Code: "mcp"}
}

// Close ends all servers and the processes that they started. It takes at most about six seconds.
func (s *Servers) Close() {
	s.mu.Lock() // so that nothing starts meanwhile
	s.cancel()
	s.mu.Unlock()
	s.work.Wait()
}

// starting counts as a pending server until all servers have been started, so that MCPReady is neither published when
// an early server fails, nor missing when all servers are off.
const starting = ""

// settle marks a server as ready or failed, and publishes MCPReady after the last one.
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

// fail reports a failure after a short delay, so that many failures within a second become one warning.
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

// Unsaid returns the failures that were not published yet, as one warning each or as one for many.
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

// maxFailures limits the failures with a warning of their own, and the failures listed in one warning.
const maxFailures = 3

// failureWarning merges failures into one warning.
func failureWarning(failed []string) event.Warning {
	text := texts.Plural(len(failed), "MCP server") + " failed: " + strings.Join(failed[:min(len(failed), maxFailures)], ", ")
	if more := len(failed) - maxFailures; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return event.Warning{Text: text, Code: "mcp", NextStep: howFailed}
}

const howFailed = "each call of its tools tries to start it again; buddy mcp check shows why"

// find returns the server with a name.
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

// Switch starts or restarts a server, or ends it until the next Switch.
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

// Restart restarts the running servers that are Held. It waits for none.
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

// MarkRead records that the person has read the server's texts. Hidden texts then reach the model.
func (s *Servers) MarkRead(name string) error {
	one, err := s.find(name)
	if err != nil {
		return err
	}
	return one.markRead()
}

// Pending returns a stand-in for a tool of a server that is not ready; its call waits for the server. ok is false for
// names that no such server can have.
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

// Await waits for servers that start for the first time, within a limit. An earlier search would miss their tools, and
// the model would take that as a final answer.
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

// Note returns a search's remark for the model: servers whose tools are missing, and the instructions of servers that
// words name. It also fetches lists that are too old.
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
		if text := one.instructionsFound(words); text != "" {
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
