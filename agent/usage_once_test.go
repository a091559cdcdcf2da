package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/settings"
	"buddy/sessions/trace"
	"buddy/texts"
)

// costs is says with a usage of this many tokens; other, if not "", is the fallback that answers.
func costs(tokens int, other, text string, calls ...string) step {
	said := says(text, calls...)
	return func(ctx context.Context, yield func(model.Delta, error) bool) {
		if other != "" && !yield(model.Delta{Kind: model.Fallback, Fallback: &model.FallbackNotice{
			From: model.Info{Model: "test"}, To: model.Info{Profile: other, Model: other}, Why: "busy",
		}}, nil) {
			return
		}
		said(ctx, func(d model.Delta, err error) bool {
			if d.Usage != nil {
				d.Usage = &model.Usage{Prompt: tokens, Completion: 1, Cached: tokens / 2}
			}
			return yield(d, err)
		})
	}
}

// TestUsageIsCountedOnce: the title, a subagent, a fallback and a summary are each one request of the session, by
// purpose; every report of the session shows their sum.
func TestUsageIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		small := &script{steps: []step{costs(1, "", "A title of it")}}
		s, _ := withAgents(t, map[string][]step{
			"main": {
				costs(10, "", "", callsAgent("a1", "worker", "one look", "")), costs(100, "second", "done"),
				costs(10_000, "", "more "+strings.Repeat("word ", 3000)), costs(100_000, "", "<summary>what was said</summary>"), costs(1_000_000, "", "yes"),
			},
			"one": {costs(1000, "", "seen")},
		}, []string{worker}, func(o *Options) {
			o.Small, o.Context.Strategy = small, settings.Summary
			o.Model.(*byAgent).info.Window = 100_000
		})
		s.do(event.Submit{Text: "first"})
		s.do(event.Submit{Text: "second"})
		s.do(event.Compact{})
		s.do(event.Submit{Text: "third"})

		var sum trace.Trace
		var purposes []string
		prompt := 0
		for _, env := range s.events() {
			sum.Add(env)
			if u, ok := env.Payload.(event.MetricsUsage); ok {
				prompt += u.Prompt
				purposes = append(purposes, fmt.Sprintf("%s %s %d", u.For, u.Model, u.Prompt))
			}
		}
		const want = 1_111_111
		last, _ := find[event.MetricsUsage](s)
		if prompt != want || last.SessionPrompt != want || sum.Totals.Prompt != want || last.SessionUnpriced != sum.Totals.Unpriced || sum.Totals.Cached != last.SessionCached {
			t.Errorf("the requests have %d tokens, the session %+v, the trace %+v", prompt, last, sum.Totals)
		}
		if got := strings.Join(purposes, ", "); !strings.Contains(got, "subagent scripted 1000") || !strings.Contains(got, " second 100") ||
			!strings.Contains(got, "title scripted 1") || !strings.Contains(got, "compaction scripted 100000") {
			t.Errorf("the requests were for %s", got)
		}
		for what, text := range map[string]string{"status": textOf(Status(s.Runtime)), "context": textOf(ContextUse(s.Runtime))} {
			if !strings.Contains(text, "Session: "+texts.Count(want)+" tokens in") {
				t.Errorf("%s says %s", what, text)
			}
		}
		s.stop()
	})
}
