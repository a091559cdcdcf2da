package mcp

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/agent/action"
	"buddy/tools"
)

//go:embed mcp_resources.md
var resourcesText string

//go:embed mcp_read.md
var readText string

type resourcesArgs struct {
	Server string `json:"server,omitempty"`
	Query  string `json:"query,omitempty"`
}

type resourcesTool struct {
	all *Servers
	tools.Typed[resourcesArgs]
}

type readArgs struct {
	Server string `json:"server"`
	URI    string `json:"uri"`
}

type readTool struct {
	all *Servers
	tools.Typed[readArgs]
}

func newResourceTools(s *Servers) []tools.Tool {
	return []tools.Tool{
		tools.New(&resourcesTool{all: s}, "mcp_resources", resourcesText),
		tools.New(&readTool{all: s}, "mcp_read", readText),
	}
}

// ResourceInfo describes a resource of a server.
type ResourceInfo struct {
	Server string `json:"server"`
	URI    string `json:"uri"`
	Name   string `json:"name,omitempty"`
	Type   string `json:"type,omitempty"`
}

// maxResources limits a list of resources.
const maxResources = 200

// Resources returns the resources of a server, or of all if server is "", that contain query.
func (s *Servers) Resources(server, query string) []ResourceInfo {
	query = strings.ToLower(query)
	all := []ResourceInfo{}
	for _, one := range s.every() {
		if server != "" && one.def.Name != server {
			continue
		}
		one.mu.Lock()
		for _, r := range one.resources {
			if r != nil && len(all) < maxResources && strings.Contains(strings.ToLower(r.URI+" "+r.Name+" "+r.Description), query) {
				all = append(all, ResourceInfo{Server: one.def.Name, URI: oneLine(r.URI), Name: oneLine(r.Name), Type: oneLine(r.MIMEType)})
			}
		}
		one.mu.Unlock()
	}
	return all
}

func (*resourcesTool) Parallel(tools.Call) bool { return true }

func (t *resourcesTool) PlanArgs(resourcesArgs) (action.Action, error) {
	return tools.PlanInternal(t.Name(), ""), nil
}

func (t *resourcesTool) RunArgs(_ context.Context, _ tools.Call, args resourcesArgs) tools.Result {
	all := t.all.Resources(args.Server, args.Query)
	var text strings.Builder
	for _, r := range all {
		text.WriteString(strings.TrimSpace(r.Server+": "+r.URI+" "+r.Name+" "+r.Type) + "\n")
	}
	note := ""
	if len(all) == 0 {
		note = "no resource matches"
	}
	return tools.Success(text.String(), note)
}

func (*readTool) Patient(tools.Call) bool { return true }

func (t *readTool) PlanArgs(args readArgs) (action.Action, error) {
	one, err := t.all.find(args.Server)
	if err != nil {
		return action.Action{}, tools.Invalid("server: %v", err)
	}
	act := one.plan(t.Name(), "read "+args.URI, nil)
	act.Preview = fmt.Sprintf("read %q of %s", args.URI, args.Server)
	return act, nil
}

func (t *readTool) RunArgs(ctx context.Context, call tools.Call, args readArgs) tools.Result {
	one, err := t.all.find(args.Server)
	if err != nil {
		return tools.Failure(err)
	}
	return one.read(ctx, call, args.URI)
}

func (s *server) read(ctx context.Context, call tools.Call, uri string) tools.Result {
	return s.ask(ctx, call, "resources/read", func(ctx context.Context, c *connection) (tools.Result, error) {
		res, err := c.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return tools.Result{}, err
		}
		var g gathered
		for _, r := range res.Contents {
			g.resource(r)
		}
		return g.result(), nil
	})
}

func promptNames(all []*sdk.Prompt) []string {
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	return names
}

// Prompt returns the text of the prompt with a command name. words are its arguments in order; the last argument gets
// the remaining words.
func (s *Servers) Prompt(ctx context.Context, command string, words []string) (string, error) {
	for _, one := range s.every() {
		one.mu.Lock()
		i := slices.Index(modelNames(one.def.Name, promptNames(one.prompts)), command)
		var p *sdk.Prompt
		if i >= 0 {
			p = one.prompts[i]
		}
		one.mu.Unlock()
		if p != nil {
			return one.prompt(ctx, p, words)
		}
	}
	return "", fmt.Errorf("no MCP server has a prompt %s (buddy mcp check NAME lists a server's prompts)", command)
}

// prompt asks the server for the text of a prompt.
func (s *server) prompt(ctx context.Context, p *sdk.Prompt, words []string) (string, error) {
	args := make(map[string]string)
	for i, a := range p.Arguments {
		switch {
		case i < len(words) && i == len(p.Arguments)-1:
			args[a.Name] = strings.Join(words[i:], " ")
		case i < len(words):
			args[a.Name] = words[i]
		case a.Required:
			return "", fmt.Errorf("the prompt %s needs %s", p.Name, a.Name)
		}
	}
	res := s.ask(ctx, tools.Call{ID: "prompt " + p.Name, Name: p.Name}, "prompts/get", func(ctx context.Context, c *connection) (tools.Result, error) {
		res, err := c.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: p.Name, Arguments: args})
		if err != nil {
			return tools.Result{}, err
		}
		var g gathered
		for _, m := range res.Messages {
			g.content(m.Content)
		}
		return g.result(), nil
	})
	if res.IsError {
		return "", errors.New(tools.Why(res))
	}
	return res.Content, nil
}
