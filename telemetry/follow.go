package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"buddy/agent/event"
	"buddy/sessions"
)

const (
	maxBatch = 512                 // spans
	maxAge   = 30 * 24 * time.Hour // older events are not sent
	maxIdle  = time.Hour           // then a session's open work is forgotten, and read again if the session continues
)

// position holds how far a session's file was read.
type position struct {
	Seq  uint64 `json:"seq"`  // of the last event
	Size int64  `json:"size"` // of the file, if it was read to its end
	Time int64  `json:"time"` // when the file last changed
}

// positions is the state that outlives the program. It is written before spans are sent, so that a crash never sends
// spans twice; it can lose those that were being sent.
type positions struct {
	Since    int64               `json:"since"` // when the program was first started: earlier events are not sent
	Sessions map[string]position `json:"sessions"`
}

// follower reads what is new in the sessions' files. The files hold what is not sent yet, so nothing piles up in memory.
type follower struct {
	only    string // the start of the ids of the sessions to follow; "" follows all
	content bool
	state   string // file with the positions
	positions
	reading map[string]*session // with open work
}

// open reads the positions, and locks them against another program: both would send the same.
func (f *follower) open() (unlock func() error, err error) {
	lock, err := os.OpenFile(f.state+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errors.New("another buddy-telemetry is running; stop it first")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", lock.Name(), err), lock.Close())
	}
	f.reading = make(map[string]*session)
	f.positions = positions{Since: time.Now().UnixMilli()}
	text, err := os.ReadFile(f.state)
	if err == nil {
		err = json.Unmarshal(text, &f.positions)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("%s can't be read; if you delete it, only new events are sent: %w", f.state, err), lock.Close())
	}
	if f.Sessions == nil {
		f.Sessions = make(map[string]position)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.save(f.positions); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
	}
	return lock.Close, nil
}

func (f *follower) save(p positions) error {
	text, err := json.Marshal(p)
	if err == nil {
		err = renameio.WriteFile(f.state, text, 0o600)
	}
	return err
}

// read returns the next batch; more means that it is full. Errors are reported and don't stop the others.
func (f *follower) read() (b *batch, more bool, err error) {
	b = &batch{}
	stores, err := sessions.Folders()
	oldest := max(f.Since, time.Now().Add(-maxAge).UnixMilli())
	for _, s := range stores {
		files, failed := os.ReadDir(s.Path())
		err = errors.Join(err, failed)
		for _, file := range files {
			id, ok := strings.CutSuffix(file.Name(), ".jsonl")
			if !ok || !strings.HasPrefix(id, f.only) {
				continue
			}
			info, failed := file.Info()
			if failed != nil || info.ModTime().UnixMilli() < oldest || info.Size() == f.Sessions[id].Size {
				continue // deleted, too old, or not changed
			}
			full, failed := f.readSession(s, id, info, oldest, b)
			err = errors.Join(err, failed)
			if full {
				return b, true, err
			}
		}
	}
	f.forget(oldest)
	return b, false, err
}

// readSession reads the new events of a session. After an error, it is read again when the file has changed.
func (f *follower) readSession(s sessions.Store, id string, info fs.FileInfo, oldest int64, b *batch) (full bool, err error) {
	at := f.Sessions[id]
	at.Size, at.Time = info.Size(), info.ModTime().UnixMilli()
	defer func() {
		if full {
			at.Size = -1 // there may be more
		}
		f.Sessions[id] = at
	}()
	j, err := s.View(id)
	if err != nil {
		return false, err
	}
	defer j.Close() //nolint:errcheck // only read
	of, after := f.reading[id], at.Seq
	if of == nil {
		copied, ready, err := copied(j)
		if err != nil || !ready {
			return false, err
		}
		of, after = newSession(id, f.content, max(at.Seq, copied), oldest), 0
		f.reading[id] = of
	}
	err = j.Range(after, func(env event.Envelope) bool {
		of.add(env, b)
		at.Seq = max(at.Seq, env.Seq)
		full = len(b.spans) >= maxBatch || len(b.measured) >= 4*maxBatch
		return !full
	})
	return full, err
}

// copied returns the last event that a fork copied from another session, which has sent it. It is not ready while the
// copy is being made.
func copied(j *sessions.Journal) (last uint64, ready bool, err error) {
	if ready = j.Info().Header.ForkedFrom == ""; ready {
		return 0, true, nil
	}
	err = j.Lines(func(l sessions.Line) bool {
		if l.Type == event.Type(event.SessionForked{}) {
			env, err := l.Envelope()
			if p, ok := env.Payload.(event.SessionForked); err == nil && ok {
				last, ready = p.FromSeq, true
			}
		}
		return true
	})
	return last, ready, err
}

// forget drops the open work of idle sessions, and positions before which nothing is sent any more.
func (f *follower) forget(oldest int64) {
	idle := time.Now().Add(-maxIdle).UnixMilli()
	for id, at := range f.Sessions {
		if at.Time < idle {
			delete(f.reading, id)
		}
		if at.Time < oldest {
			delete(f.Sessions, id)
		}
	}
}
