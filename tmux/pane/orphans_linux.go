package pane

import (
	"os"
	"os/exec"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// orphans are the processes whose parents have ended below a supervisor, which becomes their parent:
// what a command starts stays recognisable by its ancestors, however it detaches itself. They are
// reaped when they end; they outlive the supervisor as they would without it.
type orphans struct {
	mu  sync.Mutex   // guards what follows; held while a command is started, whose process nobody knows yet
	own map[int]bool // processes of commands, which somebody waits for; nil: there are no orphans here
}

var orphaned orphans // of this process

// adopt makes this process the parent of orphans from now on.
func (o *orphans) adopt() {
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return // they get init as their parent, as everywhere
	}
	o.mu.Lock()
	o.own = make(map[int]bool)
	o.mu.Unlock()
	adopts.Store(true)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	go func() {
		for range ended {
			o.reap()
		}
	}()
}

// start starts a command, which its caller waits for with wait.
func (o *orphans) start(cmd *exec.Cmd, start func(*exec.Cmd) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := start(cmd)
	if err == nil && o.own != nil {
		o.own[cmd.Process.Pid] = true
	}
	return err
}

// wait waits for the end of a command.
func (o *orphans) wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	o.mu.Lock()
	delete(o.own, cmd.Process.Pid)
	o.mu.Unlock()
	o.reap() // those that ended behind it
	return err
}

// reap reaps the orphans that have ended, up to the first command that has: its waiter comes back
// here.
func (o *orphans) reap() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.own != nil {
		pid := ended()
		if pid == 0 || o.own[pid] {
			return
		}
		_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // somebody else may have
	}
}

// ended returns a child that has ended and waits to be reaped, 0 if none does.
func ended() int { return endedOf(unix.P_ALL, 0) }
