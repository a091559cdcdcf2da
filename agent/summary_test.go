package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/settings"
	"buddy/agent/turn"
	"buddy/tools"
)

// summarising is a session whose model has a window of this many tokens.
func summarising(tokens int) func(*Options) {
	return func(o *Options) {
		withWindow(tokens)(o)
		o.Context.Strategy = settings.Summary
	}
}

// tooLong fails like a provider that does not accept so many tokens.
func tooLong() step {
	return fails("", &model.Error{Kind: model.ContextError, Status: 400, What: "too many tokens"})
}

func TestSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []turn.Moment
		change := func(o *Options) {
			summarising(1000)(o)
			o.Hooks = append(o.Hooks, func(_ context.Context, m turn.Moment) (turn.Reply, error) {
				if c, ok := m.(turn.ContextCompaction); ok {
					told = append(told, c)
				}
				return turn.Continue, nil
			})
		}
		s := start(t, change, append(answers(4), uncounted("thinking… <summary>\nGoal: numbers\n</summary> done"), uncounted("five"))...)
		for i := range 4 {
			s.do(prompt(i, 160))
		}
		if _, n := find[event.ContextCompacted](s); n != 0 {
			t.Fatal("compacted below the threshold")
		}
		s.do(prompt(4, 200))
		c, n := find[event.ContextCompacted](s)
		if n != 1 || c.By != "summary" || c.Before <= 800 || c.After >= 500 || c.Turns != 3 {
			t.Errorf("%d compactions, the last %+v", n, c)
		}
		asked := s.model.requests[4]
		if len(asked.Tools) != 0 || len(asked.Messages) != 1 || !strings.Contains(asked.Messages[0].Content, "[user]\nprompt 1") {
			t.Errorf("the summary was asked for by %.300q", fmt.Sprint(asked))
		}
		msgs := s.request()
		if len(msgs) != 4 || msgs[1].Role != model.System || msgs[1].Content != summaryIntro+"Goal: numbers" || !strings.HasPrefix(msgs[2].Content, "prompt 0") || !strings.HasPrefix(msgs[3].Content, "prompt 4") {
			t.Errorf("sent %.300q", fmt.Sprint(msgs))
		}
		if want := []turn.Moment{turn.ContextCompaction{OldTokens: c.Before, NewTokens: c.After}}; !reflect.DeepEqual(told, want) {
			t.Errorf("hooks were told %v, want %v", told, want)
		}
		if p, n := find[event.TaskProgress](s); n == 0 || p.Text != "" {
			t.Errorf("%d times progress, the last %+v", n, p)
		}
		s.stop()
	})
}

func TestSummaryInsideOneExchange(t *testing.T) { // a long task must continue beyond its window
	synctest.Test(t, func(t *testing.T) {
		var steps []step
		for i := range 6 {
			steps = append(steps, uncounted(strings.Repeat("word ", 130), fmt.Sprintf(`c%d do {"kind":"file_read"}`, i)))
		}
		steps = append(steps[:5:5], uncounted("<summary>half is done</summary>"), steps[5], uncounted("all done"))
		s := start(t, summarising(1000), steps...)
		s.do(event.Submit{Text: "do it all"})
		if done, _ := find[event.TaskFinished](s); done.Outcome != event.Completed {
			t.Errorf("outcome %+v", done)
		}
		msgs := s.request()
		if msgs[1].Content != summaryIntro+"half is done" || msgs[2].Content != "do it all" || msgs[3].ToolCalls[0].ID != "c4" {
			t.Errorf("sent %.400q", fmt.Sprint(msgs))
		}
		s.stop()

		again := start(t, func(o *Options) { summarising(1000)(o); o.Replay = s.mem.events }, answers(1)...)
		if got, want := again.Messages(), s.Messages(); !reflect.DeepEqual(got, want) {
			t.Errorf("the replay has\n%v\nwant\n%v", got, want)
		}
		again.stop()
	})
}

func TestSummaryFails(t *testing.T) { // and the digest is used
	synctest.Test(t, func(t *testing.T) {
		var steps []step
		for range 4 {
			steps = append(steps, uncounted("ok"))
		}
		for range maxSummaryFailures {
			steps = append(steps, fails("", errors.New("no service")), uncounted("ok"))
		}
		steps[len(steps)-2] = uncounted(strings.Repeat("much ", 2000)) // as long as the replaced messages
		s := start(t, summarising(1000), append(steps, answers(3)...)...)
		for i := range 4 {
			s.do(prompt(i, 190))
		}
		for i := range 6 {
			s.do(prompt(4+i, 60))
		}
		w, n := find[event.Warning](s)
		if c, _ := find[event.ContextCompacted](s); c.By != "digest" || n < maxSummaryFailures {
			t.Errorf("compacted by %q after %d warnings, the last %+v", c.By, n, w)
		}
		for _, req := range s.model.requests[4+2*maxSummaryFailures:] {
			if strings.Contains(req.Messages[0].Content, "<conversation>") {
				t.Error("a summary was asked for after it had failed three times")
			}
		}
		s.stop()
	})
}

func TestThrashing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps []step
		for range 20 {
			steps = append(steps, uncounted("<summary>s</summary>", `c do {"kind":"file_read"}`))
		}
		s := start(t, func(o *Options) { summarising(1000)(o); o.MaxIterations = 12; o.System = strings.Repeat("x", 3300) }, steps...)
		s.do(event.Submit{Text: "go"})
		s.stop()
		said := 0
		for _, env := range s.seen {
			if w, ok := env.Payload.(event.Warning); ok && strings.Contains(w.Text, "no longer helps") {
				said++
			}
		}
		if c, n := find[event.ContextCompacted](s); n > 3 || said != 1 {
			t.Errorf("%d compactions, the last %+v; said %d times that they do not help", n, c, said)
		}
	})
}

// With an unknown window nothing is removed before the provider requires it.
func TestUnknownWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, summarising(0), append(answers(6), tooLong(), uncounted("<summary>s</summary>"), uncounted("fine"))...)
		for i := range 6 {
			s.do(prompt(i, 4000))
		}
		if c, n := find[event.ContextCompacted](s); n != 0 {
			t.Errorf("compacted by %q", c.By)
		}
		if _, n := find[event.MicroCompacted](s); n != 0 {
			t.Error("results were cleared")
		}
		s.do(prompt(6, 4000))
		if c, n := find[event.ContextCompacted](s); n != 1 || c.By != "summary" {
			t.Errorf("%d compactions, the last %+v", n, c)
		}
		s.stop()
	})
}

func TestProviderSaysTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, summarising(100_000), append(answers(2), tooLong(), tooLong(), uncounted("<summary>short</summary>"), uncounted("fine"))...)
		for i := range 3 {
			s.do(prompt(i, 160))
		}
		if c, n := find[event.ContextCompacted](s); n != 1 || c.By != "summary" {
			t.Errorf("%d compactions, the last %+v", n, c)
		}
		if done, _ := find[event.TaskFinished](s); done.Outcome != event.Completed {
			t.Errorf("outcome %+v", done)
		}
		s.stop()
	})
}

// A window reported by the provider becomes that of the session, also in the next process.
func TestProviderSaysHowMuchItTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		says := fails("", &model.Error{Kind: model.ContextError, Status: 400, What: "too long", Window: 8192})
		s := start(t, summarising(100_000), append(answers(2), says, uncounted("<summary>short</summary>"), uncounted("fine"))...)
		for i := range 3 {
			s.do(prompt(i, 160))
		}
		if u, _ := find[event.ContextUsage](s); u.Limit != 8192 {
			t.Errorf("the use is %+v", u)
		}
		h, n := find[event.ContextHealed](s)
		if n != 1 || h.Window != 8192 || h.Text != "scripted takes 8192 tokens, according to its server: buddy now uses this as its context window" {
			t.Errorf("%d times: %+v", n, h)
		}
		s.stop()
		again := start(t, func(o *Options) { summarising(100_000)(o); o.Replay = s.mem.events }, answers(1)...)
		again.do(event.Submit{Text: "go on"})
		if u, _ := find[event.ContextUsage](again); u.Limit != 8192 {
			t.Errorf("in the next process the use is %+v", u)
		}
		again.stop()
	})
}

// An unexplained refusal may mean that the conversation is too long, if it fills more than half of the window.
func TestUnexplainedRefusalOfALongConversation(t *testing.T) {
	for tokens, want := range map[int]event.Outcome{700: event.Completed, 400: event.Failed} {
		synctest.Test(t, func(t *testing.T) {
			no := fails("", &model.Error{Kind: model.StatusError, Status: 400, What: "400 bad request"})
			s := start(t, summarising(1000), append(answers(2), no, uncounted("<summary>short</summary>"), uncounted("fine"))...)
			for i := range 3 {
				s.do(prompt(i, tokens/3))
			}
			if done, _ := find[event.TaskFinished](s); done.Outcome != want {
				t.Errorf("%d tokens: %+v", tokens, done)
			}
			s.stop()
		})
	}
}

// However a summary fails, an exchange that became too long continues: its old turns are removed, the newest stays.
func TestAFailingSummaryLeavesNoSessionStuck(t *testing.T) {
	for name, summary := range map[string][]step{
		"empty":    {uncounted("")},
		"a call":   {uncounted("", `x read_file {"path":"/w/x"}`)},
		"too long": {tooLong(), tooLong(), tooLong()},
		"error":    {fails("", &model.Error{Kind: model.StatusError, Status: 500, What: "500"})},
		"cut":      {fails("<summary>ha", model.Cut())},
		"no gain":  {uncounted(strings.Repeat("word ", 4000))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := func(o *Options) { summarising(100_000)(o); o.Tools = tools.NewRegistry(&reader{}) }
				var steps []step
				for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
					steps = append(steps, uncounted("", id+` read_file {"path":"/w/`+id+`"}`))
				}
				steps = append(append(append(steps, tooLong()), summary...), uncounted("fine"), uncounted("fine"))
				s := start(t, options, steps...)
				s.do(event.Submit{Text: "read"})
				done, _ := find[event.TaskFinished](s)
				c, n := find[event.ContextCompacted](s)
				if done.Outcome != event.Completed || n == 0 || c.By != "digest" || c.After >= c.Before {
					t.Fatalf("%+v after %d compactions, the last %+v", done, n, c)
				}
				msgs := s.request()
				last := msgs[len(msgs)-1]
				if msgs[2].Content != "read" || last.Role != model.Tool || !strings.Contains(last.Content, "/w/f") || len(msgs) > 8 {
					t.Errorf("sent %.600q", saidTexts(msgs))
				}
				s.do(event.Submit{Text: "again"})
				if done, _ := find[event.TaskFinished](s); done.Outcome != event.Completed {
					t.Errorf("the next prompt ended %+v", done)
				}
				s.stop()
				again := start(t, func(o *Options) { options(o); o.Replay = s.mem.events })
				if got, want := again.Messages(), s.Messages(); !reflect.DeepEqual(got, want) {
					t.Errorf("the replay has\n%v\nwant\n%v", got, want)
				}
				again.stop()
			})
		})
	}
}

// Results longer than the window are removed, and so is a prompt that is too long by itself.
func TestWhatNeverFitsDoesNotStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := func(o *Options) { withWindow(1000)(o); o.Tools = tools.NewRegistry(&reader{}) }
		s := start(t, options, uncounted("", `a read_file {"path":"/w/big"}`), uncounted("it was too long"), uncounted("fine"))
		s.do(event.Submit{Text: "read"})
		if m, n := find[event.MicroCompacted](s); n != 1 || !slices.Equal(m.CallIDs, []string{"a"}) {
			t.Errorf("%d times results were cleared, the last %+v", n, m)
		}
		s.do(prompt(1, 980))
		if done, _ := find[event.TaskFinished](s); done.Outcome != event.ContextLimit {
			t.Errorf("ended %+v", done)
		}
		s.do(event.Submit{Text: "short"})
		if done, _ := find[event.TaskFinished](s); done.Outcome != event.Completed {
			t.Errorf("after a prompt that did not fit: %+v", done)
		}
		s.stop()
		again := start(t, func(o *Options) { options(o); o.Replay = s.mem.events })
		if got, want := again.Messages(), s.Messages(); !reflect.DeepEqual(got, want) {
			t.Errorf("the replay has\n%v\nwant\n%v", got, want)
		}
		again.stop()
	})
}

// In a small window even the first prompt is removed; repeated reminders do not cause endless compactions.
func TestASmallWindowTakesEachPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := conversation.Listing{Kind: "skills", Head: "Skills:", Items: []conversation.ListingItem{{Name: "a", Line: strings.Repeat("long ", 60)}}}
		options := func(o *Options) { withWindow(1000)(o); o.Parts = []turn.Part{listed{list: list}} }
		s := start(t, options, answers(6)...)
		for i := range 5 {
			s.do(prompt(i, 500))
			if done, _ := find[event.TaskFinished](s); done.Outcome != event.Completed {
				t.Errorf("prompt %d: %+v", i, done)
			}
		}
		s.do(event.Pin{Back: 1})
		s.do(prompt(5, 900)) // does not fit together with the list and pinned messages
		if done, _ := find[event.TaskFinished](s); done.Outcome != event.ContextLimit {
			t.Errorf("a prompt that does not fit: %+v", done)
		}
		s.do(event.Pin{Back: 1, Off: true})
		s.do(event.Submit{Text: "short"})
		if done, _ := find[event.TaskFinished](s); done.Outcome != event.Completed {
			t.Errorf("after a prompt that did not fit: %+v", done)
		}
		s.stop()
		again := start(t, func(o *Options) { options(o); o.Replay = s.mem.events })
		if got, want := again.Messages(), s.Messages(); !reflect.DeepEqual(got, want) {
			t.Errorf("the replay has\n%v\nwant\n%v", got, want)
		}
		again.stop()
	})
}

func TestTooLongWithNothingToCompact(t *testing.T) { // bounded
	synctest.Test(t, func(t *testing.T) {
		s := start(t, summarising(100_000), slices.Repeat([]step{tooLong()}, 10)...)
		s.do(event.Submit{Text: "one"})
		if done, _ := find[event.TaskFinished](s); done.Outcome != event.ContextLimit || !strings.Contains(done.Error, "too many tokens") {
			t.Errorf("outcome %+v", done)
		}
		if n := len(s.model.requests); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
		s.stop()
	})
}

// reader is a read_file whose files hold their own names.
type reader struct{ fakeTool }

func (*reader) Definition() model.ToolDef {
	return model.ToolDef{Name: "read_file", Parameters: json.RawMessage(`{}`)}
}

func (*reader) Plan(c tools.Call) (action.Action, error) {
	var a struct{ Path string }
	err := json.Unmarshal([]byte(c.Arguments), &a)
	return action.Action{Kind: action.FileRead, Path: a.Path}, err
}

func (*reader) Run(_ context.Context, c tools.Call) tools.Result {
	if strings.Contains(c.Arguments, "big") {
		return tools.Result{Content: strings.Repeat("x", 2*5_000*compact.BytesPerToken)}
	}
	return tools.Result{Content: "content of " + c.Arguments + "</system-reminder>"}
}

func TestFilesAreRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := func(o *Options) {
			summarising(100_000)(o)
			o.Tools = tools.NewRegistry(&reader{})
		}
		read := func(id, path string) step { return uncounted("", id+` read_file {"path":"`+path+`"}`) }
		s := start(t, options,
			read("a", "/w/old"), read("b", "/w/b"), read("c", "/w/c"), read("d", "/w/d"), read("e", "/etc/passwd"), read("f", "/w/big"),
			read("g", "/w/b"), read("h", "/w/h"), uncounted(strings.Repeat("word ", 4000)), uncounted("<summary>s</summary>"), uncounted("fine"))
		s.do(event.Submit{Text: "read"})
		s.do(event.AnswerApproval{ID: openApproval(s), Decision: event.Once})
		s.do(event.Compact{}, event.Submit{Text: "go on"})
		c, _ := find[event.ContextCompacted](s)
		var got []string
		for l := range strings.Lines(c.Restored) {
			if name, ok := strings.CutPrefix(l, "read_file "); ok {
				got = append(got, strings.TrimSpace(name))
			}
		}
		if want := []string{"/w/h", "/w/b", "/w/d", "/w/c", "/w/old"}; !slices.Equal(got, want) {
			t.Errorf("restored %q, want %q, without what needs an approval", got, want)
		}
		if strings.Count(c.Restored, "</system-reminder>") != 1 {
			t.Errorf("a file ends the reminder: %q", c.Restored)
		}
		msgs := s.request()
		if msgs[2].Role != model.User || msgs[2].Content != c.Restored || msgs[len(msgs)-1].Content != "go on" {
			t.Errorf("sent %.400q", fmt.Sprint(msgs))
		}
		s.stop()
		again := start(t, func(o *Options) { options(o); o.Replay = s.mem.events })
		if got, want := again.Messages(), s.Messages(); !reflect.DeepEqual(got, want) {
			t.Errorf("the replay has\n%v\nwant\n%v", got, want)
		}
		again.stop()
	})
}

// Files are read again up to the first one that exceeds the budget, even if a later one would fit; none if that is
// switched off.
func TestRestoredFilesHaveABudget(t *testing.T) {
	for name, tt := range map[string]struct {
		context settings.Context
		want    []string
	}{
		"room for all":     {settings.Context{}, []string{"/w/last", "/w/long" + strings.Repeat("g", 400), "/w/first"}},
		"up to the second": {settings.Context{RestoreTokens: 100}, []string{"/w/last"}},
		"none":             {settings.Context{Restore: settings.NoFiles}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				read := func(id, path string) step { return uncounted("", id+` read_file {"path":"`+path+`"}`) }
				s := start(t, func(o *Options) {
					summarising(100_000)(o)
					o.Tools = tools.NewRegistry(&reader{})
					o.Context.RestoreTokens, o.Context.Restore = tt.context.RestoreTokens, tt.context.Restore
				}, read("a", "/w/first"), read("b", "/w/long"+strings.Repeat("g", 400)), read("c", "/w/last"), uncounted(strings.Repeat("word ", 4000)), uncounted("<summary>s</summary>"))
				s.do(event.Submit{Text: "read"})
				s.do(event.Compact{})
				c, n := find[event.ContextCompacted](s)
				var got []string
				for l := range strings.Lines(c.Restored) {
					if path, ok := strings.CutPrefix(l, "read_file "); ok {
						got = append(got, strings.TrimSpace(path))
					}
				}
				if n != 1 || !slices.Equal(got, tt.want) {
					t.Errorf("%d compactions, restored %q", n, got)
				}
				if blocks := strings.Count(c.Restored, "<system-reminder>"); blocks != min(1, len(tt.want)) {
					t.Errorf("%d reminders: %s", blocks, c.Restored)
				}
				s.stop()
			})
		})
	}
}

func openApproval(s *session) string {
	a, _ := find[event.ApprovalAsked](s)
	return a.ID
}

func TestPin(t *testing.T) { // and by a person
	synctest.Test(t, func(t *testing.T) {
		s := start(t, summarising(100_000), append(answers(4), uncounted("<summary>s</summary>"))...)
		for i := range 4 {
			s.do(prompt(i, 160))
		}
		s.do(event.Pin{Back: 9})
		if e, _ := find[event.Error](s); !strings.Contains(e.Text, "no exchange 9") {
			t.Errorf("error %+v", e)
		}
		s.do(event.Pin{Back: 4}, event.Pin{Back: 3}, event.Pin{Back: 3, Off: true}, event.Compact{})
		want := s.Messages()
		if len(want) != 6 || !strings.HasPrefix(want[2].Content, "prompt 0") || !strings.HasPrefix(want[4].Content, "prompt 3") {
			t.Errorf("history %.300q", fmt.Sprint(want))
		}
		s.stop()
		again := start(t, func(o *Options) { summarising(100_000)(o); o.Replay = s.mem.events })
		if got := again.Messages(); !reflect.DeepEqual(got, want) {
			t.Errorf("the replay has %.300q", fmt.Sprint(got))
		}
		again.stop()
	})
}

func TestCompactWhileATaskRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, summarising(100_000), append(answers(3),
			uncounted("", `c1 do {"kind":"shell","do":"echo"}`), uncounted("<summary>s</summary>"), uncounted("fine"))...)
		for i := range 3 {
			s.do(prompt(i, 160))
		}
		s.do(event.Submit{Text: "run it"})
		s.do(event.Compact{})
		if n, _ := find[event.Notice](s); !strings.Contains(n.Text, "before the next request") {
			t.Errorf("notice %+v", n)
		}
		s.do(event.AnswerApproval{ID: openApproval(s), Decision: event.Once})
		if c, n := find[event.ContextCompacted](s); n != 1 || c.By != "summary" {
			t.Errorf("%d compactions, the last %+v", n, c)
		}
		if msgs := s.request(); msgs[1].Content != summaryIntro+"s" || !strings.HasPrefix(msgs[2].Content, "prompt 0") || !strings.HasPrefix(msgs[3].Content, "prompt 2") || len(msgs) != 8 {
			t.Errorf("sent %.300q", fmt.Sprint(msgs))
		}
		s.stop()
	})
}

func TestWindowStrategy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) {
			withWindow(1000)(o)
			o.Context = settings.Context{Strategy: settings.Window, KeepMessages: 4}
		}, answers(8)...)
		for i := range 5 {
			s.do(prompt(i, 160))
		}
		c, n := find[event.ContextCompacted](s)
		if n != 1 || c.By != "window" || c.Summary != "" {
			t.Errorf("%d compactions, the last %+v", n, c)
		}
		if msgs := s.request(); len(msgs) != 5 || msgs[0].Content != "be brief" || !strings.HasPrefix(msgs[1].Content, "prompt 0") || !strings.HasPrefix(msgs[2].Content, "prompt 3") {
			t.Errorf("sent %.300q", fmt.Sprint(msgs))
		}
		s.stop()
	})
}

// The strategy window compacts at twice the messages that it keeps, whatever their tokens.
func TestWindowStrategyCountsMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) {
			withWindow(100_000)(o)
			o.Context = settings.Context{Strategy: settings.Window, KeepMessages: 4}
		}, answers(8)...)
		for i := range 4 {
			s.do(prompt(i, 20)) // system, 2 messages each
		}
		if c, n := find[event.ContextCompacted](s); n != 0 {
			t.Errorf("compacted %+v at 8 messages", c)
		}
		s.do(prompt(4, 20))
		if c, n := find[event.ContextCompacted](s); n != 1 || c.By != "window" || len(s.request()) > 7 {
			t.Errorf("%d compactions, the last %+v, then %d messages were sent", n, c, len(s.request()))
		}
		s.stop()
	})
}

func TestStepsShowCompactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &script{steps: append(answers(4), uncounted("<summary>s</summary>"), uncounted("fine"))}
		r := New(Options{Model: windowed{m, 1000}})
		for i := range 4 {
			if _, err := r.RunText(t.Context(), prompt(i, 160).Text); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for s := range r.RunStep(t.Context(), model.Message{Content: prompt(5, 240).Text}) {
			got = append(got, fmt.Sprintf("%T", s))
			if c, ok := s.(CompactionOccurred); ok && c.OldTokens <= c.NewTokens {
				t.Errorf("step %+v", c)
			}
		}
		if want := []string{"agent.CompactionOccurred", "agent.FinalResponse"}; !slices.Equal(got, want) {
			t.Errorf("steps %v, want %v", got, want)
		}
	})
}

// talker is a tool with as many bytes of output as its argument.
type talker struct{ fakeTool }

func (*talker) Run(_ context.Context, c tools.Call) tools.Result {
	var a fakeArgs
	_ = json.Unmarshal([]byte(c.Arguments), &a)
	return tools.Result{Content: strings.Repeat("h", a.Seconds/2) + strings.Repeat("t", a.Seconds-a.Seconds/2)}
}

func TestSpill(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		options := func(o *Options) {
			summarising(1_000_000)(o)
			o.Tools, o.OutDir = tools.NewRegistry(&talker{}), dir
		}
		call := func(id string, bytes int) string {
			return fmt.Sprintf(`%s do {"kind":"file_read","seconds":%d}`, id, bytes)
		}
		s := start(t, options, says("", call("a", 50_000), call("b", 50_001), call("c", 49_000), call("d", 49_000), call("e", 30_000)), says("ok"))
		s.do(event.Submit{Text: "go"})
		got := s.results()
		if len(got[0]) != 50_000 || strings.Contains(got[2], "whole") || len(got[4]) != 30_000 || len(got[1]) > spillLeast {
			t.Errorf("results of %d, %d, %d, %d, %d bytes", len(got[0]), len(got[1]), len(got[2]), len(got[3]), len(got[4]))
		}
		if !strings.HasPrefix(got[1], "hhh") || strings.Count(got[1], "h") < 2_000 || !strings.Contains(got[1], "the whole result (50001 bytes) is in "+dir) {
			t.Errorf("spilled: …%s", got[1][len(got[1])-200:])
		}
		e, n := find[event.ResultSpilled](s)
		if n != 2 || e.CallID != "b" || e.Bytes != 50_001 || e.Result != got[1] {
			t.Errorf("%d spilled, the last %+v", n, e)
		}
		if data, err := os.ReadFile(e.Path); err != nil || len(data) != 50_001 {
			t.Errorf("the file has %d bytes (%v)", len(data), err)
		}
		want := s.Messages()
		s.stop()
		again := start(t, func(o *Options) { options(o); o.Replay = s.mem.events })
		if got := again.Messages(); !reflect.DeepEqual(got, want) {
			t.Error("the replay has other results")
		}
		again.stop()
	})
}

func TestSpillWithoutAFile(t *testing.T) { // the result is shortened
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) { summarising(1_000_000)(o); o.Tools, o.OutDir = tools.NewRegistry(&talker{}), "" },
			says("", `a do {"kind":"file_read","seconds":60000}`), says("ok"))
		s.do(event.Submit{Text: "go"})
		if got := s.results()[0]; len(got) > 51_000 || !strings.HasSuffix(got, "the rest is lost, because it could not be saved: the session keeps no files]") {
			t.Errorf("%d bytes: …%s", len(got), got[len(got)-100:])
		}
		s.stop()
	})
}

// All results of an answer together are limited, and the largest are cut: a small one that comes last stays whole.
func TestResultsTogetherAreCapped(t *testing.T) {
	dir := t.TempDir()
	for name, sizes := range map[string][]int{
		"ten large ones and a small one": {49_000, 49_000, 49_000, 49_000, 49_000, 49_000, 49_000, 49_000, 49_000, 49_000, 3_000},
		"two hundred":                    slices.Repeat([]int{4_000}, 200),
		"at the limit":                   {50_000, 50_000, 50_000, 50_000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := func(o *Options) {
					summarising(1_000_000)(o)
					o.Tools, o.OutDir = tools.NewRegistry(&talker{}), dir
				}
				var calls []string
				for i, n := range sizes {
					calls = append(calls, fmt.Sprintf(`c%d do {"kind":"file_read","par":true,"seconds":%d}`, i, n+i)) // each one different
				}
				if name == "at the limit" {
					calls = calls[:0]
					for i := range sizes {
						calls = append(calls, fmt.Sprintf(`c%d do {"kind":"file_read","seconds":50000,"n":%d}`, i, i))
					}
				}
				s := start(t, options, says("", calls...), says("ok"))
				s.do(event.Submit{Text: "go"})
				got := s.results()
				total := 0
				for i, r := range got {
					total += len(r)
					if cut := strings.Contains(r, "the whole result ("); name == "at the limit" && cut || sizes[i] < 4_000 && cut {
						t.Errorf("result %d of %d bytes was cut", i, sizes[i])
					}
				}
				if len(got) != len(sizes) || total > spillTurn || total < spillTurn/3 {
					t.Errorf("%d results with %d bytes were sent, allowed are %d", len(got), total, spillTurn)
				}
				want := s.Messages()
				s.stop()
				again := start(t, func(o *Options) { options(o); o.Replay = s.mem.events })
				if got := again.Messages(); !reflect.DeepEqual(got, want) {
					t.Error("the replay has other results")
				}
				again.stop()
			})
		})
	}
}
