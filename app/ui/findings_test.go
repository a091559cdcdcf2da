package ui

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/app/apptest"
	"buddy/app/layout"
	"buddy/app/state"
	"buddy/features/review"
	"buddy/tools/fs"
)

// found is a review with findings of all kinds.
var found = event.ReviewFinished{
	Of: "what is not committed", Files: 3, Task: 2,
	Findings: []event.Finding{
		{Severity: event.SeverityUnknown, Stated: "spicy", File: "checkout/tax.go", Line: 9, Text: "the rounding is odd"},
		{Severity: event.SeverityCritical, File: "checkout/very/deep/in/the/tree/of/folders/money.go", Line: 1204, Text: "a refund of more than was paid is booked as a payment, so that customers can take out money that is not theirs whenever they ask for two refunds of the same order at once", Fix: "compare with what is left to refund inside the transaction"},
		{Severity: event.SeverityHigh, File: "checkout/tax.go", Line: 4, Text: "negative amounts are rounded towards zero", Fix: "round half away from zero"},
		{Severity: event.SeverityMedium, File: "gone.go", Line: 3, Text: "the error is dropped", Note: "there is no such file"},
		{Severity: event.SeverityLow, Text: "no test covers the new path"},
	},
}

// The findings of a review are a block of the conversation and a list, which shows all of the chosen finding.
func TestFindingsOnScreen(t *testing.T) {
	for _, size := range [][2]int{{120, 32}, {80, 24}, {40, 12}} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.Type("/findings\n")
			if size[0] > 40 {
				x.Want("no review of this session has found anything")
			}
			x.feed(found)
			x.golden("review-block")
			x.Type("/findings\n")
			x.Want("Findings in what is not", "▸ the rounding is")
			x.Press("Down")
			x.golden("findings")
			x.Press("Enter")
			x.golden("finding")
			x.Press("Esc", "End", "Enter")
			x.decide("1")
			x.Want("the finding names no file")
			x.Press("Up")
			x.unwanted("names no file")
			x.Press("Esc")
			x.unwanted("Findings in")
		})
	}
}

// code is a file with an error in line 3.
const code = "package a\n\nvar bad = 1\n"

// reviewed writes files to a folder, and returns it with a review of them.
func reviewed(t *testing.T, files map[string]string, all ...event.Finding) (string, event.ReviewFinished) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := event.ReviewFinished{Of: "it", Files: len(files), Task: 2}
	for _, f := range all {
		done.Findings = append(done.Findings, review.Place(t.Context(), fs.Local, dir, time.Time{}, f))
	}
	return dir, done
}

// Each finding opens its file at its line if the line still has the reviewed text; otherwise a message explains what
// changed.
func TestFindingsOpenTheirFiles(t *testing.T) {
	dir, done := reviewed(t, map[string]string{"a.go": code, "moved.go": code, "lost.go": code, "gone.go": code, "-o": code},
		event.Finding{File: "a.go", Line: 3, Text: "one"}, event.Finding{File: "moved.go", Line: 3, Text: "two"},
		event.Finding{File: "lost.go", Line: 3, Text: "three"}, event.Finding{File: "gone.go", Line: 3, Text: "four"},
		event.Finding{File: "-o", Line: 3, Text: "five"}, event.Finding{File: "../a.go", Line: 3, Text: "six"},
		event.Finding{File: "a.go", Line: 99, Text: "seven"})
	for name, now := range map[string]string{"moved.go": "// before\n" + code, "lost.go": strings.ReplaceAll(code, "bad", "good"), "gone.go": ""} {
		err := os.WriteFile(filepath.Join(dir, name), []byte(now), 0o600)
		if now == "" {
			err = os.Remove(filepath.Join(dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.feed(event.SessionCreated{Cwd: dir, Target: "local", Model: "demo"}, done)
		x.inside(func() { x.u.arranged.setFocus(layout.Conversation) })
		x.Press("Enter") // on the block of the review
		x.Want("Findings in it · 7")
		opens := func(message string, want ...string) {
			t.Helper()
			x.opened = nil
			x.Press("Enter")
			x.decide("1")
			x.Settle()
			if message != "" {
				x.Want(message)
			}
			if len(want) > 0 {
				want[0] = filepath.Join(dir, want[0])
			}
			if !slices.Equal(x.opened, want) {
				t.Errorf("opened %q, want %q", x.opened, want)
			}
		}
		opens("", "a.go:3")
		x.openErr = errors.New(`editor "none": exit status 127`)
		opens(`editor "none": exit status 127`, "a.go:3")
		x.openErr = nil
		x.Press("Down")
		opens("moved.go has changed since the review: line 3 is line 4 now", "moved.go:4")
		x.Press("Down")
		opens("lost.go has changed since the review, and line 3 can't be found any more")
		x.Want("Open lost.go at its beginning?")
		x.decide("1")
		if want := []string{filepath.Join(dir, "lost.go:0")}; !slices.Equal(x.opened, want) {
			t.Errorf("opened %q, want %q", x.opened, want)
		}
		x.Press("Down")
		opens("gone.go: there is no such file")
		x.Press("Down")
		opens("", "-o:3")
		x.Press("Down")
		opens("../a.go is outside this folder")
		x.Press("Down")
		opens("line 99 of a.go is not certain: the file has 3 lines")
		x.Press("Esc", "Esc", "Esc")
		x.unwanted("Findings in it")
		x.opened = nil
		x.Type("/findings 2\n")
		x.Want("line 3 is line 4 now")
		if want := []string{filepath.Join(dir, "moved.go:4")}; !slices.Equal(x.opened, want) {
			t.Errorf("opened %q, want %q", x.opened, want)
		}
		x.Type("/findings 8\n")
		x.Want(`"8" is not the number of a finding (have: 1 to 7)`)
	})
}

// Findings of a review on another machine do not open files on this one.
func TestFindingsOfAnotherMachine(t *testing.T) {
	dir, done := reviewed(t, map[string]string{"a.go": code}, event.Finding{File: "a.go", Line: 3, Text: "one"})
	done.Target = "web-02"
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.feed(event.SessionCreated{Cwd: dir, Target: "local", Model: "demo"}, done)
		x.Type("/findings 1\n")
		x.Want("a.go:3 is on web-02, where your editor is not")
		if len(x.opened) > 0 {
			t.Errorf("opened %q", x.opened)
		}
	})
}

// A resumed session still has the findings of its last review.
func TestFindingsSurviveResume(t *testing.T) {
	dir, done := reviewed(t, map[string]string{"a.go": code}, event.Finding{File: "a.go", Line: 3, Text: "one"})
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.inside(func() {
			x.u.state = state.State{}
			x.u.ApplyTail("7f3a-0000", []event.Envelope{stored(t, event.Envelope{Seq: 1, Time: 1, Session: "7f3a-0000", Payload: done})},
				&event.SessionResumed{Cwd: dir, Target: "local", Model: "demo"})
		})
		x.Want("1. a.go:3")
		x.Type("/findings 1\n")
		x.Settle()
		if want := []string{filepath.Join(dir, "a.go:3")}; !slices.Equal(x.opened, want) {
			t.Errorf("opened %q, want %q", x.opened, want)
		}
	})
}

// stored returns an event as a journal returns it.
func stored(t *testing.T, env event.Envelope) event.Envelope {
	t.Helper()
	if !event.Durable(env.Payload) {
		t.Fatalf("%s is in no journal", event.Type(env.Payload))
	}
	data, err := env.MarshalJSON()
	if err == nil {
		env = event.Envelope{}
		err = env.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// Escape sequences in findings reach the terminal neither from the block nor from the list.
func TestHostileFindings(t *testing.T) {
	const evil = "\x1b]2;owned\a\x1b[2J\u202egnp.exe"
	control := apptest.NewTerminal(80, 24)
	if _, err := control.Write([]byte(evil)); err != nil || control.Title() != "owned" {
		t.Fatalf("positive control: the title is %q", control.Title())
	}
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.feed(event.ReviewFinished{Of: evil, Files: 1, Target: evil, Findings: []event.Finding{
			{Severity: event.Severity(evil), Stated: evil, File: evil, Line: 1, Text: evil, Fix: evil, Note: evil},
		}})
		x.Want("␛]2;owned")
		x.Type("/findings\n")
		x.Want("Findings in ␛]2;owned")
		x.Press("Enter")
		x.decide("1")
		x.Want("is on ␛]2;owned")
		if x.Title() == "owned" || len(x.Odd()) > 0 || len(x.opened) > 0 || strings.Contains(x.Screen(), "\u202e") {
			t.Errorf("title %q, odd %q, opened %q\n%s", x.Title(), x.Odd(), x.opened, x.Screen())
		}
	})
}

// A review is requested at once, even while the agent works.
func TestReviewWhileATaskWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.feed(running...)
		x.Type("/review main\n")
		x.wantSent(event.Review{Base: "main"})
	})
}
