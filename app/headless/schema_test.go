package headless

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An answer is its JSON value, with or without a code fence, or an error that helps the model to correct it.
func TestAnswerSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.json")
	schema := `{"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"], "additionalProperties": false}`
	if err := os.WriteFile(file, []byte(schema), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := readSchema(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ answer, want, fault string }{
		{`{"n": 1}`, `{"n": 1}`, ""},
		{"\n {\"n\": 1}\n", `{"n": 1}`, ""},
		{"```json\n{\"n\": 1}\n```", `{"n": 1}`, ""},
		{"```\n{\"n\": 1}\n```\n", `{"n": 1}`, ""},
		{"Here it is:\n```json\n{\"n\": 1}\n```", "", "it is not JSON"},
		{"```", "", "it is not JSON"},
		{"", "", "it is not JSON"},
		{`{"n": 1} {"n": 2}`, "", "it is not JSON"},
		{`{"n": 0}`, "", "minimum"},
		{`{"n": "1"}`, "", "type"},
		{`{}`, "", `"n"`},
		{`{"n": 1, "m": 2}`, "", `"m"`},
		{`[1]`, "", "type"},
	} {
		got, err := s.check(tt.answer)
		if got != tt.want || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("check(%q) = %q, %v, want %q, %q", tt.answer, got, err, tt.want, tt.fault)
		}
	}
	if told := s.instructions(); !strings.HasPrefix(told, "\n\n") || !strings.Contains(told, schema) {
		t.Errorf("the model is told %q", told)
	}
}

// A schema is limited, because it is part of every request.
func TestLargeSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(file, make([]byte, maxSchema+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readSchema(file); err == nil || !strings.Contains(err.Error(), "larger than 256 KiB") {
		t.Errorf("readSchema = %v", err)
	}
}

// An unknown type is found anywhere in a schema; a property that only looks like a type is ignored.
func TestTypesOfASchema(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type": "foo"}`:                                             `"foo" is not a type`,
		`{"type": ["string", "null"]}`:                                "",
		`{"type": ["string", "text"]}`:                                `"text" is not a type`,
		`{"properties": {"type": {"type": "String"}}}`:                `"String" is not a type`,
		`{"items": {"anyOf": [{"type": "string"}, {"type": "int"}]}}`: `"int" is not a type`,
		`{"$defs": {"a": {"not": {"type": "any"}}}}`:                  `"any" is not a type`,
		`{"additionalProperties": false, "enum": [{"type": "foo"}], "default": {"type": "foo"}}`: "",
	} {
		file := filepath.Join(t.TempDir(), "s.json")
		if err := os.WriteFile(file, []byte(schema), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readSchema(file)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", schema, err, want)
		}
	}
}
