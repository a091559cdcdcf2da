package agent

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
)

// wantOrder compares the event types since one of a kind, without repetitions.
func (s *session) wantOrder(from, want string) {
	s.t.Helper()
	got := slices.Compact(s.types(from))
	if w := strings.Fields(want); !slices.Equal(got, w) {
		s.t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(w, "\n"))
	}
}

func TestOrderOfACancelInABatch(t *testing.T) { // every call is answered, in order
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("", `c1 do {"kind":"file_read","do":"hang"}`, `c2 do {"kind":"shell","do":"echo"}`))
		s.do(event.Submit{Text: "go"})
		s.do(event.Cancel{})
		s.wantOrder("model.message", `
			model.message model.response_finished metrics.usage
			tool.requested decision.explained tool.started
			task.cancelling tool.result
			tool.requested tool.result
			turn.finished context.usage interrupted task.finished exchange.finished`)
		s.stop()
	})
}

func TestOrderOfACompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, summarising(1000), append(answers(4), uncounted("<summary>s</summary>"), uncounted("five"))...)
		for i := range 4 {
			s.do(prompt(i, 160))
		}
		s.mu.Lock()
		s.seen = nil
		s.mu.Unlock()
		s.do(prompt(4, 200))
		s.wantOrder("prompt.submitted", `
			prompt.submitted task.queued task.started
			context.compacting task.progress context.compacted
			context.usage turn.started model.request_started model.text_delta model.message model.response_finished
			turn.finished context.usage task.finished exchange.finished`)
		s.stop()
	})
}
