// Package lsp reports problems that language servers find in a file after a tool has changed it, and lets the model ask
// running servers about symbols and rename them.
//
//	all := lsp.New(lsp.Options{Servers: find, Folders: folders, State: dir, Publish: publish})
//	defer all.Close()
//	text := all.Changed(ctx, "local", before) // problems caused by the change, or ""
//
// A server is started when a file of its language is first changed. It gets the old text of the file first, so that
// problems that existed before are not reported. The server's messages are untrusted.
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
	// waitTime limits how long all calls of one turn together wait for diagnostics.
	waitTime = time.Second
	// maxServers limits the running servers; the least recently used server ends if another is needed.
	maxServers = 4
	// startTime is the default limit for a server's first answer.
	startTime = time.Minute
	// thisMachine is the only target on which servers run.
	thisMachine = "local"
)

// Server is a language server that may be started.
type Server struct {
	Name      string
	Command   []string
	Env       []string          // NAME=value, added to the minimal environment
	Pass      []string          // names of variables that it gets from this process
	Languages map[string]string // the protocol's name of the language by file extension: ".go" is "go"
	Roots     []string          // names of files that mark the folder to start it in
	Settings  json.RawMessage   // answer to the server's workspace/configuration requests; nil: none
	Init      json.RawMessage   // initializationOptions; nil: none
	Start     time.Duration     // limit for its first answer; 0 is a minute
	Off       bool              // never start it
	// RunsProject marks a server that runs the project's own code, so that the project must be trusted even if the
	// program is outside of it.
	RunsProject bool
	Outside     bool   // run it outside the sandbox
	Copies      string // folder with copies of the files that it runs, removed afterwards; "": none
	Problem     string // why it can't be started, or ""
	// Refuses returns why the server must not start in a folder, or "". If Refuses is nil, every folder is allowed.
	Refuses func(root string) string
}

// Options configure Clients.
type Options struct {
	// Servers returns the servers, preferred ones first. It is called when a file has changed, so that a session
	// without changes does not search for servers.
	Servers func() []Server
	Folders []string          // workspace folders: only their files are checked, and names are relative to the first
	State   string            // folder for records of running servers; "" records nothing
	Env     []string          // NAME=value, for every server in addition to the minimal environment
	Away    string            // the target of the project; "" for this machine
	Publish func(event.Event) // receives events about servers; nil drops them
	// Checked returns the definition with which a server may start in a folder, with copies of the checked files, or
	// why it must not start. If Checked is nil, servers start as they are.
	Checked func(def Server, root string) (Server, error)
	// Hold returns the sandbox for a server, or nil outside of auto mode. If Hold is nil, there is no sandbox.
	Hold func(Server) (child.Holder, error)
}

// Clients runs the language servers of a session. It is safe for concurrent use; use [New].
type Clients struct {
	o      Options
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	limits limits
	start  func(ctx context.Context, def Server, root string, o Options) (link, error)

	mu      sync.Mutex         // guards the fields below
	budget  time.Duration      // remaining waiting time of this turn
	servers map[string]*server // running and failed servers by name and root
	noticed map[string]bool    // published notices
}

// limits holds the limits of running servers.
type limits struct {
	idle     time.Duration // without changes, before it ends
	check    time.Duration // between checks of its memory
	resident int64         // bytes
	settle   time.Duration // total wait for diagnostics
	messages int           // in one second
}

// New returns Clients that do nothing until a file changes.
func New(o Options) *Clients {
	if o.Publish == nil {
		o.Publish = func(event.Event) {}
	}
	c := &Clients{
		o: o, budget: waitTime, servers: make(map[string]*server), noticed: make(map[string]bool), start: start,
		limits: limits{idle: 10 * time.Minute, check: 15 * time.Second, resident: 2 << 30, settle: 30 * time.Second, messages: 10_000},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Restart ends the servers that can be sandboxed; the next change starts them again. It does not wait.
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

// Close ends all servers and the processes that they started. It takes at most about seven seconds.
func (c *Clients) Close() {
	c.cancel()
	c.work.Wait()
}

// Changed sends changed files on a target to the servers and returns the problems that the change caused, or "". All
// calls since Late together wait at most a second; Late returns the problems found afterwards.
func (c *Clients) Changed(ctx context.Context, target string, files []tools.Before) string {
	if target != thisMachine && target != "" {
		if slices.ContainsFunc(files, func(f tools.Before) bool { return c.find(f.Path) != nil }) {
			c.noticeOnce(event.Notice{Text: "language servers do not run for files on " + target + ": these files get no diagnostics", Code: "lsp"})
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

// Late returns the problems found after Changed returned, or "", and renews the waiting time.
func (c *Clients) Late() string {
	c.mu.Lock()
	c.budget = waitTime
	c.mu.Unlock()
	return c.report(c.running())
}

// running returns the servers, sorted.
func (c *Clients) running() []*server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedFunc(maps.Values(c.servers), func(a, b *server) int { return strings.Compare(a.key(), b.key()) })
}

// runningFor returns the running server for a file, or nil.
func (c *Clients) runningFor(path string) *server {
	for _, s := range c.running() {
		if _, runs := s.lastUse(); runs && s.def.Languages[filepath.Ext(path)] != "" && s.root == rootOf(path, s.def.Roots, c.o.Folders) {
			return s
		}
	}
	return nil
}

// wait waits until servers have final reports, or the waiting time of the turn is used up. It skips servers that are
// already behind.
func (c *Clients) wait(ctx context.Context, asked []*server) {
	c.mu.Lock()
	left := c.budget
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
			c.budget = 0
			c.mu.Unlock()
			return
		}
	}
	c.mu.Lock()
	c.budget = max(0, c.budget-time.Since(began))
	c.mu.Unlock()
}

// report returns the problems that were not reported yet.
func (c *Clients) report(all []*server) string {
	var r report
	for _, s := range all {
		s.addTo(&r)
	}
	return r.text()
}

// serverOf returns the server for a file, and starts it if necessary; nil if there is none.
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
		c.noticeOnce(event.Notice{Text: fmt.Sprintf("no diagnostics of %s files: language server %s: %s", filepath.Ext(path), def.Name, def.Problem), Code: "lsp"})
		return nil
	}
	root := rootOf(path, def.Roots, c.o.Folders)
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.servers[key(*def, root)]; other != nil {
		return other // also a failed server, which is not started again
	}
	c.makeRoom()
	c.servers[key(*def, root)] = newServer(c, *def, root)
	return c.servers[key(*def, root)]
}

// find returns the first usable server for a file. If none is usable, it returns the first one, with its problem; nil
// if there is no server for the file.
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

// makeRoom ends the least recently used server if too many run. The caller holds c.mu.
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

// forget removes a server that has ended, so that the next change starts it again.
func (c *Clients) forget(s *server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.servers[s.key()] == s {
		delete(c.servers, s.key())
	}
}

// inside reports whether a file is in a workspace folder.
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

// noticeOnce publishes a notice unless it has already published one with the same text.
func (c *Clients) noticeOnce(n event.Notice) {
	c.mu.Lock()
	known := c.noticed[n.Text]
	c.noticed[n.Text] = true
	c.mu.Unlock()
	if !known {
		c.o.Publish(n)
	}
}

// Start looks in the background for servers that earlier processes of buddy left running when they were killed, and
// ends them. It starts no server.
func (c *Clients) Start() { c.work.Go(c.sweep) }

func (c *Clients) sweep() {
	switch ended, err := child.Sweep(c.o.State); {
	case err != nil:
		c.o.Publish(event.Warning{Text: "not all language servers left by an earlier session were ended: " + err.Error(), Code: "lsp"})
	case ended > 0:
		c.o.Publish(event.Notice{Text: fmt.Sprintf("ended language servers left by an earlier session (%d)", ended), Code: "lsp"})
	}
}

// rootOf returns the folder to start a server in: the nearest one with a mark, up to the top of the repository, or else
// the workspace folder.
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
