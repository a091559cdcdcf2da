package tmux

import (
	"bytes"
	"path/filepath"
	"strconv"

	"buddy/texts"
	"buddy/tmux/pane"
)

// stream records one stream of a command as it arrives: the command's own output, a mark, then
// the output of background jobs.
type stream struct {
	m    *mirror
	name string
	rec  *pane.Record
	mark string
	got  int64  // bytes that have arrived, including marks and output of jobs
	held []byte // possible part of the mark
	code int    // of the command; valid with own
	own  bool   // the command's own output is complete
	// In mode Terminal, the stream starts with output of the terminal from before the command, up to the start mark.
	// before counts the bytes of that output that have arrived; begins means that the mark has not arrived yet.
	before int64
	begins bool
	ack    bool // the byte that confirms the start is still expected
}

func newStream(m *mirror, name, file string) *stream {
	return &stream{m: m, name: name, rec: pane.NewRecord(filepath.Join(m.dir, file), m.remote.opt.Whole), mark: "\x1b]7717;" + m.ticket.Token + ";"}
}

// Write processes a piece of the stream.
func (s *stream) Write(p []byte) (int, error) {
	n := len(p)
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if s.ack && len(p) > 0 {
		s.ack = false
		p = p[1:]
		if !s.m.taken {
			s.m.taken = true
			err := s.rec.Open() // the file also marks that the command may have run
			s.m.began <- err
		}
	}
	s.got += int64(len(p))
	s.handle(p)
	return n, nil
}

func (s *stream) handle(p []byte) {
	if s.own {
		s.rec.Add(p)
		return
	}
	if len(s.held) > 0 {
		p = append(s.held, p...)
		s.held = nil
	}
	if s.begins {
		mark := s.mark + "start\a"
		i := bytes.Index(p, []byte(mark))
		if i < 0 {
			i = len(p) - texts.Overlap(p, mark)
			s.before += int64(i)
			s.held = bytes.Clone(p[i:])
			return
		}
		s.begins, s.before = false, s.before+int64(i+len(mark))
		p = p[i+len(mark):]
	}
	i := bytes.Index(p, []byte(s.mark))
	if i < 0 {
		i = len(p) - texts.Overlap(p, s.mark)
		s.held = bytes.Clone(p[i:])
		s.pass(p[:i])
		return
	}
	digits, rest, whole := bytes.Cut(p[i+len(s.mark):], []byte{7})
	if !whole {
		s.pass(p[:i])
		s.held = bytes.Clone(p[i:])
		return
	}
	s.pass(p[:i])
	s.code, _ = strconv.Atoi(string(digits))
	s.seal()
	s.rec.Add(rest)
}

// end records the held-back bytes as output, because the mark never arrived.
func (s *stream) end() {
	if !s.begins {
		s.pass(s.held)
	}
	s.held = nil
	if !s.own {
		s.seal()
	}
}

func (s *stream) seal() {
	s.own = true
	s.rec.Seal()
}

// pass records a piece of the command's own output and shows it.
func (s *stream) pass(p []byte) {
	if len(p) > 0 {
		s.rec.Add(p)
		s.m.box.Put(s.name, p, s.rec.Total())
	}
}
