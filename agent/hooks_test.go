package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/turn"
	"buddy/tools"
)

func moment(m turn.Moment) string { return strings.TrimPrefix(fmt.Sprintf("%T", m), "turn.") }

func TestHooks(t *testing.T) { // in this order, one after another
	synctest.Test(t, func(t *testing.T) {
		var got []string
		hook := func(name string) turn.Hook {
			return func(_ context.Context, m turn.Moment) (turn.Reply, error) {
				got = append(got, name+" "+moment(m))
				return turn.Continue, nil
			}
		}
		m := &script{steps: []step{says("", aCall), says("fine")}}
		o := Options{Model: m, Tools: tools.NewRegistry(&fakeTool{}), Features: turn.Features{Hooks: []turn.Hook{hook("a"), hook("b")}}}
		o.Policy.Workspace = "/w"
		r := New(o)
		if _, err := r.RunText(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, m := range strings.Fields("LoopIteration PreLlmCall PostLlmCall PreToolExecution PostToolExecution LoopIteration PreLlmCall PostLlmCall") {
			want = append(want, "a "+m, "b "+m)
		}
		expect(t, got, want...)
	})
}

// noted is a journal that records the types of its events.
type noted struct {
	*heldJournal
	note func(string)
}

func (n noted) Append(env event.Envelope) error {
	n.note(event.Type(env.Payload))
	return n.heldJournal.Append(env)
}

// A turn has this order: turn limit, turn hook, room in the context, the request between its hooks, its usage, its
// calls between their hooks, and their results.
func TestOrderInsideATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		s := start(t, func(o *Options) {
			summarising(1000)(o)
			o.MaxIterations, o.Journal = 1, noted{o.Journal.(*heldJournal), func(kind string) { got = append(got, kind) }}
			o.Hooks = []turn.Hook{func(_ context.Context, m turn.Moment) (turn.Reply, error) {
				got = append(got, moment(m))
				return turn.Continue, nil
			}}
		}, append(answers(4), uncounted("<summary>s</summary>"), says("", aCall))...)
		for i := range 4 {
			s.do(prompt(i, 160))
		}
		got = nil
		s.do(prompt(4, 200))
		s.stop()
		want := `prompt.submitted task.started LoopIteration
			context.compacted ContextCompaction context.usage turn.started
			PreLlmCall model.request_started model.message model.response_finished PostLlmCall metrics.usage
			tool.requested PreToolExecution tool.started PostToolExecution tool.result
			turn.finished budget.exceeded max_turns_reached task.finished`
		parts := strings.Fields(want)
		got = slices.DeleteFunc(got[:slices.Index(got, "task.finished")+1], func(kind string) bool { return !slices.Contains(parts, kind) })
		expect(t, got, parts...)
	})
}

func TestHooksEndAnExchange(t *testing.T) { // at any moment; the history stays valid
	for _, at := range []string{"LoopIteration", "PreLlmCall", "PostLlmCall", "PreToolExecution", "PostToolExecution"} {
		for how, reply := range map[string]turn.Hook{
			"terminates": func(context.Context, turn.Moment) (turn.Reply, error) { return turn.Terminate("enough"), nil },
			"fails":      func(context.Context, turn.Moment) (turn.Reply, error) { return turn.Continue, errors.New("enough") },
			"panics":     func(context.Context, turn.Moment) (turn.Reply, error) { panic("enough") },
		} {
			t.Run(at+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var mu sync.Mutex
					over := false // it ends one exchange, not all
					r, m, _ := hooked(func(ctx context.Context, m turn.Moment) (turn.Reply, error) {
						mu.Lock()
						defer mu.Unlock()
						if over || moment(m) != at {
							return turn.Continue, nil
						}
						over = true
						return reply(ctx, m)
					}, 0, says("", aCall, safe("c2", 5), safe("c3", 6), aCall), says("next"), says("next"))
					res, err := r.RunText(t.Context(), "go")
					stop, ok := errors.AsType[*turn.HookTerminated](err)
					if !ok || !strings.Contains(stop.Reason, "enough") || res.Outcome != event.Failed {
						t.Errorf("%s, %v", res.Outcome, err)
					}
					if _, err := r.RunText(t.Context(), "again"); err != nil {
						t.Error(err)
					}
					for _, req := range m.requests {
						checkPairs(t, req.Messages)
					}
				})
			})
		}
	}
}

func TestHookSkipsACall(t *testing.T) { // also one that starts while the answer streams, and before approval
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) {
			o.Hooks = []turn.Hook{func(_ context.Context, m turn.Moment) (turn.Reply, error) {
				if pre, ok := m.(turn.PreToolExecution); ok && pre.Call.ID != "c2" {
					return turn.Skip("not now"), nil
				}
				return turn.Continue, nil
			}}
		}, streams(whole, safe("c1", 1), safe("c2", 2), `c3 do {"kind":"shell","do":"echo"}`), says("ok"))
		s.do(event.Submit{Text: "go"})
		time.Sleep(time.Minute)
		s.do()
		expect(t, s.results(), "Tool call skipped: not now", "done c2", "Tool call skipped: not now")
		if _, n := find[event.ApprovalAsked](s); n != 0 || len(s.tool.ran) != 1 {
			t.Errorf("asked %d times, ran %v", n, s.tool.ran)
		}
		s.stop()
	})
}
