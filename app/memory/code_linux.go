package memory

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// dropCode gives back the pages of the program's own file. A process that rests needs few of them, and
// the kernel, whose cache holds them, maps those again that are used: a microsecond for 64 KiB.
func dropCode() {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return // without /proc they stay
	}
	defer maps.Close() //nolint:errcheck // only read
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		// 00400000-00ead000 r-xp 00000000 fe:00 1234    /usr/bin/buddy
		if start, end, ok := unwritable(lines.Text(), exe); ok {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_DONTNEED) // where it fails, they stay
		}
	}
}

// unwritable returns the addresses of a mapping of a file, from a line of /proc/self/maps, if it is one
// that nobody has written to: what is written is in no file.
func unwritable(line, file string) (start, end uintptr, ok bool) {
	if !strings.HasSuffix(line, " "+file) {
		return 0, 0, false
	}
	var mode string
	if n, err := fmt.Sscanf(line, "%x-%x %s", &start, &end, &mode); n != 3 || err != nil {
		return 0, 0, false
	}
	return start, end, mode == "r-xp" || mode == "r--p"
}
