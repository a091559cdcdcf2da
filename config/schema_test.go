package config

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

const schemaDoc = "../docs/" + SchemaFile

// TestReferenceSchema: docs/buddy.schema.json is current; -update writes it.
func TestReferenceSchema(t *testing.T) {
	if *update {
		if err := os.WriteFile(schemaDoc, Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaDoc)
	if err != nil || string(got) != string(Schema()) {
		t.Errorf("%s is stale: run make generate", schemaDoc)
	}
}

// TestSchemaWords: the schema lists exactly the words that a field accepts.
func TestSchemaWords(t *testing.T) {
	f := &file{dir: "/"}
	seen := 0
	for _, s := range sections {
		for _, fld := range s.fields {
			words := fld.words()
			_, text := fld.pointer(&Config{}, &Profile{}).(*string)
			if !text || fld.check == nil {
				continue
			}
			for _, w := range words {
				if _, err := fld.check(w, f); err != nil {
					t.Errorf("%s.%s: %q: %v", s.name, fld.name, w, err)
				}
			}
			_, err := fld.check("no such word", f)
			if err == nil || !strings.HasPrefix(err.Error(), "unknown ") {
				continue
			}
			seen++
			if len(words) == 0 {
				t.Errorf("%s.%s takes few words, but its short text %q is no list of them", s.name, fld.name, fld.short)
			}
			if _, have, ok := strings.Cut(err.Error(), "(have: "); ok {
				have, _, _ = strings.Cut(strings.TrimSuffix(have, ")"), ";")
				if got := strings.Split(have, ", "); len(got) != len(words) {
					t.Errorf("%s.%s: takes %q, says %q", s.name, fld.name, got, words)
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d fields of a few words were found", seen)
	}
}

// TestSchema: valid files match the schema, clearly invalid ones do not.
func TestSchema(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                       "",
		Template():               "",
		twoProfiles:              "",
		"[[deny]]\ntool = \"x\"": "",
		"[keys]\nsend = [\"Enter\"]\n[agent]\nmax_cost = 0.5\n": "",
		"[agent]\nmodl = \"x\"":                                 "agent.modl: unknown",
		"[agent]\nmax_iterations = \"3\"":                       "agent.max_iterations: not integer",
		"[agent]\nmax_iterations = -1":                          "agent.max_iterations: below 0",
		"[context]\nkeep = 101":                                 "context.keep: above 100",
		"[ui]\nnotify = \"bel\"":                                "ui.notify: not one of",
		"[models.a]\nmodel = \"x\"":                             "models.a: api_base_url is missing",
		"[[deny]]":                                              "deny.0: too few keys",
		"[deny]\ntool=\"x\"":                                    "deny: not array",
		"[keys]\nsend = \"Enter\"":                              "keys.send: not array",
		"[display]":                                             "display: unknown",
		twoProfiles + "api_key_env = \"K\"":                     "models.two: forbidden",
	} {
		var v map[string]any
		if err := toml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if got := violation(root, v, ""); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// violation returns the violation of a schema by a value; it supports the keywords that Schema uses.
func violation(s map[string]any, v any, at string) string {
	say := func(format string, args ...any) string {
		return strings.TrimPrefix(at, ".") + ": " + fmt.Sprintf(format, args...)
	}
	if want, ok := s["type"]; ok && want != typeOf(v) && (want != "number" || typeOf(v) != "integer") {
		return say("not %s", want)
	}
	if words, ok := s["enum"].([]any); ok && !slices.Contains(words, v) {
		return say("not one of")
	}
	var n float64
	if _, err := fmt.Sscan(fmt.Sprint(v), &n); err == nil {
		if least, ok := s["minimum"].(float64); ok && n < least {
			return say("below %v", least)
		}
		if most, ok := s["maximum"].(float64); ok && n > most {
			return say("above %v", most)
		}
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if bad := violation(s["items"].(map[string]any), item, fmt.Sprintf("%s.%d", at, i)); bad != "" {
				return bad
			}
		}
	case map[string]any:
		return violationOfTable(s, v, at, say)
	}
	return ""
}

func violationOfTable(s, v map[string]any, at string, say func(string, ...any) string) string {
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return say("%s is missing", name)
		}
	}
	if least, ok := s["minProperties"].(float64); ok && len(v) < int(least) {
		return say("too few keys")
	}
	if not, ok := s["not"].(map[string]any); ok {
		for _, one := range not["anyOf"].([]any) {
			if violationOfTable(one.(map[string]any), v, at, say) == "" {
				return say("forbidden")
			}
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for key, value := range v {
		sub, ok := properties[key].(map[string]any)
		if !ok {
			sub, ok = s["additionalProperties"].(map[string]any)
		}
		if !ok && s["additionalProperties"] == false {
			return strings.TrimPrefix(at+"."+key, ".") + ": unknown"
		}
		if bad := violation(sub, value, at+"."+key); ok && bad != "" {
			return bad
		}
	}
	return ""
}

func typeOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case int64:
		return "integer"
	case float64:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return fmt.Sprintf("%T", v)
}
