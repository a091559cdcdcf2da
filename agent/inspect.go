package agent

import (
	"cmp"
	"fmt"

	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/tools"
)

// injection is the code of the warning of a result that speaks to the model.
const injection = "injection"

// inspect marks a result in which something speaks to the model (F12). When it is sure
// the person is told, and the task is tainted until the next prompt.
func (r *Runtime) inspect(t *task, turn int, j *job, res *tools.Result) {
	if !j.ran {
		return // our own words, or the person's
	}
	found := inject.Scan(res.Content)
	res.Content = inject.Defuse(res.Content, found)
	if inject.Worst(found) < inject.High {
		return
	}
	why := fmt.Sprintf("what %s returned %s: %q", j.call.Name, found[0].Reason, found[0].Excerpt)
	r.mu.Lock()
	if t.talk.tainted == "" {
		t.talk.tainted = why
	}
	r.mu.Unlock()
	r.emit(t.id, turn, event.Warning{
		Text: why + "; the model is told that it is data", Code: injection,
		NextStep: "until your next prompt more of it needs your yes",
	})
}

// tainted returns why what t asks for is trusted less: a tool gave the model text that
// speaks to it since the last prompt, or a file of the project does. Else it is "".
func (r *Runtime) tainted(t *task) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(t.talk.tainted, r.guide.speaks)
}
