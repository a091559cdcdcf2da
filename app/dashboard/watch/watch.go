// Package watch keeps a table of running sessions up to date. It connects to all sessions of the user on this
// machine, and to buddy on other machines, and notices when sessions start and end.
//
//	t := watch.Open(ctx, nil, false)
//	defer t.Close()
//	t.Await(ctx) // the sessions that were there
//	for range t.Changed() {
//		show(t.Sessions())
//	}
//
// Watching a session does not make it count as attended by a user. The package does not poll: no goroutine runs until
// an event arrives.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"buddy/app/client"
	"buddy/app/dashboard"
	"buddy/app/fswatch"
	"buddy/app/host"
	"buddy/app/socket"
	"buddy/app/version"
	"buddy/tmux/pane"
)

const (
	maxTries    = 5               // connections to a host that closes them at once
	maxSessions = 512             // of this machine, and of each other one
	answerTime  = 2 * time.Second // for the greeting of a host, after which its row says that it does not answer
)

// Table is a live table of sessions. Any goroutine may use it.
type Table struct {
	ctx     context.Context
	cancel  func()
	changed chan struct{}
	once    bool           // other machines list their sessions once
	first   sync.WaitGroup // the sessions and machines that were there at the start
	running sync.WaitGroup // all goroutines

	mu       sync.Mutex // guards all below
	rows     map[string]*row
	machines map[string]*machine
	notes    map[string]string // by source: what people have to know about the list
}

// row is a session of this machine.
type row struct {
	path string
	now  dashboard.Session
	// shown is false until the host has answered, or its time to answer is over.
	shown bool
	// dead means that there is no connection: the row stays until its socket is gone.
	dead bool
}

// Open starts to watch the sessions of this user on this machine and, over ssh, on others, until ctx ends or Close.
// once means that the caller reads the list only once, after Await, so that other machines need not report changes.
func Open(ctx context.Context, machines []string, once bool) *Table {
	t := &Table{once: once, changed: make(chan struct{}, 1), rows: make(map[string]*row), machines: make(map[string]*machine), notes: make(map[string]string)}
	t.ctx, t.cancel = context.WithCancel(ctx)
	if w, err := fswatch.New(); err == nil {
		t.scan(w.Add, true)
		t.running.Go(func() { t.watch(w) })
	} else {
		d := newDirs()
		if !t.scan(d.Add, true) {
			t.notes[""] = "new sessions appear when you open the dashboard again: " + err.Error()
		}
		t.running.Go(func() { t.watchDirs(d) })
	}
	t.first.Add(1)
	t.running.Go(func() { t.noted(t.first.Done) })
	for _, name := range machines {
		t.first.Add(1)
		t.running.Go(func() { t.machine(name, sync.OnceFunc(t.first.Done)) })
	}
	return t
}

// Close ends all connections and waits for them.
func (t *Table) Close() {
	t.cancel()
	t.running.Wait()
}

// Changed returns a channel that receives a value after changes.
func (t *Table) Changed() <-chan struct{} { return t.changed }

// Await waits until the sessions and machines that Open found have answered, or ctx ends.
func (t *Table) Await(ctx context.Context) {
	done := make(chan struct{})
	go func() { t.first.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	case <-t.ctx.Done():
	}
}

// Sessions returns the rows in the order of the list.
func (t *Table) Sessions() []dashboard.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]dashboard.Session, 0, len(t.rows))
	for _, r := range t.rows {
		if r.shown {
			all = append(all, r.now)
		}
	}
	for _, m := range t.machines {
		all = slices.AppendSeq(all, maps.Values(m.rows))
	}
	dashboard.Sort(all)
	return all
}

// Notes returns notes for the user about the list, such as a machine that can't be reached.
func (t *Table) Notes() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Values(t.notes))
}

// note sets the note about a source, or removes it if text is "".
func (t *Table) note(source, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text == "" {
		delete(t.notes, source)
	} else {
		t.notes[source] = text
	}
	t.signal()
}

// signal reports a change. The caller holds t.mu.
func (t *Table) signal() {
	select {
	case t.changed <- struct{}{}:
	default: // one is waiting already
	}
}

// watch looks for new sockets until the table is closed.
func (t *Table) watch(w *fswatch.Watcher) {
	defer w.Close()
	for {
		select {
		case <-t.ctx.Done():
			return
		case e := <-w.Events:
			if !socket.OfHost(e.Name) {
				continue
			}
		case <-w.Lost:
		}
		t.scan(w.Add, false)
	}
}

// watchDirs is watch without inotify.
func (t *Table) watchDirs(d *dirs) {
	defer d.Close()
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-d.changed:
			t.scan(d.Add, false)
			for name := range d.open {
				if _, err := os.Lstat(pane.SocketPath(name)); err == nil || socket.OfHost(name) && !exists(name) {
					d.Forget(name) // the connection reports the rest
				}
			}
		}
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// scan connects to the hosts of new sockets, and drops rows whose socket is gone. It calls watch for the folders in
// which hosts make sockets, and reports whether at least one of them is watched.
func (t *Table) scan(watch func(name string) error, first bool) (watched bool) {
	for _, base := range pane.Bases(os.Getenv) {
		_ = os.Mkdir(base, 0o700) // otherwise the first session makes it, unseen; socket.Dial checks who listens
		watched = watch(base) == nil || watched
	}
	paths := socket.Paths(os.Getenv)
	t.mu.Lock()
	for id, r := range t.rows {
		if r.dead && !exists(r.path) {
			delete(t.rows, id)
			t.signal()
		}
	}
	t.mu.Unlock()
	for id, path := range paths {
		t.mu.Lock()
		_, known := t.rows[id]
		t.mu.Unlock()
		if known {
			continue
		}
		if exists(path) && first {
			t.begin(id, path, first)
			continue
		}
		_ = watch(filepath.Dir(path)) // before the look at the socket, which may not be there yet
		if exists(path) {
			t.begin(id, path, first)
		}
	}
	return watched
}

// noted connects to the hosts whose sockets are recorded to be in other folders. Then it calls done.
func (t *Table) noted(done func()) {
	defer done()
	all, silent := host.Noted(socket.Paths(os.Getenv))
	for id, path := range all {
		t.begin(id, path, true)
	}
	for _, s := range silent {
		t.show(s.ID, dashboard.Session{ID: s.ID, Problem: s.Err.Error(), Group: dashboard.Failed}, true)
	}
}

// begin follows a session, unless it is followed already. first means that Await waits for it.
func (t *Table) begin(id, path string, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows[id] != nil || t.ctx.Err() != nil {
		return
	}
	if len(t.rows) >= maxSessions {
		t.notes["many"] = fmt.Sprintf("more than %d sessions run; the others are not shown", maxSessions)
		return
	}
	t.rows[id] = &row{path: path}
	greeted := func() {}
	if first {
		t.first.Add(1)
		greeted = sync.OnceFunc(t.first.Done)
	}
	t.running.Go(func() {
		defer greeted()
		var problem error
		for try := 0; ; try++ {
			if problem = t.follow(id, path, greeted); problem != nil || t.ctx.Err() != nil {
				break
			}
			// RemoveStale removes the socket that a killed host has left. If there is a socket after that, another host
			// has just started, and its changes in the folder may have been seen too early.
			if socket.RemoveStale(path); !exists(path) {
				break
			}
			if try == maxTries {
				problem = errors.New("the session closes every connection")
				break
			}
		}
		t.end(id, problem)
	})
}

// end removes the row of a session that is gone. With a problem, the row stays and shows the problem.
func (t *Table) end(id string, problem error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.rows[id]; problem == nil {
		delete(t.rows, id)
	} else {
		r.dead, r.shown = true, true
		r.now = dashboard.Session{ID: id, Title: r.now.Title, Folder: r.now.Folder, Problem: problem.Error(), Group: dashboard.Failed}
	}
	t.signal()
}

// show sets the row of a session. dead means that there is no connection.
func (t *Table) show(id string, s dashboard.Session, dead bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows[id] == nil {
		t.rows[id] = &row{}
	}
	t.rows[id].now, t.rows[id].shown, t.rows[id].dead = s, true, dead
	t.signal()
}

// follow keeps the row of a session up to date until the session ends. It calls greeted once the row is there. The
// error is for the row of a session that can't be watched; nil means that the session is gone.
func (t *Table) follow(id, path string, greeted func()) error {
	c, err := socket.Dial(path, socket.Screen{Version: version.Number, Looks: true})
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer c.Close()
	defer context.AfterFunc(t.ctx, c.Close)()
	late := time.AfterFunc(answerTime, func() {
		t.show(id, dashboard.Session{ID: id, Problem: fmt.Sprintf("no answer in %s", answerTime), Group: dashboard.Failed}, false)
		greeted()
	})
	hello, err := c.Hello(t.ctx)
	late.Stop()
	switch {
	case errors.Is(err, socket.ErrGone), t.ctx.Err() != nil, hello.Failed != nil:
		return nil
	case err != nil:
		return err
	}
	fold := dashboard.Begin(id, hello)
	t.show(id, fold.Session(), false)
	greeted()
	batches, err := c.Subscribe(t.ctx, hello.Last, client.DurableOnly)
	if err != nil {
		return nil // it has just ended
	}
	for batch := range batches {
		for _, env := range batch {
			fold.Apply(env)
		}
		t.show(id, fold.Session(), false)
	}
	if err := c.Err(); err != nil && !errors.Is(err, socket.ErrGone) && t.ctx.Err() == nil {
		return err
	}
	return nil
}
