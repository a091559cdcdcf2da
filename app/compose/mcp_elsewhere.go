package compose

import (
	"context"
	"fmt"
	"time"

	"buddy/app/project"
	"buddy/app/slash"
	"buddy/features/mcp"
)

const (
	lookTime     = 10 * time.Second // that a target may take to show a file
	maxMCPFile   = 1 << 20          // bytes of an .mcp.json
	maxElsewhere = 100              // servers of a project elsewhere that are listed
)

// MCPStatuses returns what is known of all MCP servers: those of the session, then those of a
// project on another target, which do not run. The error says why the latter are not known.
func (p *Program) MCPStatuses() ([]mcp.Status, error) {
	all := p.Servers.List()
	if p.Target == slash.ThisMachine || p.files.There == nil {
		return all, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	there, err := project.Elsewhere(ctx, p.files.There, p.Target)
	if err != nil {
		err = fmt.Errorf("the MCP servers of the project on %s are not known: %w", p.Target, err)
	}
	return append(all, there...), err
}
