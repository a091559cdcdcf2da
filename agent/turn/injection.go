package turn

import (
	"cmp"
	"fmt"

	"buddy/agent/approval"
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
	res.Change(marked(b.loop.p, b.x, b.turn, "what "+j.call.Name+" returned", res.Content))
}

// marked returns text for the model with what reads like a prompt injection marked. When it is sure the
// person is told, and until the next prompt the conversation is trusted less, and mode auto asks. where names the text.
func marked(p Parts, x *Exchange, turn int, where, text string) string {
	found := inject.Scan(text)
	if inject.Worst(found) >= inject.High {
		why := fmt.Sprintf("prompt injection in %s, it %s: %q", where, found[0].Reason, found[0].Excerpt)
		x.talk.Distrust(why)
		approval.Suspend(p.Approvals, x.task)
		p.Stream.Publish(x.task, turn, event.Warning{
			Text: why + "; buddy marks it as data for the model", Code: conversation.InjectionWarning,
			NextStep: "until your next prompt, more actions need your approval",
		})
	}
	return inject.Defuse(text, found)
}

// injected returns the prompt injection because of which what an exchange asks for is trusted
// less: a tool gave it to the model since the last prompt, or it is in a file of the project.
// Else it is "".
func (l *Loop) injected(x *Exchange) string {
	return cmp.Or(x.talk.Injected(), l.p.Instructions.Injected())
}
