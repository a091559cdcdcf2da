package workflow

import (
	"fmt"
	"slices"
	"strings"

	"buddy/texts"
)

// Ref refers to a value: an input, the item, or a field of a step's result.
type Ref struct {
	Input string
	Step  string
	Field string // of Step: output, stdout, exit_code, ok, done, failed
}

// IsItem reports whether the reference is the item.
func (r Ref) IsItem() bool { return r == Ref{} }

// String returns the reference as written.
func (r Ref) String() string {
	switch {
	case r.Input != "":
		return "inputs." + r.Input
	case r.Step != "":
		return "steps." + r.Step + "." + r.Field
	}
	return "item"
}

// kind is the type of a value in templates and conditions.
type kind string

const (
	text   kind = "a text"
	number kind = "a number"
	truth  kind = "true or false"
	list   kind = "a list"
)

// fields maps the fields of a step's result to their kinds.
var fields = map[string]kind{"output": text, "stdout": text, "exit_code": number, "ok": truth, "done": list, "failed": list}

var fieldNames = []string{"output", "stdout", "exit_code", "ok", "done", "failed"}

// validID matches ids of steps and names of inputs.
var validID = texts.Regexp(`^[a-z][a-z0-9_]{0,63}$`)

// parseRef reads a reference.
func parseRef(s string) (Ref, error) {
	root, rest, _ := strings.Cut(s, ".")
	switch root {
	case "item":
		if rest == "" {
			return Ref{}, nil
		}
	case "inputs":
		if validID().MatchString(rest) {
			return Ref{Input: rest}, nil
		}
	case "steps":
		id, field, _ := strings.Cut(rest, ".")
		switch _, known := fields[field]; {
		case !validID().MatchString(id):
		case !known:
			return Ref{}, fmt.Errorf("steps.%s.%s: a step has no %q (have: %s)", id, texts.Clip(field, 40), texts.Clip(field, 40), strings.Join(fieldNames, ", "))
		default:
			return Ref{Step: id, Field: field}, nil
		}
	}
	return Ref{}, fmt.Errorf("%q is unknown: write inputs.NAME, item or steps.ID.FIELD", texts.Clip(s, 80))
}

// value returns the value of a reference, or nil for the missing exit code of a step.
func (sc Scope) value(r Ref) any {
	switch {
	case r.Input != "":
		return sc.Inputs[r.Input]
	case r.IsItem():
		return sc.Item
	}
	res := sc.Steps[r.Step]
	switch r.Field {
	case "output":
		return strings.TrimRight(res.Output, "\n")
	case "stdout":
		return strings.TrimRight(res.Stdout, "\n")
	case "exit_code":
		if res.ExitCode == nil {
			return nil
		}
		return *res.ExitCode
	case "ok":
		return res.OK || !res.Ran
	case "done":
		return slices.Clone(res.Done)
	default:
		return slices.Clone(res.Failed)
	}
}

// written returns the value of a reference as text, with a separator between the items of a list. A missing number and
// the success of a step that did not run are "none".
func (sc Scope) written(r Ref, between string) string {
	if r.Field == "ok" && !sc.Steps[r.Step].Ran {
		return textOf(nil, between)
	}
	return textOf(sc.value(r), between)
}

// Template is a text with references: "Deploy {{ inputs.version }}?".
type Template struct {
	parts []part
	line  int // of the file where it starts
}

// part is a text, or a reference.
type part struct {
	text string
	ref  *Ref
	line int
}

// literalBraces stands for two braces that start no reference.
const literalBraces = `"{{"`

// parseTemplate parses a template. Each reference must be on one line. The error explains the first mistake, and at is
// the line of the mistake, counted from 0.
func parseTemplate(s string) (t *Template, at int, err error) {
	t = &Template{}
	add := func(s string) {
		if n := len(t.parts); n > 0 && t.parts[n-1].ref == nil {
			t.parts[n-1].text += s
		} else if s != "" {
			t.parts = append(t.parts, part{text: s})
		}
	}
	for line := 0; ; {
		before, rest, found := strings.Cut(s, "{{")
		add(before)
		if !found {
			return t, 0, nil
		}
		line += strings.Count(before, "\n")
		inner, after, closed := strings.Cut(rest, "}}")
		if !closed || strings.Contains(inner, "\n") {
			return nil, line, fmt.Errorf(`{{ without }} on its line; two braces are written {{ %s }}`, literalBraces)
		}
		if inner = strings.TrimSpace(inner); inner == literalBraces {
			add("{{")
		} else {
			ref, err := parseRef(inner)
			if err != nil {
				return nil, line, fmt.Errorf("%w; two braces are written {{ %s }}", err, literalBraces)
			}
			t.parts = append(t.parts, part{ref: &ref, line: line})
		}
		s = after
	}
}

// Refs returns the references of a template.
func (t *Template) Refs() []Ref {
	if t == nil {
		return nil
	}
	var all []Ref
	for _, p := range t.parts {
		if p.ref != nil {
			all = append(all, *p.ref)
		}
	}
	return all
}

// Text returns the template with its values filled in: lists are separated by commas, a missing number is "none".
// Never use it for a shell command.
func (t *Template) Text(sc Scope) string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.ref == nil {
			b.WriteString(p.text)
		} else {
			b.WriteString(sc.written(*p.ref, ", "))
		}
	}
	return b.String()
}

// single returns the reference if the template consists of nothing else, or nil.
func (t *Template) single() *Ref {
	if len(t.parts) != 1 {
		return nil
	}
	return t.parts[0].ref
}
