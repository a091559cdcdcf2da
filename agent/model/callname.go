package model

import "strings"

// CallName returns the name of a tool as it was offered, without the additions of templates and namespaces: gpt-oss
// calls "functions.read_file<|channel|>commentary" (github.com/ggml-org/llama.cpp/pull/15181), Kimi
// "functions.read_file:0" (github.com/vllm-project/vllm, make_tool_call_id), Gemini "default_api.read_file" or
// "default_api:read_file". No offered tool has such a name, because providers refuse these characters.
func CallName(name string) string {
	name, _, _ = strings.Cut(name, "<|")
	name = strings.TrimSpace(name)
	if i := strings.LastIndexByte(name, ':'); i >= 0 && i+1 < len(name) && strings.Trim(name[i:], ":0123456789") == "" {
		name = name[:i]
	}
	for _, space := range []string{"functions.", "default_api.", "default_api:"} {
		name = strings.TrimPrefix(name, space)
	}
	return name
}
