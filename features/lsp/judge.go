package lsp

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/creachadair/jrpc2"
)

// judge sends changes to the server and waits for its reports. An error means that the server died.
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
	if !f.isBased() { // these problems may be older than the change
		f.acceptOthers()
	}
	return nil
}

// acceptOthers marks the problems of files that are not open in the server as known.
func (f *findings) acceptOthers() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, p := range f.found {
		if f.docs[path] == nil {
			f.known[path] = counts(p.problems)
		}
	}
}

// apply sends the new content of files and waits for the reports.
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

// textOf returns the server's text of a file, or "" if it is not open.
func (s *server) textOf(path string) string {
	f := s.findings
	f.mu.Lock()
	defer f.mu.Unlock()
	if doc := f.docs[path]; doc != nil {
		return doc.text
	}
	return ""
}

// put sends a text of a file, and opens the file if necessary.
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

// closeOld closes the file whose text was sent longest ago, other than but, if too many files are open.
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

// drop closes a file, so that the server reads it from disk from now on.
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

// outside tells the server about files that others have changed, and returns whether there are any. It skips the files
// of the batch, because their texts are sent later.
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

// settle waits until the reports about files are final, within a time limit; later reports are left for Late. An error
// means that the server died.
func (s *server) settle(paths []string) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.all.limits.settle)
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for pulled := false; ; {
		if !pulled && s.conn.isPulling() { // some servers announce this late
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

// due returns how long to wait until the reports about files are final: 0 is now, below 0 is unknown.
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

// base records whether the server has checked the project without the model's changes. Once true, it stays true.
func (f *findings) base(so bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.based = f.based || so
}

// isBased reports whether the server has checked the project without the model's changes.
func (f *findings) isBased() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.based
}

// pullPause is the pause before a server that was not ready is asked again.
const pullPause = 50 * time.Millisecond

// pull asks for the diagnostics of files, then of all other open files.
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

// Errors of the protocol after which a request can be repeated.
const (
	serverCancelled = -32802
	contentModified = -32801
)

// retriable reports whether the request may succeed when repeated.
func retriable(err error) bool {
	e, ok := errors.AsType[*jrpc2.Error](err)
	return ok && (e.Code == serverCancelled || e.Code == contentModified)
}
