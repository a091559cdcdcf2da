package anthropic_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUnknownMembers: an unknown member changes nothing about an event.
func TestUnknownMembers(t *testing.T) {
	for kind, form := range map[string][2]string{
		`"text","text":""`:                       {"text_delta", "text"},
		`"thinking","thinking":"before "`:        {"thinking_delta", "thinking"},
		`"tool_use","id":"a","name":"x"`:         {"input_json_delta", "partial_json"},
		`"redacted_thinking","data":"x"`:         {"thinking_delta", "thinking"},
		`"text","text":"other kind of delta"`:    {"thinking_delta", "thinking"},
		`"thinking","thinking":"odd","text":"a"`: {"thinking_delta", "text"},
	} {
		var known, strange []string
		known = append(known, `{"type":"content_block_start","index":0,"content_block":{"type":`+kind+`}}`)
		strange = append(strange, known...)
		for _, text := range []string{"plain", `\"\\\n\u00e9`, "é👍", `\ud83d\udc4d`, `\ud83d`, "\xff", "", `{\"a\":1}`} {
			e := `{"type":"content_block_delta","index":0,"delta":{"type":"` + form[0] + `","` + form[1] + `":"` + text + `"}}`
			known = append(known, e)
			strange = append(strange, strings.Replace(e, "{", `{"new":[1],`, 1))
		}
		a, b := stream(t, append(known, ended)...), stream(t, append(strange, ended)...)
		if d := cmp.Diff(a, b); d != "" || a.Err != nil {
			t.Errorf("%s: %v %s", kind, a.Err, d)
		}
	}
}
