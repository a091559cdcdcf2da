package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"buddy/agent/model"
)

// names are what tools call the same thing.
var names = map[string]string{
	"file": "path", "file_path": "path", "dir": "path", "directory": "path",
	"old_string": "old", "old_text": "old", "search": "old", "find": "old",
	"new_string": "new", "new_text": "new", "replace": "new", "replacement": "new",
}

func known(name string) string {
	if n, ok := names[name]; ok {
		return n
	}
	return name
}

// tool returns the definition of an offered tool, nil if it is not.
func (c *coding) tool(name string) *model.ToolDef {
	for i := range c.req.Tools {
		if c.req.Tools[i].Name == name {
			return &c.req.Tools[i]
		}
	}
	return nil
}

// call makes a call that fits the tool's schema: values go by what they mean, and other
// required members get something that fits. A tool that is not offered becomes its
// command for run_shell.
func (c *coding) call(id, tool, command string, values map[string]any) Call {
	if c.tool(tool) == nil {
		tool = "run_shell"
	}
	if tool == "run_shell" {
		values = map[string]any{"command": command, "why": values["why"], "risk": "low", "mutation": strings.HasPrefix(command, "cat >"), "privesc": false}
	}
	var schema struct {
		Properties map[string]struct {
			Type string
			Enum []any
		}
		Required []string
	}
	if def := c.tool(tool); def != nil {
		_ = json.Unmarshal(def.Parameters, &schema) // Check has seen that it is an object
	}
	args := make(map[string]any)
	for name := range schema.Properties {
		if v, ok := values[known(name)]; ok {
			args[name] = v
		}
	}
	if len(schema.Properties) == 0 {
		args = values
	}
	for _, name := range schema.Required {
		if _, ok := args[name]; ok {
			continue
		}
		switch p := schema.Properties[name]; {
		case len(p.Enum) > 0:
			args[name] = p.Enum[0]
		case p.Type == "boolean":
			args[name] = false
		case p.Type == "integer" || p.Type == "number":
			args[name] = 1
		default:
			args[name] = "-"
		}
	}
	return Call{ID: fmt.Sprintf("call_%s_%d", id, len(c.req.Messages)), Name: tool, Arguments: encode(args)}
}

// arguments returns the strings of a call by what they mean.
func arguments(call model.ToolCall) map[string]string {
	var args map[string]json.RawMessage
	_ = json.Unmarshal([]byte(call.Arguments), &args) // it is ours
	values := make(map[string]string)
	for k, v := range args {
		values[known(k)] = str(v)
	}
	return values
}
