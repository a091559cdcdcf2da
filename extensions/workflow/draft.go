package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"buddy/texts"
)

// DraftCall is a tool call for a draft.
type DraftCall struct {
	Tool      string
	Arguments string // JSON
}

// errNothingToSave is returned if no call can be a step.
var errNothingToSave = errors.New("it has no call that a workflow could repeat")

// Draft writes a workflow file from calls. Versions, paths and words that several calls share become inputs with
// their values as defaults, as long as the file stays valid.
func Draft(name, description string, calls []DraftCall, tools Tools) (string, error) {
	d := draft{name: name, description: texts.Clip(texts.OneLine(description), 200), tools: tools}
	for _, c := range calls {
		d.add(c)
	}
	if len(d.steps) == 0 {
		return "", errNothingToSave
	}
	if len(d.steps) > MaxSteps {
		return "", fmt.Errorf("it has %d calls (allowed: %d)", len(d.steps), MaxSteps)
	}
	text, mistakes := d.write()
	if len(mistakes) > 0 {
		return "", fmt.Errorf("its calls can't become steps: %s", mistakes[0])
	}
	for _, in := range d.candidates() {
		base := in.name
		for n := 2; slices.ContainsFunc(d.inputs, func(other draftInput) bool { return other.name == in.name }); n++ {
			in.name = fmt.Sprintf("%s_%d", base, n)
		}
		d.inputs = append(d.inputs, in)
		if with, mistakes := d.write(); len(mistakes) == 0 && with != text {
			text = with
			continue
		}
		d.inputs = d.inputs[:len(d.inputs)-1]
	}
	return text, nil
}

// draft is the state of Draft.
type draft struct {
	name, description string
	tools             Tools
	steps             []draftStep
	inputs            []draftInput
}

type draftStep struct {
	id, tool, why, target string
	params                map[string]any
}

type draftInput struct {
	name, value string
	kind        Type
}

// add adds a call as a step, unless steps may not call its tool.
func (d *draft) add(c DraftCall) {
	if _, known := d.tools[c.Tool]; !known || slices.Contains([]string{"todo", "tool_search", "use_tool", "task_output", "capture-pane"}, c.Tool) {
		return
	}
	args := make(map[string]any)
	if json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return
	}
	s := draftStep{tool: c.Tool, params: args}
	s.why, _ = args["why"].(string)
	s.target, _ = args["target"].(string)
	for _, own := range []string{"why", "target", "risk", "privesc"} {
		delete(args, own)
	}
	s.id = d.newID(s)
	d.steps = append(d.steps, s)
}

var notInID = texts.Regexp(`[^a-z0-9]+`)

// newID returns an id for a step, from its program or its tool.
func (d *draft) newID(s draftStep) string {
	name := s.tool
	if command, ok := s.params["command"].(string); ok {
		if words := strings.Fields(command); len(words) > 0 {
			name = path.Base(words[0])
			if len(words) > 1 && !strings.HasPrefix(words[1], "-") && len(words[1]) < 16 {
				name += "_" + words[1]
			}
		}
	}
	name = strings.Trim(notInID().ReplaceAllString(strings.ToLower(name), "_"), "_")
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		name = "step"
	}
	name = texts.Clip(name, 40)
	id := name
	for n := 2; slices.ContainsFunc(d.steps, func(s draftStep) bool { return s.id == id }); n++ {
		id = fmt.Sprintf("%s_%d", name, n)
	}
	return id
}

var (
	aVersion = texts.Regexp(`^v?\d+\.\d+\.\d+$`)
	aWord    = texts.Regexp(`[\w./@:+-]+`)
)

const leastWord = 4 // bytes; shorter words do not become inputs

// candidates returns possible inputs: targets, versions, paths, and words that several calls share.
func (d *draft) candidates() []draftInput {
	var all []draftInput
	add := func(kind Type, name, value string) {
		if value == "" || slices.ContainsFunc(all, func(in draftInput) bool { return in.value == value }) {
			return
		}
		all = append(all, draftInput{name, value, kind})
	}
	words, first := make(map[string]int), []string{} // words maps a word to the number of calls that contain it
	for _, s := range d.steps {
		add(Target, "target", s.target)
		seen := map[string]bool{"": true}
		for _, text := range texts.InJSON(s.params) {
			for _, w := range aWord().FindAllString(text, -1) {
				if w = strings.TrimRight(w, "/.:"); seen[w] {
					continue
				}
				seen[w] = true
				if words[w]++; words[w] == 1 {
					first = append(first, w)
				}
			}
		}
	}
	for _, w := range first {
		switch {
		case aVersion().MatchString(w):
			add(String, "version", w)
		case words[w] < 2 || len(w) < leastWord || strings.HasPrefix(w, "-"):
		case strings.Contains(w, "/"):
			add(File, "path", w)
		default:
			add(String, "value", w)
		}
	}
	return all
}

// write returns the file and its mistakes.
func (d *draft) write() (string, []Mistake) {
	inputs := &yaml.Node{Kind: yaml.MappingNode}
	for _, in := range d.inputs {
		pair(inputs, in.name, flow("type", string(in.kind), "default", in.value))
	}
	steps := &yaml.Node{Kind: yaml.SequenceNode}
	for _, s := range d.steps {
		n := &yaml.Node{Kind: yaml.MappingNode}
		pair(n, "id", scalar(s.id))
		pair(n, "tool", scalar(s.tool))
		if s.why != "" {
			pair(n, "why", scalar(texts.Clip(texts.OneLine(s.why), 200)))
		}
		if s.target != "" {
			pair(n, "target", scalar(d.filled(s.target)))
		}
		pair(n, "params", d.node(s.params))
		steps.Content = append(steps.Content, n)
	}
	top := &yaml.Node{Kind: yaml.MappingNode}
	pair(top, "name", scalar(d.name))
	pair(top, "description", scalar(d.description))
	pair(top, "version", &yaml.Node{Kind: yaml.ScalarNode, Value: "1"})
	if len(d.inputs) > 0 {
		pair(top, "inputs", inputs)
	}
	pair(top, "steps", steps)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(top); err != nil {
		return "", []Mistake{{1, "file", err.Error()}}
	}
	w, mistakes := Parse(b.Bytes())
	if len(mistakes) == 0 {
		mistakes = w.Check(d.tools)
	}
	return b.String(), mistakes
}

// node converts a JSON value, with inputs in place of their values.
func (d *draft) node(v any) *yaml.Node {
	switch v := v.(type) {
	case string:
		return scalar(d.filled(v))
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, item := range v {
			n.Content = append(n.Content, d.node(item))
		}
		return n
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			pair(n, name, d.node(v[name]))
		}
		return n
	}
	n := &yaml.Node{}
	_ = n.Encode(v) // a number, true, false or null
	return n
}

// filled replaces each value of an input in a text by a reference to the input, if the value is a whole word.
func (d *draft) filled(s string) string {
	s = strings.ReplaceAll(s, "{{", `{{ `+literalBraces+` }}`)
	for _, in := range d.inputs {
		var b strings.Builder
		rest := s
		for {
			i := strings.Index(rest, in.value)
			if i < 0 {
				break
			}
			end := i + len(in.value)
			whole := (i == 0 || !wordByte(rest[i-1])) && (end == len(rest) || !wordByte(rest[end]) || rest[end] == '/')
			b.WriteString(rest[:i])
			if whole {
				b.WriteString("{{ inputs." + in.name + " }}")
			} else {
				b.WriteString(in.value)
			}
			rest = rest[end:]
		}
		s = b.String() + rest
	}
	return s
}

// wordByte reports whether a byte is part of a word.
func wordByte(c byte) bool { return aWord().MatchString(string(rune(c))) || c >= 0x80 }

// scalar returns a text as YAML.
func scalar(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

// pair adds an entry to a mapping.
func pair(to *yaml.Node, key string, v *yaml.Node) {
	to.Content = append(to.Content, scalar(key), v)
}

// flow returns a mapping on one line.
func flow(words ...string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for i := 0; i+1 < len(words); i += 2 {
		pair(n, words[i], scalar(words[i+1]))
	}
	return n
}
