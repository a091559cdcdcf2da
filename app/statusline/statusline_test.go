package statusline

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/state"
)

// info is the state of a session after a request.
func info(mode action.Mode) *state.Info {
	return &state.Info{
		Session: "7f3a-0000", Mode: mode,
		Event:   event.SessionCreated{Cwd: "/home/ann/shop", Target: "web-02", Model: "vendor/gpt-9", Title: "taxes"},
		Context: event.ContextUsage{Estimated: 3400, Limit: 10_000, Percent: 34},
		Usage:   event.MetricsUsage{SessionPrompt: 5000, SessionCompletion: 70, SessionCached: 4000, SessionCost: model.Dollar / 4},
	}
}

// shown collects the calls of Options.Show.
type shown struct{ all []string }

func (s *shown) show(line string, err error) { s.all = append(s.all, fmt.Sprint(line, "|", err)) }

// start runs a runner with a fake command in a synctest bubble.
func start(t *testing.T, s *shown, run func(input []byte) (string, error)) *Runner {
	r := New(Options{Dir: "/home/ann", Style: "default", Busy: func(f func()) { f() }, Show: s.show})
	r.run = func(_ context.Context, _ Command, input []byte) (string, error) { return run(input) }
	go r.Run(t.Context())
	return r
}

// rest sleeps until all goroutines of the bubble wait.
func rest(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestFlood: many changes in a short time run the command at most every 300 ms, and the last state is shown.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shown
		var starts []time.Time
		r := start(t, &s, func(input []byte) (string, error) {
			starts = append(starts, time.Now())
			time.Sleep(50 * time.Millisecond)
			var f Facts
			err := json.Unmarshal(input, &f)
			return "mode " + f.Mode, err
		})
		r.Use(Command{Line: "x"})
		for i := range 3000 {
			r.Update(info(action.Mode(fmt.Sprint(i))), true)
			time.Sleep(time.Millisecond)
		}
		rest(time.Hour)
		if n := len(starts); n < 10 || n > 11 {
			t.Errorf("%d runs in 3 s", n)
		}
		for i := 1; i < len(starts); i++ {
			if gap := starts[i].Sub(starts[i-1]); gap < pause {
				t.Errorf("run %d started %v after the one before", i, gap)
			}
		}
		if last := s.all[len(s.all)-1]; last != "mode 2999|<nil>" {
			t.Errorf("%s is shown at the end", last)
		}
	})
}

// TestUnchanged: the command runs again only for a change, or when work has ended.
func TestUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shown
		runs := 0
		r := start(t, &s, func([]byte) (string, error) { runs++; return "same", nil })
		for _, step := range []struct {
			do   func()
			want int
		}{
			{func() { r.Update(info("ask"), false) }, 0}, // there is no command
			{func() { r.Use(Command{Line: "x"}) }, 1},
			{func() { r.Update(info("ask"), false) }, 1},
			{func() { r.Update(info("ask"), true) }, 1},
			{func() { r.Update(info("ask"), false) }, 2},
			{func() { r.Update(info("plan"), false) }, 3},
			{func() { r.Use(Command{}) }, 3},
			{func() { r.Update(info("ask"), false) }, 3},
		} {
			step.do()
			rest(time.Minute)
			if runs != step.want {
				t.Fatalf("%d runs, want %d", runs, step.want)
			}
		}
		if got := strings.Join(s.all, " "); got != "same|<nil> |<nil>" {
			t.Errorf("shown: %s", got)
		}
	})
}

// TestFailures: a failure removes the line. It is shown once for each command.
func TestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shown
		var err error
		r := start(t, &s, func([]byte) (string, error) { return "line", err })
		r.Use(Command{Line: "x"})
		for i, fails := range []bool{false, true, false, true, true} {
			if err = nil; fails {
				err = failure{"exit code 3", fmt.Sprint("boom ", i)}
			}
			r.Update(info(action.Mode(fmt.Sprint(i))), false)
			rest(time.Minute)
		}
		r.Use(Command{Line: "y"})
		rest(time.Minute)
		want := "line|<nil>, |exit code 3: boom 1, line|<nil>, |<nil>, |exit code 3: boom 4"
		if got := strings.Join(s.all, ", "); got != want {
			t.Errorf("shown: %s\nwant:  %s", got, want)
		}
		if report := r.Report(); !strings.Contains(report, "failed: exit code 3: boom 4") || !strings.Contains(report, `"display_name": "gpt-9"`) {
			t.Error(report)
		}
	})
}

// TestFacts: the names and values of the command's input.
func TestFacts(t *testing.T) {
	transcript := filepath.Join(t.TempDir(), "7f3a.jsonl")
	if err := os.WriteFile(transcript, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var got string
		r := start(t, &shown{}, func(input []byte) (string, error) { got = string(input); return "", nil })
		r.options.Transcript = transcript
		time.Sleep(1500 * time.Millisecond)
		r.Use(Command{Line: "x"})
		r.Update(info("ask"), false)
		synctest.Wait()
		want := `{"hook_event_name":"Status","session_id":"7f3a-0000","session_name":"taxes","transcript_path":"` + transcript + `","cwd":"/home/ann/shop",` +
			`"model":{"id":"vendor/gpt-9","display_name":"gpt-9"},"workspace":{"current_dir":"/home/ann/shop","project_dir":"/home/ann"},"version":"` + r.last.facts.Version + `",` +
			`"output_style":{"name":"default"},"cost":{"total_cost_usd":0.25,"total_duration_ms":1500},` +
			`"context_window":{"total_input_tokens":5000,"total_output_tokens":70,"context_window_size":10000,"used_percentage":34,"remaining_percentage":66},` +
			`"target":"web-02","mode":"ask","tokens":{"context":3400,"input":5000,"cached":4000,"output":70}}` + "\n"
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		time.Sleep(time.Second)
		r.Use(Command{Line: "x", Confined: true})
		synctest.Wait()
		if strings.Contains(got, "transcript_path") {
			t.Errorf("the sandbox hides that file: %s", got)
		}
	})
}
