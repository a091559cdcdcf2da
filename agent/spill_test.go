package agent

import (
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/tools"
)

// A page as large as the person has set comes whole; what is longer does not.
func TestAPageIsNotSpilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) {
			summarising(1_000_000)(o)
			o.Tools, o.Page, o.OutDir = tools.NewRegistry(&talker{}), 100_000, ""
		}, says("", `a do {"kind":"file_read","seconds":117500}`), says("", `b do {"kind":"file_read","seconds":117501}`), says("ok"))
		s.do(event.Submit{Text: "go"})
		if got := s.results(); len(got[0]) != 117_500 || !strings.Contains(got[1], "the rest is lost") {
			t.Errorf("results of %d and %d bytes", len(got[0]), len(got[1]))
		}
		s.stop()
	})
}
