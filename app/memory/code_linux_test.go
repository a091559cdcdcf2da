package memory

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestUnwritable(t *testing.T) {
	for line, want := range map[string]bool{
		"00400000-00ead000 r-xp 00000000 fe:00 1234                       /usr/bin/buddy":          true,
		"00ead000-019ee000 r--p 00aae000 fe:00 1234                       /usr/bin/buddy":          true,
		"019ee000-01bb5000 rw-p 015ee000 fe:00 1234                       /usr/bin/buddy":          false, // its variables
		"00400000-00ead000 r-xs 00000000 fe:00 1234                       /usr/bin/buddy":          false,
		"7f0000000000-7f0000100000 r--p 00000000 fe:00 99                 /home/ann/usr/bin/buddy": false,
		"c000000000-c000800000 rw-p 00000000 00:00 0 ":                                             false,
		"7ffd1000-7ffd3000 r-xp 00000000 00:00 0                          [vdso]":                  false,
		"": false,
	} {
		start, end, ok := unwritable(line, "/usr/bin/buddy")
		if ok != want || ok && (start >= end || start != 0x400000 && start != 0xead000) {
			t.Errorf("unwritable(%q) = %x, %x, %v", line, start, end, ok)
		}
	}
}

func TestTheProgramGoesOnWithoutItsPages(t *testing.T) {
	all := func(ask func(start, size uintptr)) {
		exe, err := os.Readlink("/proc/self/exe")
		if err != nil {
			t.Skip("no /proc")
		}
		data, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if start, end, ok := unwritable(strings.TrimSuffix(line, "\n"), exe); ok {
				ask(start, end-start)
			}
		}
	}
	ranges := 0
	all(func(start, size uintptr) {
		ranges++
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, start, size, unix.MADV_POPULATE_READ); errno != 0 {
			t.Skipf("the kernel can't map what is not used: %v", errno)
		}
	})
	if ranges < 2 {
		t.Fatalf("%d mappings of the program were found", ranges)
	}
	before := resident(t)
	dropCode()
	if after := resident(t); after >= before {
		t.Errorf("of %d KB %d are still mapped", before, after)
	}
}

// resident returns how many KB of the program's file are mapped.
func resident(t *testing.T) (kb int) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	exe, _ := os.Readlink("/proc/self/exe")
	ours := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text := lines.Text(); strings.Contains(text, "-") && !strings.Contains(text, "kB") {
			_, _, ours = unwritable(text, exe)
		}
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "Rss: %d kB", &n); ours && err == nil {
			kb += n
		}
	}
	return kb
}
