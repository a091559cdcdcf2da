package agent

import (
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
)

// TestContentPolicyInOneProcess: content that a policy refused is not sent with the next prompt of the same process
// either, nor are prompts that steered the exchange. Earlier content is.
func TestContentPolicyInOneProcess(t *testing.T) {
	refused := &model.Error{Kind: model.StatusError, Status: 400, What: "400 bad request", Said: "Your prompt was flagged by our safety system."}
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("", "a look {}"), says("", "b look {}"), fails("", refused), says("fine"), fails("", refused), says("fine"))
		s.do(event.Submit{Text: "go"})
		if f, _ := find[event.TaskFinished](s); f.Outcome != event.Failed || f.Error != refused.Error() {
			t.Errorf("%+v", f)
		}
		for _, prompt := range []string{"next", "bad", "last"} {
			s.do(event.Submit{Text: prompt})
		}
		withheld, n := find[event.ContextWithheld](s)
		if n != 1 || len(withheld.CallIDs) != 1 || withheld.Text != "scripted refused the last result: it won't be sent again" {
			t.Errorf("%d: %+v", n, withheld)
		}
		var prompts, results []string
		for _, m := range s.model.requests[len(s.model.requests)-1].Messages {
			switch {
			case m.Role == model.Tool:
				results = append(results, m.Content)
			case m.Role == model.User && m.Kind != model.Reminder:
				prompts = append(prompts, m.Content)
			}
		}
		if len(results) != 2 || results[0] == history.Withheld || results[1] != history.Withheld {
			t.Errorf("results %q", results)
		}
		if len(prompts) != 3 || prompts[2] != "last" {
			t.Errorf("prompts %q", prompts)
		}
		s.stop()
	})
}
