package form

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"buddy/texts"
)

// schema is the part of JSON Schema that the protocol allows in a form: one object with plain values. Source:
// modelcontextprotocol.io, specification 2025-11-25, "Elicitation".
type schema struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

type property struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Format      string          `json:"format"`
	Default     any             `json:"default"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []constant      `json:"oneOf"`
	AnyOf       []constant      `json:"anyOf"`
	Items       *property       `json:"items"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	MinLength   *float64        `json:"minLength"`
	MaxLength   *float64        `json:"maxLength"`
	MinItems    *float64        `json:"minItems"`
	MaxItems    *float64        `json:"maxItems"`
	Properties  json.RawMessage `json:"properties"` // of a nested object, which is not allowed
}

type constant struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// Fields reads the fields of a form from its decoded JSON schema. Required fields come first, in the schema's order,
// then the others by name, because decoded properties have no order. A default that does not fit is dropped. The error
// names the field that is not supported.
func Fields(decoded any) ([]Field, error) {
	data, err := json.Marshal(decoded)
	if err != nil {
		return nil, fmt.Errorf("the form can't be read: %w", err)
	}
	var s schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("the form can't be read: %w", err)
	}
	if len(s.Properties) > maxFields {
		return nil, fmt.Errorf("the form has %d fields, more than %d", len(s.Properties), maxFields)
	}
	names := slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(s.Required, a), place(s.Required, b)), cmp.Compare(a, b))
	})
	var fields []Field
	for _, name := range names {
		f, err := fieldOf(s.Properties[name])
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", texts.Clip(name, maxText), err)
		}
		f.Name, f.Required = name, slices.Contains(s.Required, name)
		if f.Default, err = f.fit(f.Default); err != nil {
			f.Default = nil
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// place returns the index of a name in a list, or the length of the list.
func place(list []string, name string) int {
	if i := slices.Index(list, name); i >= 0 {
		return i
	}
	return len(list)
}

func fieldOf(p property) (Field, error) {
	f := Field{
		Title: texts.Clip(texts.OneLine(p.Title), maxText), About: texts.Clip(texts.OneLine(p.Description), maxAbout),
		Default: p.Default, Format: p.Format, Min: p.Minimum, Max: p.Maximum,
	}
	switch p.Type {
	case "boolean":
		f.Kind = YesNo
	case "number":
		f.Kind = Number
	case "integer":
		f.Kind = Integer
	case "string":
		f.Kind, f.Options = Text, optionsOf(p)
		if len(f.Options) > 0 {
			f.Kind = OneOf
		}
		f.Min, f.Max = p.MinLength, p.MaxLength
	case "array":
		if p.Items != nil {
			f.Options = optionsOf(*p.Items)
		}
		if len(f.Options) == 0 {
			return f, errors.New("a list that has no options to choose from")
		}
		f.Kind, f.Min, f.Max = SomeOf, p.MinItems, p.MaxItems
	default:
		return f, fmt.Errorf("type %q can't be asked for (have: string, number, integer, boolean, array of options)", texts.Clip(p.Type, maxText))
	}
	if len(f.Options) > maxOptions {
		return f, fmt.Errorf("%d options, more than %d", len(f.Options), maxOptions)
	}
	return f, nil
}

// optionsOf returns the options in any of the protocol's three spellings. Titles are made unique by adding the value.
func optionsOf(p property) []Option {
	var all []Option
	for i, v := range p.Enum {
		o := Option{v, v}
		if i < len(p.EnumNames) {
			o.Title = p.EnumNames[i]
		}
		all = append(all, o)
	}
	for _, c := range slices.Concat(p.OneOf, p.AnyOf) {
		all = append(all, Option{c.Const, cmp.Or(c.Title, c.Const)})
	}
	seen := make(map[string]bool)
	for i, o := range all {
		title := texts.Clip(texts.OneLine(o.Title), maxText)
		if seen[title] {
			title = texts.Clip(title+" ("+texts.OneLine(o.Value)+")", maxText)
		}
		seen[title], all[i].Title = true, title
	}
	return all
}
