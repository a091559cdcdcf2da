package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"

	"github.com/google/renameio/v2"

	"buddy/agent/event"
)

// repairFirst adds the next step to an error about a damaged first line.
func repairFirst(id string, err error) error {
	if errors.Is(err, ErrHeader) {
		err = fmt.Errorf("%w; to rebuild it: buddy sessions repair %s", err, id)
	}
	return err
}

// Repaired holds the results of Repair.
type Repaired struct {
	Kept    string // path of the unrepaired file; "" if no repair was necessary
	Trusted bool   // the header is proven to be the one that this machine wrote or a person trusted here
}

// Repair rebuilds a damaged first line from its readable parts and from the events after it. The unrepaired file is
// moved to the trash. A session counts as made on this machine only if the new header has the MAC that is still in the
// old one; otherwise Open returns it read-only until a person trusts it. Repair fails while another process works on
// the session.
func (s Store) Repair(id string) (Repaired, error) {
	r, err := repair(s, id)
	if err != nil {
		err = fmt.Errorf("session %s can't be repaired: %w", id, err)
	}
	return r, err
}

func repair(s Store, id string) (r Repaired, err error) {
	f, err := s.openFile(id, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return r, err
	}
	j := &Journal{path: f.Name(), f: f}
	if err := j.lock(); err != nil {
		return r, errors.Join(err, f.Close())
	}
	defer j.Close() //nolint:errcheck // nothing was written to it
	key, err := loadKey(s.state)
	if err != nil {
		return r, err // a header proven to be ours would lose its proof
	}
	_, _, wrong := readHeader(f)
	switch {
	case wrong == nil:
		return r, nil
	case errors.Is(wrong, errEmpty):
		return r, fmt.Errorf("%w, and nothing is left to rebuild it from", wrong)
	case !errors.Is(wrong, ErrHeader) && !errors.Is(wrong, ErrFormat):
		return r, wrong
	}
	old := remains{store: s, id: id, key: key}
	if err := old.read(f); err != nil {
		return r, err
	}
	var h Header
	switch h, r.Trusted = old.header(); {
	case errors.Is(wrong, ErrFormat) && !r.Trusted: // otherwise the format's number is the damaged part
		return r, wrong
	case old.events == 0:
		return r, fmt.Errorf("%w, and no event can be read", wrong)
	}
	if r.Kept, err = keepInTrash(s, id); err != nil {
		return r, err
	}
	return r, old.write(f, h)
}

// keepInTrash creates a hard link to the file of a session in the trash and returns its path.
func keepInTrash(s Store, id string) (string, error) {
	folder, err := trashFolder(s, id)
	if err != nil {
		return "", err
	}
	kept := folder + string(os.PathSeparator) + id + ext
	if err := os.Link(s.file(id), kept); err != nil {
		return "", fmt.Errorf("trash: %w", err)
	}
	return kept, syncDir(kept)
}

// remains holds the readable parts of a session whose first line is damaged.
type remains struct {
	store Store
	id    string
	key   []byte

	first  Header // readable fields of line 1
	found  Header // fields found in the events
	events int    // readable events
	from   int64  // offset of the first event
}

// read reads the first line and the events.
func (m *remains) read(f *os.File) error {
	m.from = -1
	_, err := scan(newReader(io.NewSectionReader(f, 0, math.MaxInt64)), maxLine, func(off int64, line []byte) bool {
		switch at := bytes.Index(line, eventBegin); {
		case off == 0 && at >= 0: // the end of the header is lost, or all of it
			m.first, m.from = headerLeft(line[:at]), int64(at)
			line = line[at:]
		case off == 0:
			m.first = headerLeft(line)
			return true
		case m.from < 0:
			m.from = off
		}
		if env, err := decode(line); err == nil {
			m.events++
			m.learn(env)
		}
		return true
	})
	return err
}

// learn stores the fields of the header that an event repeats.
func (m *remains) learn(env event.Envelope) {
	h := &m.found
	if h.Created == 0 {
		h.Created = env.Time
	}
	switch p := env.Payload.(type) {
	case event.SessionCreated:
		h.Cwd, h.Target, h.Model = cmp.Or(h.Cwd, p.Cwd), cmp.Or(h.Target, p.Target), cmp.Or(h.Model, p.Model)
	case event.SessionResumed:
		h.Cwd, h.Target, h.Model = cmp.Or(h.Cwd, p.Cwd), cmp.Or(h.Target, p.Target), cmp.Or(h.Model, p.Model)
	case event.SessionForked:
		h.ForkedFrom = p.From
	case event.HistoryRewound:
		h.Format = Format
	}
}

// header returns the new header, and whether it is proven to equal the old one.
func (m *remains) header() (Header, bool) {
	h := m.first
	h.ID = m.id
	h.Created, h.Cwd = cmp.Or(h.Created, m.found.Created), cmp.Or(h.Cwd, m.found.Cwd)
	h.Target, h.Model = cmp.Or(h.Target, m.found.Target), cmp.Or(h.Model, m.found.Model)
	h.ForkedFrom = cmp.Or(h.ForkedFrom, m.found.ForkedFrom)
	for h.Format = formatPlain; h.Format <= Format; h.Format++ {
		if m.store.trusted(m.id, h, m.key) {
			return h, true
		}
	}
	h.Format, h.MAC = max(formatPlain, m.found.Format), ""
	return h, false
}

// write replaces the file by the header h and the events.
func (m *remains) write(f *os.File, h Header) error {
	line, err := json.Marshal(h)
	if err != nil {
		return err // cannot happen: strings and numbers only
	}
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	out, err := renameio.NewPendingFile(m.store.file(m.id), renameio.WithPermissions(0o600))
	if err != nil {
		return err
	}
	defer out.Cleanup() //nolint:errcheck // a stale file does no harm
	if _, err = out.Write(append(line, '\n')); err == nil {
		_, err = io.Copy(out, io.NewSectionReader(f, m.from, fi.Size()-m.from))
	}
	if err == nil {
		err = os.Chtimes(out.Name(), fi.ModTime(), fi.ModTime()) // keeps its place in the list
	}
	if err != nil {
		return err
	}
	return out.CloseAtomicallyReplace()
}

// eventBegin is the start of each event in the form that we write.
var eventBegin = []byte(`{"seq":`)

// headerLeft returns the readable fields of a damaged header.
func headerLeft(line []byte) Header {
	var h Header
	for _, m := range headerField.FindAllSubmatch(line[:min(len(line), maxHeader)], -1) {
		value := m[2]
		if string(m[1]) == "created" {
			h.Created, _ = strconv.ParseInt(string(value), 10, 64) // 0 if too large
			continue
		}
		text := map[string]*string{
			"cwd": &h.Cwd, "target": &h.Target, "model": &h.Model, "forked_from": &h.ForkedFrom, "by": &h.By, "mac": &h.MAC,
		}[string(m[1])]
		_ = json.Unmarshal(value, text) // a field that can't be decoded stays empty
	}
	return h
}

var headerField = regexp.MustCompile(`"(created|cwd|target|model|forked_from|by|mac)":([0-9]+|"(?:[^"\\\x00-\x1f]|\\.)*")`)
