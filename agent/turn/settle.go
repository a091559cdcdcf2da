package turn

import (
	"cmp"
	"context"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/record"
	"buddy/agent/redact"
	"buddy/tools"
)

// OutcomeUnknown is the result of a tool that was running when buddy died and can't be
// asked how it went.
const OutcomeUnknown = "interrupted: outcome unknown, check before repeating"

// What becomes of calls that had not started when buddy died. Nothing starts by itself: a
// person asks again, or the model.
const (
	NotStarted = "Not run: buddy ended before this started. Call it again if it is still wanted."
	keyless    = "interrupted: not run. Its arguments contained a key, which is not stored. Call it again if it is still wanted."
	dropped    = "Not run: it was waiting for the user's approval when buddy ended, and the user sent a prompt instead."
)

// KeepPartial stores what an answer that broke off had said; turn is 0 for one of an earlier process.
func (l *Loop) KeepPartial(x *Exchange, turn int, p event.ModelMessage) {
	if p.Message.Content == "" {
		return
	}
	x.talk.Store(x.task, turn, model.Message{Role: model.Assistant, Content: p.Message.Content}, p.Reasoning, true)
}

// Settle gives every open call its result, by what an earlier process left of it, and reports whether a person was asked. Approvals
// that were open are asked for again, as long as asking has not ended.
func (l *Loop) Settle(ctx, asking context.Context, x *Exchange, left map[string]*record.Call) (asked bool) {
	open := x.talk.Open()
	for id, c := range left {
		if c.Started != nil && !x.talk.Called(id) { // of an answer that never was complete
			gone := discarded(id, c.Started.Name)
			if isOwn(id) {
				gone.Result = OutcomeUnknown
			}
			l.p.Changes.Failed(ctx, x.task, 0, tools.Call{ID: id, Reader: x.talk.Branch()})
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
			asked = asked || tools.IsPatient(j.tool, j.call) && !tools.IsBeside(j.tool, j.call) // a person answered it
			continue
		}
		if was.Request == nil { // the crash came between the answer and this call of it
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
	x.ended() // there is no turn to be ended
	l.capResults(x, 0)
	return asked
}

// recovered finds the result of a call that an earlier process started.
func recovered(ctx context.Context, j *job, dir string) tools.Result {
	rec, ok := j.tool.(tools.Recoverer)
	if !ok || dir == "" {
		return failure(OutcomeUnknown)
	}
	call := j.call
	call.Dir = dir
	return tools.RunSafely(call.Name, func() tools.Result { return rec.Recover(ctx, call) })
}
