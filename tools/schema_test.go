package tools

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

type sampleArgs struct {
	Path  string          `json:"path" desc:"a <file>"`
	Text  string          `json:"text" blank:"ok"`
	Depth int             `json:"depth,omitempty" min:"1" max:"3"`
	Count int             `json:"count,omitempty" min:"0"`
	Risk  string          `json:"risk,omitempty" enum:"low,high"`
	All   bool            `json:"all,omitempty"`
	Wait  json.RawMessage `json:"wait,omitempty" type:"string"`
	More  json.RawMessage `json:"more,omitempty" type:"object"`
	Names []string        `json:"names,omitempty" max:"2"`
	Steps []step          `json:"steps,omitempty"`
	Maybe *string         `json:"maybe,omitempty"`
	Quiet string          `json:"quiet,omitempty" schema:"-"`
}

type step struct {
	Do   string `json:"do"`
	Fast bool   `json:"fast,omitempty"`
}

func TestDefineWritesSchema(t *testing.T) {
	def := Define[sampleArgs]("sample", "\n does it \n").Definition()
	const want = `{"type":"object","properties":{"path":{"type":"string","description":"a <file>"},"text":{"type":"string"},` +
		`"depth":{"type":"integer","maximum":3},"count":{"type":"integer"},` +
		`"risk":{"type":"string","enum":["low","high"]},"all":{"type":"boolean"},"wait":{"type":"string"},"more":{"type":"object","additionalProperties":true},` +
		`"names":{"type":"array","items":{"type":"string"}},"steps":{"type":"array","items":{"type":"object",` +
		`"properties":{"do":{"type":"string"},"fast":{"type":"boolean"}},"required":["do"]}},` +
		`"maybe":{"type":"string"}},` +
		`"required":["path","text"]}`
	if got := string(def.Parameters); got != want {
		t.Errorf("parameters = %s\nwant %s", got, want)
	}
	if def.Name != "sample" || def.Description != "does it" {
		t.Errorf("definition = %q %q", def.Name, def.Description)
	}
	if !json.Valid(def.Parameters) {
		t.Error("the schema is not valid JSON")
	}
}

func TestDecodeArguments(t *testing.T) {
	tests := []struct{ name, arguments, want string }{
		{"least", `{"path":"a","text":""}`, ""},
		{"all", `{"path":"a","text":"b","depth":3,"count":0,"risk":"low","all":true,"wait":"30s","more":{"a":1}}`, ""},
		{"any value", `{"path":"a","text":"b","wait":30,"more":"{}"}`, ""},
		{"null is left out", `{"path":"a","text":"b","depth":null}`, ""},
		{"nothing", ``, "path: missing, expected string; text: missing, expected string"},
		{"required null", `{"path":null,"text":""}`, "path: missing, expected string"},
		{"blank", `{"path":" \t","text":""}`, "path: must not be blank"},
		{"unknown", `{"path":"a","text":"","file":"b"}`, `unknown argument "file" (have: path, text, depth, count, risk, all, wait, more, names, steps, maybe)`},
		{"names are exact", `{"Path":"a","path":"a","text":""}`, `unknown argument "Path" (have: path, text, depth, count, risk, all, wait, more, names, steps, maybe)`},
		{"wrong type", `{"path":true,"text":["x"]}`, "path: expected string, got boolean; text: expected string, got array"},
		{"number in a text", `{"path":"a","text":"","depth":"2"}`, ""},
		{"too big in a text", `{"path":"a","text":"","depth":"4"}`, "depth: expected integer from 1 to 3, got 4"},
		{"text for a number", `{"path":"a","text":"","depth":"two"}`, "depth: expected integer from 1 to 3, got string"},
		{"bool in a text", `{"path":"a","text":"","all":"true"}`, ""},
		{"list in a text", `{"path":"a","text":"","names":"[\"x\",\"y\"]"}`, ""},
		{"one text for a list", `{"path":"a","text":"","names":"x"}`, ""},
		{"not said and taken", `{"path":"a","text":"","quiet":"x"}`, ""},
		{"fraction", `{"path":"a","text":"","count":1.5}`, "count: expected integer of at least 0, got number 1.5"},
		{"too big", `{"path":"a","text":"","depth":4}`, "depth: expected integer from 1 to 3, got 4"},
		{"overflow", `{"path":"a","text":"","count":99999999999999999999}`, "count: expected integer of at least 0, got number 99999999999999999999"},
		{"enum", `{"path":"a","text":"","risk":"none"}`, `risk: expected one of low, high, got "none"`},
		{"bool", `{"path":"a","text":"","all":"yes"}`, "all: expected boolean, got string"},
		{"lists", `{"path":"a","text":"","names":["x","y"],"steps":[{"do":"it","fast":true}],"maybe":""}`, ""},
		{"too many", `{"path":"a","text":"","names":["x","y","z"]}`, "names: at most 2, got 3"},
		{"no list", `{"path":"a","text":"","names":7,"steps":{}}`, "names: expected array, got number 7; steps: expected array, got object"},
		{"in a list", `{"path":"a","text":"","names":["x",true]}`, "names[1]: expected string, got boolean"},
		{"null in a list", `{"path":"a","text":"","names":[null]}`, "names[0]: missing, expected string"},
		{"in a list of objects", `{"path":"a","text":"","steps":[{"do":"it"},{"do":" ","slow":1},7]}`, `steps[1]: unknown argument "slow" (have: do, fast); steps[1].do: must not be blank; steps[2]: expected object, got number 7`},
		{"not an object", `["a"]`, "expected a JSON object, got array"},
		{"cut off", `{"path":"a`, "not valid JSON: unexpected end of JSON input"},
		{"more behind", `{"path":"a","text":""} {}`, "not valid JSON: invalid character '{' after top-level value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode[sampleArgs](Call{Arguments: tt.arguments})
			if tt.want == "" {
				if err != nil || got.Path != "a" {
					t.Errorf("decode(%s) = %+v, %v", tt.arguments, got, err)
				}
				return
			}
			if want := "invalid arguments: " + tt.want; err == nil || err.Error() != want {
				t.Errorf("decode(%s) = %v, want %s", tt.arguments, err, want)
			}
			if !errors.Is(err, ErrArguments) || got.Path != "" {
				t.Errorf("decode(%s) = %+v, %v: not an ErrArguments or not empty", tt.arguments, got, err)
			}
		})
	}
}

// A number is accepted for a string, in its original spelling.
func TestNumbersForTexts(t *testing.T) {
	got, err := Decode[sampleArgs](Call{Arguments: `{"path":-50,"text":7.50,"risk":"low","names":[1e3,"x"],"maybe":0}`})
	if err != nil || got.Path != "-50" || got.Text != "7.50" || !slices.Equal(got.Names, []string{"1e3", "x"}) || got.Maybe == nil || *got.Maybe != "0" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Decode[sampleArgs](Call{Arguments: `{"path":"a","text":"","risk":3}`}); err == nil || !strings.Contains(err.Error(), `risk: expected one of low, high, got "3"`) {
		t.Errorf("%v", err)
	}
}

func TestFailureNamesItsKind(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{errors.New("disk full"), "Tool error: execution failed: disk full"},
		{Invalid("path: %s", "missing"), "Tool error: invalid arguments: path: missing"},
		{Failed(Failed(errors.New("gone"))), "Tool error: execution failed: gone"},
	}
	for _, tt := range tests {
		if got := Failure(tt.err); got.Content != tt.want || !got.IsError {
			t.Errorf("failure(%v) = %+v, want %q", tt.err, got, tt.want)
		}
	}
}

func TestFreeTextHasOneArgument(t *testing.T) {
	s := Define[sampleArgs]("sample", "").AsText("text", "start: /x/")
	if free := s.Definition().Free; free == nil || free.Argument != "text" {
		t.Errorf("free text = %+v", free)
	}
	if def := s.With(struct {
		Target string `json:"target,omitempty"`
	}{}); def.Free != nil {
		t.Errorf("a call with a target can be free text: %+v", def.Free)
	}
	if s.Definition().Free == nil {
		t.Error("the schema itself lost it")
	}
}
