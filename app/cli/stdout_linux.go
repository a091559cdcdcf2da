package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// shells start programs with a closed stdout, and open /dev/null for writing only.
var shells = []string{"sh", "ash", "bash", "dash", "fish", "ksh", "mksh", "zsh"}

// failIfClosed makes each write to stdout fail if a shell has started the program without one, by >&-. The Go runtime
// has opened /dev/null in its place by then, for reading and writing. Some programs that are no shells, Python and Node
// among them, open it so as well, for a result that nobody wants.
func failIfClosed(stdout *os.File) error {
	flags, err := unix.FcntlInt(stdout.Fd(), unix.F_GETFL, 0)
	if link, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", stdout.Fd())); err != nil || link != os.DevNull || flags&unix.O_ACCMODE != unix.O_RDWR {
		return nil
	}
	parent := fmt.Sprintf("/proc/%d/", os.Getppid())
	name, err := os.ReadFile(parent + "comm")
	if err != nil || !slices.Contains(shells, strings.TrimSpace(string(name))) {
		return nil
	}
	if link, _ := os.Readlink(parent + "fd/1"); link == os.DevNull {
		return nil // who started the shell has given it that
	}
	unwritable, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer unwritable.Close() //nolint:errcheck // stdout has a descriptor of its own
	return unix.Dup3(int(unwritable.Fd()), int(stdout.Fd()), 0)
}
