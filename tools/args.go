package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"buddy/texts"
)

// ErrArguments marks an error of Plan or Run that the model can correct by calling again with
// other arguments. No side effect has happened.
var ErrArguments = errors.New("invalid arguments")

// Invalid returns an ErrArguments whose text describes the problem.
func Invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrArguments, fmt.Sprintf(format, args...))
}

// Decode reads a call's arguments into T; see field for the tags of T. Names must match exactly and unknown ones are
// refused. A number, boolean or list may be encoded in a string, a number may stand for a string, and one string for a
// list of strings, because the meaning is clear. null counts as left out. The error is an ErrArguments that lists all
// problems at once, so that the model needs one more try, not five.
func Decode[T any](call Call) (T, error) {
	var args, none T
	text := call.Arguments
	if strings.TrimSpace(text) == "" {
		text = "{}" // some models send nothing for a call without arguments
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return none, Invalid("expected a JSON object, got %s", KindOf([]byte(text)))
		}
		return none, Invalid("not valid JSON: %v", err)
	}
	problems := fill(fieldsOf(reflect.TypeFor[T]()), reflect.ValueOf(&args).Elem(), values, "")
	if len(problems) > 10 {
		problems = append(problems[:10], "…")
	}
	if len(problems) > 0 {
		return none, Invalid("%s", strings.Join(problems, "; "))
	}
	return args, nil
}

// fill stores values in the fields of a struct and returns the problems found. at is put before the argument names in
// the problems.
func fill(fields []field, into reflect.Value, values map[string]json.RawMessage, at string) []string {
	var problems []string
	for _, p := range unknown(fields, values) {
		if at != "" {
			p = strings.TrimSuffix(at, ".") + ": " + p
		}
		problems = append(problems, p)
	}
	for _, f := range fields {
		problems = append(problems, f.set(into.Field(f.index), values[f.name], at+f.name)...)
	}
	return problems
}

func unknown(fields []field, values map[string]json.RawMessage) []string {
	var known, taken, strange []string
	for _, f := range fields {
		if taken = append(taken, f.name); !f.hidden {
			known = append(known, f.name)
		}
	}
	for name := range values {
		if !slices.Contains(taken, name) {
			strange = append(strange, fmt.Sprintf("unknown argument %q (have: %s)", texts.ClipBytes(name, 60), strings.Join(known, ", ")))
		}
	}
	slices.Sort(strange)
	return strange
}

// set stores the JSON value raw in v and returns the problems found, in which at is the argument's name.
func (f field) set(v reflect.Value, raw json.RawMessage, at string) []string {
	if raw == nil || string(raw) == "null" {
		if f.required {
			return []string{at + ": missing, expected " + f.expected()}
		}
		return nil
	}
	wrong := []string{fmt.Sprintf("%s: expected %s, got %s", at, f.expected(), KindOf(raw))}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch f.typ {
	case "integer", "boolean":
		raw = unquoted(raw)
	case "string":
		if v.Kind() == reflect.String {
			raw = quoted(raw)
		}
	case "array":
		items, ok := f.itemsIn(raw)
		if !ok {
			return wrong
		}
		return f.setItems(v, items, at)
	case "object":
		var values map[string]json.RawMessage
		if json.Unmarshal(raw, &values) != nil {
			return wrong
		}
		return fill(f.fields, v, values, at+".")
	}
	if json.Unmarshal(raw, v.Addr().Interface()) != nil {
		return wrong
	}
	if problem := f.check(v); problem != "" {
		return []string{at + ": " + problem}
	}
	return nil
}

// quoted returns a number as a string; other values stay as they are.
func quoted(raw json.RawMessage) json.RawMessage {
	if text := strings.TrimSpace(string(raw)); text[0] == '-' || text[0] >= '0' && text[0] <= '9' {
		return json.RawMessage(`"` + text + `"`)
	}
	return raw
}

// itemsIn returns the items of a list, which may be encoded in a string.
func (f field) itemsIn(raw json.RawMessage) (items []json.RawMessage, ok bool) {
	if json.Unmarshal(unquoted(raw), &items) == nil {
		return items, true
	}
	var text string
	if f.item.typ != "string" || json.Unmarshal(raw, &text) != nil {
		return nil, false
	}
	return []json.RawMessage{raw}, true
}

// check returns the problem with a value of the right type, or "".
func (f field) check(v reflect.Value) string {
	switch f.typ {
	case "string":
		return f.checkString(v.String())
	case "integer":
		if n := v.Int(); f.min != nil && n < int64(*f.min) || f.max != nil && n > int64(*f.max) {
			return fmt.Sprintf("expected %s, got %d", f.expected(), n)
		}
	}
	return ""
}

func (f field) setItems(v reflect.Value, items []json.RawMessage, at string) []string {
	if f.max != nil && len(items) > *f.max {
		return []string{fmt.Sprintf("%s: at most %d, got %d", at, *f.max, len(items))}
	}
	var problems []string
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, raw := range items {
		problems = append(problems, f.item.set(v.Index(i), raw, fmt.Sprintf("%s[%d]", at, i))...)
	}
	return problems
}

func (f field) checkString(s string) string {
	if f.required && !f.blankOK && strings.TrimSpace(s) == "" {
		return "must not be blank"
	}
	if f.enum != nil && !slices.Contains(f.enum, s) {
		return fmt.Sprintf("expected %s, got %q", f.expected(), texts.ClipBytes(s, 60))
	}
	return ""
}

// expected describes the values that f allows.
func (f field) expected() string {
	switch {
	case f.typ == "":
		return "a value"
	case f.enum != nil:
		return "one of " + strings.Join(f.enum, ", ")
	case f.min != nil && f.max != nil:
		return fmt.Sprintf("%s from %d to %d", f.typ, *f.min, *f.max)
	case f.min != nil:
		return fmt.Sprintf("%s of at least %d", f.typ, *f.min)
	default:
		return f.typ
	}
}

// KindOf names the type of a JSON value. For a number it adds the digits.
func KindOf(raw []byte) string {
	text := strings.TrimSpace(string(raw))
	if text == "" {
		return "nothing"
	}
	switch text[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number " + texts.ClipBytes(text, 30)
	}
}
