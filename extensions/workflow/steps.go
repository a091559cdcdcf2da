package workflow

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"buddy/texts"
)

// maxDepth limits the nesting of lists and mappings in parameters.
const maxDepth = 8

func (r *reader) steps(n *yaml.Node) {
	switch {
	case n.Kind != yaml.SequenceNode || len(n.Content) == 0:
		r.wrong(n.Line, "steps", "is not a list of steps")
		return
	case len(n.Content) > MaxSteps:
		r.wrong(n.Line, "steps", "has %d entries (allowed: %d)", len(n.Content), MaxSteps)
		return
	}
	for i, item := range n.Content {
		s := r.step(item, "steps["+strconv.Itoa(i+1)+"]", i)
		if s.ID != "" && r.w.Step(s.ID) != nil {
			r.wrong(s.Line, within("steps", s.ID)+".id", "is the id of two steps")
		}
		r.w.Steps = append(r.w.Steps, s)
	}
}

// step reads step i. place names the step until its id is known.
func (r *reader) step(n *yaml.Node, place string, i int) Step {
	s := Step{Line: n.Line, AtOnce: 1}
	if n.Kind == yaml.MappingNode {
		for j := 0; j+1 < len(n.Content); j += 2 {
			switch v := n.Content[j+1]; n.Content[j].Value {
			case "id":
				if s.ID = v.Value; validID().MatchString(s.ID) {
					place = "steps." + s.ID
				}
			case "tool":
				s.Tool = v.Value
			}
		}
	}
	needs := false
	r.mapping(n, place, stepKeys, func(e entry, key string) {
		needs = needs || e.key == "needs"
		r.stepKey(&s, e, key)
	})
	switch {
	case s.ID == "":
		r.wrong(n.Line, place+".id", "is missing")
	case !validID().MatchString(s.ID):
		r.wrong(n.Line, place+".id", "%q is not made of a-z, 0-9 and _, with a letter first", texts.Clip(s.ID, 80))
	}
	if s.Tool == "" {
		r.wrong(n.Line, place+".tool", "is missing")
	}
	if !needs && i > 0 {
		s.Needs = []string{r.w.Steps[i-1].ID}
	}
	if s.Each == nil && (s.AtOnce > 1 || s.StopAfter > 0) {
		r.wrong(n.Line, place, "at_once and stop_after work only in a step with each")
	}
	return s
}

func (r *reader) stepKey(s *Step, e entry, key string) {
	switch e.key {
	case "id", "tool":
		r.scalar(e.node, key)
	case "params":
		s.Params = *r.params(e.node, key, s.Tool, 0)
	case "why":
		why, _ := r.scalar(e.node, key)
		s.Why = texts.Clip(texts.OneLine(why), 200)
	case "target":
		s.Target = r.template(e.node, key)
	case "each":
		s.Each = r.each(e.node, key)
	case "at_once":
		s.AtOnce = r.number(e.node, key, maxAtOnce)
	case "stop_after":
		s.StopAfter = r.number(e.node, key, maxItems)
	case "needs":
		s.Needs = r.needs(e.node, key)
	case "condition":
		s.Condition = r.condition(e.node, key)
	case "timeout":
		s.Timeout = r.duration(e.node, key)
	case "on_error":
		s.OnError = r.onError(e.node, key)
	case "gate":
		s.Gate = r.gate(e, key)
	}
}

func (r *reader) needs(n *yaml.Node, key string) []string {
	if n.Kind != yaml.SequenceNode {
		r.wrong(n.Line, key, "is not a list of ids, such as [build, test]")
		return nil
	}
	all := []string{}
	for _, item := range n.Content {
		if s, ok := r.scalar(item, key); ok && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func (r *reader) each(n *yaml.Node, key string) *Each {
	if n.Kind == yaml.SequenceNode {
		if len(n.Content) == 0 || len(n.Content) > maxItems {
			r.wrong(n.Line, key, "has %d items (allowed: 1 to %d)", len(n.Content), maxItems)
		}
		e := &Each{}
		for _, item := range n.Content {
			e.items = append(e.items, r.template(item, key))
		}
		return e
	}
	t := r.template(n, key)
	ref := t.single()
	if ref == nil {
		r.wrong(n.Line, key, `is neither a list nor one value, such as "{{ inputs.targets }}"`)
	}
	return &Each{ref: ref}
}

func (r *reader) onError(n *yaml.Node, key string) OnError {
	if n.Kind == yaml.MappingNode {
		var on OnError
		r.mapping(n, key, errorKeys, func(e entry, key string) {
			if e.key == "retry" {
				on.Retry = r.number(e.node, key, maxRetry)
			} else {
				on.Wait = r.duration(e.node, key)
			}
		})
		if on.Retry == 0 {
			r.wrong(n.Line, key+".retry", "is missing")
		}
		return on
	}
	s, _ := r.scalar(n, key)
	if s != "fail" && s != "skip" {
		r.wrong(n.Line, key, "%q is neither fail, skip nor {retry: 3, wait: 10s}", texts.Clip(s, 40))
	}
	return OnError{Skip: s == "skip"}
}

func (r *reader) gate(e entry, key string) *Gate {
	g := &Gate{Line: e.line}
	seen := make(map[string]bool)
	r.mapping(e.node, key, gateKeys, func(e entry, key string) {
		seen[e.key] = true
		r.gateKey(g, e, key)
	})
	switch {
	case !seen["type"]:
		r.wrong(e.line, key+".type", "is missing (have: %s)", texts.Names(gateTypes))
	case !seen["message"]:
		r.wrong(e.line, key+".message", "is missing: say what is about to happen")
	case g.Type == Conditional && !seen["when"]:
		r.wrong(e.line, key+".when", "is missing: a conditional gate needs this condition")
	case g.Type != Conditional && seen["when"]:
		r.wrong(e.line, key+".when", "works only in a gate of type conditional")
	case g.Default && (g.Type == Required || g.Type == Conditional):
		r.wrong(e.line, key+".default", "approve would pass the gate without an answer, which a gate of type %s can't allow", g.Type)
	case seen["default"] && !seen["timeout"]:
		r.wrong(e.line, key+".default", "has no effect without timeout")
	}
	return g
}

func (r *reader) gateKey(g *Gate, e entry, key string) {
	switch e.key {
	case "type":
		s, _ := r.scalar(e.node, key)
		if g.Type = GateType(s); !slices.Contains(gateTypes, g.Type) {
			r.wrong(e.line, key, "%q is not a type of gate (have: %s)", texts.Clip(s, 40), texts.Names(gateTypes))
		}
	case "when":
		g.When = r.condition(e.node, key)
	case "message":
		g.Message = r.template(e.node, key)
	case "timeout":
		g.Timeout = r.duration(e.node, key)
	case "default":
		s, _ := r.scalar(e.node, key)
		if g.Default = s == "approve"; !g.Default && s != "deny" {
			r.wrong(e.line, key, "%q is neither deny nor approve", texts.Clip(s, 40))
		}
	}
}

// typed lists the parameters that are typed as keys. A value there could be a program for the reader of the keys.
var typed = map[string][]string{"send-keys": {"literal_text", "keys"}}

// params reads the parameters of a tool. A parameter "command" is a shell command.
func (r *reader) params(n *yaml.Node, key, tool string, depth int) *Params {
	p := &Params{values: make(map[string]param)}
	if depth > maxDepth {
		r.wrong(n.Line, key, "is nested more than %d deep", maxDepth)
		return p
	}
	for _, e := range r.entries(n, key) {
		at := within(key, e.key)
		v := r.param(e.node, at, tool, depth)
		if depth == 0 && slices.Contains(typed[tool], e.key) {
			v.each(func(t *Template, line int) {
				if len(t.Refs()) > 0 {
					r.wrong(line, at, "contains a value, which buddy can't quote in typed text: use run_shell")
				}
			})
		}
		if v.text != nil && depth == 0 && e.key == "command" {
			c, line, err := newCommand(v.text, r.numeric)
			if err != nil {
				r.wrong(v.text.line+line, at, "%v", err)
			} else {
				v = param{line: v.line, command: c}
			}
		}
		p.names, p.values[e.key] = append(p.names, e.key), v
	}
	return p
}

// param reads one parameter.
func (r *reader) param(n *yaml.Node, key, tool string, depth int) param {
	p := param{line: n.Line}
	switch n.Kind {
	case yaml.MappingNode:
		p.fields = r.params(n, key, tool, depth+1)
	case yaml.SequenceNode:
		p.list = []param{}
		if depth > maxDepth {
			r.wrong(n.Line, key, "is nested more than %d deep", maxDepth)
			return p
		}
		for i, item := range n.Content {
			p.list = append(p.list, r.param(item, key+"["+strconv.Itoa(i)+"]", tool, depth+1))
		}
	default:
		if n.Tag == "!!str" {
			p.text = r.template(n, key)
		} else if err := n.Decode(&p.plain); err != nil || !plain(p.plain) {
			r.wrong(n.Line, key, "%q is not a text, number, true or false: write it in quotes", texts.Clip(n.Value, 40))
		}
	}
	return p
}

// plain reports whether a scalar other than a string is valid in JSON: no date, infinity or NaN.
func plain(v any) bool {
	switch v := v.(type) {
	case nil, bool, int, int64, uint64:
		return true
	case float64:
		return v-v == 0 // neither infinite nor NaN
	}
	return false
}

// numeric reports whether a reference is always a number.
func (r *reader) numeric(ref Ref) bool {
	in := r.w.input(ref.Input)
	return in != nil && in.Type == Int || ref.Field == "exit_code"
}
