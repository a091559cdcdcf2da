package tmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"buddy/tmux/host"
	"buddy/tmux/pane"
)

// Mode selects how a command's streams are connected.
type Mode = pane.Mode

// The modes; the last two need a pane. Standard input is empty unless it is the terminal.
const (
	Capture  = pane.Capture  // stdout and stderr apart; the default
	Merge    = pane.Merge    // both in stdout, in the order written
	Prompted = pane.Prompted // as Capture, with the terminal as standard input
	Terminal = pane.Terminal // all streams are the terminal; stdout holds its output, with escape sequences
)

// EdgeMax limits the bytes that a [Captured] holds of either end of a stream.
const EdgeMax = 64 << 10

// cancelLimit bounds the time from a cancellation to the replacement of the pane.
const cancelLimit = 7 * time.Second

// Output receives live output: total counts the stream's bytes so far, including this piece; a jump means that a part
// was skipped. p is only valid during the call. A slow Output misses output but never delays the command.
type Output func(stream string, p []byte, total int64)

// Spec describes a command to run.
type Spec struct {
	Dir     string // the command's own directory, made with mode 0700; see package pane for its files
	Command string // shell text, any number of lines
	Mode    Mode   // "" = Capture
	Output  Output // may be nil
	// Hosts decides whether a sandboxed command may reach a host that is not in the settings, and returns nil to allow
	// it. The decision may take long. No such host is allowed if Hosts is nil, nor after a Reattach.
	Hosts func(pane.Host) error
	// Free is for a command that runs without approval: nothing that earlier commands set changes the meaning of its
	// words, and only its final directory is carried over.
	Free bool
	// Confined runs the command in the read-only sandbox, see package confine: it also gets the variables of earlier
	// commands, but no terminal. The command is not started if the sandbox is impossible, which it always is on a Host.
	Confined bool
	// Fenced runs the command in the workspace sandbox, see package fence: it gets the variables of earlier commands
	// and no terminal, and only its final folder is carried over.
	Fenced bool
	// From is the folder in which a Confined or Fenced command starts; "" is the shell's folder.
	From string
	// Own runs the command in its own pane. That pane starts with the folder, variables and functions of the shared
	// pane, passes nothing back to it, and closes after the command. Beyond [MaxPanes] the error is [ErrPanes].
	Own   bool
	Title string // of that pane; "" is the start of the command
	// Background means that nobody watches the command at first: it gets variables that keep programs from prompting.
	Background bool
}

// Captured holds the start and the end of a command's output on one stream.
type Captured struct {
	Head  []byte // the first bytes, at most EdgeMax
	Tail  []byte // the last bytes that are not in Head, at most EdgeMax
	Total int64  // bytes written in total
	Gap   int64  // bytes between the start and the end that were not recorded
	// Path names the file with the output. If Gap is not 0, a line in the file replaces the missing bytes. Background
	// jobs may have added output after the command ended.
	Path string
}

// Result describes how a command ended.
type Result struct {
	ExitCode  int // as in a shell: 128+n after signal n; -1 with ErrLost
	Signal    int // the signal that ended the shell itself, 0 if it exited
	Stdout    Captured
	Stderr    Captured
	Duration  time.Duration
	Cancelled bool
	Confined  bool        // it ran in the read-only sandbox
	Fenced    bool        // it ran in the workspace sandbox
	Terminal  bool        // it ran in the mode Terminal: Stdout is the terminal's output
	Renewed   bool        // the previous pane was lost: it ran in a new one, with the old folder and variables
	Fault     string      // an error in running or recording the command, such as a full disk; "" if none
	Left      []pane.Left // processes that the command left running, where the system shows them
	Ended     []string    // names of processes that the command left running and the sandbox ended; untrusted text
}

// Running is a started command.
type Running struct {
	dir    string
	runner runner
	job    job // nil if the command had already ended
	done   chan struct{}
	cancel sync.Once
	res    Result // set when done is closed
	err    error
}

// Cwd returns the directory in which the command ended, "" if unknown: it is still running, was killed, or ran on
// another machine.
func (r *Running) Cwd() string {
	b, err := os.ReadFile(filepath.Join(r.dir, "cwd"))
	if err != nil || !filepath.IsAbs(string(b)) {
		return ""
	}
	return string(b)
}

// terminalMark names the file that marks a command of the mode Terminal.
const terminalMark = "tty"

func onTerminal(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, terminalMark))
	return err == nil
}

// Start starts a command and returns when it runs. It waits while another command runs in the pane; if ctx ends
// meanwhile, the command is withdrawn. An [ErrUnavailable] means that nothing ran and that the Session cannot work
// here, [ErrUnconfirmed] that the command may have run.
func (s *Session) Start(ctx context.Context, spec Spec) (*Running, error) {
	if s.closed.Load() {
		return nil, errors.New("session is closed")
	}
	if strings.IndexByte(spec.Command, 0) >= 0 {
		return nil, errors.New("command has a NUL byte, which no shell can run")
	}
	if spec.Mode == "" {
		spec.Mode = Capture
	}
	dir, err := makeCommandDir(spec)
	if err != nil {
		return nil, err
	}
	if spec.Own {
		return s.startOwn(ctx, dir, spec)
	}
	job, err := s.launch(ctx, s.runner, dir, spec)
	if err != nil {
		return nil, err
	}
	askAbout(job, spec.Hosts)
	return s.follow(s.runner, dir, job, spec.Output), nil
}

// askAbout sets the function that decides about hosts.
func askAbout(job job, decide func(pane.Host) error) {
	if local, ok := job.(*pane.Job); ok && decide != nil {
		local.Hosts(decide)
	}
}

// launch starts the command in dir on a runner.
func (s *Session) launch(ctx context.Context, at runner, dir string, spec Spec) (job, error) {
	for try := 0; ; try++ {
		job, err := at.run(ctx, dir, spec.Mode, spec.within())
		var refused *pane.RefusedError
		switch {
		case err == nil:
			return job, nil
		case errors.Is(err, ErrUnconfirmed):
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, ErrUnavailable), errors.As(err, &refused):
			return nil, err
		case mayHaveStarted(dir):
			return nil, fmt.Errorf("%w: %w", ErrLost, err)
		case try > 0:
			return nil, err
		}
		// The supervisor vanished before it accepted the command. The next try starts another one.
	}
}

// within returns the sandbox that the command needs.
func (s Spec) within() pane.Sandboxed {
	switch {
	case s.Fenced:
		return pane.Fenced
	case s.Confined:
		return pane.ReadOnly
	}
	return pane.Unheld
}

// makeCommandDir creates the directory and writes the command into it.
func makeCommandDir(spec Spec) (string, error) {
	dir, err := filepath.Abs(spec.Dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	var marks []string
	if spec.within() == pane.Unheld {
		marks = append(marks, "cwd") // created here, so that the shell can write it whatever its umask is
		if spec.Free {
			marks = append(marks, "free")
		}
		if spec.Background {
			marks = append(marks, "background")
		}
	}
	if spec.Mode == Terminal {
		marks = append(marks, terminalMark)
	}
	for _, name := range marks {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			return "", err
		}
	}
	if spec.From != "" {
		if err := os.WriteFile(filepath.Join(dir, pane.FromFile), []byte(spec.From), 0o600); err != nil {
			return "", err
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, "cmd"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(spec.Command)
	return dir, errors.Join(err, f.Close())
}

// mayHaveStarted reports whether the supervisor may have started the command in dir.
func mayHaveStarted(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "out"))
	return err == nil
}

// Reattach follows a command that an earlier process started with the directory dir. Output of a running command
// continues after its last 64 KiB; if the command has ended, the Running is done. The error is [ErrLost] if its exit
// code is unknown.
func (s *Session) Reattach(ctx context.Context, dir string, output Output) (*Running, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	run, err := s.reattachOwn(ctx, dir, output)
	if errors.Is(err, errShared) {
		var job job
		if job, err = s.runner.attach(ctx, dir); err == nil {
			run = s.follow(s.runner, dir, job, output)
		}
	}
	if err == nil {
		return run, nil
	}
	run = &Running{dir: dir, runner: s.runner, done: make(chan struct{})}
	exit, rcErr := pane.ReadExit(dir)
	if rcErr != nil {
		return nil, fmt.Errorf("%w: the command in %q started, but its exit code is unknown: %w", ErrLost, dir, err)
	}
	run.res = result(dir, exit)
	close(run.done)
	return run, nil
}

// follow passes on the output of a job and collects its result.
func (s *Session) follow(at runner, dir string, job job, output Output) *Running {
	r := &Running{dir: dir, runner: at, job: job, done: make(chan struct{})}
	shared, ok := at.(*managedPane)
	renewed := ok && shared.consumeRenewed()
	var deliver func(pane.Chunk)
	finish := func() {}
	if output != nil {
		box, delivered := pane.NewMailbox(), make(chan struct{})
		deliver = func(c pane.Chunk) { box.Put(c.Stream, c.Bytes, c.Total) }
		finish = func() { box.Close(); <-delivered }
		go func() {
			defer close(delivered)
			for c, ok := box.Take(); ok; c, ok = box.Take() {
				output(c.Stream, c.Bytes, c.Total)
			}
		}()
	}
	go func() {
		exit, err := job.Wait(deliver)
		if err != nil {
			var known error
			if exit, known = pane.ReadExit(dir); known != nil {
				r.err = fmt.Errorf("%w while the command was running; the command's exit code is unknown, and it may have finished its work", ErrLost)
				var down *host.DownError
				switch {
				case !errors.As(err, &down):
				case down.Gone:
					r.err = fmt.Errorf("%w while the command was running: %w", ErrLost, err)
				default:
					r.err = fmt.Errorf("%w while the command was running; it may still be running there: %w", ErrLost, err)
				}
				exit = recorded(dir)
			}
		}
		finish()
		r.res = result(dir, exit)
		r.res.Renewed = renewed
		close(r.done)
	}()
	return r
}

// Pane returns tmux's id of the pane in which the command runs, "" without tmux.
func (r *Running) Pane() string { return r.runner.pane() }

// Done returns a channel that is closed when the command has ended and the last Output call
// has returned.
func (r *Running) Done() <-chan struct{} { return r.done }

// Wait returns the command's result. If ctx ends first, the command keeps running; call Cancel to end it. With the
// error [ErrLost] the Result has the recorded output.
func (r *Running) Wait(ctx context.Context) (Result, error) {
	select {
	case <-r.done:
		return r.res, r.err
	default:
	}
	select {
	case <-r.done:
		return r.res, r.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Cancel ends the command: Ctrl-C, two seconds later SIGTERM to its group, two seconds later SIGKILL, and finally its
// pane is replaced. It does not wait; call Wait.
func (r *Running) Cancel() {
	if r.job == nil {
		return
	}
	r.cancel.Do(func() {
		go func() {
			_ = r.job.Cancel() // without a supervisor Wait returns the error
			select {
			case <-r.done:
			case <-time.After(cancelLimit):
				ctx, stop := context.WithTimeout(context.Background(), startLimit)
				defer stop()
				_ = r.runner.respawn(ctx) // without tmux Wait returns the error
			}
		}()
	})
}

// recorded returns an Exit from the files of a lost command.
func recorded(dir string) pane.Exit {
	size := func(file string) int64 {
		info, err := os.Stat(filepath.Join(dir, file))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	return pane.Exit{Code: -1, Stdout: size("out"), Stderr: size("err")}
}

// result combines an Exit with the recorded output.
func result(dir string, e pane.Exit) Result {
	return Result{
		ExitCode: e.Code, Signal: e.Signal, Duration: e.Duration, Cancelled: e.Cancelled, Confined: e.Confined, Fenced: e.Fenced, Fault: e.Fault, Left: e.Left, Ended: e.Ended,
		Terminal: onTerminal(dir), Stdout: captured(filepath.Join(dir, "out"), e.Stdout, e.StdoutGap),
		Stderr: captured(filepath.Join(dir, "err"), e.Stderr, e.StderrGap),
	}
}

// captured reads the start and the end of a recorded stream. The stream had total bytes, of which gap were not
// recorded.
func captured(path string, total, gap int64) Captured {
	c := Captured{Total: total, Gap: gap, Path: path}
	if total == 0 {
		return c
	}
	c.Head = readAt(path, 0, min(total, EdgeMax))
	if rest := total - EdgeMax; rest > 0 {
		n := min(rest, EdgeMax)
		end := total
		if gap > 0 { // the file ends with the tail, unless an earlier write failed
			end = c.Size()
		}
		if end > total-gap || gap == 0 {
			c.Tail = readAt(path, end-n, n)
		}
	}
	return c
}

// Read passes on the recorded stream, piece by piece. f must not keep a piece.
func (c Captured) Read(f func(p []byte)) {
	if int64(len(c.Head)+len(c.Tail)) < c.Total {
		if file, err := os.Open(c.Path); err == nil {
			defer func() { _ = file.Close() }()
			if _, err = io.Copy(pieces(f), io.LimitReader(file, c.Size())); err == nil {
				return
			}
		}
	}
	f(c.Head)
	f(c.Tail)
}

// Size returns the length of the file without the output of background jobs.
func (c Captured) Size() int64 {
	if c.Gap == 0 {
		return c.Total
	}
	info, err := os.Stat(c.Path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// pieces adapts a function to a writer.
type pieces func(p []byte)

func (f pieces) Write(p []byte) (int, error) { f(p); return len(p), nil }

// readAt reads at most n bytes from an offset.
func readAt(path string, offset, n int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	b, _ := io.ReadAll(io.NewSectionReader(f, offset, n))
	return b
}
