package compose

import (
	"context"
	"fmt"
	"strings"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/app/project"
	"buddy/features/mcp"
	"buddy/views/markup"
)

// LeftOut says in an event each which skills, commands, subagents and servers of the session were left out and why, for
// where no list shows it. What waits for the person's trust is said by itself, and so are hooks and files that are left out
// because of a limit.
func LeftOut(ctx context.Context, p *Program) (all []event.Event) {
	if rt := p.Live.runtime(); rt != nil {
		for _, one := range append(p.Skills.LeftOut(ctx), agent.Subagents(ctx, rt).Problems...) {
			if !one.Used && !one.Limits {
				all = append(all, event.Notice{Text: markup.Plain(one.Kind.One() + " " + one.String())})
			}
		}
	}
	for _, s := range p.Servers.List() {
		text := markup.Plain(fmt.Sprintf("MCP server %s is not started: %s", s.Name, s.Error))
		switch lost := strings.HasSuffix(s.Error, project.NotUnderstood); {
		case s.State != mcp.Off || !s.Barred || strings.Contains(s.Error, project.TrustFirst):
		case !lost:
			all = append(all, event.Notice{Text: text})
		case !s.Project || strings.HasPrefix(s.Name, project.PluginPrefix): // what is said of .mcp.json names the others
			all = append(all, project.LostLimit(text))
		}
	}
	return all
}
