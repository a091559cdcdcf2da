package gc

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dropCode gives back the pages of the program's own file. A process that rests needs few of them, and
// the kernel, whose cache holds them, maps those again that are used: a microsecond for 64 KiB.
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
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED) // where it fails, they stay
	}
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// untouched returns the mappings of a file that hold what is in it and nothing else, from the text of
// /proc/self/smaps. What a linker or a debugger has written into a mapping would be lost with its pages,
// also where nothing can be written any more.
func untouched(smaps io.Reader, file string) (all []mapping) {
	var m mapping // the latest, if it is one of the file that nobody can write to
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

// mappingAt returns the range that smaps writes as 00400000-00ead000, no range if it is none.
func mappingAt(addresses string) mapping {
	from, to, _ := strings.Cut(addresses, "-")
	start, err := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	if err != nil || err2 != nil {
		return mapping{}
	}
	return mapping{uintptr(start), uintptr(end)}
}
