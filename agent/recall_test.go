package agent

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/tools"
)

// The person's task is sent word for word after three summaries and a resume, with ended commands and typed commands
// in between; also in old sessions, whose prompts have no kind.
func TestCompactionKeepsTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const task, second = "tidy up. Never touch vendor/", "now the second half"
		ended := make(chan struct{})
		close(ended)
		options := func(o *Options) {
			summarising(100_000)(o)
			o.Tools = tools.NewRegistry(&longTool{done: ended}, &fakeTool{})
		}
		run := func(i int) step { return uncounted("", fmt.Sprintf(`r%d run_shell {}`, i)) }
		s := start(t, options,
			run(0), uncounted("", `a0 do {"kind":"shell","do":"echo"}`), uncounted("half"), // the first exchange
			uncounted("<summary>one</summary>"), // for the request below
			run(1), uncounted("", `a1 do {"kind":"shell","do":"echo"}`),
			uncounted("<summary>two</summary>"), run(2), uncounted("", `a2 do {"kind":"shell","do":"echo"}`),
			uncounted("<summary>three</summary>"), uncounted("done"))
		s.do(event.Submit{Text: task})
		s.do(event.AnswerApproval{ID: openApproval(s), Decision: event.Once})
		s.do(event.Submit{Text: "!ls", Shell: true}, event.Compact{}, event.Submit{Text: second})
		s.do(event.Submit{Text: "and quickly"}, event.Compact{})
		s.do(event.AnswerApproval{ID: openApproval(s), Decision: event.Once})
		s.do(event.Compact{})
		s.do(event.AnswerApproval{ID: openApproval(s), Decision: event.Once})
		if _, n := find[event.ContextCompacted](s); n != 3 {
			t.Fatalf("%d compactions", n)
		}
		check := func(what string, msgs []model.Message) {
			t.Helper()
			var said []string
			for _, m := range msgs {
				if m.Role == model.User && m.Kind != model.Reminder {
					said = append(said, m.Content)
				}
			}
			if !slices.Equal(said, []string{task, second, "and quickly"}) || msgs[1].Content != summaryIntro+"three" {
				t.Errorf("%s: of the person the model read %q in\n%v", what, said, msgs)
			}
		}
		check("live", s.request())
		s.stop()

		old := slices.Clone(s.mem.events)
		for i, env := range old {
			if p, ok := env.Payload.(event.PromptSubmitted); ok {
				p.Kind = ""
				old[i].Payload = p
			}
		}
		for what, events := range map[string][]event.Envelope{"resumed": s.mem.events, "resumed from an old session": old} {
			again := start(t, func(o *Options) { options(o); o.Replay = events })
			check(what, again.Messages())
			if got, want := again.Messages(), s.Messages(); !reflect.DeepEqual(got, want) {
				t.Errorf("%s:\n%v\nwant\n%v", what, got, want)
			}
			again.stop()
		}
	})
}

// The title is made from the prompt, not from reminders before it.
func TestTitleOfThePrompt(t *testing.T) {
	msgs := []model.Message{
		{Role: model.User, Kind: model.Reminder, Content: "!ls"},
		{Role: model.User, Content: "count the files"},
	}
	if got := titleRequest(msgs, "two"); !strings.Contains(got, "[user]\ncount the files\n") {
		t.Errorf("asked for a title by %s", got)
	}
}
