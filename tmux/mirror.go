package tmux

import (
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
	"buddy/tmux/pane/confine"
)

const (
	// cutLimit bounds how long the connection to a running command may be lost.
	cutLimit = 2 * time.Minute
	// endLimit bounds how long the end of the output may lag behind the command's end.
	endLimit = 3 * time.Second
)

// ticket identifies a command on a target, so that this program can follow the command again after a restart. It is
// stored on this machine, in the file `remote` of the command's directory.
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

// mirror follows a command on a target and records it on this machine, in the same files as a local command.
type mirror struct {
	remote   *remote
	dir      string
	ticket   ticket
	box      *pane.Mailbox
	began    chan error    // buffers one value: nil when the command was accepted, else the reason
	done     chan struct{} // closed at the end, when exit or err is set
	exit     pane.Exit
	err      error
	slotless bool // the mirror does not hold the slot of its supervisor

	mu        sync.Mutex // guards the fields below and the streams
	out, errs *stream
	taken     bool // the supervisor has the command
	sent      bool // the command was submitted, but the answer was lost: the supervisor may have it
	cancelled bool
}

func newMirror(r *remote, dir string, t ticket) (*mirror, error) {
	m := &mirror{remote: r, dir: dir, ticket: t, box: pane.NewMailbox(), began: make(chan error, 1), done: make(chan struct{})}
	m.out, m.errs = newStream(m, pane.Stdout, "out"), newStream(m, pane.Stderr, "err")
	m.out.begins = t.Mode == Terminal
	for _, file := range []string{"out", "err"} { // files of an earlier mirror
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

// submission returns the script that passes the command to the supervisor and follows the command.
func (m *mirror) submission() (string, error) {
	text, err := os.ReadFile(filepath.Join(m.dir, "cmd"))
	if err != nil {
		return "", err
	}
	shown := "\x1b[1m$\x1b[m " + strings.ReplaceAll(pane.Prompt(string(text)), "\r\n", "\n")
	free, set := "", ""
	if _, err := os.Stat(filepath.Join(m.dir, "free")); err == nil {
		free = "free"
	}
	if _, err := os.Stat(filepath.Join(m.dir, "background")); err == nil {
		set = pane.Exports(confine.Unattended)
	}
	return libOf(m.ticket.Dir, "submit", strconv.Itoa(m.ticket.ID), string(m.ticket.Mode), m.ticket.Token, string(text), shown, free, set), nil
}

// start follows the command and returns when the supervisor has accepted it. submit is the script that submits the
// command, "" if it has already started.
func (m *mirror) start(ctx context.Context, submit string) error {
	go m.follow(submit)
	var limit <-chan time.Time
	ended := ctx.Done()
	for {
		select {
		case err := <-m.began:
			if err != nil && m.isTaken() {
				go func() { _ = m.Cancel() }() // the command runs, but nothing can be recorded here
			}
			return err
		case <-ended:
			go m.withdraw()
			if submit == "" {
				return ctx.Err()
			}
			ended, limit = nil, time.After(cancelLimit)
		case <-limit:
			return fmt.Errorf("%w: interrupted", ErrUnconfirmed)
		}
	}
}

// withdraw cancels a command that its caller no longer waits for.
func (m *mirror) withdraw() {
	m.mu.Lock()
	m.cancelled = true
	m.mu.Unlock()
	ctx, stop := context.WithTimeout(context.Background(), askLimit)
	defer stop()
	if _, err := m.remote.ask(ctx, m.withdrawScript()); err != nil {
		_ = m.Cancel() // the command has started, or may have started
	}
}

func (m *mirror) withdrawScript() string {
	return libOf(m.ticket.Dir, "withdraw", strconv.Itoa(m.ticket.ID))
}

// follow records the command's output and end on this machine.
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
	var refused *pane.RefusedError
	if err != nil && !errors.As(err, &refused) {
		m.remote.stopWhenReachable(m) // before the next command may connect
	}
	if !taken {
		m.began <- m.unconfirmed(err)
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
	m.out.rec.Close()
	m.errs.rec.Close()
}

// unconfirmed marks the error of a command that was not accepted but may have run.
func (m *mirror) unconfirmed(err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var refused *pane.RefusedError
	if !m.sent || errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnconfirmed, err)
}

// conclude ends the streams, and adds their lengths to the exit.
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
	exit.StdoutGap, exit.StderrGap = m.out.rec.Gap(), m.errs.rec.Gap()
	exit.Cancelled, exit.Duration = m.cancelled, time.Since(m.ticket.Began)
	return exit
}

// track follows the command across lost connections up to its end.
func (m *mirror) track(submit string) (pane.Exit, error) {
	var cut, ended time.Time // times when the connection was cut and when the end became known
	for sent := submit == ""; ; {
		script := submit
		if sent || m.isTaken() {
			script = m.script("follow", "rc")
		}
		code, message, err := m.listen(script)
		exit, complete := pane.Exit{}, false
		if err == nil && (code == 0 || code == codeClosed) {
			if ended.IsZero() {
				ended = time.Now()
			}
			exit, complete, err = m.finish(time.Since(ended) > endLimit)
		}
		if err != nil {
			if !m.retry(&cut, err) {
				return pane.Exit{}, err
			}
			continue
		}
		m.reconnected(&cut)
		if complete {
			return closed(exit, code == codeClosed), nil
		}
		switch code {
		case 0, codeClosed: // the end of the output is still to come
		case codeNotYet:
			sent = true
		case codeGone:
			return m.lose()
		default:
			return pane.Exit{}, &pane.RefusedError{Reason: reason(message, fmt.Errorf("exit code %d", code))}
		}
	}
}

func (m *mirror) isTaken() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken
}

// script returns a line that calls a shell function on the target. The function sends the part of each stream that this
// machine has not received yet.
func (m *mirror) script(function, until string) string {
	m.mu.Lock()
	out, errs := m.out.got, m.errs.got
	m.mu.Unlock()
	return libOf(m.ticket.Dir, function, strconv.Itoa(m.ticket.ID), strconv.FormatInt(out, 10), strconv.FormatInt(errs, 10), until)
}

// listenLimit bounds one call of follow, which normally returns earlier.
const listenLimit = 30 * time.Second

// listen runs a script that passes the streams on. For a refused command it returns the message.
func (m *mirror) listen(script string) (code int, message string, err error) {
	m.mu.Lock()
	m.out.ack = true
	m.mu.Unlock()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	watch := time.AfterFunc(listenLimit, stop)
	defer watch.Stop()
	early := &startErrors{m: m}
	code, err = m.remote.host.Run(ctx, script, idleTimer{m.out, watch}, early)
	lost := err != nil && !errors.Is(err, host.ErrNotSent)
	if err != nil && ctx.Err() != nil {
		err = m.noAnswer()
	}
	if m.isTaken() {
		_, _ = early.Write(nil)
	} else if lost {
		m.mu.Lock()
		m.sent = true
		m.mu.Unlock()
	}
	return code, string(early.message), err
}

func (m *mirror) noAnswer() error {
	return &host.DownError{Host: m.remote.host.Name(), Why: "no answer for " + listenLimit.String()}
}

// startErrors receives stderr. Text before the command was accepted is either its first output or the reason for a
// refusal.
type startErrors struct {
	m       *mirror
	message []byte
}

func (e *startErrors) Write(p []byte) (int, error) {
	if !e.m.isTaken() {
		e.message = append(e.message, p...)
		return len(p), nil
	}
	if len(e.message) > 0 {
		_, _ = e.m.errs.Write(e.message)
		e.message = nil
	}
	return e.m.errs.Write(p)
}

// idleTimer passes output on to w and restarts the time limit with each write.
type idleTimer struct {
	w     io.Writer
	limit *time.Timer
}

func (b idleTimer) Write(p []byte) (int, error) {
	b.limit.Reset(listenLimit)
	return b.w.Write(p)
}

// retry waits before the next attempt to connect, and reports whether there should be one. since is the time when the
// connection was cut; if it is zero, retry sets it.
func (m *mirror) retry(since *time.Time, err error) bool {
	if since.IsZero() {
		*since = time.Now()
	}
	var down *host.DownError
	if !errors.As(err, &down) || down.Gone {
		return false
	}
	m.mu.Lock()
	limit := cutLimit
	switch {
	case m.cancelled && !m.taken:
		limit = 0 // the command must not be submitted again
	case m.cancelled:
		limit = cancelLimit
	case !m.taken:
		limit = time.Millisecond // one more attempt: the first one may have used a dead idle shell
	}
	m.mu.Unlock()
	away := time.Since(*since)
	if away >= limit {
		return false
	}
	time.Sleep(min(max(away, 50*time.Millisecond), 5*time.Second))
	return true
}

// reconnected handles the end of a cut that began at since, and clears since. It does nothing if since is zero.
func (m *mirror) reconnected(since *time.Time) {
	if !since.IsZero() {
		*since = time.Time{}
		m.remote.found()
	}
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

// Cancel starts to end the command: SIGINT, two seconds later SIGTERM, then SIGKILL. It does not wait.
func (m *mirror) Cancel() error {
	m.mu.Lock()
	m.cancelled = true
	m.mu.Unlock()
	ctx, stop := context.WithTimeout(context.Background(), askLimit)
	defer stop()
	_, err := m.remote.host.Run(ctx, m.stopScript("INT", "TERM", 8), io.Discard, io.Discard)
	return err
}

// more makes one attempt to fetch late output, and reports whether more may come. With hurry, it does not wait for
// output to appear.
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
