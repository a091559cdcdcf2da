package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/google/renameio/v2"

	"buddy/agent/event"
)

// raise raises the format in the file's header before an event that older programs don't understand, so that they
// refuse the file. The line keeps its length, so that readers notice nothing.
func (j *Journal) raise(e event.Event) error {
	if _, rewound := e.(event.HistoryRewound); !rewound || j.format >= Format {
		return nil
	}
	line := make([]byte, j.head)
	if _, err := j.f.ReadAt(line, 0); err != nil {
		return err
	}
	now := j.info.Header
	now.Format = Format
	raised := bytes.Replace(line, fmt.Appendf(nil, `"format":%d`, j.format), fmt.Appendf(nil, `"format":%d`, Format), 1)
	if made := j.info.Header.madeWith(j.key); made {
		now.MAC = now.mac(j.key)
		raised = bytes.Replace(raised, []byte(j.info.Header.MAC), []byte(now.MAC), 1)
	} else if j.info.Trusted && len(j.key) > 0 {
		if err := renameio.WriteFile(trustPath(j.path), []byte(now.trustMark(now.ID, j.key)), 0o600); err != nil {
			return err
		}
	}
	if len(raised) != len(line) || bytes.Equal(raised, line) {
		return errors.New("its header can't be changed: rewind in a fork of it")
	}
	if err := writeHeader(j.path, j.f, raised); err != nil {
		return fmt.Errorf("its header was not changed: %w", err)
	}
	j.format = Format
	return nil
}

// writeHeader overwrites the beginning of a file. It opens the file again, because f can only append.
func writeHeader(path string, f *os.File, line []byte) error {
	w, err := OpenPlain(path, os.O_WRONLY)
	if err != nil {
		return err
	}
	is, err := w.Stat()
	was, other := f.Stat()
	if err = errors.Join(err, other); err == nil && !os.SameFile(is, was) {
		err = errors.New("the file was removed while it was in use")
	}
	if err == nil {
		_, err = w.WriteAt(line, 0)
	}
	if err == nil {
		err = datasync(w)
	}
	return errors.Join(err, w.Close())
}

// Rewinds returns the rewinds of the session. It reads lines like Lines does, and decodes only those of rewinds.
func (j *Journal) Rewinds() (event.Rewinds, error) {
	var all event.Rewinds
	err := j.Lines(func(l Line) bool {
		if l.Type == event.Type(event.HistoryRewound{}) || l.Type == "" {
			if env, err := l.Envelope(); err == nil {
				all.Take(env)
			}
		}
		return true
	})
	return all, err
}
