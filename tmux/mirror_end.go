package tmux

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"buddy/tmux/pane"
)

// finish returns the command's exit; ok is false while the end of the output is missing. With force, it returns the
// exit with the output so far.
func (m *mirror) finish(force bool) (exit pane.Exit, ok bool, err error) {
	m.mu.Lock()
	whole, none := m.out.own && m.errs.own, !m.out.own && !m.errs.own
	exit.Code = max(m.out.code, m.errs.code)
	m.mu.Unlock()
	if whole {
		return exit, true, nil
	}
	missing := false
	for _, s := range []*stream{m.out, m.errs} {
		m.mu.Lock()
		own := s.own
		m.mu.Unlock()
		if own {
			continue
		}
		end, err := m.end(s)
		if err != nil {
			return exit, false, err
		}
		if none {
			exit.Code = end.code
		}
		if end.fault != "" {
			exit.Fault = "output was not recorded completely: " + end.fault
		} else if !end.found {
			missing = true
		}
	}
	if missing && force {
		exit.Fault = "the end of the output did not arrive"
	}
	return exit, !missing || force, nil
}

// streamEnd holds the target's record of the end of a stream.
type streamEnd struct {
	found bool
	code  int
	fault string
}

// end asks the target for the end of a stream whose final mark did not arrive, because the stream was larger than its
// first file, or recording stopped.
func (m *mirror) end(s *stream) (streamEnd, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	watch := time.AfterFunc(listenLimit, stop)
	defer watch.Stop()
	letter := "o"
	if s.name == pane.Stderr {
		letter = "e"
	}
	var out bytes.Buffer
	code, err := m.remote.host.Run(ctx, libOf(m.ticket.Dir, "ends", strconv.Itoa(m.ticket.ID), letter), idleTimer{&out, watch}, io.Discard)
	switch {
	case err != nil && ctx.Err() != nil:
		return streamEnd{}, m.noAnswer()
	case err != nil:
		return streamEnd{}, err
	case code != 0:
		return streamEnd{}, errGone
	}
	line, data, _ := bytes.Cut(out.Bytes(), []byte("\n"))
	var e streamEnd
	var total int64
	fields := strings.SplitN(string(line), " ", 3)
	if len(fields) == 3 {
		total, _ = strconv.ParseInt(fields[0], 10, 64)
		e.code, _ = strconv.Atoi(fields[1])
		e.fault = fields[2]
	}
	if total == 0 {
		return e, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := bytes.Index(data, []byte(s.mark)); i >= 0 {
		e.found = true
		total -= int64(len(data) - i)
		data = data[:i]
	} else if e.fault == "" {
		return e, nil
	}
	s.held = nil
	total -= s.before
	s.rec.SkipTo(total, data)
	s.m.box.Put(s.name, data[max(0, len(data)-pane.TailMax):], total)
	s.code = e.code
	s.seal()
	return e, nil
}

// closed returns the exit e or, if is is set, e with the fault that the pane was closed.
func closed(e pane.Exit, is bool) pane.Exit {
	if is {
		e.Fault, e.Signal = "the pane was closed", max(e.Code-128, 0)
	}
	return e
}

// lose returns the end of a command whose supervisor or pane has gone.
func (m *mirror) lose() (pane.Exit, error) {
	defer m.remote.forget()
	if !m.isTaken() {
		return pane.Exit{}, errGone
	}
	ctx, stop := context.WithTimeout(context.Background(), askLimit)
	defer stop()
	if _, err := m.remote.ask(ctx, libOf(m.ticket.Dir, "mourn", strconv.Itoa(m.ticket.ID))); err != nil {
		_, _ = m.remote.ask(ctx, m.stopScript("HUP", "TERM", 2)) // the supervisor runs without a pane, or nothing runs
	}
	code, _, err := m.listen(m.script("follow", "rc"))
	if err != nil || code != 0 && code != codeClosed {
		return pane.Exit{}, errGone
	}
	exit, ok, err := m.finish(true)
	if !ok || err != nil {
		return exit, errGone
	}
	return closed(exit, true), nil
}
