package toolset

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"buddy/tools/target"
)

// schema is a JSON Schema, decoded.
type schema = map[string]any

// strict describes the subset of JSON Schema that a server accepts in the definition of a tool.
type strict struct {
	server   string
	keywords string // all that the server knows, "" for no limit
	refuses  func(s schema, root bool) string
}

// stricts are the servers whose subsets are known. Servers of other makers are similar to one of these.
var stricts = []strict{
	{ // developers.openai.com/api/docs/guides/structured-outputs, "Supported schemas"
		"OpenAI", "type properties required items enum anyOf $ref $defs additionalProperties description pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems",
		func(s schema, root bool) string {
			switch {
			case s["type"] == "array" && s["items"] == nil:
				return "array schema missing items"
			case root && s["properties"] == nil:
				return "object schema missing properties"
			}
			return ""
		},
	},
	{ // github.com/anthropics/claude-code/issues/27337; platform.claude.com/docs/en/agents-and-tools/tool-use
		"Anthropic", "",
		func(s schema, root bool) string {
			if root && (s["type"] != "object" || s["anyOf"] != nil || s["oneOf"] != nil || s["allOf"] != nil) {
				return "input_schema does not support oneOf, allOf, or anyOf at the top level"
			}
			for name := range properties(s) {
				if !regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`).MatchString(name) {
					return "property keys should match the pattern: " + name
				}
			}
			return ""
		},
	},
	{ // ai.google.dev/api/caching#Schema; cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/FunctionDeclaration
		"Gemini", "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum additionalProperties",
		func(s schema, _ bool) string {
			if _, one := s["type"].(string); !one && s["anyOf"] == nil {
				return "schema didn't specify the schema type field"
			}
			if s["enum"] != nil && s["type"] != "string" {
				return "enum: only allowed for STRING type"
			}
			if s["type"] == "array" && s["items"] == nil {
				return "items: missing field"
			}
			required, _ := s["required"].([]any)
			for _, name := range required {
				if properties(s)[fmt.Sprint(name)] == nil {
					return fmt.Sprintf("required: property %v is not defined", name)
				}
			}
			for name := range properties(s) {
				if !regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`).MatchString(name) {
					return "parameter names: " + name
				}
			}
			return ""
		},
	},
	{ // docs.fireworks.ai/structured-responses/structured-response-formatting; github.com/openclaw/openclaw/issues/75444
		"Fireworks", "type properties required items enum const anyOf $ref $defs additionalProperties description title default minimum maximum minItems maxItems",
		func(s schema, _ bool) string {
			if s["type"] == nil && s["anyOf"] == nil && s["$ref"] == nil && s["enum"] == nil && s["const"] == nil {
				return "JSON Schema not supported: could not understand the instance"
			}
			return ""
		},
	},
	{ // github.com/ggml-org/llama.cpp/blob/master/common/json-schema-to-grammar.cpp, visit
		"llama.cpp", "",
		func(s schema, _ bool) string {
			if s["anyOf"] != nil || s["oneOf"] != nil || s["allOf"] != nil || s["$ref"] != nil || s["enum"] != nil || s["const"] != nil {
				return ""
			}
			if s["type"] == "array" && s["items"] == nil && s["prefixItems"] == nil { // an array of values of any kind is no list
				return "Unrecognized schema: array"
			}
			if one, ok := s["type"].(string); s["type"] != nil && (!ok || !slices.Contains([]string{"boolean", "number", "integer", "string", "null", "object", "array"}, one)) {
				return fmt.Sprintf("Unrecognized schema: %v", s["type"])
			}
			return ""
		},
	},
}

func properties(s schema) schema {
	p, _ := s["properties"].(schema)
	return p
}

// check returns why a server refuses a schema at its path, "" if the server accepts it.
func (r strict) check(at string, s schema, root bool) string {
	for _, k := range slices.Sorted(maps.Keys(s)) {
		if r.keywords != "" && !slices.Contains(strings.Fields(r.keywords), k) {
			return at + ": unknown name " + k
		}
	}
	if why := r.refuses(s, root); why != "" {
		return at + ": " + why
	}
	for _, name := range slices.Sorted(maps.Keys(properties(s))) {
		below, ok := properties(s)[name].(schema)
		if !ok {
			return at + "." + name + ": is no schema"
		}
		if why := r.check(at+"."+name, below, false); why != "" {
			return why
		}
	}
	if items, ok := s["items"].(schema); ok {
		return r.check(at+"[]", items, false)
	}
	return ""
}

// TestStrictServersTakeAllTools: a single schema that a server does not understand would make it refuse every request.
func TestStrictServersTakeAllTools(t *testing.T) {
	build := &target.Target{Name: "build"}
	for _, others := range [][]*target.Target{nil, {build}} {
		all, deferred := offered(t, "", others...)
		for _, tool := range append(all, deferred.All()...) {
			def := tool.Definition()
			var s schema
			if err := json.Unmarshal(def.Parameters, &s); err != nil {
				t.Fatal(def.Name, err)
			}
			for _, r := range stricts {
				if why := r.check(def.Name, s, true); why != "" {
					t.Errorf("%s: %s", r.server, why)
				}
			}
		}
	}
}

// TestStrictServersRefuse: the rules above find the schemas that those servers refuse.
func TestStrictServersRefuse(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string","description":"x"}},"required":["a"]}`: "",
		`{"type":"object","properties":{"a":{"type":"object","additionalProperties":true}}}`:        "",
		`{"type":"object","properties":{"a":{}}}`:                                                   "Gemini Fireworks",
		`{"type":"object","properties":{"a":{"not":{}}}}`:                                           "OpenAI Gemini Fireworks",
		`{"type":"object","properties":{"a":{"type":["string","null"]}}}`:                           "Gemini llama.cpp",
		`{"type":"object","properties":{"a":{"type":"array"}}}`:                                     "OpenAI Gemini llama.cpp",
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"text"}}}}`:             "llama.cpp",
		`{"type":"object","properties":{"a":{"type":"integer","enum":[1]}}}`:                        "Gemini",
		`{"type":"object","properties":{},"required":["a"]}`:                                        "Gemini",
		`{"type":"object","properties":{"bad key!":{"type":"string"}}}`:                             "Anthropic Gemini",
		`{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]}]}`:       "Anthropic",
		`{"type":"object"}`: "OpenAI",
	} {
		var s schema
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		var refused []string
		for _, r := range stricts {
			if r.check("t", s, true) != "" {
				refused = append(refused, r.server)
			}
		}
		if got := strings.Join(refused, " "); got != want {
			t.Errorf("%s is refused by %q, want %q", text, got, want)
		}
	}
}
