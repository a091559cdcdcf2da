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

// reapAgain limits how long orphans wait behind a program that this process has started and does not wait for yet.
const reapAgain = 200 * time.Millisecond

// Adopt makes this process the parent of what the programs that it starts leave behind, so that it stays recognisable by
// its ancestors, however it detaches itself. It is reaped when it ends. Programs that are started with os/exec are left
// to who waits for them: Go holds a pidfd of each until it has been waited for. Where it does not (Linux before 5.4)
// nothing is adopted. Once is enough.
func Adopt() { adoptOnce() }

var adoptOnce = sync.OnceFunc(adoptAll)

// adopts says that orphans below this process become its children.
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

// reapAdopted reaps the children that have ended and that this process did not start.
func reapAdopted() {
	for pid := ended(); pid != 0; pid = ended() {
		if isStarted(pid) {
			time.Sleep(reapAgain) // the kernel names the others after it
			continue
		}
		_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
	}
}

// isStarted reports whether a child that has ended was started here and is still to be waited for: a pidfd of
// this process is of it.
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

// endedOf returns a child that has ended and waits to be reaped, 0 if none of those that are meant does.
func endedOf(kind, id int) int {
	// siginfo_t of sigaction(2): x/sys/unix does not name its fields. Pid is aligned as a pointer is.
	var info struct {
		signo, errno, code int32
		child              struct {
			_   [0]uintptr
			pid int32
		}
		_ unix.Siginfo // as much room as the kernel writes to
	}
	err := unix.Waitid(kind, id, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	if err != nil || info.signo == 0 {
		return 0
	}
	return int(info.child.pid)
}
