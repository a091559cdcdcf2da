package agent

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/instructions"
	"buddy/agent/model"
	"buddy/tools"
)

// Another model gets its own system prompt, followed by the same instruction files, and its own tools; more effort of
// the same model changes nothing that a provider may have cached.
func TestWhatIsToldFollowsTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		options := func(o *Options) {
			answers := o.Model.(*script)
			o.System = "for the first"
			o.Instructions = func(context.Context) (instructions.Set, error) {
				return instructions.Set{Files: []instructions.File{{Path: "/w/AGENTS.md", Text: "use tabs"}}}, nil
			}
			o.Models = func(profile, effort string) (model.Model, error) {
				return described{answers, model.Info{Profile: profile, Model: profile, Window: 100_000, Effort: effort}}, nil
			}
			o.Told = func(m model.Info) (string, *tools.Registry) {
				asked++
				return "for " + m.Model, tools.NewRegistry()
			}
		}
		s := start(t, options, uncounted("one"), uncounted("two"), uncounted("three"))
		check := func(system string, offered int) {
			t.Helper()
			req := s.model.requests[len(s.model.requests)-1]
			if got := req.Messages[0].Content; got != system || !strings.Contains(req.Messages[1].Content, "use tabs") || len(req.Tools) != offered {
				t.Errorf("told %q with %d tools, want %q first and %d", got, len(req.Tools), system, offered)
			}
		}
		s.do(event.Submit{Text: "one"})
		check("for the first", 1)
		s.do(event.SwitchModel{Effort: "high"}, event.Submit{Text: "two"})
		check("for the first", 1)
		before := s.tasks.tree.Main().Tokens()
		s.do(event.SwitchModel{Profile: "second"})
		if now := s.tasks.tree.Main().Tokens(); now >= before {
			t.Errorf("without tools the context has %d tokens, before %d", now, before)
		}
		s.do(event.Submit{Text: "three"})
		check("for second", 0)
		if asked != 1 {
			t.Errorf("asked %d times what to tell, want 1", asked)
		}
		s.stop()
	})
}
