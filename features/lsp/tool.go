package lsp

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
)

//go:embed diagnostics.md
var toolText string

// toolTime limits how long the tool waits for a busy server.
const toolTime = 30 * time.Second

type toolArgs struct {
	Path string `json:"path,omitempty"`
}

type diagnosticsTool struct {
	all *Clients
	tools.Typed[toolArgs]
}

// Tool returns the tool that lists problems.
func (c *Clients) Tool() tools.Tool {
	return tools.New(&diagnosticsTool{all: c}, "diagnostics", toolText)
}

func (t *diagnosticsTool) PlanArgs(toolArgs) (action.Action, error) {
	return tools.PlanInternal(t.Name(), ""), nil
}

func (t *diagnosticsTool) RunArgs(ctx context.Context, _ tools.Call, args toolArgs) tools.Result {
	if err := t.all.here(); err != nil {
		return tools.Failure(err)
	}
	path := ""
	if args.Path != "" {
		path = t.all.resolve(args.Path)
		if !t.all.inside(path) {
			return tools.Failure(fmt.Errorf("%q is not in the folders of this session: language servers are not asked about it", args.Path))
		}
		if _, err := t.all.upToDate(ctx, path); err != nil {
			return tools.Failure(err)
		}
	}
	lines, servers, left := t.all.list(path)
	note := ""
	switch {
	case len(servers) == 0:
		note = "no language server runs: one starts when a file of its language is first changed"
	case len(lines) == 0:
		note = "no problems, according to " + strings.Join(servers, ", ")
	case left > 0:
		note = fmt.Sprintf("%d more are not listed", left)
	}
	return tools.Success(strings.Join(lines, "\n"), note)
}

// resolve returns the real path of a file name that a model used.
func (c *Clients) resolve(name string) string {
	if !filepath.IsAbs(name) && len(c.o.Folders) > 0 {
		name = filepath.Join(c.o.Folders[0], name)
	}
	return texts.RealPath(name)
}

// here returns an error if the project is not on this machine.
func (c *Clients) here() error {
	if c.o.Away != "" {
		return fmt.Errorf("language servers are not run: the project is on %s, and they only run on this machine", c.o.Away)
	}
	return nil
}

// upToDate returns the running server for a file after it has got and checked the present text.
func (c *Clients) upToDate(ctx context.Context, path string) (*server, error) {
	s := c.runningFor(path)
	if s == nil {
		return nil, c.notRunning(path)
	}
	text, ok := readText(path)
	if !ok {
		return nil, fmt.Errorf("%s is not a text that a language server reads", c.show(path))
	}
	s.add(change{path: path, before: text, after: text, had: true, has: true, there: true})
	settled, _ := s.settling()
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	select {
	case <-settled:
		return s, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s is still busy (%s)", s.def.Name, c.show(path))
	}
}

// notRunning returns the reason why no server is running for a file.
func (c *Clients) notRunning(path string) error {
	def, why := c.find(path), ""
	switch {
	case def == nil:
		return fmt.Errorf("no language server is known for %s files (%s)", filepath.Ext(path), c.show(path))
	case def.Problem != "":
		why = def.Name + " can't start: " + def.Problem
	case c.failed(path, *def):
		why = def.Name + " has failed in this session"
	default:
		why = def.Name + " starts when a file of that kind is first changed"
	}
	return fmt.Errorf("no language server is running for %s (language: %s): %s", c.show(path), def.Languages[filepath.Ext(path)], why)
}

// failed reports whether the server of a file has ended and will not start again.
func (c *Clients) failed(path string, def Server) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.servers[key(def, rootOf(path, def.Roots, c.o.Folders))] != nil
}

// list returns the problems that all servers found, in one file or in all if path is "".
func (c *Clients) list(path string) (lines, servers []string, left int) {
	size := 0
	for _, s := range c.running() {
		servers = append(servers, s.def.Name)
		for _, f := range s.present().list(path, c.inside, c.show) {
			for _, p := range f.problems {
				line := fmt.Sprintf("%s:%s %s: %s", f.name, place(f.text, p.at), p.severity, p.message)
				if size += len(line); size > maxReport {
					left++
					continue
				}
				lines = append(lines, line)
			}
		}
	}
	return lines, servers, left
}
