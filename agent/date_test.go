package agent

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
)

// The first prompt carries the date; a later one only after the date changed or a compaction, and typed commands
// never. A resumed session sends the same bytes and continues in the same way.
func TestThePromptCarriesTheDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zone := time.FixedZone("CET", 3600)
		dated := func(o *Options) {
			withWindow(100_000)(o)
			o.Dates = zone
		}
		const first = "<system-reminder>Today is 2000-01-01 (CET).</system-reminder>\n\none"
		s := start(t, dated, answers(5)...)
		said := func(s *session) (all []string) {
			for _, m := range s.Messages() {
				if m.Role == model.User && m.Kind == model.Prompt {
					all = append(all, m.Content)
				}
			}
			return all
		}
		s.do(event.Submit{Text: "one"})
		s.do(event.Submit{Text: "two"})
		s.do(event.Submit{Text: "beside", Background: true})
		if msgs := s.request(); msgs[1].Content != first || msgs[len(msgs)-1].Content != "beside" {
			t.Errorf("the fork was asked %+v", msgs)
		}
		want := []string{first, "two"}
		if got := said(s); !reflect.DeepEqual(got, want) {
			t.Errorf("said %q, want %q", got, want)
		}
		before := s.Messages()
		s.stop()

		again := start(t, func(o *Options) { dated(o); o.Replay = s.mem.events }, answers(9)...)
		if got := again.Messages(); !reflect.DeepEqual(got, before) {
			t.Errorf("resumed with\n%v\nwant\n%v", got, before)
		}
		again.do(event.Submit{Text: "three"})
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		again.do(event.Submit{Text: "four"})
		for _, text := range []string{"five", "six", "seven"} {
			again.do(event.Submit{Text: text})
		}
		want = append(want, "three", "<system-reminder>Today is 2000-01-02 (CET).</system-reminder>\n\nfour", "five", "six", "seven")
		if got := said(again); !reflect.DeepEqual(got, want) {
			t.Errorf("said %q, want %q", got, want)
		}
		again.do(event.Compact{})
		if _, n := find[event.ContextCompacted](again); n != 1 {
			t.Fatalf("%d compactions", n)
		}
		again.stop()

		last := start(t, func(o *Options) { dated(o); o.Replay = append(s.mem.events, again.mem.events...) }, answers(1)...)
		last.do(event.Submit{Text: "eight"})
		got := said(last)
		if got[0] != first || !strings.Contains(got[len(got)-1], "Today is 2000-01-02 (CET).</system-reminder>\n\neight") {
			t.Errorf("after a compaction said %q", got)
		}
		last.stop()
	})
}

// The demo model and title requests get no date.
func TestNoDateWhereNobodyReadsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) {
			o.Model, o.Dates = described{o.Model.(*script), model.Info{API: model.Demo}}, time.UTC
		}, says("hi"))
		s.do(event.Submit{Text: "hello"})
		if got := s.request(); got[0].Content != "hello" {
			t.Errorf("the demo read %q", got[0].Content)
		}
		s.stop()
	})
	p := event.PromptSubmitted{Text: "count the files", Date: "2000-01-01 (UTC)"}
	if got := titleRequest([]model.Message{{Role: model.User, Content: conversation.PromptText(p)}}, "two"); !strings.Contains(got, "[user]\ncount the files\n[") {
		t.Errorf("asked for a title by %s", got)
	}
}
