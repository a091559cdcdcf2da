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

// LeftOut returns an event for each skill, command, subagent and server that was left out, with the reason. buddy exec
// prints these events, because it has no lists that show them. Parts that wait for trust have their own notices, and so
// do hooks and files left out because of a limit.
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
		case !s.Project || strings.HasPrefix(s.Name, project.PluginPrefix): // the notice about .mcp.json names the others
			all = append(all, project.LostLimit(text))
		}
	}
	return all
}
