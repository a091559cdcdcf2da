package modeltest

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemas contains JSON schemas for the request bodies that OpenAI's and Anthropic's own clients send, see
// schemas/README.md. A body with unknown members, or without required ones, is invalid.
//
//go:embed schemas/*.json
var schemas embed.FS

func schemaOf(name string) func() *jsonschema.Resolved {
	return sync.OnceValue(func() *jsonschema.Resolved {
		data, err := schemas.ReadFile("schemas/" + name + ".json")
		if err != nil {
			panic(err) // it is embedded
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(data, &s); err != nil {
			panic(fmt.Errorf("schemas/%s.json: %w", name, err))
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			panic(fmt.Errorf("schemas/%s.json: %w", name, err))
		}
		return resolved
	})
}

var bodySchemas = map[string]func() *jsonschema.Resolved{
	"completions": schemaOf("completions"), "responses": schemaOf("responses"), "anthropic": schemaOf("anthropic"),
}

// CheckSchema returns an error if the provider's own client would not send this body. protocol is the value of the
// setting "api".
func CheckSchema(protocol string, body []byte) error {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	if err := bodySchemas[protocol]().Validate(v); err != nil {
		return fmt.Errorf("the body is not one of %s: %w", protocol, err)
	}
	return nil
}

// checkBody is like CheckSchema, but permits a client to send back what the test server has sent beyond the published
// types: members such as reasoning_content, and the server's own items and blocks.
func checkBody(protocol string, body []byte) error {
	var b map[string]any
	if err := json.Unmarshal(body, &b); err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	switch protocol {
	case "completions":
		for _, m := range list(b["messages"]) {
			if m["role"] == "assistant" {
				keepOnly(m, "role", "content", "tool_calls")
			}
			for _, c := range list(m["tool_calls"]) {
				keepOnly(c, "id", "type", "function")
			}
		}
	case "responses":
		items, _ := b["input"].([]any)
		b["input"] = slices.DeleteFunc(items, func(it any) bool {
			m, _ := it.(map[string]any)
			kind, _ := m["type"].(string)
			return slices.Contains(serverItems, kind)
		})
	case "anthropic":
		delete(b, "context_management") // of a beta version, which the published types lack
		delete(b, "temperature")        // older models accept them; the newest client has neither
		delete(b, "top_p")
		for _, m := range list(b["messages"]) {
			blocks, _ := m["content"].([]any)
			m["content"] = slices.DeleteFunc(blocks, func(block any) bool {
				c, _ := block.(map[string]any)
				kind, _ := c["type"].(string)
				return m["role"] == "assistant" && !slices.Contains([]string{"text", "tool_use", "thinking", "redacted_thinking"}, kind)
			})
		}
	}
	rest, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return CheckSchema(protocol, rest)
}

func list(v any) (all []map[string]any) {
	items, _ := v.([]any)
	for _, it := range items {
		if m, ok := it.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

func keepOnly(m map[string]any, keys ...string) {
	maps.DeleteFunc(m, func(k string, _ any) bool { return !slices.Contains(keys, k) })
}
