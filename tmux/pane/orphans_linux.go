package pane

import (
	"os"
	"os/exec"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// orphans are the background processes below a supervisor. The supervisor becomes their parent, so that every process
// can be traced to its command, even if it is detached. Orphans are reaped when they end, and may outlive the
// supervisor.
type orphans struct {
	mu  sync.Mutex   // guards the fields below; held while a command is started, before its process is known
	own map[int]bool // processes of commands, which have a waiter; nil: no orphans are adopted
}

var orphaned orphans // of this process

// adopt makes this process the parent of orphans.
func (o *orphans) adopt() {
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return // init becomes their parent, as usual
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

// start starts a command; its caller must call wait.
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
	o.reap() // reap the orphans that ended after the command
	return err
}

// reap reaps the ended orphans that the kernel reports before the first ended command. The goroutine that waits for
// this command calls reap again.
func (o *orphans) reap() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.own != nil {
		pid := ended()
		if pid == 0 || o.own[pid] {
			return
		}
		_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // another call may have reaped it
	}
}

// ended returns an ended child that was not reaped, 0 if there is none.
func ended() int { return endedOf(unix.P_ALL, 0) }
