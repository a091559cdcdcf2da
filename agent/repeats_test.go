package agent

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/model"
)

// repeating sends a text, then one line again and again until the stream is closed; reasons puts it in the reasoning.
func repeating(text string, reasons bool) step {
	return func(_ context.Context, yield func(model.Delta, error) bool) {
		kind := model.Text
		if reasons {
			kind = model.Reasoning
		}
		yield(model.Delta{Kind: kind, Text: text}, nil)
		for i := range 100_000 {
			if !yield(model.Delta{Kind: kind, Text: "The same line again, with more than fifty characters in it.\n"}, nil) {
				if i > 30 {
					panic("the answer was read for too long")
				}
				return
			}
		}
		panic("the answer was read to its end")
	}
}

// An answer that repeats itself is cut off and kept up to that point, and the model is asked once more with a hint. A
// second one ends the exchange.
func TestEndlessAnswerIsCutOff(t *testing.T) {
	for _, tt := range []struct {
		name    string
		steps   []step
		outcome event.Outcome
		kept    string // of the first answer
	}{
		{"then a good one", []step{repeating("Here.\n", false), says("It is so.")}, event.Completed, "assistant:Here.\nThe same line again, with more than fifty characters in it\n\n… (cut off: it repeated itself)"},
		{"in its reasoning", []step{repeating("Hm.\n", true), says("It is so.")}, event.Completed, ""},
		{"twice", []step{repeating("Here.\n", false), repeating("There.\n", false)}, event.Failed, "assistant:Here.\nThe same line again, with more than fifty characters in it\n\n… (cut off: it repeated itself)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, func(o *Options) { o.MaxRepeats = 10 }, tt.steps...)
				s.do(event.Submit{Text: "go"})
				done, _ := find[event.TaskFinished](s)
				if done.Outcome != tt.outcome || len(s.model.requests) != 2 || tt.outcome == event.Failed && !strings.Contains(done.Error, "repeating") {
					t.Errorf("outcome %+v after %d requests", done, len(s.model.requests))
				}
				if w, n := find[event.Warning](s); n != 1 || w.Code != "repeats" || !strings.Contains(w.NextStep, "max_repeats") {
					t.Errorf("%d warnings, the last %+v", n, w)
				}
				second := s.model.requests[1]
				hint := second.Messages[len(second.Messages)-1]
				if second.Ephemeral != 1 || hint.Kind != model.Reminder || !strings.Contains(hint.Content, "repeat nothing") {
					t.Errorf("asked again with %+v", hint)
				}
				if got := saidTexts(second.Messages); tt.kept != "" && got[1] != tt.kept {
					t.Errorf("kept %q", got[1])
				}
				s.stop()
			})
		})
	}
}

// Without a limit an answer may repeat itself.
func TestRepeatsMayBeAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("The same line again, with more than fifty characters in it.\n", 50)
		s := start(t, nil, says(long))
		s.do(event.Submit{Text: "go"})
		if got := saidTexts(s.Messages()); got[len(got)-1] != "assistant:"+long || len(s.model.requests) != 1 {
			t.Errorf("%d requests, the answer has %d bytes", len(s.model.requests), len(got[len(got)-1]))
		}
		s.stop()
	})
}
