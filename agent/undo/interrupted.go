package undo

import (
	"fmt"
	"slices"

	"buddy/agent/event"
	"buddy/tools"
)

// interrupted is an undo or redo that may not have ended: some of its files may be restored, others not.
type interrupted struct {
	taken
	redo bool // a redo of the newest undo; the steps of an undo are the newest of the log
}

// begins records that a restore of files starts. The caller holds l.mu.
func (l *Log) begins(seq uint64, e event.FileRestoring) {
	l.forgetEarlier()
	l.earlier = l.half
	switch n := len(l.taken); {
	case !e.Redo:
		l.half = &interrupted{taken: taken{l.newest(len(e.Calls)), e.Target, slices.Clone(e.Kept), e.List, seq}}
		l.count(e.Kept)
	case l.half == nil && n > 0: // otherwise it redoes the interrupted undo
		l.half = &interrupted{taken: l.taken[n-1], redo: true}
	}
}

// failed records that a restore changed nothing. The caller holds l.mu.
func (l *Log) failed() {
	if l.half != l.earlier {
		l.half.forget(l)
	}
	l.half, l.earlier = l.earlier, nil
}

// forgetEarlier no longer counts the copies of the interrupted restore before l.half, unless l.half continues that
// restore. The caller holds l.mu.
func (l *Log) forgetEarlier() {
	if l.earlier != l.half {
		l.earlier.forget(l)
	}
}

// settle counts an interrupted undo as done, because other files are about to change. The caller holds l.mu.
func (l *Log) settle() {
	half := l.half
	if half.undo() {
		l.restored(half.seq, event.FileRestored{Calls: callsOf(half.steps), Target: half.target, Kept: half.kept, List: half.list})
	}
	l.half, l.earlier = nil, nil
}

// undo reports whether i is an undo; nil is not.
func (i *interrupted) undo() bool { return i != nil && !i.redo }

// forget no longer counts the copies made for the undo. The caller holds l.mu.
func (i *interrupted) forget(l *Log) {
	if i.undo() {
		l.forget(i.kept)
	}
}

// replaced returns the state that a file had before an interrupted undo restored it. ok is false if none did, or if the
// file has changed since. The caller holds l.mu.
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

// WarnInterrupted warns the user if an earlier process ended while it restored files.
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

// LastUndone returns the event number of the undo that a redo would revert, or 0 if there is none.
func (l *Log) LastUndone() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.lastTaken(); t != nil {
		return t.seq
	}
	return 0
}

// lastTaken returns the undo that a redo would revert, or nil. The caller holds l.mu.
func (l *Log) lastTaken() *taken {
	if l.half.undo() {
		return &l.half.taken
	}
	if n := len(l.taken); n > 0 {
		return &l.taken[n-1]
	}
	return nil
}

// announce records a restore before it starts, so that the next process knows if this one ends in the middle of it.
func (u *Undo) announce() error {
	l := u.log
	l.mu.Lock()
	defer l.mu.Unlock()
	e := event.FileRestoring{Calls: callsOf(u.steps), Target: u.on.target, Kept: u.kept, List: u.tree.list, Redo: u.redo != nil}
	if err := l.stream.Record(0, 0, e); err != nil {
		return fmt.Errorf("the session can't be saved: %w", err)
	}
	l.begins(l.stream.Last(), e)
	u.announced = true
	return nil
}

func callsOf(steps []step) (calls []string) {
	for _, s := range steps {
		for _, k := range s.kept {
			calls = append(calls, k.CallID)
		}
	}
	return calls
}
