package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// shells holds the names of shells, which can start programs with a closed stdout, and open /dev/null only for writing.
var shells = []string{"sh", "ash", "bash", "dash", "fish", "ksh", "mksh", "zsh"}

// failIfClosed makes writes to stdout fail if a shell started the program without stdout, by >&-. The Go runtime has
// then opened /dev/null in its place, for reading and writing. Some programs other than shells, such as Python and
// Node, open it the same way to discard output.
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
		return nil // the shell inherited it
	}
	unwritable, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer unwritable.Close() //nolint:errcheck // stdout has its own descriptor
	return dupOver(int(unwritable.Fd()), int(stdout.Fd()))
}

// dupOver replaces the second descriptor with a copy of the first.
func dupOver(from, to int) error { return unix.Dup3(from, to, 0) }
