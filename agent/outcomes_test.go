package agent

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/model"
)

// ended drives one exchange in each of the four ways, and checks outcome and error.
func ended(t *testing.T, change func(*Options), steps func() []step, check func(way string, outcome event.Outcome, err error, res Result)) {
	t.Helper()
	ways := map[string]func(*testing.T, *session) (event.Outcome, Result, error){
		"commands": func(_ *testing.T, s *session) (event.Outcome, Result, error) {
			s.do(event.Submit{Text: "go"})
			f, _ := find[event.TaskFinished](s)
			return f.Outcome, Result{}, errors.New(f.Error)
		},
		"run": func(t *testing.T, s *session) (event.Outcome, Result, error) {
			res, err := s.RunText(t.Context(), "go")
			return res.Outcome, res, err
		},
		"stream": func(t *testing.T, s *session) (event.Outcome, Result, error) {
			var f event.TaskFinished
			for env := range s.RunStream(t.Context(), model.Message{Role: model.User, Content: "go"}) {
				if p, ok := env.Payload.(event.TaskFinished); ok {
					f = p
				}
			}
			return f.Outcome, Result{}, errors.New(f.Error)
		},
		"steps": func(t *testing.T, s *session) (outcome event.Outcome, res Result, err error) {
			for one := range s.RunStep(t.Context(), model.Message{Role: model.User, Content: "go"}) {
				switch one := one.(type) {
				case Failure:
					outcome, err, res = one.Result.Outcome, one.Err, one.Result
				case FinalResponse:
					outcome, res = one.Result.Outcome, one.Result
				}
			}
			return outcome, res, err
		},
	}
	for way, drive := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, change, steps()...)
				outcome, res, err := drive(t, s)
				check(way, outcome, err, res)
				s.stop()
			})
		})
	}
}

// TestContextLimitIsAnError: an exchange that does not fit ends with the estimate and the window, whether it was not
// sent or refused by the provider.
func TestContextLimitIsAnError(t *testing.T) {
	long := strings.Repeat("long ", 2000)
	never := func() []step { return nil }
	full := func(o *Options) { withWindow(1000)(o); o.System = long }
	ended(t, full, never, func(way string, outcome event.Outcome, err error, res Result) {
		if outcome != event.ContextLimit || err == nil || !strings.Contains(err.Error(), "do not fit into the context window of 1000 tokens; /compact") {
			t.Errorf("%s: it ended %s with %v", way, outcome, err)
		}
		var limit *ContextLimitError
		if (way == "run" || way == "steps") && (!errors.As(err, &limit) || limit.Limit != 1000 || limit.Estimated < 2000 || limit.Err != nil || res.Turns != 0) {
			t.Errorf("%s: %+v after %d turns", way, limit, res.Turns)
		}
		if way == "run" && len(res.Messages) != 1 {
			t.Errorf("what was not sent is in the history: %q", saidTexts(res.Messages))
		}
	})
	refused := func() []step { return []step{tooLong(), tooLong(), tooLong(), tooLong()} }
	ended(t, nil, refused, func(way string, outcome event.Outcome, err error, _ Result) {
		if outcome != event.ContextLimit || !strings.Contains(err.Error(), "too many tokens") {
			t.Errorf("%s: it ended %s with %v", way, outcome, err)
		}
		if e, ok := errors.AsType[*model.Error](err); (way == "run" || way == "steps") && (!ok || e.Kind != model.ContextError) {
			t.Errorf("%s: what the provider said is lost: %v", way, err)
		}
	})
}

// TestEmptyAnswerIsAnAnswer: the model is asked once more; then the empty answer is accepted.
func TestEmptyAnswerIsAnAnswer(t *testing.T) {
	for name, silent := range map[string]step{"empty": says(""), "blank": says(" \n"), "no call": ends(model.FinishToolCalls, "")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, nil, silent, silent, says("fine"))
				s.do(event.Submit{Text: "go"})
				f, _ := find[event.TaskFinished](s)
				if w, n := find[event.Warning](s); f.Outcome != event.Completed || len(s.model.requests) != 2 || n != 1 || w.Code != "empty_answer" {
					t.Errorf("it ended %+v after %d requests with %+v", f, len(s.model.requests), w)
				}
				if last := s.model.requests[1].Messages; !strings.Contains(last[len(last)-1].Content, "Your last answer was empty") && name != "no call" {
					t.Errorf("the nudge is %+v", last[len(last)-1])
				}
				s.do(event.Submit{Text: "again"})
				for _, m := range s.model.requests[2].Messages {
					if m.Role == model.Assistant && name != "no call" || strings.Contains(m.Content, "Your last answer") {
						t.Errorf("the nudge or the empty answer is in the history: %+v", m)
					}
				}
				s.stop()
			})
		})
	}
}

// TestResponseOfAnEmptyAnswer: Run returns it as an answer, too.
func TestResponseOfAnEmptyAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m, _ := embedded(0, says("let me see", aCall), says(""), says(""))
		if res, err := r.RunText(t.Context(), "go"); err != nil || res.Response != "" || res.Outcome != event.Completed || res.Turns != 2 || len(m.requests) != 3 {
			t.Errorf("%+v, %v after %d requests", res, err, len(m.requests))
		}
	})
}

// TestUnknownFinishReason: the answer is kept, and the reason is reported once in a session.
func TestUnknownFinishReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, ends("out\x1b[31mofcoffee", ""), ends("out\x1b[31mofcoffee", ""))
		s.do(event.Submit{Text: "go"})
		f, _ := find[event.TaskFinished](s)
		m, _ := find[event.ModelMessage](s)
		w, n := find[event.Warning](s)
		if f.Outcome != event.Completed || m.Message.Content != "half" || n != 1 || w.Code != "finish_reason" || w.Text != `unexpected finish reason "out\x1b[31mofcoffee"` {
			t.Errorf("it ended %+v, said %q and warned %+v", f, m.Message.Content, w)
		}
		s.do(event.Submit{Text: "again"})
		if _, n := find[event.Warning](s); n != 1 {
			t.Errorf("%d warnings of one reason", n)
		}
		s.stop()
	})
}

// TestOnlyCompleteTurnsCount: a turn ended by the provider or a person does not count.
func TestOnlyCompleteTurnsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, says("", aCall), fails("", errors.New("connection reset")))
		res, err := s.RunText(t.Context(), "go")
		if err == nil || res.Turns != 1 || len(s.model.requests) != 2 {
			t.Errorf("%d turns of %d requests, %v", res.Turns, len(s.model.requests), err)
		}
		s.stop()
	})
}
