package tmux

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"buddy/tmux/host"
	"buddy/tmux/pane"
)

const (
	// cutLimit bounds how long the connection to a running command may be cut.
	cutLimit = 2 * time.Minute
	// endLimit bounds how long the end of the output may lag behind the command's end.
	endLimit = 3 * time.Second
)

// ticket identifies a command on a target after a restart. It is in the file `remote` of the
// command's directory here.
type ticket struct {
	ID    int       `json:"id"`
	Token string    `json:"token"` // part of the mark that ends its output
	Dir   string    `json:"dir"`   // of the supervisor
	Began time.Time `json:"began"`
	Mode  Mode      `json:"mode,omitempty"`
}

func readTicket(dir string) (t ticket, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "remote"))
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err == nil && t.ID <= 0 {
		err = fmt.Errorf("%q names no command", filepath.Join(dir, "remote"))
	}
	return t, err
}

// mirror follows a command on a target and writes the same files here that a command of this
// machine has.
type mirror struct {
	remote   *remote
	dir      string
	ticket   ticket
	box      *pane.Mailbox
	began    chan error    // of one: nil when the command was accepted, else the reason
	done     chan struct{} // closed at the end, when exit or err is set
	exit     pane.Exit
	err      error
	slotless bool // it does not hold the slot of its supervisor

	mu        sync.Mutex // guards the fields below and the streams
	out, errs *stream
	taken     bool // the supervisor has it
	cancelled bool
}

func newMirror(r *remote, dir string, t ticket) (*mirror, error) {
	m := &mirror{remote: r, dir: dir, ticket: t, box: pane.NewMailbox(), began: make(chan error, 1), done: make(chan struct{})}
	m.out, m.errs = newStream(m, pane.Stdout, "out"), newStream(m, pane.Stderr, "err")
	m.out.begins = t.Mode == Terminal
	for _, file := range []string{"out", "err", "out.tail", "err.tail"} { // of an earlier mirror
		if err := os.Remove(filepath.Join(dir, file)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	b, err := json.Marshal(t)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "remote"), append(b, '\n'), 0o600)
	}
	return m, err
}

// submission returns the script that hands the command to the supervisor and follows it.
func (m *mirror) submission() (string, error) {
	text, err := os.ReadFile(filepath.Join(m.dir, "cmd"))
	if err != nil {
		return "", err
	}
	shown := "\x1b[1m$\x1b[m " + strings.ReplaceAll(pane.Prompt(string(text)), "\r\n", "\n")
	free := ""
	if _, err := os.Stat(filepath.Join(m.dir, "free")); err == nil {
		free = "free"
	}
	return m.remote.lib("submit", strconv.Itoa(m.ticket.ID), string(m.ticket.Mode), m.ticket.Token, string(text), shown, free), nil
}

// start follows the command and returns when the supervisor has accepted it. submit is the
// script that starts it, "" if it was started before.
func (m *mirror) start(ctx context.Context, submit string) error {
	go m.follow(submit)
	select {
	case err := <-m.began:
		if err != nil && m.isTaken() {
			go func() { _ = m.Cancel() }() // it runs, but nothing can be recorded here
		}
		return err
	case <-ctx.Done():
	}
	go m.withdraw()
	return ctx.Err()
}

// withdraw cancels a command that nobody waits for any more.
func (m *mirror) withdraw() {
	ctx, stop := context.WithTimeout(context.Background(), askLimit)
	defer stop()
	_, _ = m.remote.ask(ctx, libOf(m.ticket.Dir, "withdraw", strconv.Itoa(m.ticket.ID)))
	_ = m.Cancel() // in case it started
}

// follow records the command's output and its end here.
func (m *mirror) follow(submit string) {
	exit, err := m.track(submit)
	taken := m.isTaken()
	if err == nil && !taken {
		err = errors.New("the supervisor did not accept the command")
	}
	exit = m.conclude(exit)
	if err == nil {
		if werr := pane.WriteExit(m.dir, exit); werr != nil && exit.Fault == "" {
			exit.Fault = werr.Error()
		}
	}
	if !taken {
		m.began <- err
	}
	m.exit, m.err = exit, err
	m.box.Close()
	close(m.done)
	if !m.slotless {
		<-m.remote.slot
	}
	if err == nil {
		m.remote.fetchLate(m)
		return
	}
	m.remote.stopWhenReachable(m)
	m.out.rec.Close()
	m.errs.rec.Close()
}

// conclude ends the streams and completes the exit with their lengths.
func (m *mirror) conclude(exit pane.Exit) pane.Exit {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range []*stream{m.out, m.errs} {
		s.end()
		if f := s.rec.Fault(); f != nil && exit.Fault == "" {
			exit.Fault = fmt.Sprintf("output was not recorded completely: %v", f)
		}
	}
	exit.Stdout, exit.Stderr = m.out.rec.Total(), m.errs.rec.Total()
	exit.Cancelled, exit.Duration = m.cancelled, time.Since(m.ticket.Began)
	return exit
}

// track follows the command across lost connections up to its end.
func (m *mirror) track(submit string) (pane.Exit, error) {
	var cut, ended time.Time // since when the connection is cut; since when the end is known
	for sent := submit == ""; ; {
		script := submit
		if sent || m.isTaken() {
			script = m.script("follow", "rc")
		}
		code, said, err := m.listen(script)
		if err != nil {
			if cut.IsZero() {
				cut = time.Now()
			}
			if !m.retry(cut, err) {
				return pane.Exit{}, err
			}
			continue
		}
		if !cut.IsZero() {
			cut = time.Time{}
			m.remote.found()
		}
		switch code {
		case 0, codeClosed:
			if ended.IsZero() {
				ended = time.Now()
			}
			if exit, ok, err := m.finish(time.Since(ended) > endLimit); ok || err != nil {
				return closed(exit, code == codeClosed), err
			}
		case codeNotYet:
			sent = true
		case codeGone:
			return m.lose()
		default:
			return pane.Exit{}, &pane.RefusedError{Reason: reason(said, fmt.Errorf("exit code %d", code))}
		}
	}
}

func (m *mirror) isTaken() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken
}

// script returns a call of follow that continues where the streams are.
func (m *mirror) script(function, until string) string {
	m.mu.Lock()
	out, errs := m.out.got, m.errs.got
	m.mu.Unlock()
	return libOf(m.ticket.Dir, function, strconv.Itoa(m.ticket.ID), strconv.FormatInt(out, 10), strconv.FormatInt(errs, 10), until)
}

// listenLimit bounds one call of follow, which normally returns before that.
const listenLimit = 30 * time.Second

// listen runs a script that passes the streams on. For a command that was not accepted it
// returns the message.
func (m *mirror) listen(script string) (code int, said string, err error) {
	m.mu.Lock()
	m.out.ack = true
	m.mu.Unlock()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	watch := time.AfterFunc(listenLimit, stop)
	defer watch.Stop()
	early := &startErrors{m: m}
	code, err = m.remote.host.Run(ctx, script, idleTimer{m.out, watch}, early)
	if err != nil && ctx.Err() != nil {
		err = &host.DownError{Host: m.remote.host.Name(), Why: "no answer for " + listenLimit.String()}
	}
	if m.isTaken() {
		_, _ = early.Write(nil)
	}
	return code, string(early.said), err
}

// startErrors receives stderr. Text before the command was accepted is either its first output
// or the reason why it was refused.
type startErrors struct {
	m    *mirror
	said []byte
}

func (e *startErrors) Write(p []byte) (int, error) {
	if !e.m.isTaken() {
		e.said = append(e.said, p...)
		return len(p), nil
	}
	if len(e.said) > 0 {
		_, _ = e.m.errs.Write(e.said)
		e.said = nil
	}
	return e.m.errs.Write(p)
}

// idleTimer postpones a limit whenever something is written.
type idleTimer struct {
	w     io.Writer
	limit *time.Timer
}

func (b idleTimer) Write(p []byte) (int, error) {
	b.limit.Reset(listenLimit)
	return b.w.Write(p)
}

// retry waits before the next attempt to connect, and reports whether to make one.
func (m *mirror) retry(since time.Time, err error) bool {
	var down *host.DownError
	if !errors.As(err, &down) {
		return false
	}
	m.mu.Lock()
	limit := cutLimit
	if m.cancelled {
		limit = cancelLimit
	} else if !m.taken {
		limit = time.Millisecond // once: a shell that was kept warm may be dead
	}
	m.mu.Unlock()
	away := time.Since(since)
	if away >= limit {
		return false
	}
	time.Sleep(min(max(away, 50*time.Millisecond), 5*time.Second))
	return true
}

// finish returns the exit once the end of the output is here. force returns it with the output
// so far.
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

// end asks the target for the end of a stream whose mark was not seen, because the stream was
// larger than its first file or recording stopped.
func (m *mirror) end(s *stream) (streamEnd, error) {
	ctx, stop := context.WithTimeout(context.Background(), askLimit)
	defer stop()
	letter := "o"
	if s.name == pane.Stderr {
		letter = "e"
	}
	var out bytes.Buffer
	code, err := m.remote.host.Run(ctx, libOf(m.ticket.Dir, "ends", strconv.Itoa(m.ticket.ID), letter), &out, io.Discard)
	if err != nil || code != 0 {
		return streamEnd{}, errors.Join(err, errGone)
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

// closed marks the end of a command as caused by the end of its pane.
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
		_, _ = m.remote.ask(ctx, m.stopScript("HUP", "TERM", 2)) // the supervisor lives without a pane, or nothing lives
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

func (m *mirror) stopScript(first, second string, quarters int) string {
	return libOf(m.ticket.Dir, "stop", strconv.Itoa(m.ticket.ID), first, second, strconv.Itoa(quarters))
}

// Wait passes output on until the command ends.
func (m *mirror) Wait(output func(pane.Chunk)) (pane.Exit, error) {
	for c, ok := m.box.Take(); ok; c, ok = m.box.Take() {
		if output != nil {
			output(c)
		}
	}
	<-m.done
	return m.exit, m.err
}

// Cancel begins to end the command: SIGINT, two seconds later SIGTERM, then SIGKILL. It does
// not wait.
func (m *mirror) Cancel() error {
	m.mu.Lock()
	m.cancelled = true
	m.mu.Unlock()
	ctx, stop := context.WithTimeout(context.Background(), askLimit)
	defer stop()
	_, err := m.remote.host.Run(ctx, m.stopScript("INT", "TERM", 8), io.Discard, io.Discard)
	return err
}

// more fetches late output once and reports whether more may come.
func (m *mirror) more(ctx context.Context, hurry bool) bool {
	m.mu.Lock()
	m.out.ack = true
	m.mu.Unlock()
	until := "eof"
	if hurry {
		until = "now"
	}
	code, err := m.remote.host.Run(ctx, m.script("follow", until), m.out, m.errs)
	if err == nil && code == codeNotYet {
		return true
	}
	m.out.rec.Close()
	m.errs.rec.Close()
	if err == nil && code == 0 {
		_, _ = m.remote.host.Run(ctx, libOf(m.ticket.Dir, "forget", strconv.Itoa(m.ticket.ID)), io.Discard, io.Discard)
	}
	return false
}
