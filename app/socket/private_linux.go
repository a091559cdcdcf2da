package socket

import (
	"os"

	"golang.org/x/sys/unix"
)

// Private keeps other programs of the person from this process: they can't read its memory, take its connections or trace
// it, and a crash leaves no core file; root can. Programs that it starts are as ever. Where /proc hides the processes of
// others (hidepid) it has no effect: it would hide this one from its own host, which has to see where it comes from.
func Private() {
	if _, err := os.Stat("/proc/1/stat"); err == nil {
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // nothing in its place would be better
	}
}
