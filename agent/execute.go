package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
	"unicode/utf8"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/agent/model"
	"buddy/tools"
)

// execute runs the calls of one answer, one after the other, and stores one result for
// each, also when it is cancelled in between (A05, A17).
func (r *Runtime) execute(ctx context.Context, task, turn int, calls []model.ToolCall) {
	for _, c := range calls {
		r.run(ctx, task, turn, c, false)
	}
}

// run takes one call from request to result. known means that the stream has its
// request already, from before a crash.
func (r *Runtime) run(ctx context.Context, task, turn int, c model.ToolCall, known bool) {
	began := r.opts.Now()
	call := tools.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Output: r.output(task, turn, c.ID)}
	tool, act, err := r.plan(call)
	if !known {
		r.emit(task, turn, event.ToolRequested{CallID: c.ID, Name: c.Name, Arguments: c.Arguments, Action: act, Target: act.Target})
	}
	var res tools.Result
	switch {
	case ctx.Err() != nil:
		res = failure(history.Unanswered)
	case err != nil:
		res = failure("Tool error: " + err.Error())
	default:
		if refusal := r.permit(ctx, task, turn, c, act); refusal != nil {
			res = *refusal
			break
		}
		began = r.opts.Now() // the time a person thinks is not the tool's
		call.Planned = act
		res = r.start(ctx, task, turn, tool, call)
	}
	r.finish(task, turn, c, res, r.opts.Now().Sub(began))
}

func (r *Runtime) plan(call tools.Call) (tools.Tool, action.Action, error) {
	tool, err := r.opts.Tools.Lookup(call.Name)
	if err != nil {
		return nil, action.Action{}, err
	}
	act, err := tool.Plan(call)
	return tool, act, err
}

// permit returns nil when act may happen, else the result that says why not.
func (r *Runtime) permit(ctx context.Context, task, turn int, c model.ToolCall, act action.Action) *tools.Result {
	v := r.asks.judge(act)
	switch v.Decision {
	case action.Allow:
		return nil
	case action.Ask:
		answer := r.asks.request(ctx, task, turn, c.ID, act, v)
		if answer.Decision == event.Once {
			return nil
		}
		res := failure(denial(act, answer))
		if ctx.Err() != nil {
			res = failure(history.Unanswered)
		}
		return &res
	default:
		res := failure("Denied by the policy, nothing ran: " + v.Reason)
		return &res
	}
}

// denial is what the model reads when a person said no (D12).
func denial(act action.Action, a event.ApprovalAnswered) string {
	text := "The user denied this; nothing ran."
	if act.Kind == action.Shell {
		text = "Command execution denied by user."
	}
	if a.Reason != "" {
		text += " Reason: " + a.Reason
	}
	return text
}

// start journals that the tool starts and runs it.
func (r *Runtime) start(ctx context.Context, task, turn int, tool tools.Tool, call tools.Call) tools.Result {
	if r.opts.OutDir != "" {
		r.mu.Lock()
		r.ids.out++
		call.Dir = filepath.Join(r.opts.OutDir, fmt.Sprintf("%06d", r.ids.out))
		r.mu.Unlock()
	}
	if err := r.stream.emit(task, turn, event.ToolStarted{CallID: call.ID, Name: call.Name, Dir: call.Dir}); err != nil {
		return failure("Tool error: nothing ran, because it could not be recorded: " + err.Error())
	}
	return guarded(call.Name, func() tools.Result { return tool.Run(ctx, call) })
}

// guarded turns a panic into a result (D32).
func guarded(name string, run func() tools.Result) (res tools.Result) {
	defer func() {
		if p := recover(); p != nil {
			res = failure(fmt.Sprintf("Tool error: %s failed inside: %v", name, p))
		}
	}()
	return run()
}

// finish stores a result in the stream and in the history.
func (r *Runtime) finish(task, turn int, c model.ToolCall, res tools.Result, took time.Duration) {
	if res.Took > 0 {
		took = res.Took
	}
	// The one place where what tools said enters (DECISIONS 9).
	res.Content, res.Tail = r.opts.Redact.Text(res.Content), r.opts.Redact.Text(res.Tail)
	e := event.ToolResult{
		CallID: c.ID, Name: c.Name, Result: res.Content, IsError: res.IsError,
		ExitCode: res.ExitCode, DurationMS: took.Milliseconds(), Tail: res.Tail,
	}
	if res.Full != nil {
		e.FullOutput = &event.FullOutput{Path: res.Full.Path, Bytes: res.Full.Bytes}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hist.Result(c.ID, c.Name, res.Content)
	r.emit(task, turn, e)
}

func failure(text string) tools.Result { return tools.Result{Content: text, IsError: true} }

// output returns where a call's live output goes. A character that is cut in two at
// the end of a chunk is held back until its rest comes.
func (r *Runtime) output(task, turn int, callID string) func(tools.Chunk) {
	held := make(map[tools.Stream][]byte)
	return func(c tools.Chunk) {
		text := append(held[c.Stream], c.Text...)
		whole := wholeRunes(text)
		held[c.Stream] = append([]byte(nil), text[whole:]...)
		if whole > 0 {
			r.emit(task, turn, event.ToolOutput{CallID: callID, Stream: string(c.Stream), Text: r.opts.Redact.Text(string(text[:whole])), BytesTotal: c.Total})
		}
	}
}

// wholeRunes returns how much of p ends with a whole character. What can't be the
// beginning of one counts as whole.
func wholeRunes(p []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(p); back++ {
		b := p[len(p)-back]
		if utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-back:]) {
				return len(p) - back
			}
			break
		}
	}
	return len(p)
}
