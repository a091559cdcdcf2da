package compose

import (
	"context"
	"fmt"
	"strings"

	"buddy/agent"
	"buddy/extensions/mcp"
	"buddy/views/markup"
)

// LeftOut says in a line each which skills, commands, subagents and servers of the session were left out and why, for
// where no list shows it. What waits for the person's trust is said by itself, and so are hooks and files that are left out
// because of a limit.
func LeftOut(ctx context.Context, p *Program) (lines []string) {
	if rt := p.Live.runtime(); rt != nil {
		for _, one := range agent.LeftOut(ctx, rt) {
			if !one.Used && !one.Limits {
				lines = append(lines, markup.Plain(one.Kind.One()+" "+one.String()))
			}
		}
	}
	for _, s := range p.Servers.List() {
		if s.State == mcp.Off && s.Barred && !strings.Contains(s.Error, trustFirst) {
			lines = append(lines, markup.Plain(fmt.Sprintf("MCP server %s is not started: %s", s.Name, s.Error)))
		}
	}
	return lines
}
