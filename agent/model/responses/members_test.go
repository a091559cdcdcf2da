package responses_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"buddy/agent/model/modeltest"
	"buddy/agent/model/responses"
)

// TestUnknownMembers: an unknown member changes nothing about an event.
func TestUnknownMembers(t *testing.T) {
	for item, form := range map[string]string{
		`"message"`:                            "output_text",
		`"function_call","name":"x"`:           "function_call_arguments",
		`"reasoning"`:                          "reasoning_text",
		`"reasoning","encrypted_content":"x"`:  "reasoning_summary_text",
		`"message","content":[]`:               "refusal",
		`"web_search_call","status":"running"`: "output_text",
	} {
		head := `{"type":"response.output_item.added","output_index":0,"item":{"id":"i","call_id":"c","type":` + item + `}}`
		known, strange := []string{head}, []string{head}
		for _, text := range []string{"plain", `\"\\\n\u00e9`, "é👍", `\ud83d\udc4d`, `\ud83d`, "\xff", "", `{\"a\":1}`} {
			e := `{"type":"response.` + form + `.delta","item_id":"i","output_index":0,"delta":"` + text + `"}`
			known = append(known, e)
			strange = append(strange, strings.Replace(e, "{", `{"new":[1],`, 1))
		}
		end := strings.Replace(head, "added", "done", 1)
		read := func(events []string) modeltest.Result {
			all := "data: " + strings.Join(append(events, end, completed), "\n\ndata: ") + "\n\n"
			return modeltest.Collect(t.Context(), newModel(t, responses.Config{BaseURL: "http://x", HTTPClient: canned(all)}), question)
		}
		a, b := read(known), read(strange)
		if d := cmp.Diff(a, b); d != "" || a.Err != nil {
			t.Errorf("%s: %v %s", item, a.Err, d)
		}
	}
}
