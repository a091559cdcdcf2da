package turn

import (
	"cmp"
	"context"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/record"
	"buddy/agent/redact"
	"buddy/tools"
)

// OutcomeUnknown is the result of a tool that was running when buddy died and whose outcome can't be found.
const OutcomeUnknown = "interrupted: outcome unknown, check before repeating"

// Results of calls that had not started when buddy died. Nothing starts by itself: the person or the model must ask
// again.
const (
	NotStarted = "Not run: buddy ended before this started. Call it again if it is still wanted."
	keyless    = "interrupted: not run. Its arguments contained a key, which is not stored. Call it again if it is still wanted."
	dropped    = "Not run: it was waiting for the user's approval when buddy ended, and the user sent a prompt instead."
)

// KeepPartial stores the text of an interrupted answer, with the calls that started while it streamed; turn is 0 for an
// answer of an earlier process.
func (l *Loop) KeepPartial(x *Exchange, turn int, p event.ModelMessage) {
	if p.Message.Content == "" && !conversation.Prefixed(x.conv) {
		return
	}
	x.conv.Store(x.task, turn, model.Message{Role: model.Assistant, Content: p.Message.Content}, p.Reasoning, true)
}

// Settle gives every open call a result from the recovery state of an earlier process, and reports whether a person
// was asked. Open approvals are asked again until asking ends.
func (l *Loop) Settle(ctx, asking context.Context, x *Exchange, left map[string]*record.Call) (asked bool) {
	open := x.conv.Open()
	for id, c := range left {
		if c.Started != nil && !x.conv.Called(id) { // the answer with this call was never complete
			gone := discarded(id, c.Started.Name)
			if isOwn(id) {
				gone.Result = OutcomeUnknown
			}
			l.p.Changes.Failed(ctx, x.task, 0, tools.Call{ID: id, Reader: x.conv.Branch()})
			l.p.Stream.Publish(x.task, 0, gone)
		}
	}
	b := l.newBatch(ctx, x, 0)
	for _, c := range open {
		j := b.plan(c)
		was := cmp.Or(left[c.ID], &record.Call{})
		if was.Started != nil {
			j.ran = true
			end := x.releasable(j)
			res := recovered(ctx, j, was.Started.Dir)
			end()
			b.finish(j, res)
			asked = asked || tools.IsPatient(j.tool, j.call) && !tools.IsBeside(j.tool, j.call) // a person answered the call
			continue
		}
		if was.Request == nil { // the crash came after the answer, before this call was published
			b.request(j)
		}
		switch {
		case !was.Waits():
			b.finish(j, failure(NotStarted))
			continue
		case redact.Masked(c.Arguments):
			b.finish(j, failure(keyless))
			continue
		}
		j.reopened, asked = true, true
		b.aloneUnless(asking, j)
	}
	b.cancel(nil)
	x.ended() // clears the answer; there is no turn to end
	l.capResults(x, 0)
	return asked
}

// recovered returns the result of a call that an earlier process started.
func recovered(ctx context.Context, j *job, dir string) tools.Result {
	rec, ok := j.tool.(tools.Recoverer)
	if !ok || dir == "" {
		return failure(OutcomeUnknown)
	}
	call := j.call
	call.Dir = dir
	return tools.RunSafely(call.Name, func() tools.Result { return rec.Recover(ctx, call) })
}
