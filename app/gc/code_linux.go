package gc

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dropCode returns the memory pages of the program's own file to the kernel. An idle process needs few of these pages,
// and the kernel maps a used page again from its cache, which takes a microsecond for 64 KiB.
func dropCode() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return // without /proc they stay
	}
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer smaps.Close() //nolint:errcheck // only read
	for _, m := range untouched(smaps, exe) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED) // on failure they stay
	}
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// untouched reads /proc/self/smaps and returns those read-only mappings of a file that still have the file's contents.
// Changes that a linker or debugger has written into a mapping would be lost with its pages.
func untouched(smaps io.Reader, file string) (all []mapping) {
	var m mapping // the latest, if it is a read-only mapping of the file
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		line := lines.Text()
		if kb, ok := strings.CutPrefix(line, "Anonymous:"); ok {
			if m.end != 0 && strings.TrimSpace(kb) == "0 kB" {
				all = append(all, m)
			}
			continue
		}
		// 00400000-00ead000 r-xp 00000000 fe:00 1234    /usr/bin/buddy
		if addresses, rest, _ := strings.Cut(line, " "); strings.Contains(addresses, "-") {
			m = mapping{}
			if mode, _, _ := strings.Cut(rest, " "); strings.HasSuffix(rest, " "+file) && (mode == "r-xp" || mode == "r--p") {
				m = mappingAt(addresses)
			}
		}
	}
	return all
}

// mappingAt parses a range such as 00400000-00ead000, and returns no range for other texts.
func mappingAt(addresses string) mapping {
	from, to, _ := strings.Cut(addresses, "-")
	start, err := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	if err != nil || err2 != nil {
		return mapping{}
	}
	return mapping{uintptr(start), uintptr(end)}
}
