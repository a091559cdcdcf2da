package lsp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"

	"buddy/agent/event"
	"buddy/tools"
)

const (
	// maxRestarts is how often a server that has died is started again.
	maxRestarts = 2
	// maxOpen is how many files a server has open; of others it reads what is on disk.
	maxOpen = 50
)

// change is what calls have done to a file since the server was told of it.
type change struct {
	path          string
	before, after string
	had, has      bool // there is a text before, after
	there         bool // the file exists
}

// server is a server of one folder. Its goroutine starts it and talks to it; others leave changes.
type server struct {
	all  *Clients
	def  Server
	root string
	ctx  context.Context
	stop context.CancelFunc
	wake chan struct{}
	disk *disk
	conn *connection // of the goroutine; nil while none runs
	died int         // how often; of the goroutine

	mu       sync.Mutex // guards what follows
	findings *findings  // of the present run
	queue    []change
	settled  chan struct{} // closed when all changes have been judged
	behind   bool          // somebody has waited for that in vain
	ended    bool          // it takes no changes any more
	used     time.Time
}

func newServer(all *Clients, def Server, root string) *server {
	s := &server{all: all, def: def, root: root, wake: make(chan struct{}, 1), findings: newFindings(), settled: make(chan struct{}), used: time.Now()}
	s.ctx, s.stop = context.WithCancel(all.ctx)
	s.disk = newDisk(root, def)
	close(s.settled)
	all.work.Go(s.run)
	return s
}

func (s *server) key() string { return key(s.def, s.root) }

// key names a server of a folder.
func key(def Server, root string) string { return def.Name + "\x00" + root }

// present returns what the present run has found.
func (s *server) present() *findings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findings
}

// enqueue leaves a change for the server; false means that it takes none.
func (s *server) enqueue(f tools.Before) bool {
	c := change{path: f.Path}
	if f.Existed {
		if c.before, c.had = textOf(f.Data); !c.had || f.Lost {
			return false
		}
	}
	c.after, c.has = readText(f.Path)
	_, err := os.Lstat(f.Path)
	c.there = err == nil
	return s.add(c)
}

// add is enqueue for a change that was read.
func (s *server) add(c change) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.used = time.Now()
	if i := slices.IndexFunc(s.queue, func(q change) bool { return q.path == c.path }); i >= 0 {
		s.queue[i].after, s.queue[i].has, s.queue[i].there = c.after, c.has, c.there
	} else {
		s.queue = append(s.queue, c)
	}
	select {
	case <-s.settled:
		s.settled = make(chan struct{})
	default:
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return true
}

// settling returns what is closed when all changes were judged, and whether somebody has waited for
// that in vain already.
func (s *server) settling() (settled <-chan struct{}, behind bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settled, s.behind
}

// fallBehind notes that the server was waited for in vain, unless it is done.
func (s *server) fallBehind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.settled:
	default:
		s.behind = true
	}
}

// lastUse returns when the server was needed last, and whether it takes changes.
func (s *server) lastUse() (at time.Time, runs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, !s.ended
}

// tell adds to a report what the server has found. One that has not judged all changes tells nothing:
// it would be about texts that are not there any more.
func (s *server) tell(r *report) {
	settled, _ := s.settling()
	select {
	case <-settled:
	default:
		return
	}
	s.present().tell(r, s.def.Name, s.all.inside, s.all.show)
}

// end ends the server. What waits for it goes on.
func (s *server) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.stop()
}

// run is the goroutine of the server.
func (s *server) run() {
	defer s.finish()
	timer := time.NewTimer(s.all.limits.check) // the only one while nothing changes
	defer timer.Stop()
	for {
		var over <-chan struct{}
		if s.conn != nil {
			over = s.conn.over
		}
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
			if err := s.work(); err != nil {
				s.fail(err)
				return
			}
		case <-over:
			if err := s.bury(); err != nil {
				s.fail(err)
				return
			}
		case <-timer.C:
			if err := s.look(); err != nil {
				s.fail(err)
				return
			}
			if s.idle() {
				s.all.forget(s)
				return
			}
			timer.Reset(s.all.limits.check)
		}
	}
}

// finish ends the program, and lets go whoever waits.
func (s *server) finish() {
	if s.conn != nil {
		s.conn.stop()
	}
	s.mu.Lock()
	s.ended, s.queue = true, nil
	s.mu.Unlock()
	s.rest()
}

// rest notes that all changes were judged, unless there are new ones.
func (s *server) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 {
		return
	}
	s.behind = false
	select {
	case <-s.settled:
	default:
		close(s.settled)
	}
}

// fail says why the server is not used any more in this session.
func (s *server) fail(err error) {
	if s.ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.all.o.Publish(event.Warning{
		Text: fmt.Sprintf("language server %s: %s; there are no diagnostics of its files any more", s.def.Name, oneLine(err.Error())), Code: "lsp",
	})
}

// idle reports whether nothing has changed for long; then no change is taken any more.
func (s *server) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = len(s.queue) == 0 && time.Since(s.used) >= s.all.limits.idle
	return s.ended
}

// look returns an error when the server uses too much memory.
func (s *server) look() error {
	if s.conn == nil {
		return nil
	}
	size, err := s.conn.link.Resident()
	if err == nil && size > s.all.limits.resident {
		return fmt.Errorf("it was ended, because it used %d MiB of memory (at most %d)", size>>20, s.all.limits.resident>>20)
	}
	return nil // a size that is not known ends nothing
}

// bury ends what is left of a server that has died. The error is that it died too often.
func (s *server) bury() error {
	c := s.conn
	s.conn = nil
	why := c.explain(errors.New("it closed the connection"))
	c.stop()
	s.fresh()
	if s.died++; s.died > maxRestarts {
		return fmt.Errorf("%w; it was started %d times", why, s.died)
	}
	return nil
}

// fresh forgets what the last run has said.
func (s *server) fresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findings = newFindings()
}

// work judges the changes that wait. The error is why the server can't be used any more.
func (s *server) work() error {
	defer s.rest()
	s.mu.Lock()
	batch := s.queue
	s.queue = nil
	s.mu.Unlock()
	for len(batch) > 0 && s.ctx.Err() == nil {
		if s.conn == nil {
			if err := s.connect(); err != nil {
				return err
			}
		}
		err := s.judge(batch)
		if err == nil || s.ctx.Err() != nil {
			return nil
		}
		if err := s.bury(); err != nil {
			return err
		}
	}
	return nil
}

// connect starts the server.
func (s *server) connect() error {
	s.disk.read() // what changes from now on, it is told
	l, err := s.all.start(s.ctx, s.def, s.root, s.all.o.State)
	if err != nil {
		return err
	}
	f := s.findings
	s.conn, err = connect(s.ctx, s.def, s.root, l, events{published: f.publish, passed: f.pass, changed: f.changed}, s.all.limits.messages)
	return err
}

// judge tells the server of changes and waits for what it finds. The error is that it has died.
func (s *server) judge(batch []change) error {
	f := s.findings
	f.mu.Lock()
	before := f.fresh()
	f.mu.Unlock()
	outside, err := s.outside(batch)
	if err != nil {
		return err
	}
	var moved []string
	for _, c := range batch {
		if c.had && s.textOf(c.path) != c.before {
			if err := s.put(c.path, c.before); err != nil {
				return err
			}
			moved = append(moved, c.path)
		}
	}
	if len(moved) > 0 || outside {
		if err := s.settle(moved); err != nil {
			return err
		}
		f.accept(before)
		f.base(len(moved) > 0)
	}
	if err := s.apply(batch); err != nil {
		return err
	}
	if !f.isBased() { // what is wrong elsewhere may have been so before
		f.acceptOthers()
	}
	return nil
}

// acceptOthers makes known what was found in files that were not changed.
func (f *findings) acceptOthers() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, p := range f.found {
		if f.docs[path] == nil {
			f.known[path] = counts(p.problems)
		}
	}
}

// apply tells the server what the files hold now, and waits for what it finds.
func (s *server) apply(batch []change) error {
	var paths []string
	var onDisk []fileEvent
	for _, c := range batch {
		kind := 2
		switch {
		case !c.there:
			kind = 3
		case !c.had:
			kind = 1
		}
		onDisk = append(onDisk, fileEvent{URI: uriOf(c.path), Type: kind})
		if !c.has {
			if err := s.drop(c.path); err != nil {
				return err
			}
			continue
		}
		if s.textOf(c.path) != c.after || !s.isOpen(c.path) {
			if err := s.put(c.path, c.after); err != nil {
				return err
			}
		}
		paths = append(paths, c.path)
	}
	if err := s.notify("workspace/didChangeWatchedFiles", watchedParams{onDisk}); err != nil {
		return err
	}
	for _, path := range paths {
		if err := s.notify("textDocument/didSave", saveParams{docID{uriOf(path)}}); err != nil {
			return err
		}
	}
	return s.settle(paths)
}

// notify sends a notification.
func (s *server) notify(method string, params any) error {
	return s.conn.rpc.Notify(s.ctx, method, params)
}

// isOpen reports whether the server has a file open.
func (s *server) isOpen(path string) bool {
	f := s.present()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.docs[path] != nil
}

// textOf returns the text of a file as the server has it, "" for one that it has not.
func (s *server) textOf(path string) string {
	f := s.findings
	f.mu.Lock()
	defer f.mu.Unlock()
	if doc := f.docs[path]; doc != nil {
		return doc.text
	}
	return ""
}

// put gives the server a text for a file, which it opens if it has not.
func (s *server) put(path, text string) error {
	f := s.findings
	f.mu.Lock()
	doc := f.docs[path]
	opens := doc == nil
	if opens {
		doc = &document{path: path}
		f.docs[path] = doc
	}
	doc.version++
	doc.text = text
	f.barriers++
	doc.barrier = f.barriers
	version, barrier := doc.version, doc.barrier
	f.mu.Unlock()
	var err error
	if opens {
		err = s.notify("textDocument/didOpen", openParams{docItem{URI: uriOf(path), Language: s.def.Languages[filepath.Ext(path)], Version: version, Text: text}})
	} else {
		err = s.notify("textDocument/didChange", changeParams{docVersion{uriOf(path), version}, []wholeText{{text}}})
	}
	if err != nil {
		return err
	}
	if err := s.conn.wire.barrier(barrier); err != nil {
		return err
	}
	return s.closeOld(path)
}

// closeOld closes a file if too many are open.
func (s *server) closeOld(but string) error {
	f := s.findings
	f.mu.Lock()
	over, oldest := len(f.docs) > maxOpen, (*document)(nil)
	for _, doc := range f.docs {
		if doc.path != but && (oldest == nil || doc.barrier < oldest.barrier) {
			oldest = doc
		}
	}
	f.mu.Unlock()
	if !over || oldest == nil {
		return nil
	}
	return s.drop(oldest.path)
}

// drop closes a file: the server reads it from disk, if it is there.
func (s *server) drop(path string) error {
	f := s.findings
	f.mu.Lock()
	_, open := f.docs[path]
	delete(f.docs, path)
	delete(f.found, path)
	delete(f.known, path)
	f.mu.Unlock()
	if !open {
		return nil
	}
	return s.notify("textDocument/didClose", closeParams{docID{uriOf(path)}})
}

// outside tells the server what others have changed on disk, and reports whether they have. Files of
// the batch get their texts later.
func (s *server) outside(batch []change) (bool, error) {
	events := s.disk.changes()
	events = slices.DeleteFunc(events, func(e fileEvent) bool {
		return slices.ContainsFunc(batch, func(c change) bool { return uriOf(c.path) == e.URI })
	})
	if len(events) == 0 {
		return false, nil
	}
	for _, e := range events {
		path := pathOf(e.URI)
		if !s.isOpen(path) {
			continue
		}
		text, ok := readText(path)
		var err error
		switch {
		case !ok:
			err = s.drop(path)
		case text != s.textOf(path):
			err = s.put(path, text)
		}
		if err != nil {
			return true, err
		}
	}
	return true, s.notify("workspace/didChangeWatchedFiles", watchedParams{events})
}

var errDied = errors.New("it died")

// settle waits until the server has said what it finds in files, up to the limit: what comes
// later is told later. The error is that it has died.
func (s *server) settle(paths []string) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.all.limits.settle)
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for pulled := false; ; {
		if !pulled && s.conn.isPulling() { // some say so late
			if err := s.pull(ctx, paths); err != nil {
				return err
			}
			pulled = true
		}
		wait := s.due(paths)
		if wait == 0 {
			return nil
		}
		timer.Stop()
		var late <-chan time.Time
		if wait > 0 {
			timer.Reset(wait)
			late = timer.C
		}
		select {
		case <-s.findings.news:
		case <-late:
		case <-s.conn.over:
			return errDied
		case <-ctx.Done():
			return nil
		}
	}
}

// due returns how long it takes until what was said of files counts: 0 is now, below 0 that only
// the server knows.
func (s *server) due(paths []string) time.Duration {
	busy, rested := s.conn.busy()
	longest := time.Duration(0)
	for _, path := range paths {
		d := s.findings.due(path, busy, rested)
		if d < 0 {
			return d
		}
		longest = max(longest, d)
	}
	return max(longest, s.findings.calm())
}

// base notes that the server has seen the project before a change, if so.
func (f *findings) base(so bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.based = f.based || so
}

// isBased reports whether the server has seen the project before a change.
func (f *findings) isBased() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.based
}

// pullPause is the time after which a server is asked again that was not ready to answer.
const pullPause = 50 * time.Millisecond

// pull asks the server for what it finds in files, and in all others that are open.
func (s *server) pull(ctx context.Context, paths []string) error {
	f := s.findings
	f.mu.Lock()
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(f.docs)), func(p string) bool { return slices.Contains(paths, p) })
	f.mu.Unlock()
	for _, path := range append(slices.Clone(paths), others...) {
		for ctx.Err() == nil {
			all, err := s.conn.pull(ctx, uriOf(path))
			if err == nil {
				f.pulled(all)
				break
			}
			if !retriable(err) {
				break
			}
			select {
			case <-time.After(pullPause):
			case <-s.conn.over:
				return errDied
			case <-ctx.Done():
			}
		}
		select {
		case <-s.conn.over:
			return errDied
		default:
		}
	}
	return nil
}

// The protocol's errors of a server that does not answer this time.
const (
	serverCancelled = -32802
	contentModified = -32801
)

// retriable reports whether the server may answer when it is asked again.
func retriable(err error) bool {
	var e *jrpc2.Error
	return errors.As(err, &e) && (e.Code == serverCancelled || e.Code == contentModified)
}
