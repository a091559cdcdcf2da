package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"buddy/agent/action"
	"buddy/agent/inject"
	"buddy/agent/model"
	"buddy/texts"
	"buddy/texts/ansi"
	"buddy/tools"
)

// Limits of texts about a tool, in bytes.
const (
	maxDescription = 4000  // for the model
	maxPreview     = 16000 // of a diff, for the person
)

// tool is a tool of a server with one definition. It is immutable.
type tool struct {
	server   *server
	def      definition
	name     string // the model's name for it
	known    pinned
	text     string // the description for the model
	withheld string // why text is not the server's description

	compile sync.Once
	schema  *jsonschema.Resolved // nil if it does not compile
}

// newTool returns a tool. read has the hashes of texts that the person has read.
func newTool(s *server, d definition, name string, read []string) *tool {
	t := &tool{server: s, def: d, name: name, known: fingerprint(d.Tool)}
	title := d.Title
	if title == "" && d.Annotations != nil {
		title = d.Annotations.Title
	}
	text := d.Description
	if text == "" {
		text = title
	}
	text = texts.ClipBytes(ansi.Strip(text), maxDescription)
	// The names and descriptions of arguments reach the model, too.
	found := inject.Scan(text + "\n" + string(d.schema))
	if inject.Worst(found) >= inject.High && !slices.Contains(read, t.known.Hash) {
		t.withheld = fmt.Sprintf("it %s: %q", found[0].Reason, found[0].Excerpt)
		text = "The description is hidden, because it reads like an order to you. Only the user can show it."
		t.def.schema = json.RawMessage(`{"type":"object"}`)
	} else {
		text = inject.Defuse(text, inject.Scan(text))
	}
	t.text = text
	return t
}

// Definition implements tools.Tool.
func (t *tool) Definition() model.ToolDef {
	return model.ToolDef{Name: t.name, Description: t.text, Parameters: t.def.schema}
}

// info describes the tool for people.
func (t *tool) info() ToolInfo {
	return ToolInfo{
		Name: t.name, Description: texts.ClipBytes(t.def.Description, maxDescription), Withheld: t.withheld,
		ReadOnly: t.readOnly(), Destructive: t.destructive(),
	}
}

// readOnly reports whether the server declares that the tool changes nothing.
func (t *tool) readOnly() bool { return t.def.Annotations != nil && t.def.Annotations.ReadOnlyHint }

// destructive reports whether the server declares that the tool destroys something.
func (t *tool) destructive() bool {
	a := t.def.Annotations
	return a != nil && !a.ReadOnlyHint && a.DestructiveHint != nil && *a.DestructiveHint
}

// Plan describes the call with its server, tool and arguments, for an approval.
func (t *tool) Plan(call tools.Call) (action.Action, error) {
	args, err := arguments(call)
	if err == nil {
		err = t.check(args)
	}
	if err != nil {
		return action.Action{}, err
	}
	act := t.server.plan(t.name, t.def.Name, args)
	if t.destructive() {
		act.Risk = action.High
	}
	act.Hinted = t.server.def.Hints && !t.server.def.Project
	act.Mutation = !t.readOnly()
	act.Definition = t.known.Hash
	if diff := t.server.all.pins.changed(t.server.def.key(), t.def.Tool, t.known); diff != "" {
		act.Changed = true
		act.Preview += "\n\nThe server has changed this tool since you approved it:\n" + texts.ClipBytes(diff, maxPreview)
	}
	return act, nil
}

// plan returns the common part of all calls of a server. The server may do anything to answer a call.
func (s *server) plan(tool, op string, args map[string]any) action.Action {
	shown := pretty(args)
	act := action.Action{
		Kind: action.MCP, Tool: tool, Target: "local", Op: s.def.Name + ": " + op, Preview: shown, Mutation: true, Risk: action.Medium,
	}
	if s.all.o.Secret(shown) || s.all.o.Secret(string(tools.JSON(args))) {
		act.Risk = action.High
		act.Preview += "\n\nAn argument seems to contain a secret, which the server would get."
	}
	return act
}

// arguments parses the arguments of a call; numbers stay as they were written. The result is checked, shown and sent.
func arguments(call tools.Call) (map[string]any, error) {
	args := make(map[string]any)
	if strings.TrimSpace(call.Arguments) == "" {
		return args, nil
	}
	from := json.NewDecoder(strings.NewReader(call.Arguments))
	from.UseNumber()
	if err := from.Decode(&args); err != nil || args == nil || from.More() {
		return nil, tools.Invalid("args: expected an object")
	}
	return args, nil
}

// pretty lists arguments for a person, sorted by name.
func pretty(args map[string]any) string {
	list, _ := texts.Listed(string(tools.JSON(args)))
	return list
}

// check validates arguments against the schema. A schema that does not compile accepts all.
func (t *tool) check(args map[string]any) error {
	t.compile.Do(t.compileSchema)
	if t.schema == nil {
		return nil
	}
	var values map[string]any
	if err := json.Unmarshal(tools.JSON(args), &values); err != nil {
		return tools.Invalid("args: %v", err)
	}
	if err := t.schema.Validate(values); err != nil {
		return tools.Invalid("args: %s", oneLine(err.Error()))
	}
	return nil
}

// compileSchema prepares check. A failure becomes a note of the server.
func (t *tool) compileSchema() {
	var schema jsonschema.Schema
	err := json.Unmarshal(t.def.schema, &schema)
	if err == nil {
		t.schema, err = schema.Resolve(nil)
	}
	if err == nil {
		return
	}
	t.schema = nil
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	t.server.notes = append(t.server.notes, fmt.Sprintf("the arguments of %s are sent unchecked, because its schema is not understood: %s", shortName(t.def.Name), oneLine(err.Error())))
}

// Parallel allows a call to run at the same time as others, if the server declares the tool read-only and the person
// trusts that declaration.
func (t *tool) Parallel(call tools.Call) bool { return call.Planned.Hinted && !call.Planned.Mutation }

// Patient returns true, because the server has limits of its own.
func (*tool) Patient(tools.Call) bool { return true }

// Run calls the tool if its definition is still the approved one.
func (t *tool) Run(ctx context.Context, call tools.Call) tools.Result {
	switch call.Planned.Definition {
	case t.known.Hash:
		return t.run(ctx, call)
	case "":
		return t.runPending(ctx, call)
	default:
		return tools.Again("the server has changed this tool while the call was being approved; nothing was called. Call it again.")
	}
}

func (t *tool) run(ctx context.Context, call tools.Call) tools.Result {
	args, err := arguments(call)
	if err != nil {
		return tools.Failure(err)
	}
	if err := t.server.all.pins.pin(t.server.def.key(), t.def.Tool, t.known); err != nil {
		return tools.Failure(fmt.Errorf("nothing was called, because the approval could not be recorded: %w", err))
	}
	return t.server.call(ctx, call, t.def.Name, args)
}

// runPending runs a call that was planned before the server was ready, unless it needs another approval.
func (t *tool) runPending(ctx context.Context, call tools.Call) tools.Result {
	act, err := t.Plan(call)
	if err != nil {
		return tools.Failure(err)
	}
	if act.Changed || act.Risk == action.High && call.Planned.Risk != action.High {
		return tools.Again("the server is ready now, but this tool needs its own approval; nothing was called. Call it again.")
	}
	call.Planned = act
	return t.run(ctx, call)
}

// pendingTool stands for a tool of a server that is not ready.
type pendingTool struct {
	server *server
	name   string
}

// Definition returns a definition that accepts all arguments.
func (p *pendingTool) Definition() model.ToolDef {
	return model.ToolDef{Name: p.name, Description: "A tool of a server that is still starting.", Parameters: json.RawMessage(`{"type":"object"}`)}
}

// Plan describes the call without the tool's definition.
func (p *pendingTool) Plan(call tools.Call) (action.Action, error) {
	args, err := arguments(call)
	if err != nil {
		return action.Action{}, err
	}
	return p.server.plan(p.name, strings.TrimPrefix(p.name, prefix(p.server.def.Name)), args), nil
}

// Patient returns true, because the server has limits of its own.
func (*pendingTool) Patient(tools.Call) bool { return true }

// Run waits for the server and calls the tool, unless that needs another approval.
func (p *pendingTool) Run(ctx context.Context, call tools.Call) tools.Result {
	if _, err := p.server.await(ctx); err != nil {
		return tools.Failure(err)
	}
	p.server.mu.Lock()
	i := slices.IndexFunc(p.server.tools, func(t *tool) bool { return t.name == p.name })
	var t *tool
	if i >= 0 {
		t = p.server.tools[i]
	}
	p.server.mu.Unlock()
	if t == nil {
		return tools.Failure(fmt.Errorf("the MCP server %s has no tool %s; tool_search finds its tools", p.server.def.Name, p.name))
	}
	return t.runPending(ctx, call)
}

// readTexts returns the hashes of the server's texts that the person has read.
func (s *server) readTexts() []string {
	known, _ := s.all.pins.read()
	return known.Read[s.def.key()]
}

// markRead records that the person has read the server's texts, and shows them to the model.
func (s *server) markRead() error {
	s.mu.Lock()
	tools, instructions := slices.Clone(s.tools), s.instructions
	s.mu.Unlock()
	var read []string
	withheld := !instructionsAllowed(instructions, nil)
	for _, t := range tools {
		read = append(read, t.known.Hash)
		withheld = withheld || t.withheld != ""
	}
	if !withheld {
		return nil
	}
	read = append(read, hashOf(instructions))
	if err := s.all.pins.markRead(s.def.key(), read); err != nil {
		return err
	}
	for i, t := range tools {
		d, err := define(t.def.Tool)
		if err == nil {
			tools[i] = newTool(s, d, t.name, read)
		}
	}
	s.mu.Lock()
	before := s.tools
	s.tools = tools
	s.mu.Unlock()
	s.offer(before, tools)
	return nil
}
