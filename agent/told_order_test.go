package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/instructions"
	"buddy/agent/reminder"
	"buddy/agent/subagents"
	"buddy/agent/turn"
	"buddy/extensions"
	"buddy/features/files"
	"buddy/features/lsp"
	"buddy/features/mcp"
	"buddy/tools"
	"buddy/tools/basic"
)

// listed is a part with a list, in the position of that of MCP servers.
type listed struct {
	turn.Nothing
	list conversation.Listing
}

func (listed) Name() string                               { return "mcp" }
func (l listed) Brief(_ context.Context, b turn.Briefing) { b.List(l.list) }

// Features add context before a request in a fixed order: later texts change no byte of earlier ones, which providers
// have cached.
func TestOrderInWhichFeaturesTellTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, l := newPlanner(t), &library{}
		if err := os.WriteFile(filepath.Join(p.dir, "a.txt"), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		l.add(t, extensions.Person, extensions.Skill, "pdf", "---\ndescription: Fill forms\n---\nText")
		defs := definitions(t, "---\nname: worker\ndescription: Works\n---\nText")
		p.change = func(o *Options) {
			o.Mode = action.ModePlan
			o.Agents.Read = func(context.Context) (subagents.Set, error) { return subagents.Set{Agents: defs}, nil }
			o.Instructions = func(context.Context) (instructions.Set, error) { return instructions.Set{}, nil }
			o.Parts = append(o.Parts, files.Part(nil),
				mcp.Resources(func(context.Context, []string) ([]tools.Resource, []string) {
					return []tools.Resource{{Name: "docs:guide", Text: "the guide"}}, nil
				}),
				lsp.Part(&checks{late: []string{"a.txt:1: wrong"}}),
				listed{list: conversation.Listing{Kind: reminder.MCP, Head: "Servers:", Items: []conversation.ListingItem{{Name: "docs", Line: "docs"}}}},
			)
			l.begin(o)
		}
		s := start(t, p.options(t, basic.NewSkill(), basic.NewAgent()), says("ok"))
		defer s.stop()
		s.do(event.Submit{Text: "read @a.txt and @docs:guide, ask @agent-worker"})
		var told []string
		for _, env := range s.mem.events {
			if r, ok := env.Payload.(event.ReminderAttached); ok {
				told = append(told, r.Kinds...)
			}
		}
		want := []string{reminder.Skills, reminder.AtFile, reminder.Agents, reminder.Plan, reminder.MCP, reminder.AgentMention, reminder.Diagnostics, reminder.Resources}
		if !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}
