package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/fallback"
	"buddy/agent/model/retry"
)

func overloaded(text string) step {
	return fails(text, &model.Error{Kind: model.StatusError, Status: 529, What: "overloaded"})
}

// overloads returns n answers that are interrupted.
func overloads(n int) []step { return slices.Repeat([]step{overloaded("lost ")}, n) }

// recovering puts the decorators around the script, with other as the fallback.
func recovering(other *script, r model.Recovery) func(*Options) {
	return func(o *Options) {
		if other == nil {
			o.Model = retry.New(o.Model, r)
			return
		}
		second := named{other, "second"}
		o.Model = fallback.New(retry.BeforeFallback(o.Model, second, r), second)
	}
}

// silence is the time after which these tests give up a silent answer.
const silence = 2 * time.Minute

// stalls sends a text, and then nothing more.
func stalls(text string) step {
	return func(ctx context.Context, yield func(model.Delta, error) bool) {
		if yield(model.Delta{Kind: model.Text, Text: text}, nil) {
			silent(ctx, yield)
		}
	}
}

// silent ends an answer that stalls.
func silent(ctx context.Context, yield func(model.Delta, error) bool) {
	select {
	case <-time.After(silence):
		yield(model.Delta{}, &model.Error{Kind: model.StallError, What: "stalled", Silence: silence})
	case <-ctx.Done():
		yield(model.Delta{}, ctx.Err())
	}
}

// named is a model with its own name.
type named struct {
	*script
	name string
}

func (n named) Info() model.Info { return model.Info{Profile: n.name, Model: n.name + "-1"} }

// TestGoldenRecovery is the order of events when an attempt fails.
func TestGoldenRecovery(t *testing.T) {
	const begin = `prompt.submitted task.queued task.started context.usage turn.started model.request_started model.text_delta `
	const end = ` model.text_delta model.message model.response_finished metrics.usage turn.finished context.usage task.finished exchange.finished`
	const ended = ` model.text_delta model.message model.response_finished metrics.usage turn.finished context.usage task.finished exchange.finished`
	const again = `model.retry model.alive model.text_delta `
	tests := []struct {
		name     string
		recovery model.Recovery
		steps    []step
		other    []step
		want     string
	}{
		{"retry", "", []step{overloaded("half "), says("whole")}, nil, begin + "model.retry model.alive" + end},
		{"stall", "", []step{stalls("half "), says("whole")}, nil, begin + "model.stalled model.retry model.alive" + end},
		{"stall, aborted", model.RecoverAbort, []step{stalls("half ")}, []step{says("never")}, begin + "model.stalled model.message turn.finished context.usage error interrupted task.finished exchange.finished"},
		{"stall, fallback at once", model.RecoverFallback, []step{stalls("half ")}, []step{says("whole")}, begin + "model.stalled model.fallback" + ended},
		{"fallback", "", overloads(2), []step{says("whole")}, begin + again + "model.fallback" + ended},
		{"both fail", "", overloads(2), []step{overloaded("half ")}, begin + again + "model.fallback model.text_delta model.message turn.finished context.usage model.fallback_ended error interrupted task.finished exchange.finished"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var other *script
				if tt.other != nil {
					other = &script{steps: tt.other}
				}
				s := start(t, recovering(other, tt.recovery), tt.steps...)
				s.do(event.Submit{Text: "go"})
				time.Sleep(5 * time.Minute)
				s.do()
				got := slices.DeleteFunc(s.types("prompt.submitted"), func(name string) bool { return name == "model.checkpoint" })
				expect(t, slices.Compact(got), strings.Fields(tt.want)...)
				if e, n := find[event.ModelStalled](s); n > 0 && e.TimeoutMS != silence.Milliseconds() {
					t.Errorf("stalled after %d ms", e.TimeoutMS)
				}
				if e, n := find[event.ModelFallback](s); n > 0 && (e.From != "test" || e.To != "second" || e.Model != "second-1" || e.Why == "") {
					t.Errorf("%+v", e)
				}
				if e, n := find[event.ModelRetry](s); n > 0 && (e.Attempt != n || e.WaitMS < 500 || e.Why == "") {
					t.Errorf("%+v", e)
				}
				// Nothing of a failed attempt is in the history, live or replayed.
				history := saidTexts(s.Messages())
				if f, _ := find[event.TaskFinished](s); f.Outcome == event.Completed {
					expect(t, history, "user:go", "assistant:whole")
				} else {
					expect(t, history, "user:go", "assistant:half ")
				}
				s.stop()
				replayed := start(t, func(o *Options) { o.Replay = s.mem.events })
				expect(t, saidTexts(replayed.Messages()), history...)
				replayed.stop()
			})
		})
	}
}

// TestOutage: an exchange that an outage of the model's server ended can be continued, by this process and by the
// next one. Errors that would repeat can't.
func TestOutage(t *testing.T) {
	of := func(kind model.ErrorKind, status int) step {
		return fails("half ", &model.Error{Kind: kind, Status: status, What: "fault"})
	}
	for _, tt := range []struct {
		name  string
		fault step
		tries int
		waits bool
	}{
		{"503 for longer than a minute", of(model.StatusError, 503), 6, true},
		{"an overload that the answer reports", of(model.ReportedError, 529), 6, true},
		{"no connection", of(model.ConnectError, 0), 6, true},
		{"cut off each time", of(model.CutError, 0), 6, true},
		{"a server nearby that is slow", of(model.SlowError, 0), 1, true},
		{"a key that is refused", of(model.StatusError, 401), 1, false},
		{"a request that is refused", of(model.StatusError, 400), 1, false},
		{"a certificate", of(model.SetupError, 0), 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, other := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					steps := append(slices.Repeat([]step{tt.fault}, tt.tries), says("whole"))
					s := start(t, recovering(nil, ""), steps...)
					s.do(event.Submit{Text: "go"})
					time.Sleep(5 * time.Minute)
					s.do()
					f, _ := find[event.TaskFinished](s)
					if i, n := find[event.Interrupted](s); f.Outcome != event.Failed || (n == 1) != tt.waits || i.CanContinue != tt.waits {
						t.Errorf("%+v, %d times %+v", f, n, i)
					}
					if other {
						steps := s.model.steps
						s.stop()
						s = start(t, func(o *Options) { o.Replay = s.mem.events }, steps...)
						if i, _ := find[event.Interrupted](s); i.CanContinue != tt.waits {
							t.Errorf("the next process says %+v", i)
						}
					}
					s.do(event.Continue{})
					want := []string{"user:go", "assistant:half "}
					if tt.waits {
						want = append(want, "assistant:whole")
					}
					expect(t, saidTexts(s.Messages()), want...)
					s.stop()
				})
			}
		})
	}
}

// TestFallbackStays: the fallback answers the rest of the exchange and the prompts of the next minutes, without a request
// to the first model; then the first model is back, and an event says so.
func TestFallbackStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := &script{steps: []step{says("look ", aCall), says("again ", `c2`+aCall[2:]), says("done"), says("still me")}}
		s := start(t, recovering(other, ""), append(overloads(2), says("first again"))...)
		began := time.Now()
		s.do(event.Submit{Text: "go"})
		time.Sleep(10 * time.Second)
		s.do()
		if f, n := find[event.TaskFinished](s); n != 1 || f.Outcome != event.Completed {
			t.Fatalf("%+v after %v", f, time.Since(began))
		}
		if first, second := len(s.model.requests), len(other.requests); first != 2 || second != 3 {
			t.Errorf("the first model had %d requests, want 2; the fallback %d, want 3", first, second)
		}
		s.do(event.Submit{Text: "more"})
		if e, _ := find[event.RequestStarted](s); e.Profile != "second" {
			t.Errorf("a prompt in the next minutes went to %s", e.Profile)
		}
		if _, n := find[event.FallbackEnded](s); n != 0 {
			t.Error("it ended early")
		}
		time.Sleep(5 * time.Minute)
		s.do(event.Submit{Text: "next"})
		var asked []string
		for _, env := range s.seen {
			switch e := env.Payload.(type) {
			case event.RequestStarted:
				asked = append(asked, e.Profile)
			case event.ModelFallback:
				asked = append(asked, e.From+"→"+e.To)
			case event.FallbackEnded:
				asked = append(asked, e.From+"→"+e.To)
			}
		}
		expect(t, asked, "test", "test→second", "second", "second", "second", "second→test", "test")
		expect(t, saidTexts(s.Messages()), "user:go", "assistant:look ", "tool:done c1", "assistant:again ", "tool:done c2", "assistant:done", "user:more", "assistant:still me", "user:next", "assistant:first again")
		s.stop()
	})
}

// TestFallbackThatIsTooSmall: a conversation that outgrows the fallback's window returns to the first model.
func TestFallbackThatIsTooSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := &script{steps: []step{says("", `c1 do {"kind":"file_read","do":"sleep","seconds":60}`)}}
		s := start(t, func(o *Options) {
			second := small{named{other, "second"}, 350}
			o.Model = fallback.New(retry.BeforeFallback(o.Model, second, ""), second)
		}, append(overloads(2), says("first"))...)
		s.do(event.Submit{Text: "go"})
		time.Sleep(10 * time.Second)
		s.do(event.Submit{Text: strings.Repeat("word ", 300)}) // steers the exchange
		time.Sleep(time.Minute)
		s.do()
		if f, n := find[event.TaskFinished](s); n != 1 || f.Outcome != event.Completed {
			t.Fatalf("%+v", f)
		}
		if e, _ := find[event.RequestStarted](s); e.Profile != "test" || len(other.requests) != 1 {
			t.Errorf("%s answered, after %d requests to the fallback", e.Profile, len(other.requests))
		}
		if e, n := find[event.FallbackEnded](s); n != 1 || e.From != "second" || e.To != "test" {
			t.Errorf("%d times: %+v", n, e)
		}
		s.stop()
	})
}

// small is a model with its own name and window; 0: unknown.
type small struct {
	named
	window int
}

func (s small) Info() model.Info {
	i := s.named.Info()
	i.Window = s.window
	return i
}

// TestTombstones: calls that a failed attempt started are cancelled, closed for screens, and in no later request of
// any model.
func TestTombstones(t *testing.T) {
	stalls := func(ctx context.Context, yield func(model.Delta, error) bool) {
		streams(func(model.Message, func(model.Delta, error) bool) {}, safe("dead", 7200))(ctx, yield)
		silent(ctx, yield)
	}
	for _, tt := range []struct {
		name     string
		recovery model.Recovery
		asked    int // requests to the first model in the first turn
	}{{"retry", model.RecoverRetry, 2}, {"fallback", model.RecoverFallback, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				other := &script{steps: []step{says("", safe("alive", 1))}}
				steps := append(slices.Repeat([]step{stalls}, tt.asked), says("fine"), says("next"))
				s := start(t, func(o *Options) {
					recovering(other, tt.recovery)(o)
					o.Calls.Timeout = 3 * time.Hour
				}, steps...)
				s.do(event.Submit{Text: "go"})
				time.Sleep(30 * time.Minute) // far less than the cancelled calls take
				s.do(event.Submit{Text: "next"})
				if n := len(s.tool.ran); n != tt.asked+1 {
					t.Errorf("ran %q, want one call an attempt and the one that counts", s.tool.ran)
				}
				if _, n := find[event.ToolResult](s); n != tt.asked+1 {
					t.Errorf("%d calls were closed for those who watch, want %d", n, tt.asked+1)
				}
				if got := s.results(); len(got) != 1 || !strings.HasPrefix(got[0], "done ") {
					t.Errorf("later requests have the results %q, want that of the fallback's call alone", got)
				}
				s.stop()
			})
		})
	}
}

// TestSideEffectsRunOnce: an attempt that fails after a call with side effects is never repeated; the exchange continues
// with the result of the call.
func TestSideEffectsRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const call = `c1 do {"kind":"shell","do":"echo"}`
		cut := streams(func(_ model.Message, yield func(model.Delta, error) bool) {
			yield(model.Delta{}, &model.Error{Kind: model.CutError, What: "cut"})
		}, call)
		s := start(t, func(o *Options) {
			recovering(nil, "")(o)
			o.Mode = action.ModeAll
		}, cut, says("ok"))
		s.do(event.Submit{Text: "go"})
		time.Sleep(time.Minute)
		s.do()
		expect(t, s.tool.ran, "c1")
		expect(t, s.results(), "done c1")
		if _, n := find[event.ToolStarted](s); n != 1 {
			t.Errorf("%d calls started", n)
		}
		s.stop()
	})
}

// TestRetryAfter: the server's retry time is respected, and shown.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := fails("", &model.Error{Kind: model.StatusError, Status: 429, What: "slow down", RetryAfter: 90 * time.Second})
		s := start(t, recovering(nil, ""), busy, says("whole"))
		began := time.Now()
		s.do(event.Submit{Text: "go"})
		time.Sleep(2 * time.Minute)
		s.do()
		r, _ := find[event.ModelRetry](s)
		if f, _ := find[event.ResponseFinished](s); r.WaitMS != 90_000 || f.PhaseMS != 90_000 {
			t.Errorf("%+v, %+v since %v", r, f, began)
		}
		s.stop()
	})
}

// TestRetryNow: a person ends the wait for a retry; without one the command is rejected.
func TestRetryNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := fails("", &model.Error{Kind: model.StatusError, Status: 429, What: "slow down", RetryAfter: 4 * time.Minute})
		s := start(t, recovering(nil, ""), busy, says("whole"))
		s.do(event.RetryNow{})
		if e, _ := find[event.Error](s); e.Text != "no request is waiting to be sent again" {
			t.Errorf("%+v", e)
		}
		began := time.Now()
		s.do(event.Submit{Text: "go"})
		time.Sleep(3 * time.Second)
		s.do(event.RetryNow{})
		if f, n := find[event.TaskFinished](s); n != 1 || f.Outcome != event.Completed || time.Since(began) > 4*time.Second {
			t.Errorf("%+v after %v", f, time.Since(began))
		}
		s.stop()
	})
}

// TestPrefixIsStable: requests grow only at the end, byte for byte, so that the provider's cache stays valid: with
// tools, queued prompts, retries and fallbacks.
func TestPrefixIsStable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := &script{steps: []step{says("from the second", `c1 do {"kind":"file_read","do":"echo"}`), says("four")}}
		s := start(t, func(o *Options) {
			recovering(other, "")(o)
			o.System, o.Mode = "be brief", action.ModeAll
		},
			streams(whole, safe("c1", 1), `c1 do {"kind":"shell","do":"sleep","seconds":9}`, `c2 nothing {`),
			overloaded("lost "), says("two", `c1 do {"kind":"file_read","do":"fail"}`),
			stalls("stalls "), says("three", safe("c4", 2), safe("c5", 1)),
			overloaded("x "), overloaded("y "), says("five"))
		s.do(event.Submit{Text: "go <&> \u2028"})
		time.Sleep(5 * time.Second)
		s.do(event.Submit{Text: "also this"}, event.Submit{Text: "and that"})
		time.Sleep(15 * time.Minute) // the fallback's time is over
		s.do(event.Submit{Text: "next"})
		if n := len(s.model.requests); n != 8 || len(other.requests) != 2 {
			t.Fatalf("%d and %d requests", n, len(other.requests))
		}
		all := slices.Insert(slices.Clone(s.model.requests), 7, other.requests...)
		var before []string
		for i, req := range all {
			now := encoded(t, req)
			if len(now) < len(before) || !slices.Equal(now[:len(before)], before) {
				t.Errorf("request %d is not a continuation of the one before:\n%s\n%s", i, now, before)
			}
			before = now
		}
		if got := strings.Join(before, "\n"); strings.Contains(got, "lost") || strings.Contains(got, "stalls") {
			t.Errorf("a dead attempt was sent: %s", got)
		}
		s.stop()
	})
}

// encoded returns a request as sent: its tools, then its messages.
func encoded(t *testing.T, req model.Request) []string {
	t.Helper()
	tools, err := json.Marshal(req.Tools)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{string(tools)}
	for _, m := range req.Messages {
		line, err := m.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return lines
}

func TestCacheHits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := func(u *model.Usage) step {
			return func(_ context.Context, yield func(model.Delta, error) bool) {
				yield(model.Delta{Kind: model.Done, Message: &model.Message{Content: "ok"}, Usage: u}, nil)
			}
		}
		s := start(t, nil, told(nil), told(&model.Usage{Prompt: 9}), told(&model.Usage{Prompt: 9, Cached: 8}))
		for _, want := range []event.CacheResult{"", event.CacheMiss, event.CacheHit} {
			s.do(event.Submit{Text: "go"})
			if f, _ := find[event.ResponseFinished](s); f.Cache != want || (f.CachedTokens > 0) != (want == event.CacheHit) {
				t.Errorf("%+v, want cache %q", f, want)
			}
		}
		s.stop()
	})
}

// TestFullWindow: an answer that stops because the window is full makes room and is requested again, once; it is not
// continued.
func TestFullWindow(t *testing.T) {
	full := func(finish string, u *model.Usage) step {
		return func(_ context.Context, yield func(model.Delta, error) bool) {
			yield(model.Delta{Kind: model.Done, Message: &model.Message{Role: model.Assistant, Content: "half"}, Finish: finish, Usage: u}, nil)
		}
	}
	for name, stops := range map[string]step{
		"said":    full(model.FinishContext, nil),
		"counted": full(model.FinishLength, &model.Usage{Prompt: 9000, Completion: 1000}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				steps := slices.Repeat([]step{says(strings.Repeat("word ", 400))}, 6)
				s := start(t, withWindow(10_000), append(steps, stops, stops, says("never"))...)
				for range 7 {
					s.do(event.Submit{Text: "go"})
				}
				if n := len(s.model.requests); n != 8 {
					t.Errorf("%d requests, want two for the answer that fills the window", n)
				}
				if _, n := find[event.ContextCompacted](s); n != 1 {
					t.Errorf("compacted %d times", n)
				}
				if f, _ := find[event.TaskFinished](s); f.Outcome != event.ContextLimit {
					t.Errorf("%+v", f)
				}
				for _, m := range s.model.requests[len(s.model.requests)-1].Messages {
					if strings.Contains(m.Content, "cut off at the output limit") {
						t.Errorf("it was asked to go on: %q", m.Content)
					}
				}
				s.stop()
			})
		})
	}
}

// A prompt that was stored before its task, when buddy was killed, can be continued; one in the background is reported
// as lost.
func TestPromptWithoutItsTask(t *testing.T) {
	for _, background := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, nil, says("ok"))
			s.do(event.Submit{Text: "go", Background: background})
			stored := s.mem.events
			s.stop()
			end := slices.IndexFunc(stored, func(env event.Envelope) bool { _, ok := env.Payload.(event.PromptSubmitted); return ok }) + 1
			again := start(t, func(o *Options) { o.Replay = stored[:end] }, says("ok"))
			again.do()
			if background {
				if e, n := find[event.TaskFinished](again); n != 1 || e.Error != errLost.Error() {
					t.Errorf("%d tasks ended, the last %+v", n, e)
				}
			} else if e, n := find[event.Interrupted](again); n != 1 || !e.CanContinue {
				t.Errorf("interrupted %d times, %+v", n, e)
			} else {
				again.do(event.Continue{})
				expect(t, saidTexts(again.Messages()), "user:go", "assistant:ok")
			}
			again.stop()
		})
	}
}

// A person who chooses a model, even the same, ends the fallback at once; so does a fallback that fails, too.
func TestFallbackEndsEarly(t *testing.T) {
	for name, tt := range map[string]struct {
		other   []step
		between event.Command
	}{
		"chosen": {[]step{says("one")}, event.SwitchModel{Profile: "test"}},
		"failed": {append([]step{says("one")}, overloads(1)...), event.Submit{Text: "fails"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				other := &script{steps: tt.other}
				var first model.Model
				s := start(t, func(o *Options) {
					recovering(other, "")(o)
					first = o.Model
					o.Models = func(string, string) (model.Model, error) { return first, nil }
				}, append(overloads(2), says("first again"))...)
				s.do(event.Submit{Text: "go"})
				time.Sleep(10 * time.Second)
				s.do(tt.between)
				time.Sleep(10 * time.Second)
				s.do(event.Submit{Text: "next"})
				if e, n := find[event.FallbackEnded](s); n != 1 || e.To != "test" {
					t.Errorf("%d times: %+v", n, e)
				}
				if e, _ := find[event.RequestStarted](s); e.Profile != "test" {
					t.Errorf("the next prompt went to %s", e.Profile)
				}
				s.stop()
			})
		})
	}
}
