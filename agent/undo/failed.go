package undo

import (
	"context"
	"slices"
	"time"

	"buddy/agent/event"
	"buddy/tools"
)

const (
	checkLimit  = 5 * time.Second // for checking the files of a failed call
	maxSearched = 1000            // newest changes that are searched for a call; most failed calls change nothing
)

// Failed removes the recorded change of a failed call if its files are in fact unchanged, because then there is nothing
// to undo. If the files can't be checked, the record stays.
func (l *Log) Failed(ctx context.Context, task, turn int, call tools.Call) {
	if l.files == nil {
		return
	}
	l.mu.Lock()
	target, was := contentsBefore(l.steps, call.Reader, call.ID)
	l.mu.Unlock()
	if len(was) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkLimit) // also after a cancellation
	defer cancel()
	if on, err := l.files(ctx, target); err != nil || !unchanged(ctx, on, was) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stream.Record(task, turn, event.FileUnchanged{CallID: call.ID}) == nil {
		l.drop(call.Reader, call.ID)
	}
}

// unchanged reports whether files still have the content whose checksums are in was.
func unchanged(ctx context.Context, on Files, was map[string]string) bool {
	for path, sum := range was {
		now, err := on.Contents(ctx, []string{path})
		if err != nil || now[0].Lost || now[0].Sum() != sum {
			return false
		}
	}
	return true
}

// contentsBefore returns the checksums that a call's files had before it, by path. It returns none if they are unknown,
// or if a later call changed one of the files again.
func contentsBefore(steps []step, branch int, call string) (target string, was map[string]string) {
	at, i := find(steps, branch, call)
	if at < 0 {
		return "", nil
	}
	s := steps[at]
	was = make(map[string]string)
	for _, f := range s.kept[i].Files {
		before, err := readCopy(f)
		if err != nil || before.Lost {
			return "", nil
		}
		was[f.Path] = before.Sum()
	}
	for j, c := range s.kept {
		for _, f := range c.Files {
			switch _, same := was[f.Path]; {
			case same && j < i:
				was[f.Path] = f.After
			case same && j > i:
				return "", nil
			}
		}
	}
	return s.kept[i].Target, was
}

// drop removes the newest change of a call. The caller holds l.mu.
func (l *Log) drop(branch int, call string) {
	at, i := find(l.steps, branch, call)
	if at < 0 {
		return
	}
	s := &l.steps[at]
	l.forget(s.kept[i].Files)
	if s.kept = slices.Delete(slices.Clone(s.kept), i, i+1); len(s.kept) == 0 {
		l.steps = slices.Delete(slices.Clone(l.steps), at, at+1)
	}
}

// find returns the index of the step with the newest change of a call, and the index of that change in the step, or -1
// for both. It searches only the newest changes of the session.
func find(steps []step, branch int, call string) (at, i int) {
	searched := 0
	for at, s := range slices.Backward(steps) {
		for i, c := range slices.Backward(s.kept) {
			if searched++; searched > maxSearched {
				return -1, -1
			}
			if c.branch == branch && c.CallID == call {
				return at, i
			}
		}
	}
	return -1, -1
}
