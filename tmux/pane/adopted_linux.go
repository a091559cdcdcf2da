package pane

import (
	"errors"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reapAgain is the pause before another attempt to reap orphans. An ended child that os/exec has not waited for yet
// hides the orphans, because the kernel reports that child first.
const reapAgain = 200 * time.Millisecond

// Adopt makes this process the parent of the orphans of programs that it starts, so that an orphan can be traced to its
// program, even if it is detached. It reaps orphans when they end, but not programs started with os/exec, whose callers
// wait for them. Adopt recognizes these programs by the pidfds that Go holds. Without pidfds (Linux before 5.4) nothing
// is adopted. Calling Adopt again does nothing.
func Adopt() { adoptOnce() }

var adoptOnce = sync.OnceFunc(adoptAll)

// adopts means that orphans below this process become its children.
var adopts atomic.Bool

func adoptAll() {
	self, err := os.FindProcess(os.Getpid())
	if err != nil || errors.Is(self.WithHandle(func(uintptr) {}), os.ErrNoHandle) {
		return
	}
	_ = self.Release()
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return
	}
	adopts.Store(true)
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, unix.SIGCHLD)
	go func() {
		for range changed {
			reapAdopted()
		}
	}()
}

// reapAdopted reaps the ended children that this process did not start.
func reapAdopted() {
	for pid := ended(); pid != 0; pid = ended() {
		if isStarted(pid) {
			time.Sleep(reapAgain) // the kernel lists the orphans after this child
			continue
		}
		_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
	}
}

// isStarted reports whether an ended child was started here and has not been waited for yet. Such a child is known by
// the pidfd that Go holds of it.
func isStarted(child int) bool {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return true
	}
	for _, f := range files {
		fd, err := strconv.Atoi(f.Name())
		if err == nil && endedOf(unix.P_PIDFD, fd) == child {
			return true
		}
	}
	return false
}

// endedOf returns an ended child that was not reaped, 0 if there is none. kind and id select the children, as in
// waitid(2).
func endedOf(kind, id int) int {
	// siginfo_t of sigaction(2): x/sys/unix does not name its fields. Pid is aligned like a pointer.
	var info struct {
		signo, errno, code int32
		child              struct {
			_   [0]uintptr
			pid int32
		}
		_ unix.Siginfo // the size that the kernel writes
	}
	err := unix.Waitid(kind, id, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	if err != nil || info.signo == 0 {
		return 0
	}
	return int(info.child.pid)
}
