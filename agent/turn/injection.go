package turn

import (
	"cmp"
	"fmt"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/tools"
)

// inspect marks a prompt injection in a result. When it is sure the person is told, and the
// conversation is trusted less until the next prompt.
func (b *batch) inspect(j *job, res *tools.Result) {
	if !j.ran {
		return // our own words, or the person's
	}
	found := inject.Scan(res.Content)
	res.Content = inject.Defuse(res.Content, found)
	if inject.Worst(found) < inject.High {
		return
	}
	why := fmt.Sprintf("prompt injection in what %s returned, it %s: %q", j.call.Name, found[0].Reason, found[0].Excerpt)
	b.x.talk.Distrust(why)
	b.publish(event.Warning{
		Text: why + "; the model is told that it is data", Code: conversation.InjectionWarning,
		NextStep: "until your next prompt more of it needs your approval",
	})
}

// injected returns the prompt injection because of which what an exchange asks for is trusted
// less: a tool gave it to the model since the last prompt, or it is in a file of the project.
// Else it is "".
func (l *Loop) injected(x *Exchange) string {
	return cmp.Or(x.talk.Injected(), l.p.Instructions.Injected())
}
