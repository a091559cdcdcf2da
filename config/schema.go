package config

import (
	"encoding/json"
	"strings"

	"buddy/agent/model"
	"buddy/texts"
)

// SchemaFile is the file name of [Schema]. Editors find the schema next to a file that begins with the template's first
// line.
const SchemaFile = "buddy.schema.json"

// schemaLine points editors to the schema (Taplo and editors based on it, such as the TOML extension of VS Code). The
// path is relative to the folder of the file.
const schemaLine = "#:schema ./" + SchemaFile

// schema is a node of a JSON Schema, draft 4, the version of Taplo.
type schema struct {
	Schema      string   `json:"$schema,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Type        string   `json:"type,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Minimum     *int     `json:"minimum,omitempty"`
	Maximum     *int     `json:"maximum,omitempty"`
	Default     any      `json:"default,omitempty"`

	Items         *schema            `json:"items,omitempty"`
	Properties    map[string]*schema `json:"properties,omitempty"`
	Required      []string           `json:"required,omitempty"`
	MinProperties int                `json:"minProperties,omitempty"`
	Additional    any                `json:"additionalProperties,omitempty"` // false or a schema
	Not           *schema            `json:"not,omitempty"`
	AnyOf         []*schema          `json:"anyOf,omitempty"`
}

// Schema returns a JSON Schema of the settings, for editors. It is generated from the table that reads files. A file
// that matches may still be invalid: the schema does not know the names of profiles, themes and keys.
func Schema() []byte {
	root := object("Settings of buddy")
	root.Schema = "http://json-schema.org/draft-04/schema#"
	root.Title = "buddy.toml"
	c, p := defaults(), Profile{}
	for _, s := range sections {
		table := object(s.doc)
		for _, f := range s.fields {
			table.Properties[f.name] = f.schema(&c, &p, !s.named && !s.rules)
		}
		switch {
		case s.name == targetsSection.name:
			table.Description = ""
			table.Not = &schema{AnyOf: []*schema{{Required: []string{"ssh", "container"}}}}
			table = &schema{Description: s.doc, Type: "object", Additional: table}
		case s.name == mcpSection.name:
			table.Description = ""
			table.Not = &schema{AnyOf: []*schema{{Required: []string{"command", "url"}}}}
			table = &schema{Description: s.doc, Type: "object", Additional: table}
		case s.name == lspSection.name:
			table.Description = ""
			table = &schema{Description: s.doc, Type: "object", Additional: table}
		case s.named:
			table.Required = []string{"api_base_url"}
			table.Not = &schema{}
			for i, a := range keySources {
				for _, b := range keySources[i+1:] {
					table.Not.AnyOf = append(table.Not.AnyOf, &schema{Required: []string{a, b}})
				}
			}
			table.Description = ""
			table = &schema{Description: s.doc, Type: "object", Additional: table}
		case s.rules:
			table.Description, table.MinProperties = "", 1
			table = &schema{Description: s.doc, Type: "array", Items: table}
		case s.free != nil:
			keys := &schema{Description: s.free.doc, Type: "array", Items: &schema{Type: "string"}}
			table = &schema{Description: s.doc, Type: "object", Additional: keys}
		}
		root.Properties[s.name] = table
	}
	data, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // the table is constant; a test checks it
	}
	return append(data, '\n')
}

func object(doc string) *schema {
	return &schema{Description: doc, Type: "object", Properties: map[string]*schema{}, Additional: false}
}

// schema describes a field.
func (f *field) schema(c *Config, p *Profile, withDefault bool) *schema {
	s := &schema{Description: f.doc}
	zero := 0
	at := f.pointer(c, p)
	switch v := at.(type) {
	case *bool:
		s.Type, s.Default = "boolean", *v
	case *int, seconds:
		s.Type, s.Minimum, s.Default = "integer", &zero, json.Number(literal(at))
		if f.most > 0 {
			one := 1
			s.Minimum, s.Maximum = &one, &f.most
		}
	case *model.Money:
		most := maxDollars
		s.Type, s.Minimum, s.Maximum, s.Default = "number", &zero, &most, json.Number(inDollars(*v))
	case **float64:
		s.Type, s.Minimum, s.Maximum = "number", &zero, &f.most
	case *[]string:
		s.Type, s.Items = "array", &schema{Type: "string"}
	case *string:
		s.Type, s.Enum, s.Default = "string", f.words(), *v
	default:
		s.Type = "string"
	}
	if !withDefault {
		s.Default = nil
	}
	return s
}

// onlyWords matches a description that only lists words in backquotes.
var onlyWords = texts.Regexp("^`[^`]+`(, `[^`]+`)* or `[^`]+`$")

// words returns the allowed values of a field whose short description only lists words in backquotes.
func (f *field) words() []string {
	if !onlyWords().MatchString(f.short) {
		return nil
	}
	var words []string
	for i, part := range strings.Split(f.short, "`") {
		if i%2 == 1 {
			words = append(words, part)
		}
	}
	return words
}
