package gc

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRestAsksForNoHugePages: a collection whose goal is above a gigabyte makes Go ask for huge pages for
// its tables, and the kernel then gives 2 MB to a process that uses some KB of them.
func TestRestAsksForNoHugePages(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		rest := NewRest()
		timer := time.NewTimer(RestAfter)
		<-timer.C
		rest.Pause(timer)
		rest.Wake(timer)
		timer.Stop()
	})
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip("no /proc")
	}
	for line := range strings.Lines(string(smaps)) {
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && strings.Contains(flags, " hg ") {
			t.Fatal("a mapping is to have huge pages")
		}
	}
}
