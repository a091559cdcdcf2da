package words

import (
	"encoding/json"
	"strings"

	"buddy/texts"
	"buddy/views/draw"
)

// args maps argument names to readable values.
type args map[string]string

// unread is shown instead of arguments that are no JSON object.
const unread = "unreadable arguments"

// args returns the arguments of a call, none if they can't be parsed.
func (c Call) args() args {
	all, _ := texts.Members(c.Arguments)
	a := make(args, len(all))
	for _, m := range all {
		a[m.Name] = m.Value
	}
	return a
}

// innerArguments returns the arguments of the call that use_tool makes, which may be encoded twice.
func innerArguments(outer string) string {
	var use struct{ Args json.RawMessage }
	if json.Unmarshal([]byte(outer), &use) != nil {
		return outer
	}
	var again string
	if json.Unmarshal(use.Args, &again) == nil {
		return again
	}
	return string(use.Args)
}

// Details returns the arguments of a call as a list, without the model's reason.
func (c Call) Details() []texts.Member {
	c = c.reached()
	if strings.TrimSpace(c.Arguments) == "" {
		return nil
	}
	all, ok := texts.Members(c.Arguments)
	if !ok {
		return []texts.Member{{Name: "arguments", Value: unread}}
	}
	kept := all[:0]
	for _, m := range all {
		if m.Name != "why" {
			kept = append(kept, m)
		}
	}
	return kept
}

// argumentLine returns the arguments of a call on one line.
func (c Call) argumentLine() string {
	var all []string
	for _, m := range c.Details() {
		if m.Value == unread {
			return "(" + unread + ")"
		}
		all = append(all, texts.OneLine(m.Name)+": "+draw.FirstLine(m.Value))
	}
	return texts.Clip(strings.Join(all, " · "), maxArguments)
}

// maxArguments limits arguments on one line, in characters.
const maxArguments = 200
