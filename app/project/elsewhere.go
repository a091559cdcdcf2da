package project

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"buddy/agent/instructions"
	"buddy/features/mcp"
	"buddy/tools/file"
)

const (
	maxMCPFile   = 1 << 20 // bytes of an .mcp.json
	maxElsewhere = 100     // servers of a project on another target that are listed
)

// Elsewhere lists the MCP servers of a project on another target, which do not run.
func Elsewhere(ctx context.Context, files *file.Workspace, target string) ([]mcp.Status, error) {
	if _, err := files.Home(ctx); err != nil { // finds the root, too
		return nil, err
	}
	dirs, err := instructions.Chain(ctx, files, files.Root())
	if err != nil {
		return nil, err
	}
	var all []mcp.Status
	for _, dir := range slices.Backward(dirs) {
		name := path.Join(dir, ".mcp.json")
		_, data, err := files.Peek(ctx, name, maxMCPFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var project struct {
			Servers map[string]serverEntry `json:"mcpServers"`
		}
		if err == nil {
			err = json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &project)
		}
		if err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
		for _, server := range slices.Sorted(maps.Keys(project.Servers)) {
			if len(all) == maxElsewhere {
				return all, nil
			}
			all = append(all, notRun(server, target, project.Servers[server]))
		}
	}
	return all, nil
}

// notRun describes a server of a project on another machine.
func notRun(name, target string, e serverEntry) mcp.Status {
	s := e.server(func(name string) (string, bool) { return "${" + name + "}", true })
	return mcp.Status{
		Name: name, Transport: s.Transport, Where: s.Where(), Project: true, Elsewhere: true, State: mcp.Off, Barred: true,
		Error: "not run: the project is on " + target,
	}
}
