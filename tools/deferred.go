package tools

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"buddy/agent/action"
	"buddy/agent/model"
	"buddy/texts"
)

// Deferred is a set of tools that are not defined in each request: the model finds them with tool_search and calls them
// with use_tool. So a session can add tools without invalidating the provider's prompt cache. It is safe for concurrent
// use.
type Deferred struct {
	mu     sync.Mutex // guards the fields below
	tools  []Tool     // sorted by name
	source Source     // nil without one

	// If whole is set, this set holds the tools of whole whose names keep accepts, and the fields above are unused.
	whole *Deferred // nil for a complete set
	keep  func(name string) bool
}

// Names of the tools that find and call deferred tools.
const (
	searchName = "tool_search"
	useName    = "use_tool"
)

// Source provides tools that other programs, such as MCP servers, add to a Deferred during a session.
type Source interface {
	// Pending returns a placeholder for the named tool if the source expects to provide it soon.
	Pending(name string) (Tool, bool)
	// Await waits until the expected tools have arrived, ctx ends, or the wait takes too long.
	Await(ctx context.Context)
	// Note returns a text for the model, "" for none. It is added to the result of a search for the given words, which
	// are in lower case, and may name servers that are still missing.
	Note(words []string) string
}

// NewDeferred returns a set of the given tools.
func NewDeferred(all ...Tool) *Deferred {
	d := &Deferred{}
	d.Add(all...)
	return d
}

// only returns a view of the set with the tools whose names keep accepts, including tools that are added later.
func (d *Deferred) only(keep func(name string) bool) *Deferred {
	return &Deferred{whole: d, keep: keep}
}

// Add adds tools. A tool replaces an existing tool of the same name.
func (d *Deferred) Add(all ...Tool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range all {
		i, found := slices.BinarySearchFunc(d.tools, t.Definition().Name, func(t Tool, name string) int { return cmp.Compare(t.Definition().Name, name) })
		if found {
			d.tools[i] = t
		} else {
			d.tools = slices.Insert(d.tools, i, t)
		}
	}
}

// SetSource sets the source of tools that arrive later.
func (d *Deferred) SetSource(s Source) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.source = s
}

// from returns the source of tools that arrive later, nil if there is none.
func (d *Deferred) from() Source {
	if d.whole != nil {
		return d.whole.from()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.source
}

// Remove removes tools by name.
func (d *Deferred) Remove(names ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tools = slices.DeleteFunc(d.tools, func(t Tool) bool { return slices.Contains(names, t.Definition().Name) })
}

// All returns the tools, sorted by name.
func (d *Deferred) All() []Tool {
	if d.whole != nil {
		return slices.DeleteFunc(d.whole.All(), func(t Tool) bool { return !d.keep(t.Definition().Name) })
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.tools)
}

func (d *Deferred) lookup(name string) (Tool, bool) {
	for _, t := range d.All() {
		if t.Definition().Name == name {
			return t, true
		}
	}
	if from := d.from(); from != nil && d.keeps(name) {
		return from.Pending(name)
	}
	return nil, false
}

// keeps reports whether the filters of d and of all sets that contain d accept a name.
func (d *Deferred) keeps(name string) bool {
	return d.whole == nil || d.keep(name) && d.whole.keeps(name)
}

// maxFound limits the tools that tool_search describes.
const maxFound = 5

//go:embed tool_search.md
var toolSearchText string

type toolSearchArgs struct {
	Query string `json:"query" blank:"ok"`
	Why   string `json:"why,omitempty" schema:"-"`
}

type toolSearch struct {
	deferred *Deferred
	Typed[toolSearchArgs]
}

// NewToolSearch returns the tool tool_search, which searches the tools of d.
func NewToolSearch(d *Deferred) Tool {
	return New(&toolSearch{deferred: d}, searchName, toolSearchText)
}

func (*toolSearch) Parallel(Call) bool { return true }

func (t *toolSearch) PlanArgs(args toolSearchArgs) (action.Action, error) {
	return PlanInternal(t.Name(), args.Why), nil
}

func (t *toolSearch) RunArgs(ctx context.Context, _ Call, args toolSearchArgs) Result {
	if from := t.deferred.from(); from != nil && !t.deferred.named(strings.Fields(strings.ToLower(args.Query))) {
		from.Await(ctx)
	}
	return t.deferred.search(args.Query)
}

// named reports whether one of the words, in lower case, is the complete name of a tool.
func (d *Deferred) named(words []string) bool {
	return slices.ContainsFunc(d.All(), func(t Tool) bool { return slices.Contains(words, strings.ToLower(t.Definition().Name)) })
}

// search returns the tools that match words of a query, best first: definitions, then the names of the tools that were
// not described. Each definition is one line of JSON, so that text by other programs can't imitate further lines.
func (d *Deferred) search(query string) Result {
	words := strings.Fields(strings.ToLower(query))
	found := d.matching(words)
	var described, names []string
	var text strings.Builder
	size, nameBytes, more := 0, 0, 0
	for _, def := range found {
		bytes := len(def.Description) + len(def.Parameters)
		// The best match is described whatever its length: without its definition the model can't call it.
		switch {
		case len(words) > 0 && len(described) < maxFound && (len(described) == 0 || size+bytes < OutputBytes):
			described = append(described, def.Name)
			text.Write(JSON(def))
			text.WriteByte('\n')
			size += bytes
		case nameBytes+len(def.Name) < OutputBytes:
			names = append(names, def.Name)
			nameBytes += len(def.Name)
		default:
			more++
		}
	}
	note := ""
	switch {
	case len(found) == 0:
		note = "no tool has these words; an empty query lists all names"
	case more > 0:
		note = fmt.Sprintf("%d more match: search for words of their names", more)
	case len(names) > 0:
		note = "search for a name to get its description"
	}
	for _, name := range names {
		text.WriteString(name + "\n")
	}
	if from := d.from(); from != nil {
		if note := from.Note(words); note != "" { // written by another program as well
			text.WriteString(note + "\n")
		}
	}
	res := Success(text.String(), note)
	res.Tail = strings.Join(append(described, names...), "\n")
	return res
}

// matching returns the definitions that match words, best first; all definitions when there are no words.
func (d *Deferred) matching(words []string) []model.ToolDef {
	var found []model.ToolDef
	scores := make(map[string]int)
	for _, t := range d.All() {
		def := t.Definition()
		if scores[def.Name] = score(def, words); scores[def.Name] > 0 || len(words) == 0 {
			found = append(found, def)
		}
	}
	slices.SortStableFunc(found, func(a, b model.ToolDef) int { return cmp.Compare(scores[b.Name], scores[a.Name]) })
	return found
}

// score rates how well a tool matches the words of a query; 0 is no match.
func score(def model.ToolDef, words []string) int {
	name, text := strings.ToLower(def.Name), strings.ToLower(def.Description)
	n := 0
	for _, w := range words {
		switch {
		case name == w:
			n += 100
		case strings.Contains(name, w):
			n += 10
		case strings.Contains(text, w):
			n++
		}
	}
	return n
}

//go:embed use_tool.md
var useToolText string

type useArgs struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty" type:"object"`
	Why  string          `json:"why,omitempty" schema:"-"`
}

type useTool struct {
	deferred *Deferred
	Schema
}

// NewUseTool returns the tool use_tool, which calls tools of d. A call of use_tool is planned and run by the tool that
// it names, and the policy judges it as a call of that tool.
func NewUseTool(d *Deferred) Tool {
	return &useTool{d, Define[useArgs](useName, useToolText)}
}

// unwrap returns the arguments of use_tool and the call of the tool that they name, not yet
// translated.
func (t *useTool) unwrap(call Call) (useArgs, Call, error) {
	call.Name = "use_tool"
	outer, err := toNative(&useTool{Schema: Define[useArgs](useName, useToolText)}, call)
	if err != nil {
		return useArgs{}, call, err
	}
	args, err := Decode[useArgs](outer)
	if err != nil {
		return args, call, err
	}
	call.Name, call.Notes, call.Renamed = args.Name, outer.Notes, outer.Renamed
	call.Arguments, err = innerArguments(args)
	return args, call, err
}

// inner returns the tool that use_tool calls and the translated call.
func (t *useTool) inner(call Call) (Tool, Call, error) {
	args, inner, err := t.unwrap(call)
	if err != nil {
		return nil, call, err
	}
	tool, ok := t.deferred.lookup(args.Name)
	if !ok {
		tool, ok = t.deferred.lookup(nativeName(args.Name))
	}
	if !ok {
		return nil, call, Invalid("name: use_tool can't call a tool %q; tool_search finds tools", texts.ClipBytes(args.Name, 100))
	}
	if inner, err = toNative(tool, inner); err != nil {
		return nil, call, err
	}
	inner.Arguments = withReason(tool.Definition(), inner.Arguments, args.Why)
	return tool, inner, nil
}

// withReason copies the reason given to use_tool to the called tool, if that tool has such an argument and the call
// omits it.
func withReason(def model.ToolDef, arguments, why string) string {
	ours := slices.ContainsFunc(dialects, func(d dialect) bool { return d.tool == def.Name })
	values, ok := objectIn(arguments)
	if why == "" || !ok || values["why"] != nil || !ours && !HasArgument(def, "why") {
		return arguments
	}
	values["why"] = JSON(why)
	return string(JSON(values))
}

// toNative translates a call of use_tool and the call inside it to our argument names.
func (t *useTool) toNative(call Call) (Call, error) {
	args, _, err := t.unwrap(call)
	if err != nil {
		return call, err
	}
	_, inner, err := t.inner(call)
	if err != nil {
		return call, err
	}
	args.Name, args.Args = inner.Name, json.RawMessage(inner.Arguments)
	call.Name, call.Arguments, call.Notes, call.Renamed = "use_tool", string(JSON(args)), inner.Notes, inner.Renamed
	return call, nil
}

// innerArguments returns the arguments for the called tool, which may be encoded twice.
func innerArguments(args useArgs) (string, error) {
	if len(args.Args) == 0 {
		args.Args = json.RawMessage("{}")
	}
	values, ok := objectIn(string(args.Args))
	if !ok {
		return "", Invalid("args: expected object, got %s", KindOf(args.Args))
	}
	return string(JSON(values)), nil
}

func (t *useTool) Plan(call Call) (action.Action, error) {
	tool, inner, err := t.inner(call)
	if err != nil {
		return action.Action{}, err
	}
	act, err := tool.Plan(inner)
	if err != nil {
		return action.Action{}, fmt.Errorf("%s: %w", inner.Name, err)
	}
	return act, nil
}

func (t *useTool) Run(ctx context.Context, call Call) Result {
	tool, inner, err := t.inner(call)
	if err != nil {
		return Failure(err)
	}
	return tool.Run(ctx, inner)
}

// Parallel returns the answer of the called tool.
func (t *useTool) Parallel(call Call) bool {
	tool, inner, err := t.inner(call)
	return err == nil && IsParallel(tool, inner)
}

// Patient returns the answer of the called tool.
func (t *useTool) Patient(call Call) bool {
	tool, inner, err := t.inner(call)
	return err == nil && IsPatient(tool, inner)
}

// Recover runs the Recover of the called tool.
func (t *useTool) Recover(ctx context.Context, call Call) Result {
	tool, inner, err := t.inner(call)
	if r, ok := tool.(Recoverer); err == nil && ok {
		return r.Recover(ctx, inner)
	}
	return Result{Content: Interrupted, IsError: true}
}
