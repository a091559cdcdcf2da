package workflow

import (
	"encoding/json"
	"fmt"
	"strings"

	"buddy/texts"
)

// Params holds the arguments of a step's call, with references to values.
type Params struct {
	names  []string // as ordered in the file
	values map[string]param
}

// param is a value of Params: a template, a shell command, a list, a mapping, or plain.
type param struct {
	line    int
	text    *Template
	command *command
	list    []param
	fields  *Params
	plain   any // nil, bool, int or float64
}

// Arguments returns the arguments of a step's call as a JSON object. A value that is a whole argument keeps its type;
// in a shell command each value is one quoted word. The error names the value that can't be used.
func (s *Step) Arguments(sc Scope) (json.RawMessage, error) {
	v, err := s.Params.render(sc)
	if err != nil {
		return nil, err
	}
	data, err := texts.JSON(v)
	if err == nil && len(data) > maxResult {
		err = fmt.Errorf("its parameters have %d bytes once the values are filled in (allowed: %d)", len(data), maxResult)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

func (p *Params) render(sc Scope) (map[string]any, error) {
	all := make(map[string]any, len(p.names))
	for _, name := range p.names {
		v, err := p.values[name].render(sc)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = v
	}
	return all, nil
}

func (p param) render(sc Scope) (any, error) {
	switch {
	case p.command != nil:
		return p.command.render(sc)
	case p.text != nil:
		if ref := p.text.single(); ref != nil {
			v := sc.value(*ref)
			if items, many := v.([]string); many && items == nil {
				v = []string{}
			}
			return v, nil
		}
		return p.text.Text(sc), nil
	case p.fields != nil:
		return p.fields.render(sc)
	case p.list != nil:
		all := make([]any, 0, len(p.list))
		for _, item := range p.list {
			v, err := item.render(sc)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		return all, nil
	}
	return p.plain, nil
}

// each calls f for every text in the parameters.
func (p *Params) each(f func(t *Template, line int)) {
	for _, name := range p.names {
		p.values[name].each(f)
	}
}

func (p param) each(f func(*Template, int)) {
	switch {
	case p.command != nil:
		f(p.command.Template, p.line)
	case p.text != nil:
		f(p.text, p.line)
	case p.fields != nil:
		p.fields.each(f)
	}
	for _, item := range p.list {
		item.each(f)
	}
}

// Items returns the items for a step that runs once per item: those of a list, or the non-blank lines of a text. It
// fails for too many items.
func (s *Step) Items(sc Scope) ([]string, error) {
	if s.Each == nil {
		return nil, nil
	}
	var items []string
	for _, t := range s.Each.items {
		items = append(items, t.Text(sc))
	}
	if s.Each.ref != nil {
		switch v := sc.value(*s.Each.ref).(type) {
		case []string:
			items = v
		default:
			for line := range strings.Lines(textOf(v, "\n")) {
				if line = strings.TrimSpace(line); line != "" {
					items = append(items, line)
				}
			}
		}
	}
	if len(items) > maxItems {
		return nil, fmt.Errorf("the list in each has %d items (allowed: %d)", len(items), maxItems)
	}
	return items, nil
}

// On returns the target of a step's call, "" for the session's target.
func (s *Step) On(sc Scope) string {
	switch {
	case s.Target != nil:
		return s.Target.Text(sc)
	case s.EachTarget:
		return sc.Item
	}
	return ""
}
