package agent

import (
	"slices"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
)

// finished returns the outcomes of the exchanges that events report as finished.
func finished(events []event.Envelope) (all []event.Outcome) {
	for _, env := range events {
		if p, ok := env.Payload.(event.ExchangeFinished); ok {
			all = append(all, p.Outcome)
		}
	}
	return all
}

func TestExchangeFinishedIsTheLastEventOfAPrompt(t *testing.T) {
	limited := func(o *Options) { o.MaxIterations = 1 }
	for _, tt := range []struct {
		name   string
		change func(*Options)
		steps  []step
		cancel bool
		want   event.Outcome
	}{
		{"completed", nil, []step{says("hello")}, false, event.Completed},
		{"failed", nil, []step{fails("", &model.Error{Kind: model.StatusError, Status: 400, What: "bad"})}, false, event.Failed},
		{"outage", nil, []step{overloaded("half")}, false, event.Failed},
		{"cancelled", nil, []step{hangs("half")}, true, event.Cancelled},
		{"turn limit", limited, []step{says("", `c1 do {"kind":"file_read","do":"x"}`)}, false, event.MaxTurns},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, tt.change, tt.steps...)
				s.do(event.Submit{Text: "go"})
				if tt.cancel {
					if got := finished(s.mem.events); got != nil {
						t.Errorf("finished %v while it runs", got)
					}
					s.do(event.Cancel{})
				}
				last := s.mem.events[len(s.mem.events)-1]
				if p, ok := last.Payload.(event.ExchangeFinished); !ok || p.Outcome != tt.want || last.Task == 0 || (p.Error != "") != (tt.want == event.Failed) {
					t.Errorf("the last event is %+v, want the end %q", last, tt.want)
				}
				s.stop()
				if got := finished(s.mem.events); len(got) != 1 {
					t.Errorf("finished %v, want once", got)
				}
			})
		})
	}
}

func TestTypedCommandsFinishAndCompactionsDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("one"), says("two"))
		s.do(event.Submit{Text: "!true", Shell: true})
		if got := finished(s.mem.events); len(got) != 1 {
			t.Errorf("after a typed command: %v", got)
		}
		s.do(event.Submit{Text: "go"}, event.Compact{})
		if got := finished(s.mem.events); len(got) != 2 {
			t.Errorf("after a prompt and a compaction: %v", got)
		}
		s.stop()
	})
}

// A program that sends its prompt again after each crash gets one prompt, one run of the tool and one end, whatever
// event was the last one in the journal.
func TestPromptWithAKeyAfterACrashAtEveryEvent(t *testing.T) {
	call := `c1 do {"kind":"shell","do":"echo"}`
	all := func(o *Options) { o.Mode = action.ModeAll }
	submit := event.Submit{Text: "go", Key: "run-1"}
	synctest.Test(t, func(t *testing.T) {
		whole := start(t, all, says("", call), says("done"))
		whole.do(submit, submit)
		whole.stop()
		events := whole.mem.events
		events = events[:slices.IndexFunc(events, func(env event.Envelope) bool { _, closed := env.Payload.(event.SessionClosed); return closed })]
		for n := range len(events) + 1 {
			stored := slices.Clone(events[:n])
			ran := slices.ContainsFunc(stored, func(env event.Envelope) bool { _, ok := env.Payload.(event.ToolStarted); return ok })
			var steps []step
			if !ran {
				steps = append(steps, says("", call))
			}
			s := start(t, func(o *Options) { all(o); o.Replay = stored; o.Journal = &heldJournal{events: slices.Clone(stored)} }, append(steps, says("done"))...)
			s.do(submit)
			s.do(submit)
			journal := s.opts.Journal.(*heldJournal)
			prompts := 0
			for _, env := range journal.events {
				if p, ok := env.Payload.(event.PromptSubmitted); ok && p.Key == "run-1" && !p.Queued {
					prompts++
				}
			}
			got := s.Messages()
			if last := got[len(got)-1]; prompts != 1 || last.Content != "done" || !slices.Equal(finished(journal.events), []event.Outcome{event.Completed}) {
				t.Errorf("crash after event %d: %d prompts, last message %q, finished %v", n, prompts, last.Content, finished(journal.events))
			}
			if again := len(s.tool.ran); ran && again > 0 {
				t.Errorf("crash after event %d: the tool ran again", n)
			}
			s.stop()
		}
	})
}

// A repeated prompt does not continue an exchange that ended at a limit, and works in another prompt's presence.
func TestPromptWithAKeyTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { o.MaxIterations = 1 }, says("", `c1 do {"kind":"file_read","do":"x"}`), says("other"))
		s.do(event.Submit{Text: "go", Key: "a"}, event.Submit{Text: "go", Key: "a"})
		s.do(event.Submit{Text: "go", Key: "a"})
		if n := len(s.model.requests); n != 1 {
			t.Fatalf("%d requests, want 1", n)
		}
		s.do(event.Submit{Text: "go", Key: "b"})
		if _, n := find[event.PromptSubmitted](s); n != 2 || len(s.model.requests) != 2 {
			t.Errorf("%d prompts in %d requests, want 2 in 2", n, len(s.model.requests))
		}
		if _, n := find[event.Error](s); n > 0 {
			t.Error("a repeated prompt was reported as an error")
		}
		s.stop()
	})
}
