package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/features/review"
	"buddy/tools/fs"
)

// changedFolder is a folder with a.txt, where git reports the given diff.
func changedFolder(t *testing.T, diff string) review.Folder {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Hour) // in a bubble the clock differs from that of the files
	if err := os.Chtimes(file, before, before); err != nil {
		t.Fatal(err)
	}
	git := func(_ context.Context, args ...string) ([]byte, error) {
		switch {
		case args[0] == "diff" && args[1] == "--name-only":
			return []byte("a.txt\x00"), nil
		case args[0] == "diff":
			return []byte(diff[:min(len(diff), review.MaxDiff+1)]), nil
		case args[0] == "ls-files":
			return nil, nil
		}
		return []byte(strings.Repeat("a", 40)), nil
	}
	return review.Folder{Git: git, Files: fs.Local, Dir: dir}
}

// reviewing starts a session with a scripted reviewer.
func reviewing(t *testing.T, folder func(context.Context, string) (review.Folder, error), scripts map[string][]step) (*session, *byAgent) {
	r := review.Reviewer{Folder: folder}
	var s *session
	r.Publish = func(e event.Event) { s.Publish(e) }
	s, m := withAgents(t, scripts, []string{worker}, func(o *Options) { o.Agents.Review = r.Review })
	return s, m
}

const aFinding = `{"findings":[{"severity":"high","file":"a.txt","line":2,"what":"it breaks"}]}`

// A review runs in parallel with a task; another review must wait for its end.
func TestReviewWhileATaskWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := changedFolder(t, "diff --git a/a.txt b/a.txt\n+two\n")
		s, m := reviewing(t, func(context.Context, string) (review.Folder, error) { return in, nil }, map[string][]step{
			"main": {hangs("I work")}, "Review": {says(aFinding)},
		})
		s.do(event.Submit{Text: "work"}, event.Review{Base: "HEAD"})
		done, n := find[event.ReviewFinished](s)
		if n != 1 || done.Problem != "" || len(done.Findings) != 1 || done.Findings[0].LineSum == "" || done.DiffCut {
			t.Errorf("%d results: %+v", n, done)
		}
		if _, ended := find[event.TaskFinished](s); ended != 1 {
			t.Errorf("%d tasks have ended, want the review alone", ended)
		}
		if all := m.sent("Review"); len(all) != 1 || strings.Contains(all[0].Messages[len(all[0].Messages)-1].Content, "longer than") {
			t.Errorf("the reviewer was asked %d times, or was told that the diff is cut", len(all))
		}
		s.do(event.Cancel{})
		s.stop()
	})
}

// A reviewer whose answer can't be parsed is asked once more, in the same conversation. The second answer counts, and
// is shown if it can't be parsed either.
func TestReviewThatCanNotBeRead(t *testing.T) {
	for _, then := range []string{aFinding, "still none"} {
		synctest.Test(t, func(t *testing.T) {
			in := changedFolder(t, "diff --git a/a.txt b/a.txt\n+two\n")
			s, m := reviewing(t, func(context.Context, string) (review.Folder, error) { return in, nil }, map[string][]step{"Review": {says("none"), says(then)}})
			s.do(event.Review{Base: "HEAD"})
			if done, _ := find[event.ReviewFinished](s); (done.Problem == "") != (then == aFinding) || done.Problem == "" && len(done.Findings) != 1 || done.Problem != "" && done.Answer != then {
				t.Errorf("after %q: %+v", then, done)
			}
			all := m.sent("Review")
			if len(all) != 2 || !strings.Contains(all[1].Messages[len(all[1].Messages)-1].Content, "Your answer can't be read") {
				t.Errorf("the reviewer was asked %d times, or not told why", len(all))
			}
			s.stop()
		})
	}
}

// Wherever the journal of a review ends, the next process ends the review once: with its findings, which the main agent
// then reads once, or as interrupted.
func TestReviewEndsOnceAfterACrash(t *testing.T) {
	var stored []event.Envelope
	synctest.Test(t, func(t *testing.T) {
		in := changedFolder(t, "diff --git a/a.txt b/a.txt\n+two\n")
		s, _ := reviewing(t, func(context.Context, string) (review.Folder, error) { return in, nil }, map[string][]step{"Review": {says(aFinding)}})
		s.do(event.Review{Base: "HEAD"})
		stored = slices.Clone(s.mem.events)
		s.stop()
	})
	isStart := func(env event.Envelope) bool {
		p, ok := env.Payload.(event.Notice)
		return ok && p.Code == event.ReviewStarted
	}
	isEnd := func(env event.Envelope) bool { _, ok := env.Payload.(event.ReviewFinished); return ok }
	for n := slices.IndexFunc(stored, isStart) + 1; n <= len(stored); n++ {
		synctest.Test(t, func(t *testing.T) {
			s, m := withAgents(t, map[string][]step{"main": {says("ok"), says("ok")}}, []string{worker}, func(o *Options) { o.Replay = stored[:n] })
			s.do(event.Submit{Text: "go"})
			s.do(event.Submit{Text: "go on"})
			after := fmt.Sprintf("%d events, the last %T", n, stored[n-1].Payload)
			finished := slices.ContainsFunc(stored[:n], isEnd)
			done, ends := find[event.ReviewFinished](s)
			if finished && ends != 0 || !finished && (ends != 1 || !strings.Contains(done.Problem, "interrupted")) {
				t.Errorf("after %s it ended again %d times: %+v", after, ends, done)
			}
			read := 0
			for _, msg := range m.sent("main")[1].Messages {
				read += strings.Count(msg.Content, "it breaks") + strings.Count(msg.Content, "the agent review")
			}
			if want := map[bool]int{true: 1}[finished]; read != want {
				t.Errorf("after %s the main agent read it %d times, want %d", after, read, want)
			}
			s.stop()
		})
	}
}

// A change that is too long is reported to the person at once and with the result, and to the reviewer with its task.
func TestReviewOfTooLongAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := changedFolder(t, "diff --git a/a.txt b/a.txt\n"+strings.Repeat("+two\n", review.MaxDiff/5))
		s, m := reviewing(t, func(context.Context, string) (review.Folder, error) { return in, nil }, map[string][]step{"Review": {says(aFinding)}})
		s.do(event.Review{Base: "HEAD"})
		if warned, n := find[event.Warning](s); n != 1 || warned.Text != event.DiffWasCut {
			t.Errorf("%d warnings, the last is %q", n, warned.Text)
		}
		if done, _ := find[event.ReviewFinished](s); !done.DiffCut || !strings.Contains(done.Summary(), event.DiffWasCut) {
			t.Errorf("%q", done.Summary())
		}
		all := m.sent("Review")
		if len(all) == 0 || !strings.Contains(all[0].Messages[len(all[0].Messages)-1].Content, "The change is longer than the 4 MB of it that were read") {
			t.Error("the reviewer is not told")
		}
		s.stop()
	})
}

// A review runs on the current target. One that can't be reached is named, with the next step.
func TestReviewOnATarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := changedFolder(t, "diff --git a/a.txt b/a.txt\n+two\n")
		in.Target = "web-02"
		away := errors.New("web-02: no route to host; check the network")
		var asked []string
		s, m := reviewing(t, func(_ context.Context, target string) (review.Folder, error) {
			asked = append(asked, target)
			if len(asked) == 1 {
				return review.Folder{}, away
			}
			return in, nil
		}, map[string][]step{"Review": {says(aFinding)}})
		s.selection.SetTarget("web-02")
		s.do(event.Review{})
		if done, _ := find[event.ReviewFinished](s); done.Problem != away.Error() {
			t.Errorf("%+v", done)
		}
		s.do(event.Review{Base: "HEAD"})
		done, _ := find[event.ReviewFinished](s)
		if done.Target != "web-02" || done.Problem != "" || !strings.Contains(done.Summary(), "on web-02: 1 finding in 1 changed file") {
			t.Errorf("%+v", done)
		}
		if strings.Join(asked, " ") != "web-02 web-02" {
			t.Errorf("asked for %q", asked)
		}
		all := m.sent("Review")
		text := all[0].Messages[len(all[0].Messages)-1].Content
		if !strings.Contains(text, "All these files are on web-02.") || strings.Contains(text, "review.diff") {
			t.Errorf("the reviewer is told %q", text)
		}
		s.stop()
	})
}
