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
	lookTime     = 10 * time.Second // for reading a file of a target
	maxMCPFile   = 1 << 20          // bytes of an .mcp.json
	maxElsewhere = 100              // servers of a project on another target that are listed
)

// serversElsewhere returns the MCP servers of a project on another target, which do not run.
func (p *Program) serversElsewhere() ([]mcp.Status, error) {
	if p.Target == slash.ThisMachine || p.files.There == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	there, err := project.Elsewhere(ctx, p.files.There, p.Target)
	if err != nil {
		err = fmt.Errorf("the project's MCP servers on %s can't be read: %w", p.Target, err)
	}
	return there, err
}
