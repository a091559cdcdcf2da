package tools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/model"
	"buddy/texts"
)

// field describes one argument of a tool, read from a field of its argument struct:
//
//	Depth int `json:"depth,omitempty" desc:"levels of folders" min:"1" max:"3"`
//
// Types are string, bool, int, json.RawMessage, a pointer to one of these for an argument whose absence means
// something, and a slice of strings or of structs whose fields have the same tags. A json.RawMessage takes any value;
// the tag type is its type in the schema, because servers refuse a schema without a type. An argument is required
// unless it has omitempty. Required strings, and strings in lists, must not be blank unless the field is tagged
// blank:"ok". enum lists the allowed values of a string, separated by commas. max also limits the length of a list. The
// schema contains neither this limit nor min, but both are checked. A field tagged schema:"-" is accepted but not in
// the schema.
type field struct {
	name     string
	desc     string
	index    int
	typ      string // JSON Schema's name of the type; empty for any value
	says     string // the type in the schema of an argument that accepts any value
	required bool
	blankOK  bool
	hidden   bool // not in the schema
	enum     []string
	min, max *int
	item     *field  // of an array
	fields   []field // of an object
}

var anyValue = reflect.TypeFor[json.RawMessage]()

// fieldsOf reads the tags of a struct. It panics on an unknown type or tag, which is a mistake in the tool and shows in
// any test of it.
func fieldsOf(t reflect.Type) []field {
	fields := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		sf := t.Field(i)
		name, opts, _ := strings.Cut(sf.Tag.Get("json"), ",")
		f := field{
			name: name, desc: sf.Tag.Get("desc"), index: i, required: opts != "omitempty", blankOK: sf.Tag.Get("blank") == "ok", hidden: sf.Tag.Get("schema") == "-",
			min: number(sf, "min"), max: number(sf, "max"),
		}
		if list := sf.Tag.Get("enum"); list != "" {
			f.enum = strings.Split(list, ",")
		}
		f.classify(sf.Type)
		if f.says = sf.Tag.Get("type"); (f.says == "") != (f.typ != "") {
			panic(fmt.Sprintf("tools: argument %s: the tag type belongs to every json.RawMessage, and to nothing else (it is %q)", f.name, f.says))
		}
		fields = append(fields, f)
	}
	return fields
}

// classify sets the JSON type of f from the Go type t.
func (f *field) classify(t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == anyValue:
	case t.Kind() == reflect.String:
		f.typ = "string"
	case t.Kind() == reflect.Bool:
		f.typ = "boolean"
	case t.Kind() == reflect.Int:
		f.typ = "integer"
	case t.Kind() == reflect.Slice:
		f.typ = "array"
		f.item = &field{required: true, blankOK: f.blankOK}
		f.item.classify(t.Elem())
	case t.Kind() == reflect.Struct:
		f.typ = "object"
		f.fields = fieldsOf(t)
	default:
		panic(fmt.Sprintf("tools: argument %s has the unsupported type %s", f.name, t))
	}
}

func number(sf reflect.StructField, tag string) *int {
	text, ok := sf.Tag.Lookup(tag)
	if !ok {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("tools: argument %s: %s: %v", sf.Name, tag, err))
	}
	return &n
}

// Schema holds the definition of a tool whose arguments are the fields of a struct. Tools
// embed it.
type Schema struct {
	def    model.ToolDef
	fields []field
}

// Define returns the schema of a tool whose arguments are the struct T. The same T always results in the same bytes,
// with fields in order, as prompt caches need it. The schema does not forbid other arguments, because that would cost
// 30 bytes per tool in each request; Decode refuses them.
func Define[T any](name, description string) Schema {
	fields := fieldsOf(reflect.TypeFor[T]())
	return Schema{model.ToolDef{Name: name, Description: strings.TrimSpace(description), Parameters: schemaOf(fields)}, fields}
}

// Name returns the tool's name.
func (s Schema) Name() string { return s.def.Name }

// Definition returns the definition for the model.
func (s Schema) Definition() model.ToolDef { return s.def }

// Arguments returns the tool's arguments, in order.
func (s Schema) Arguments() []model.Argument {
	var all []model.Argument
	for _, f := range s.fields {
		all = append(all, model.Argument{Name: f.name, Type: f.typ, Required: f.required})
	}
	return all
}

// ArgumentsOf returns the arguments of tools, by tool name.
func ArgumentsOf(all ...Tool) map[string][]model.Argument {
	known := make(map[string][]model.Argument)
	for _, t := range all {
		if s, ok := t.(interface{ Arguments() []model.Argument }); ok {
			known[t.Definition().Name] = s.Arguments()
		}
	}
	return known
}

// AsText returns a copy of the schema for protocols in which a call may be free text instead of JSON. The text is then
// the value of argument and follows grammar (see [model.FreeText]).
func (s Schema) AsText(argument, grammar string) Schema {
	s.def.Free = &model.FreeText{Argument: argument, Grammar: grammar}
	return s
}

// With returns the tool's definition with the fields of the struct extra appended as arguments. Its calls are never
// free text, because that could hold only one argument.
func (s Schema) With(extra any) model.ToolDef {
	def := s.def
	def.Free = nil
	def.Parameters = schemaOf(slices.Concat(s.fields, fieldsOf(reflect.TypeOf(extra))))
	return def
}

// property is the JSON Schema of a field.
type property struct {
	Type        string          `json:"type,omitempty"`
	Description string          `json:"description,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Maximum     *int            `json:"maximum,omitempty"`
	Items       json.RawMessage `json:"items,omitempty"`
	Additional  bool            `json:"additionalProperties,omitempty"`
}

func (f field) schema() json.RawMessage {
	if f.typ == "object" {
		return schemaOf(f.fields)
	}
	p := property{Type: cmp.Or(f.typ, f.says), Description: f.desc, Enum: f.enum, Additional: f.says == "object"}
	if f.typ == "array" {
		p.Items = f.item.schema()
	} else {
		p.Maximum = f.max
	}
	return JSON(p)
}

func schemaOf(fields []field) json.RawMessage {
	var props bytes.Buffer
	required := []string{}
	for _, f := range fields {
		if f.hidden {
			continue
		}
		if props.Len() > 0 {
			props.WriteByte(',')
		}
		props.Write(JSON(f.name))
		props.WriteByte(':')
		props.Write(f.schema())
		if f.required {
			required = append(required, f.name)
		}
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{%s},"required":%s}`, props.Bytes(), JSON(required))
}

// JSON encodes v without escaping <, > and &, which would waste tokens. It panics when v can't
// be encoded; plain values of tools always can.
func JSON(v any) []byte {
	text, err := texts.JSON(v)
	if err != nil {
		panic(fmt.Sprintf("tools: encode %T: %v", v, err))
	}
	return text
}
