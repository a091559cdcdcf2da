package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"buddy/agent/event"
	"buddy/agent/record"
)

// Fork creates a session as a copy of another one up to the end of an exchange; 0 is the last one that has ended. The
// copy is independent and includes the outputs of commands. It returns the new id and the exchange. The original may be
// in use.
func (s Store) Fork(id string, exchange int) (fork string, last Exchange, err error) {
	j, err := s.View(id)
	if err != nil {
		return "", last, err
	}
	defer j.Close() //nolint:errcheck // nothing was written
	if !j.Info().Trusted {
		return "", last, fmt.Errorf("session %s: %w", id, ErrUntrusted) // a copy would count as trusted
	}
	if last, err = j.forkAt(exchange); err != nil {
		return "", last, err
	}
	h := j.Info().Header
	h.ID, h.Created, h.ForkedFrom, h.By = "", 0, id, ""
	n, err := s.Create(h)
	if err != nil {
		return "", last, err
	}
	fork = n.Info().Header.ID
	f := forking{from: id, to: fork, oldOut: s.OutDir(id), newOut: s.OutDir(fork), dirs: make(map[string]bool), file: n}
	err = f.copy(j, last)
	if err == nil {
		err = f.linkOutputs()
	}
	if err = errors.Join(err, n.Close()); err != nil {
		err = errors.Join(fmt.Errorf("fork of session %s: %w", id, err), os.Remove(s.file(fork)), os.RemoveAll(filepath.Join(s.dir, fork)))
		return "", last, err
	}
	return fork, last, nil
}

func (j *Journal) forkAt(number int) (Exchange, error) {
	all, err := j.Exchanges()
	if err != nil {
		return Exchange{}, err
	}
	if number < 0 || number > len(all) {
		return Exchange{}, fmt.Errorf("exchange %d does not exist: the session has %d", number, len(all))
	}
	if number > 0 {
		if all[number-1].Outcome == "" {
			return Exchange{}, fmt.Errorf("exchange %d has not ended", number)
		}
		return all[number-1], nil
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Outcome != "" {
			return all[i], nil
		}
	}
	return Exchange{}, errors.New("no exchange has ended yet")
}

// forking holds the state of one Fork.
type forking struct {
	from, to       string // ids
	oldOut, newOut string
	dirs           map[string]bool // folders in oldOut that copied lines refer to
	file           *Journal
	open           record.Record // at the point of the fork
	last           uint64        // number of the newest event before that
	batch          []byte
}

// look records the work that had not ended at an offset.
func (f *forking) look(j *Journal, end int64) error {
	return j.walk(end, func(l Line) bool {
		switch event.Named(l.Type).(type) {
		case event.BranchStarted, event.TaskFinished, event.PromptSubmitted, event.PromptWithdrawn, nil:
			if env, err := l.Envelope(); err == nil {
				f.open.Apply(env)
			}
		}
		return true
	})
}

// unfinished reports whether an event belongs to a task or call that had not ended. Such events are not copied: the
// work continues in the original.
func (f *forking) unfinished(env event.Envelope) bool {
	on := f.open.Branches[env.Branch]
	switch p := env.Payload.(type) {
	case event.BranchStarted:
		return f.open.Branches[p.Branch] != nil
	case event.PromptSubmitted:
		if _, queued := f.open.Queued[p.ID]; queued {
			return true
		}
	}
	return env.Branch != 0 && on != nil
}

const forkBatch = 1 << 20

// copy writes the lines up to the end of an exchange, then a SessionForked.
func (f *forking) copy(j *Journal, last Exchange) error {
	if err := f.look(j, last.end); err != nil {
		return err
	}
	var failed error
	err := j.walk(last.end, func(l Line) bool {
		failed = f.line(l)
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if err := f.flush(); err != nil {
		return err
	}
	f.file.last = f.last
	return f.file.Append(event.Envelope{
		Seq: event.NextSeq(f.last), Time: time.Now().UnixMilli(), Session: f.to,
		Payload: event.SessionForked{From: f.from, FromSeq: f.last, Exchange: last.Number},
	})
}

// line copies one line, replacing the session's id and folder. It skips a damaged line.
func (f *forking) line(l Line) error {
	env, err := l.Envelope()
	if err != nil {
		return nil
	}
	if f.last = env.Seq; f.unfinished(env) {
		return nil
	}
	var head struct {
		Session json.RawMessage `json:"session"`
	}
	if err := json.Unmarshal(l.Raw, &head); err != nil {
		return nil // cannot happen: it was just decoded
	}
	raw := bytes.Replace(l.Raw, []byte(`"session":`+string(head.Session)), []byte(`"session":"`+f.to+`"`), 1)
	old := escaped(f.oldOut + string(filepath.Separator))
	for rest := raw; ; {
		_, after, found := bytes.Cut(rest, old)
		if !found {
			break
		}
		name := after
		if i := bytes.IndexAny(after, "/\\\""); i >= 0 {
			name = after[:i]
		}
		f.dirs[string(name)] = true
		rest = after
	}
	raw = bytes.ReplaceAll(raw, old, escaped(f.newOut+string(filepath.Separator)))
	if err := f.file.raise(env.Payload); err != nil {
		return err
	}
	f.batch = append(append(f.batch, raw...), '\n')
	if len(f.batch) >= forkBatch {
		return f.flush()
	}
	return nil
}

func (f *forking) flush() error {
	if len(f.batch) == 0 {
		return nil
	}
	err := f.file.write(f.batch)
	f.batch = f.batch[:0]
	return err
}

// linkOutputs hard-links the outputs, which never change, so that the copy takes no space.
func (f *forking) linkOutputs() error {
	for name := range f.dirs {
		if CheckID(name) != nil {
			continue // printed text that is not one of our paths
		}
		from, to := filepath.Join(f.oldOut, name), filepath.Join(f.newOut, name)
		err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return ignoreMissing(err)
			}
			rel, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			switch {
			case d.IsDir():
				return os.MkdirAll(filepath.Join(to, rel), 0o700)
			case d.Type().IsRegular():
				if rel == "." {
					if err := os.MkdirAll(f.newOut, 0o700); err != nil {
						return err
					}
				}
				return os.Link(path, filepath.Join(to, rel))
			}
			return nil // sockets of commands
		})
		if err != nil {
			return fmt.Errorf("outputs: %w", err)
		}
	}
	return nil
}
