package workflow

import (
	"maps"
	"slices"
	"strings"

	"buddy/agent/model"
)

// Tools maps tool names to their arguments.
type Tools map[string][]model.Argument

// Runner is the tool name with which a step starts another workflow. Its parameters are name, and inputs, a
// mapping.
const Runner = "workflow"

// runner lists the parameters of Runner.
var runner = []model.Argument{{Name: "name", Type: "string", Required: true}, {Name: "inputs", Type: "object"}}

// mcpTool starts the names of MCP tools, whose arguments are unknown here.
const mcpTool = "mcp__"

// Check returns the mistakes in the calls of a workflow that Parse accepted.
func (w *Workflow) Check(tools Tools) []Mistake {
	r := &reader{w: *w}
	for i := range w.Steps {
		r.call(&w.Steps[i], tools)
	}
	slices.SortStableFunc(r.mistakes, func(a, b Mistake) int { return a.Line - b.Line })
	return r.mistakes
}

// call checks the call of a step.
func (r *reader) call(s *Step, tools Tools) {
	key := "steps." + s.ID
	known, ok := tools[s.Tool]
	switch {
	case s.Tool == "": // Parse has reported it
		return
	case s.Tool == Runner:
		known = runner
	case strings.HasPrefix(s.Tool, mcpTool):
		return
	case !ok:
		r.wrong(s.Line, key+".tool", "there is no tool %q%s", s.Tool, suggest(s.Tool, slices.Sorted(maps.Keys(tools))))
		return
	}
	var names []string
	for _, arg := range known {
		names = append(names, arg.Name)
		p, given := s.Params.values[arg.Name]
		switch {
		case given:
			r.fits(p, arg, key+".params."+arg.Name)
		case arg.Required:
			r.wrong(s.Line, key+".params", "%s needs %s", s.Tool, arg.Name)
		}
	}
	for _, name := range s.Params.names {
		if slices.Contains(names, name) {
			continue
		}
		hint := suggest(name, names)
		if name == "target" {
			hint = ": write target next to params"
		}
		r.wrong(s.Params.values[name].line, key+".params."+name, "%s has no such parameter%s", s.Tool, hint)
	}
}

// jsonTypes are the types of values in JSON Schema.
var jsonTypes = map[kind]string{text: "string", number: "integer", truth: "boolean", list: "array"}

// fits checks the type of a parameter.
func (r *reader) fits(p param, arg model.Argument, key string) {
	have := "null"
	switch {
	case p.command != nil:
		have = "string"
	case p.text != nil:
		if have = "string"; p.text.single() != nil {
			have = jsonTypes[r.kind(*p.text.single())]
		}
	case p.fields != nil:
		have = "object"
	case p.list != nil:
		have = "array"
	default:
		switch p.plain.(type) {
		case bool:
			have = "boolean"
		case int, int64, uint64:
			have = "integer"
		case float64:
			have = "number"
		}
	}
	if arg.Type != "" && have != arg.Type {
		r.wrong(p.line, key, "is %s, but must be %s", have, arg.Type)
	}
}
