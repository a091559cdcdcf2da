package gc

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestUntouched(t *testing.T) {
	var smaps strings.Builder
	for _, m := range []struct {
		line      string
		anonymous int
	}{
		{"00400000-00ead000 r-xp 00000000 fe:00 1234                       /usr/bin/buddy", 0},
		{"00ead000-019ee000 r--p 00aae000 fe:00 1234                       /usr/bin/buddy", 0},
		{"019ee000-019ff000 r--p 015ee000 fe:00 1234                       /usr/bin/buddy", 8}, // relocated when it was loaded
		{"019ff000-01bb5000 rw-p 015ff000 fe:00 1234                       /usr/bin/buddy", 0},
		{"01bb5000-01bb6000 r-xs 00000000 fe:00 1234                       /usr/bin/buddy", 0},
		{"c000000000-c000800000 rw-p 00000000 00:00 0 ", 4096},
		{"7f0000000000-7f0000100000 r--p 00000000 fe:00 99                 /home/ann/usr/bin/buddy", 0},
		{"7ffd1000-7ffd3000 r-xp 00000000 00:00 0                          [vdso]", 0},
	} {
		fmt.Fprintf(&smaps, "%s\nSize: 16 kB\nRss:              12 kB\nAnonymous:     %5d kB\nVmFlags: rd ex mr mw me sd\n", m.line, m.anonymous)
	}
	got := untouched(strings.NewReader(smaps.String()), "/usr/bin/buddy")
	if want := []mapping{{0x400000, 0xead000}, {0xead000, 0x19ee000}}; !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

func TestTheProgramGoesOnWithoutItsPages(t *testing.T) {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Skip("no /proc")
	}
	read := func() string {
		data, err := os.ReadFile("/proc/self/smaps")
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	all := untouched(strings.NewReader(read()), exe)
	if len(all) == 0 {
		t.Fatal("no mapping of the program was found")
	}
	for _, m := range all {
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_POPULATE_READ); errno != 0 {
			t.Skipf("the kernel can't map what is not used: %v", errno)
		}
	}
	before := resident(read(), all)
	dropCode()
	if after := resident(read(), all); after >= before {
		t.Errorf("of %d KB %d are still mapped", before, after)
	}
}

// resident returns how many KB of some mappings are mapped.
func resident(smaps string, all []mapping) (kb int) {
	ours := false
	for line := range strings.Lines(smaps) {
		var m mapping
		var n int
		if fields, _ := fmt.Sscanf(line, "%x-%x ", &m.start, &m.end); fields == 2 {
			ours = slices.Contains(all, m)
		} else if fields, _ := fmt.Sscanf(line, "Rss: %d kB", &n); fields == 1 && ours {
			kb += n
		}
	}
	return kb
}
