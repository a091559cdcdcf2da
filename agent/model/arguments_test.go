package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"buddy/agent/model"
)

// TestCallName: additions around a name are removed, and nothing else.
func TestCallName(t *testing.T) {
	for written, want := range map[string]string{
		"run_shell": "run_shell", "functions.run_shell": "run_shell", "default_api.run_shell": "run_shell", "default_api:run_shell": "run_shell",
		"functions.run_shell:0": "run_shell", "run_shell:12": "run_shell", "run_shell<|channel|>commentary": "run_shell",
		"functions.run_shell<|channel|>commentary json": "run_shell", " run_shell ": "run_shell",
		"container.exec": "container.exec", "mcp__a__b": "mcp__a__b", "functions": "functions", "run:shell": "run:shell", "<|channel|>": "", "": "",
	} {
		if got := model.CallName(written); got != want {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
}

// TestCallArguments: a mistake is repaired where only one reading is possible.
func TestCallArguments(t *testing.T) {
	for written, want := range map[string]string{
		`{"command":"ls"}}`:                       `{"command":"ls"}`,
		`{"command":"ls"}} }`:                     `{"command":"ls"}`,
		`{"command":"ls",}`:                       `{"command":"ls"}`,
		`{"command":"ls" , }`:                     `{"command":"ls"}`,
		`{"a":[1,2,],"b":{"c":true,},}`:           `{"a":[1,2],"b":{"c":true}}`,
		`{"command":"ls"`:                         `{"command":"ls"}`,
		`{"a":{"b":1}`:                            `{"a":{"b":1}}`,
		`{"a":["b"]`:                              `{"a":["b"]}`,
		`{"a":true`:                               `{"a":true}`,
		`{}{"command":"ls"}`:                      `{"command":"ls"}`,
		`{"command":"ls"}{}`:                      `{"command":"ls"}`,
		`{"command":"ls"} {"command": "ls"}`:      `{"command":"ls"}`,
		`{}}`:                                     `{}`,
		"{\"command\":\"printf 'a\nb\t'\"}":       `{"command":"printf 'a\nb\t'"}`,
		"```json\n{\"command\":\"ls\"}\n```":      `{"command":"ls"}`,
		"```\n{\"command\":\"ls\",}```":           `{"command":"ls"}`,
		`{'command':'ls "a" \'b\' \\'}`:           `{"command":"ls \"a\" 'b' \\"}`,
		`{'a':['b',null,-1.5e3],"c":'d'}`:         `{"a":["b",null,-1.5e3],"c":"d"}`,
		`{"command":"echo it\'s"}`:                `{"command":"echo it's"}`,
		`{"command":"ls"}<|call|>`:                `{"command":"ls"}`,
		`{"text":"a } ] , b","é":"\u00e9\\\"x"}}`: `{"text":"a } ] , b","é":"\u00e9\\\"x"}`,
	} {
		got := model.CallArguments(written)
		if got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s\n got %s\nwant %s", written, got, want)
		}
		if again := model.CallArguments(got); again != got {
			t.Errorf("%s became %s", got, again)
		}
	}
}

// TestCallArgumentsOfSeveralReadings: ambiguous text and valid JSON stay unchanged.
func TestCallArgumentsOfSeveralReadings(t *testing.T) {
	for _, written := range []string{
		`{"command":"ls"}`, ` { "a" : 1.0 } `, `"{\"command\":\"ls\"}"`, `[]`, `7`, `null`, // JSON
		``, `}`, `}}`, `{`, `{}{`, `ls -l`, "*** Begin Patch\n*** End Patch", "```\nls\n```", `<|call|>`,
		`{"command":"ls`, `{"command":"ls\`, `{"command":`, `{"command"`, `{"command":"ls",`, `{"command":"ls","why`, // cut
		`{"offset":1`, `{"a":-`, `{"a":tru`, `{"a":[1,2`, `{"a":["b"`, `{"a":{"b":"c"`, // more may be missing
		`{"command":"ls"}{"command":"rm x"}`, `{"command":"ls"} rm x`, `{"command":"ls"}]`, `{"a":1 "b":2}`, `{"a":1,,"b":2}`, `{,"a":1}`, `[,]`,
		`{'command':'echo 'hi''}`, `{'command':'echo ',}`, `{'command':'ls'}}`, `{'command':'ls'`, `{'a':'it's'}`,
		`{command:"ls"}`, `{"a":undefined}`, `{"a":"\d"}`, "{\"a\":\"\x01\"}", `{"a":01}}`, `{"a":1.}}`,
		strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 201), strings.Repeat("{}", 1000) + `{"a":"b"}`,
	} {
		if got := model.CallArguments(written); got != written {
			t.Errorf("%.60s became %.60s", written, got)
		}
	}
}

// FuzzCallArguments: a repaired text is a JSON object, and is not changed again.
func FuzzCallArguments(f *testing.F) {
	for _, s := range []string{`{"a":"b"}}`, `{'a':'b'}`, `{}{"a":[1,],}`, "```json\n{}\n```", `{"a":{"b":"c"}`, `{"a":"b\'c"}<|call|>`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, written string) {
		got := model.CallArguments(written)
		if got == written {
			return
		}
		var object map[string]json.RawMessage
		if json.Valid([]byte(written)) || json.Unmarshal([]byte(got), &object) != nil || object == nil || model.CallArguments(got) != got {
			t.Errorf("%q became %q", written, got)
		}
	})
}
