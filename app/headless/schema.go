package headless

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"buddy/app/exit"
	"buddy/texts"
)

const (
	schemaTries = 3         // answers that are checked
	maxSchema   = 256 << 10 // bytes of a schema, which is part of every request
)

// answerSchema holds the JSON Schema of the answer (--output-schema).
type answerSchema struct {
	file string
	text string
	is   *jsonschema.Resolved
}

// readSchema reads a JSON Schema, nil for no file. Its references must be internal.
func readSchema(file string) (*answerSchema, error) {
	if file == "" {
		return nil, nil
	}
	fi, err := os.Stat(file)
	if err == nil && fi.Size() > maxSchema {
		err = fmt.Errorf("larger than %d KiB", maxSchema>>10)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(file)
	}
	s := &answerSchema{file: file, text: strings.TrimSpace(string(data))}
	var schema jsonschema.Schema
	if err == nil {
		err = json.Unmarshal(data, &schema)
	}
	if err == nil {
		s.is, err = schema.Resolve(nil)
	}
	if err == nil {
		err = checkTypes(&schema)
	}
	if err != nil {
		return nil, exit.Error{Code: exit.BadUsage, Text: fmt.Sprintf("--output-schema %s: %s", file, texts.OneLine(err.Error()))}
	}
	return s, nil
}

// types are the types of JSON Schema.
var types = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// checkTypes reports an unknown type in a schema or a nested one, because no answer would fit it and Resolve accepts
// any word.
func checkTypes(s *jsonschema.Schema) error {
	for _, t := range append([]string{s.Type}, s.Types...) {
		if t != "" && !slices.Contains(types, t) {
			return fmt.Errorf("%q is not a type (have: %s)", t, strings.Join(types, ", "))
		}
	}
	var inner []*jsonschema.Schema
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		switch field := v.Field(i).Interface().(type) {
		case *jsonschema.Schema:
			if field != nil {
				inner = append(inner, field)
			}
		case []*jsonschema.Schema:
			inner = append(inner, field...)
		case map[string]*jsonschema.Schema:
			inner = slices.AppendSeq(inner, maps.Values(field))
		}
	}
	for _, one := range inner {
		if err := checkTypes(one); err != nil {
			return err
		}
	}
	return nil
}

// instructions returns the prompt text about the form of the answer.
func (s *answerSchema) instructions() string {
	return "\n\n# The form of the answer\nYour final answer to every prompt must be one JSON value that fits this JSON Schema, and nothing else: " +
		"no words before or after it, no code fence.\n<output_schema>\n" + s.text + "\n</output_schema>\n"
}

// correction returns the prompt text about an answer that does not fit.
func (s *answerSchema) correction(err error) string {
	return "Your answer does not fit the JSON Schema: " + err.Error() +
		"\nAnswer again with the whole JSON value, corrected, and nothing else."
}

// check returns the JSON value of an answer, or why it does not fit.
func (s *answerSchema) check(answer string) (string, error) {
	text := texts.Unfenced(answer)
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return "", fmt.Errorf("it is not JSON: %w", err)
	}
	if err := s.is.Validate(v); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "validating root: "))
	}
	return text, nil
}
