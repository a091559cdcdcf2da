package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/tools"
)

// If the journal is older than the outputs, as after a restored backup, existing outputs stay, and the next call gets
// a new folder.
func TestOutputsThatTheJournalDoesNotKnowStay(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		options := func(o *Options) {
			summarising(1_000_000)(o)
			o.Tools, o.OutDir = tools.NewRegistry(&talker{}), dir
		}
		long := func(id string, bytes int) step {
			return says("", fmt.Sprintf(`%s do {"kind":"file_read","seconds":%d}`, id, bytes))
		}
		s := start(t, options, long("a", 60_000), says("ok"), long("b", 60_001), says("ok"))
		s.do(event.Submit{Text: "one"})
		old := slices.Clone(s.mem.events)
		s.do(event.Submit{Text: "two"})
		s.stop()
		s = start(t, func(o *Options) { options(o); o.Replay = old }, long("c", 60_002), says("ok"))
		s.do(event.Submit{Text: "three"})
		s.stop()
	})
	for folder, want := range map[string]int{"000001": 60_000, "000002": 60_001, "000003": 60_002} {
		if data, err := os.ReadFile(filepath.Join(dir, folder, "result.txt")); err != nil || len(data) != want {
			t.Errorf("%s: %d bytes, %v; want %d", folder, len(data), err, want)
		}
	}
}

// A page of the configured size is not cut; a longer result is.
func TestAPageIsNotSpilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) {
			summarising(1_000_000)(o)
			o.Tools, o.Calls.Page, o.OutDir = tools.NewRegistry(&talker{}), 100_000, ""
		}, says("", `a do {"kind":"file_read","seconds":105000}`), says("", `b do {"kind":"file_read","seconds":105001}`), says("ok"))
		s.do(event.Submit{Text: "go"})
		if got := s.results(); len(got[0]) != 105_000 || !strings.Contains(got[1], "the rest is lost") {
			t.Errorf("results of %d and %d bytes", len(got[0]), len(got[1]))
		}
		s.stop()
	})
}
