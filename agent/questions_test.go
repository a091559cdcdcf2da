package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
	"buddy/tools/basic"
)

// asks adds the real ask_user to the test tool.
func asks(o *Options) { o.Tools = tools.NewRegistry(&fakeTool{}, basic.NewAskUser()) }

const aQuestion = `q1 ask_user {"question":"Which port?","choices":["80","8080"],"why":"two are free"}`

func TestQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, asks, says("", aQuestion), says("ok"))
		s.do(event.Submit{Text: "go"})
		q, n := find[event.QuestionAsked](s)
		if n != 1 || q.Text != "Which port?" || len(q.Choices) != 2 || q.CallID != "q1" {
			t.Fatalf("%d questions, %+v", n, q)
		}
		if _, n := find[event.ApprovalAsked](s); n != 0 {
			t.Error("a question needed an approval")
		}
		s.do(event.Answer{ID: "nobody", Text: "x"})
		if e, _ := find[event.Error](s); !strings.Contains(e.Text, `question "nobody" is not open`) {
			t.Errorf("error %+v", e)
		}
		s.do(event.Answer{ID: q.ID, Text: "8080"}, event.Answer{ID: q.ID, Text: "late"})
		if got := s.results()[0]; got != "8080" {
			t.Errorf("the model read %s", got)
		}
		if a, n := find[event.QuestionAnswered](s); n != 1 || a.Text != "8080" || a.By != "user" {
			t.Errorf("%d answers, the last %+v", n, a)
		}
		s.stop()
	})
}

func TestQuestionIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, asks, says("", aQuestion))
		s.do(event.Submit{Text: "go"})
		s.do(event.Cancel{})
		if a, n := find[event.QuestionAnswered](s); n != 1 || a.By != "cancel" {
			t.Errorf("%d answers, the last %+v", n, a)
		}
		s.stop()
	})
}

func TestQuestionOfACrash(t *testing.T) { // it is asked again after a crash
	synctest.Test(t, func(t *testing.T) {
		s := start(t, asks, says("", aQuestion))
		s.do(event.Submit{Text: "go"})
		stored := s.mem.events
		s.stop()
		again := start(t, func(o *Options) { asks(o); o.Replay = stored }, says("ok"))
		q, n := find[event.QuestionAsked](again)
		if n != 1 {
			t.Fatalf("%d questions after the crash", n)
		}
		again.do(event.Answer{ID: q.ID, Text: "80"})
		if got := again.results()[0]; got != "80" {
			t.Errorf("the model read %s", got)
		}
		again.stop()
	})
}

func TestQuestionAnsweredBeforeACrash(t *testing.T) { // it is not asked again
	synctest.Test(t, func(t *testing.T) {
		s := start(t, asks, says("", aQuestion), says("ok"))
		s.do(event.Submit{Text: "go"})
		q, _ := find[event.QuestionAsked](s)
		s.do(event.Answer{ID: q.ID, Text: "80"})
		stored := s.mem.events
		s.stop()
		end := slices.IndexFunc(stored, func(env event.Envelope) bool { _, ok := env.Payload.(event.QuestionAnswered); return ok }) + 1
		again := start(t, func(o *Options) { asks(o); o.Replay = stored[:end] }, says("ok"))
		again.do()
		if _, n := find[event.QuestionAsked](again); n != 0 || again.results()[0] != "80" {
			t.Errorf("%d questions after the crash, the model read %q", n, again.results())
		}
		again.stop()
	})
}

func TestNobodyToAnswer(t *testing.T) { // without a person there is no answer
	r := New(Options{Model: &script{steps: []step{says("", aQuestion), says("ok")}}, Tools: tools.NewRegistry(basic.NewAskUser())})
	res, err := r.RunText(t.Context(), "go")
	if err != nil || !strings.Contains(res.Messages[2].Content, "nobody was there to ask") {
		t.Errorf("%v: %+v", err, res.Messages)
	}
}

// painter is a tool that reads a picture.
type painter struct{ fakeTool }

func (*painter) Plan(tools.Call) (action.Action, error) {
	return action.Action{Kind: action.FileRead, Path: "/w/a.png"}, nil
}

func (*painter) Run(context.Context, tools.Call) tools.Result {
	return tools.Result{Content: "a picture", Images: []model.Image{{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}}}
}

func TestPicturesOfTools(t *testing.T) { // after all results, also after a resume
	synctest.Test(t, func(t *testing.T) {
		options := func(o *Options) {
			withWindow(100_000)(o)
			o.Tools = tools.NewRegistry(&painter{})
		}
		s := start(t, options, says("", `c1 do {}`, `c2 do {"x":1}`), says("two cats"))
		s.do(event.Submit{Text: "look"})
		msgs := s.request()
		last := msgs[len(msgs)-1]
		if last.Role != model.User || len(last.Images) != 2 || msgs[len(msgs)-2].Role != model.Tool {
			t.Errorf("sent %+v", msgs)
		}
		want, _ := json.Marshal(s.Messages())
		s.stop()
		again := start(t, func(o *Options) { options(o); o.Replay = s.mem.events })
		if got, _ := json.Marshal(again.Messages()); string(got) != string(want) {
			t.Errorf("the replay has %s, want %s", got, want)
		}
		again.stop()
	})
}
