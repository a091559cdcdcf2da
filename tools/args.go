package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// ErrArguments marks an error of Plan or Run that the model can mend by calling again
// with other arguments. Nothing has happened then.
var ErrArguments = errors.New("invalid arguments")

// invalid returns an ErrArguments that tells what is wrong with them.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrArguments, fmt.Sprintf(format, args...))
}

// decode reads a call's arguments into T, see field for its tags. It is strict: names
// are matched exactly, unknown ones are refused, and values are not converted. null
// counts as left out. The error is an ErrArguments that names every problem at once,
// so that the model needs one more try and not five.
func decode[T any](call Call) (T, error) {
	var args, none T
	text := call.Arguments
	if strings.TrimSpace(text) == "" {
		text = "{}" // what some models send when they have nothing to say
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return none, invalid("expected a JSON object, got %s", kindOf([]byte(text)))
		}
		return none, invalid("not valid JSON: %v", err)
	}
	fields := fieldsOf(reflect.TypeFor[T]())
	problems := unknown(fields, values)
	into := reflect.ValueOf(&args).Elem()
	for _, f := range fields {
		if problem := f.set(into.Field(f.index), values[f.name]); problem != "" {
			problems = append(problems, f.name+": "+problem)
		}
	}
	if len(problems) > 0 {
		return none, invalid("%s", strings.Join(problems, "; "))
	}
	return args, nil
}

func unknown(fields []field, values map[string]json.RawMessage) []string {
	var known, strange []string
	for _, f := range fields {
		known = append(known, f.name)
	}
	for name := range values {
		if !slices.Contains(known, name) {
			strange = append(strange, fmt.Sprintf("unknown argument %q (have: %s)", clip(name, 60), strings.Join(known, ", ")))
		}
	}
	slices.Sort(strange)
	return strange
}

// set stores the JSON value raw in v and returns what is wrong with it, or "".
func (f field) set(v reflect.Value, raw json.RawMessage) string {
	if raw == nil || string(raw) == "null" {
		if f.required {
			return "missing, expected " + f.expected()
		}
		return ""
	}
	if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
		return fmt.Sprintf("expected %s, got %s", f.expected(), kindOf(raw))
	}
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

func (f field) checkString(s string) string {
	if f.required && !f.blankOK && strings.TrimSpace(s) == "" {
		return "must not be blank"
	}
	if f.enum != nil && !slices.Contains(f.enum, s) {
		return fmt.Sprintf("expected %s, got %q", f.expected(), clip(s, 60))
	}
	return ""
}

// expected says in words what f allows.
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

// kindOf names the type of a JSON value, with a number's digits.
func kindOf(raw []byte) string {
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
		return "number " + clip(text, 30)
	}
}
