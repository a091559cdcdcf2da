package tmux

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"buddy/tmux/host"
)

// lockServer locks the folder of all supervisors' directories until release is called. Our programs hold the lock to
// create or end a session, or to start or end a control client: tmux up to 3.6 crashes, with everything that runs in
// it, if one of these happens while a control client starts, because it notifies a client that is not set up yet
// (https://github.com/tmux/tmux/pull/4980). If another program holds the lock for longer than a start may take, or
// there is no lock, the caller continues without it.
func (s *local) lockServer(ctx context.Context) (release func()) {
	f, err := os.Open(filepath.Dir(s.directory()))
	if err != nil {
		return func() {}
	}
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || ctx.Err() != nil {
			return func() { _ = f.Close() }
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// lockServer takes the lock on the target, in a process that holds the lock until its standard input is closed.
func (r *remote) lockServer(ctx context.Context) (release func()) {
	const locked = "buddy-locked"
	ctx, kill := context.WithCancel(ctx)
	limit := time.AfterFunc(startLimit, kill)
	cmd, err := r.host.Command(ctx, "sh", "-c", r.lockScript()+"echo "+locked+"; exec cat >/dev/null")
	if err != nil {
		return kill
	}
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if errors.Join(inErr, outErr) != nil || cmd.Start() != nil {
		return kill
	}
	// A login script may print something before the line that confirms the lock. The loop also ends if the process
	// ends.
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasSuffix(lines.Text(), locked) {
	}
	limit.Stop()
	return func() {
		_ = in.Close()
		go func() {
			_ = cmd.Wait()
			kill()
		}()
	}
}

// lockScript takes the lock on descriptor 9, for the following sh commands. A target without flock, such as macOS,
// works without a lock.
func (r *remote) lockScript() string {
	return "command -v flock >/dev/null && exec 9<" + host.Line(path.Dir(r.directory())) +
		" && { i=0; until flock -n 9 || [ $i -ge 100 ]; do i=$((i + 1)); sleep 0.05; done; }; "
}
