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

// inspect marks prompt injections in the result of a tool.
func (b *batch) inspect(j *job, res *tools.Result) {
	if !j.ran {
		return // the text is buddy's or the person's
	}
	res.Change(marked(b.loop.p, b.x, b.turn, "the result of "+j.call.Name, res.Content))
}

// marked returns text for the model with suspected prompt injections marked. If one is certain, buddy warns the person,
// and until the next prompt the conversation is trusted less and auto mode asks. where names the text.
func marked(p Parts, x *Exchange, turn int, where, text string) string {
	found := inject.Scan(text)
	if inject.Worst(found) >= inject.High {
		why := fmt.Sprintf("prompt injection in %s, it %s: %q", where, found[0].Reason, found[0].Excerpt)
		x.conv.Distrust(why)
		approval.Suspend(p.Approvals, x.task)
		p.Stream.Publish(x.task, turn, event.Warning{
			Text: why + "; buddy marks it as data for the model", Code: conversation.InjectionWarning,
			NextStep: "until your next prompt, more actions need your approval",
		})
	}
	return inject.Defuse(text, found)
}

// injected returns why an exchange is trusted less: a prompt injection in a tool's result since the last prompt, or
// in a file of the project. "" means neither.
func (l *Loop) injected(x *Exchange) string {
	return cmp.Or(x.conv.Injected(), l.p.Instructions.Injected())
}
