// Package lsp asks language servers what is wrong with files that tools have changed.
//
//	all := lsp.New(lsp.Options{Servers: find, Folders: folders, State: dir, Publish: publish})
//	defer all.Close()
//	text := all.Changed(ctx, "local", before) // what the change has broken, "" for nothing
//
// A server starts with the first change of such a file, and never without one. It gets the text
// from before the change first, so that what was wrong already is not reported. All that it says
// is untrusted text.
package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/agent/event"
	"buddy/texts"
	"buddy/tmux/host/child"
	"buddy/tools"
)

const (
	// waitTime limits how long the calls of one turn wait for diagnostics, all together.
	waitTime = time.Second
	// maxServers limits the servers that run at once; the one that was not needed for longest ends for
	// another.
	maxServers = 4
	// startTime limits how long a server may take to answer for the first time, if it says nothing else.
	startTime = time.Minute
	// thisMachine is the only target on which servers run.
	thisMachine = "local"
)

// Server is one language server that may be started.
type Server struct {
	Name      string
	Command   []string
	Env       []string          // NAME=value, beside the minimal environment
	Pass      []string          // names of variables of this process that it gets
	Languages map[string]string // the protocol's name of the language, by the ending of file names: ".go" is "go"
	Roots     []string          // names of files that mark the folder to start it in
	Settings  json.RawMessage   // what it gets when it asks; nil for nothing
	Init      json.RawMessage   // initializationOptions; nil for none
	Start     time.Duration     // how long it may take to answer first; 0 is a minute
	Off       bool              // never start it
	// RunsProject means that the server runs programs of the project, so that it needs trust wherever
	// its own program is.
	RunsProject bool
	Outside     bool   // nothing holds it
	Copies      string // folder with the copies of files that it runs, removed after it; "" is none
	Problem     string // why it can't be started; "" if it can
	// Refuses returns why it may not start in a folder, "" if it may; nil for one that may start in all.
	Refuses func(root string) string
}

// Options say which servers there are and what they work with.
type Options struct {
	// Servers returns the servers, those that go first in front. It is called when one is needed,
	// so that a session without changes looks for nothing.
	Servers func() []Server
	Folders []string          // that are worked in: only their files are looked at, and names are relative to the first
	State   string            // folder in which running servers are noted; "" notes nothing
	Env     []string          // NAME=value, that every server gets beside the minimal environment
	Away    string            // the target that the project is on, if that is not this machine
	Publish func(event.Event) // gets what happens to servers; nil drops it
	// Checked returns a server as it is to start now in a folder, with copies of the files that were checked, or why it must not
	// start. nil: they start as they are.
	Checked func(def Server, root string) (Server, error)
	// Hold returns what holds a server that starts now, nil while nothing does, as in all modes but auto. nil: nothing
	// ever holds one.
	Hold func(Server) (child.Holder, error)
}

// Clients talks to the servers of a session. It is safe for concurrent use; use [New].
type Clients struct {
	o      Options
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	limits limits
	start  func(ctx context.Context, def Server, root string, o Options) (link, error)

	mu      sync.Mutex         // guards what follows
	left    time.Duration      // that calls may still wait in this turn
	servers map[string]*server // that run, or failed, by name and root
	said    map[string]bool    // notices
}

// limits are those of a running server.
type limits struct {
	idle     time.Duration // without changes, then it ends
	check    time.Duration // between looks at its memory
	resident int64         // bytes
	settle   time.Duration // how long diagnostics are waited for at all
	messages int           // in one second
}

// New returns clients that do nothing until a file was changed.
func New(o Options) *Clients {
	if o.Publish == nil {
		o.Publish = func(event.Event) {}
	}
	c := &Clients{
		o: o, left: waitTime, servers: make(map[string]*server), said: make(map[string]bool), start: start,
		limits: limits{idle: 10 * time.Minute, check: 15 * time.Second, resident: 2 << 30, settle: 30 * time.Second, messages: 10_000},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Restart ends the servers that something would hold now, so that the next change starts them held. It waits for none.
func (c *Clients) Restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, s := range c.servers {
		if !s.def.Outside {
			s.end()
			delete(c.servers, key)
		}
	}
}

// Close ends all servers and what they have started; about seven seconds at the most.
func (c *Clients) Close() {
	c.cancel()
	c.work.Wait()
}

// Changed tells the servers of files that a call has changed on a target, and returns what that
// broke, "" for nothing. It waits for that a second at the most, together with all calls since
// Late; what comes after that is for Late.
func (c *Clients) Changed(ctx context.Context, target string, files []tools.Before) string {
	if target != thisMachine && target != "" {
		if slices.ContainsFunc(files, func(f tools.Before) bool { return c.find(f.Path) != nil }) {
			c.sayOnce(event.Notice{Text: "language servers do not run for files on " + target + ": there are no diagnostics of them", Code: "lsp"})
		}
		return ""
	}
	var asked []*server
	for _, f := range files {
		s := c.serverOf(f.Path)
		if s == nil {
			continue
		}
		if s.enqueue(f) && !slices.Contains(asked, s) {
			asked = append(asked, s)
		}
	}
	if len(asked) == 0 {
		return ""
	}
	c.wait(ctx, asked)
	return c.report(asked)
}

// Late returns what came after the wait of Changed, "" for nothing. The next calls may wait again.
func (c *Clients) Late() string {
	c.mu.Lock()
	c.left = waitTime
	c.mu.Unlock()
	return c.report(c.running())
}

// running returns the servers, in order.
func (c *Clients) running() []*server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedFunc(maps.Values(c.servers), func(a, b *server) int { return strings.Compare(a.key(), b.key()) })
}

// runningFor returns the server of a file if it runs, else nil.
func (c *Clients) runningFor(path string) *server {
	for _, s := range c.running() {
		if _, runs := s.lastUse(); runs && s.def.Languages[filepath.Ext(path)] != "" && s.root == rootOf(path, s.def.Roots, c.o.Folders) {
			return s
		}
	}
	return nil
}

// wait waits until servers have said what is wrong now, or the time of the turn is used up. A server
// that is late is not waited for until it has caught up.
func (c *Clients) wait(ctx context.Context, asked []*server) {
	c.mu.Lock()
	left := c.left
	c.mu.Unlock()
	began := time.Now()
	late := time.NewTimer(left)
	defer late.Stop()
	for _, s := range asked {
		settled, behind := s.settling()
		if behind {
			continue
		}
		select {
		case <-settled:
		case <-ctx.Done():
			return
		case <-late.C:
			for _, other := range asked {
				other.fallBehind()
			}
			c.mu.Lock()
			c.left = 0
			c.mu.Unlock()
			return
		}
	}
	c.mu.Lock()
	c.left = max(0, c.left-time.Since(began))
	c.mu.Unlock()
}

// report returns what servers have found that was not told yet.
func (c *Clients) report(all []*server) string {
	var r report
	for _, s := range all {
		s.tell(&r)
	}
	return r.text()
}

// serverOf returns the server of a file, which is started if there is none; nil where no server is
// for it.
func (c *Clients) serverOf(path string) *server {
	if c.ctx.Err() != nil || !c.inside(path) {
		return nil
	}
	if s := c.runningFor(path); s != nil {
		return s
	}
	def := c.find(path)
	switch {
	case def == nil:
		return nil
	case def.Problem != "":
		c.sayOnce(event.Notice{Text: fmt.Sprintf("no diagnostics of %s files: language server %s: %s", filepath.Ext(path), def.Name, def.Problem), Code: "lsp"})
		return nil
	}
	root := rootOf(path, def.Roots, c.o.Folders)
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.servers[key(*def, root)]; other != nil {
		return other // also one that has failed: it is not started again
	}
	c.makeRoom()
	c.servers[key(*def, root)] = newServer(c, *def, root)
	return c.servers[key(*def, root)]
}

// find returns the first server for a file that can be used, else the first with the reason why not,
// nil if there is none.
func (c *Clients) find(path string) *Server {
	if c.o.Servers == nil {
		return nil
	}
	var first *Server
	for _, def := range c.o.Servers() {
		if def.Off || def.Languages[filepath.Ext(path)] == "" {
			continue
		}
		if def.Problem == "" && def.Refuses != nil {
			def.Problem = def.Refuses(rootOf(path, def.Roots, c.o.Folders))
		}
		def.Start = cmp.Or(def.Start, startTime)
		if def.Problem == "" {
			return &def
		}
		if first == nil {
			first = &def
		}
	}
	return first
}

// makeRoom ends the server that was not needed for longest if there are too many. The caller holds
// c.mu.
func (c *Clients) makeRoom() {
	var oldest *server
	running := 0
	for _, s := range c.servers {
		used, runs := s.lastUse()
		if !runs {
			continue
		}
		running++
		if oldest == nil {
			oldest = s
		} else if other, _ := oldest.lastUse(); used.Before(other) {
			oldest = s
		}
	}
	if running >= maxServers {
		oldest.end()
		delete(c.servers, oldest.key())
	}
}

// forget drops a server that has ended, so that the next change starts it anew.
func (c *Clients) forget(s *server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.servers[s.key()] == s {
		delete(c.servers, s.key())
	}
}

// inside reports whether a file is in a folder that is worked in.
func (c *Clients) inside(path string) bool {
	return slices.ContainsFunc(c.o.Folders, func(f string) bool { return texts.Below(path, f) })
}

// show returns the name of a file for people and the model.
func (c *Clients) show(path string) string {
	if len(c.o.Folders) > 0 {
		if name, err := filepath.Rel(c.o.Folders[0], path); err == nil && filepath.IsLocal(name) {
			path = name
		}
	}
	return oneLine(path)
}

// sayOnce publishes a notice unless it was published before.
func (c *Clients) sayOnce(n event.Notice) {
	c.mu.Lock()
	said := c.said[n.Text]
	c.said[n.Text] = true
	c.mu.Unlock()
	if !said {
		c.o.Publish(n)
	}
}

// Start ends what a killed process has left. It returns at once and starts no server.
func (c *Clients) Start() { c.work.Go(c.sweep) }

// sweep is the work of Start.
func (c *Clients) sweep() {
	switch ended, err := child.Sweep(c.o.State); {
	case err != nil:
		c.o.Publish(event.Warning{Text: "language servers that an earlier session has left were not all ended: " + err.Error(), Code: "lsp"})
	case ended > 0:
		c.o.Publish(event.Notice{Text: fmt.Sprintf("ended language servers that an earlier session had left behind (%d)", ended), Code: "lsp"})
	}
}

// rootOf returns the folder to start a server in: the nearest one that has one of the marks, up to
// the top of the repository, else the folder that is worked in.
func rootOf(path string, marks, folders []string) string {
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		for _, mark := range marks {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return at
			}
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			break
		}
	}
	for _, f := range folders {
		if texts.Below(path, f) {
			return f
		}
	}
	return filepath.Dir(path)
}
