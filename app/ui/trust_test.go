package ui

import (
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/app/slash"
)

// After /trust the session begins anew with the settings that apply now; what changes
// nothing is said, and a task is not lost.
func TestTrustCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.trusts = "this folder is trusted already"
		x.Type("/trust\n")
		if x.noticed != x.trusts || x.left.Again {
			t.Errorf("noticed %q, left %+v", x.noticed, x.left)
		}
		x.trusts = ""
		x.tell(event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "work"})
		x.Type("/trust\n")
		x.Want("task #1 runs")
		x.tell(event.TaskFinished{ID: 1, Outcome: event.Completed})
		x.Type("/trust\n")
		if want := (slash.Next{Again: true, Resume: "7f3a-0000"}); x.left != want {
			t.Errorf("left %+v, want %+v", x.left, want)
		}
	})
}
