package event

import (
	"encoding/json"
	"maps"
	"testing"
)

// Old sessions, whose results were JSON, are shown, searched and resumed as before, without a change of their text.
func TestResultsOfOldSessions(t *testing.T) {
	in := func(payload string) string {
		return `{"harness_timestamp":{"source":"harness","unix_millis":1},"result":` + payload + `}`
	}
	for _, tt := range []struct {
		name                   string
		in                     ToolResult
		text, outcome, onlyOut string
		exits                  map[string]int
	}{
		{"a file", ToolResult{Result: in(`{"path":"a","lines":"12-40 of 900","bytes":3,"content":"x\n"}`), Tail: "x\n"}, "x\n", "lines 12-40 of 900", "", nil},
		{"a page", ToolResult{Result: in(`{"url":"u","content":"a\nb"}`), Tail: "a\nb"}, "a\nb", "2 lines", "", nil},
		{"a picture", ToolResult{Result: in(`{"image":{"type":"image/png"},"content":""}`), Tail: "image/png"}, "image/png", "a picture", "", nil},
		{"a folder", ToolResult{Result: in(`{"path":"a","entries":"x\ny\n"}`), Tail: "x\ny\n"}, "x\ny\n", "2 entries", "", nil},
		{"matches", ToolResult{Result: in(`{"matches":"a:1:x\n","count":1}`), Tail: "a:1:x\n"}, "a:1:x\n", "1 match", "", nil},
		{"files", ToolResult{Result: in(`{"count":3,"files":"a\nb\nc\n"}`), Tail: "a\nb\nc\n"}, "a\nb\nc\n", "3 files", "", nil},
		{"pages", ToolResult{Result: in(`{"count":2,"results":"1. a\n"}`), Tail: "1. a\n"}, "1. a\n", "2 results", "", nil},
		{"a plan", ToolResult{Result: in(`{"decision":"approved","note":"go"}`), Tail: "approved\n"}, "approved\n", "approved", "", nil},
		{"a command", ToolResult{Result: in(`{"exit_code":0,"stdout":"o\n","stderr":"e\n","duration_ms":3}`) + "\n[hint: x]", Tail: "o\ne\n"}, "o\ne\n", "", "o\n", nil},
		{"a silent command", ToolResult{Result: in(`{"exit_code":1,"stdout":"","stderr":"","notices":["it ran in the sandbox: no network. If that is why it failed: do this"]}`)}, "it ran in the sandbox: no network.", "", "", nil},
		{"a task", ToolResult{Result: in(`{"running":true,"id":7,"stdout":"","stderr":"","note":"wait"}`)}, "", "in background (#7)", "", nil},
		{"several targets", ToolResult{Result: in(`{"failed":["b: no"],"targets":[{"target":"a","result":{"exit_code":3}},{"target":"b","error":"no"}]}`), Tail: "── a"}, "── a", "", "", map[string]int{"a": 3}},
		{"a shortened one", ToolResult{Result: in(`{"content":"abc`)[:70] + "\n[the whole result (90000 bytes) is in /x]", Tail: "abc"}, "abc", "", "", nil},
		{"an error", ToolResult{IsError: true, Result: "Tool error: execution failed: a.go does not exist\n[hint: list the folder]"}, "a.go does not exist", "", "", nil},
		{"an unknown tool", ToolResult{IsError: true, Result: "Tool error: unknown tool: bash2 (have: run_shell, read_file)"}, "unknown tool: bash2", "", "", nil},
		{"a denial", ToolResult{IsError: true, Result: "The user denied this; nothing ran."}, "The user denied this; nothing ran.", "", "", nil},
		{"what a server said", ToolResult{Result: `[{"name":"a"}]`, Tail: "- name: a"}, "- name: a", "", "", nil},
		{"a new one", ToolResult{Result: "x\n[exit code 1]", Aside: "[exit code 1]", Outcome: "3 lines"}, "x\n", "3 lines", "", nil},
	} {
		line, err := Envelope{Seq: 1, Payload: tt.in}.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		quick, err := Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		var slow Envelope
		if err := json.Unmarshal(line, &slow); err != nil {
			t.Fatal(err)
		}
		for _, env := range []Envelope{quick, slow} {
			got, _ := env.Payload.(ToolResult)
			out := ""
			if got.Stdout != nil {
				out = *got.Stdout
			}
			if got.Result != tt.in.Result || got.Text() != tt.text || got.Outcome != tt.outcome || out != tt.onlyOut || !maps.Equal(got.Exits, tt.exits) {
				t.Errorf("%s: text %q, outcome %q, stdout %q, exits %v of %+v", tt.name, got.Text(), got.Outcome, out, got.Exits, got)
			}
		}
	}
}
