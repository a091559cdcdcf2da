package undo

import (
	"fmt"
	"slices"

	"buddy/agent/event"
	"buddy/tools"
)

// interrupted is an undo or a redo that began and is not known to have ended: some of its files may be put back,
// others not.
type interrupted struct {
	taken
	redo bool // it is the newest that was taken back; the steps of an undo are the newest of the log
}

// begins notes that files are about to be put back. The caller holds l.mu.
func (l *Log) begins(seq uint64, e event.FileRestoring) {
	l.forgetEarlier()
	l.earlier = l.half
	switch n := len(l.taken); {
	case !e.Redo:
		l.half = &interrupted{taken: taken{l.newest(len(e.Calls)), e.Target, slices.Clone(e.Kept), seq}}
		l.count(e.Kept)
	case l.half == nil && n > 0: // else it is one of the undo that was interrupted
		l.half = &interrupted{taken: l.taken[n-1], redo: true}
	}
}

// failed notes that nothing was put back: all is as it was when that began. The caller holds l.mu.
func (l *Log) failed() {
	if l.half != l.earlier {
		l.half.forget(l)
	}
	l.half, l.earlier = l.earlier, nil
}

// forgetEarlier no longer counts copies that only what was interrupted before half needs. The caller holds l.mu.
func (l *Log) forgetEarlier() {
	if l.earlier != l.half {
		l.earlier.forget(l)
	}
}

// settle lets an undo that was interrupted count as one, before files change otherwise. The caller holds l.mu.
func (l *Log) settle() {
	half := l.half
	if half.undo() {
		l.restored(half.seq, event.FileRestored{Calls: callsOf(half.steps), Target: half.target, Kept: half.kept})
	}
	l.half, l.earlier = nil, nil
}

// undo reports whether it is an undo; nil is none.
func (i *interrupted) undo() bool { return i != nil && !i.redo }

// forget no longer counts the copies that were made for it. The caller holds l.mu.
func (i *interrupted) forget(l *Log) {
	if i.undo() {
		l.forget(i.kept)
	}
}

// replaced returns what a file contained before an undo that was interrupted put it back, if that did. The caller
// holds l.mu.
func (l *Log) replaced(target string, now tools.Before) (event.KeptFile, bool) {
	if !l.half.undo() || l.half.target != target || now.Lost {
		return event.KeptFile{}, false
	}
	i := slices.IndexFunc(l.half.kept, func(f event.KeptFile) bool { return f.Path == now.Path && f.After == now.Sum() })
	if i < 0 {
		return event.KeptFile{}, false
	}
	return l.half.kept[i], true
}

// WarnInterrupted tells the person when an earlier process ended while files were put back.
func (l *Log) WarnInterrupted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.half == nil {
		return
	}
	w := event.Warning{Text: "an undo was interrupted: some files may be restored, others not", Code: "undo", NextStep: "/undo restores the others, too; /redo reverses it"}
	if l.half.redo {
		w.Text, w.NextStep = "a redo was interrupted: some files may be changed again, others not", "/redo continues it"
	}
	l.stream.Publish(0, 0, w)
}

// LastUndone returns the number of the event of what a redo takes back; 0 is none.
func (l *Log) LastUndone() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.lastTaken(); t != nil {
		return t.seq
	}
	return 0
}

// lastTaken returns what a redo takes back, nil if there is nothing. The caller holds l.mu.
func (l *Log) lastTaken() *taken {
	if l.half.undo() {
		return &l.half.taken
	}
	if n := len(l.taken); n > 0 {
		return &l.taken[n-1]
	}
	return nil
}

// announce records what is about to be put back: a process that ends meanwhile leaves that to the next one.
func (u *Undo) announce() error {
	l := u.log
	l.mu.Lock()
	defer l.mu.Unlock()
	e := event.FileRestoring{Calls: callsOf(u.steps), Target: u.on.target, Kept: u.kept, Redo: u.redo != nil}
	if err := l.stream.Record(0, 0, e); err != nil {
		return fmt.Errorf("the session can't be saved: %w", err)
	}
	l.begins(l.stream.Last(), e)
	u.begun = true
	return nil
}

// callsOf returns the calls of some steps.
func callsOf(steps []step) (calls []string) {
	for _, s := range steps {
		for _, k := range s.kept {
			calls = append(calls, k.CallID)
		}
	}
	return calls
}
