//go:build amd64 || arm64

package try

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"buddy/texts"
	"buddy/tmux/pane/fence"
	"buddy/tmux/pane/fence/inside"
	"buddy/tmux/pane/try/enter"
)

// trial is a prepared sandbox for one command.
type trial struct {
	work  string // the workspace, a real path
	layer string // its folder
	fence *fence.Fence
	setup enter.Setup
	limit Limits
	names names
	over  chan struct{} // closed when the last command has ended
	flag  int           // the socket's number in the next command
}

// prepare returns a trial with a new layer. The caller closes the trial. The error is [ErrImpossible] if commands can't
// be tried here.
func prepare(c Config) (t *trial, err error) {
	if err := suits(c); err != nil {
		return nil, err
	}
	t = &trial{limit: c.Limits.or(DefaultLimits), over: make(chan struct{})}
	if t.work, err = filepath.EvalSymlinks(c.Fence.Work[0]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	f := c.Fence
	f.Show = slices.Concat(f.Show, f.Work[1:], f.Write, f.Keep)
	f.Work, f.Write, f.Keep = f.Work[:1], nil, nil
	f.Network, f.Hosts, f.Asks, f.Marks = false, nil, true, ""
	f.Launch = func(*exec.Cmd) []string { return []string{exe, "pane", enter.Flag, strconv.Itoa(t.flag)} }
	if t.fence, err = fence.New(f); err != nil {
		if errors.Is(err, fence.ErrImpossible) {
			err = fmt.Errorf("%w: %w", ErrImpossible, err)
		}
		return nil, err
	}
	defer func() {
		if err != nil {
			t.fence.Close()
		}
	}()
	if t.layer, err = newLayer(c.Layers); err != nil {
		return nil, err
	}
	for _, dir := range []string{t.work, f.Cache, f.Temp} { // the workspace is the first
		if dir == "" {
			continue
		}
		o := enter.Overlay{Folder: dir, Layer: part(t.layer, len(t.setup.Overlays))}
		if err := makeOverlay(o); err != nil {
			return nil, errors.Join(err, Discard(t.layer))
		}
		t.setup.Overlays = append(t.setup.Overlays, o)
	}
	for _, path := range t.fence.Writes() {
		if !texts.Below(path, t.work) {
			t.setup.ReadOnly = append(t.setup.ReadOnly, path)
		}
	}
	t.setup.Resolver = filepath.Join(t.layer, "resolv.conf")
	t.setup.FileMax, t.setup.TasksMax = uint64(t.limit.Bytes), uint64(t.limit.Tasks)
	err = os.WriteFile(t.setup.Resolver, []byte("nameserver 127.0.0.1\nsearch .\noptions attempts:1 timeout:1\n"), 0o644) //nolint:gosec // commands read it
	if err != nil {
		return nil, errors.Join(err, Discard(t.layer))
	}
	return t, nil
}

// close releases the sandbox, not the layer.
func (t *trial) close() {
	close(t.over)
	t.fence.Close()
}

func (t *trial) environ(c Config, cmd Command) []string {
	now := cmd.Now
	if now == nil {
		now = c.Fence.Env
	}
	return append(t.fence.Environ(now, cmd.Withheld), "PWD="+cmd.Dir)
}

// start starts cmd in the sandbox. To end cmd, use the methods of t.fence.
func (t *trial) start(cmd *exec.Cmd) error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "try"), os.NewFile(uintptr(fds[1]), "try")
	defer func() { _ = theirs.Close() }()
	if _, err := ours.WriteString(t.setup.Text()); err != nil {
		return errors.Join(err, ours.Close())
	}
	t.flag = 3 + len(cmd.ExtraFiles)
	cmd.ExtraFiles = append(cmd.ExtraFiles, theirs)
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = unix.SIGKILL
	if err := t.fence.Start(cmd); err != nil {
		return errors.Join(err, ours.Close())
	}
	t.fence.Ask(cmd.Process.Pid, func(_ context.Context, host, _ string) error {
		t.names.add(host)
		return errors.New("a command that is tried reaches no network")
	})
	go t.serve(ours)
	return nil
}

// serve answers the command's name server until the command has ended.
func (t *trial) serve(socket *os.File) {
	defer func() { _ = socket.Close() }()
	file, err := inside.Receive(socket)
	if err != nil {
		return // nothing was set up, which the output explains
	}
	defer func() { _ = file.Close() }()
	if server, err := net.FilePacketConn(file); err == nil {
		go t.names.serve(server)
		<-t.over
		_ = server.Close()
	}
}

// Run runs a command. The error is [ErrImpossible], or the reason why the command could not be started; a command that
// fails still has a Result. When ctx ends, the command is ended and its changes are discarded.
func Run(ctx context.Context, c Config, cmd Command) (*Result, error) {
	t, err := prepare(c)
	if err != nil {
		return nil, err
	}
	defer t.close()
	r := &Result{Layer: t.layer, work: t.work}
	if err = t.run(ctx, c, cmd, r); err == nil {
		err = t.list(r)
	}
	if err != nil {
		return nil, errors.Join(err, Discard(t.layer))
	}
	return r, nil
}

// run fills in the result, except for the changes.
func (t *trial) run(ctx context.Context, c Config, cmd Command, r *Result) (err error) {
	if err := saveIndex(t.work, t.layer); err != nil {
		return err
	}
	if r.mark, err = newMark(t.layer); err != nil {
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = read.Close() }()
	shell := &exec.Cmd{
		Path: cmd.Shell, Args: []string{filepath.Base(cmd.Shell), "-c", cmd.Line}, Dir: cmd.Dir, Env: t.environ(c, cmd),
		Stdout: write, Stderr: write, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	began := time.Now()
	err = t.start(shell)
	_ = write.Close()
	if err != nil {
		return err
	}
	out, ended := &tail{max: t.limit.Output}, make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(out, read)
	}()
	r.Stopped = t.wait(ctx, shell)
	r.Took = time.Since(began)
	if err := t.fence.Sweep(shell.Process.Pid); err != nil {
		return fmt.Errorf("the command could not be ended: %w", err)
	}
	<-ended
	r.Output, r.OutputTotal, r.Names = out.text(), out.total, t.names.all()
	r.Code = shell.ProcessState.ExitCode()
	if status, ok := shell.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.Code = 128 + int(status.Signal())
	}
	if text := failed(r.Output); text != "" && r.Code == 1 {
		return fmt.Errorf("%w: %s", ErrImpossible, text)
	}
	if r.Stopped == "" {
		r.Stopped = t.exceeded()
	}
	return ctx.Err()
}

// wait waits for the end of a command. At a limit it ends the command and returns the limit.
func (t *trial) wait(ctx context.Context, cmd *exec.Cmd) (stopped string) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var limits sync.WaitGroup
	limits.Go(func() { t.watch(ctx, stop) })
	limits.Go(func() { t.time(ctx, stop) })
	spare := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // everything ends with bwrap
	_ = cmd.Wait()                                                     // its state has the outcome
	killed := !spare()
	stop(nil)
	limits.Wait()
	if killed {
		return context.Cause(ctx).Error()
	}
	return ""
}

// time ends the command when its time is up.
func (t *trial) time(ctx context.Context, stop context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(t.limit.Time):
		}
		if t.limit.More == nil || !t.limit.More(ctx) {
			stop(fmt.Errorf("it ran longer than %v", t.limit.Time))
			return
		}
	}
}

// watch ends the command when the layer exceeds a limit.
func (t *trial) watch(ctx context.Context, stop context.CancelCauseFunc) {
	const least = 100 * time.Millisecond
	for pause := least; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		if exceeded := t.exceeded(); exceeded != "" {
			stop(errors.New(exceeded))
			return
		}
		pause = max(least, 20*time.Since(began)) // so that checks take at most a twentieth of a processor's time
	}
}

// exceeded returns the limit that the layer exceeds, "" if it does not.
func (t *trial) exceeded() string {
	switch bytes, paths := size(t.layer, t.limit); {
	case bytes > t.limit.Bytes:
		return fmt.Sprintf("it wrote more than %d MB", t.limit.Bytes>>20)
	case paths > t.limit.Paths:
		return fmt.Sprintf("it changed more than %d paths", t.limit.Paths)
	}
	return ""
}

// failed returns the message of a program that could not set up the sandbox, "" if the output is the command's own.
func failed(output []byte) string {
	text := strings.TrimSpace(string(output))
	if strings.Contains(text, "\n") || !slices.ContainsFunc([]string{"bwrap: ", "buddy: the try: ", "buddy: the sandbox: "}, func(p string) bool { return strings.HasPrefix(text, p) }) {
		return ""
	}
	return text
}

// tail keeps the end of what is written.
type tail struct {
	max   int
	kept  []byte // up to twice as much
	total int64
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.total += int64(len(p))
	t.kept = append(t.kept, p...)
	if len(t.kept) > 2*t.max {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-t.max:]...)
	}
	return len(p), nil
}

func (t *tail) text() []byte { return t.kept[max(0, len(t.kept)-t.max):] }

// Possible returns nil if commands can be tried with these settings and this environment, else an error that is
// [ErrImpossible] and explains the reason to the user. layers is the folder for layers. To find out, Possible tries a
// command that does nothing.
func Possible(s fence.Settings, env []string, layers string) error {
	if err := fence.Available(s, env); err != nil {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	temp, err := os.MkdirTemp("", "buddy-")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	defer func() { _ = os.RemoveAll(temp) }()
	s.Cache = ""
	c := Config{Fence: fence.Config{Settings: s, Env: env, Temp: temp}, Layers: layers}
	r, err := Run(context.Background(), c, Command{Shell: "/bin/sh", Line: ":", Dir: "/"})
	switch {
	case errors.Is(err, ErrImpossible):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	case r.Code != 0:
		err = fmt.Errorf("%w: a command that does nothing failed there: %s", ErrImpossible, strings.TrimSpace(string(r.Output)))
	}
	return errors.Join(err, r.Discard())
}
