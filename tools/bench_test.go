package tools

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"buddy/agent/action"
)

func callOf(name string, a args) Call {
	full := args{"why": "a test"}
	maps.Copy(full, a)
	text, err := json.Marshal(full)
	if err != nil {
		panic(err)
	}
	return Call{ID: "c1", Name: name, Arguments: string(text)}
}

// plan plans a call; err is its error's text.
func (b *bench) plan(name string, a args) (call Call, err string) {
	b.t.Helper()
	call = callOf(name, a)
	tool, lookupErr := b.tools.Lookup(name)
	if lookupErr != nil {
		b.t.Fatal(lookupErr)
	}
	act, planErr := tool.Plan(call)
	if planErr != nil {
		if !reflect.DeepEqual(act, action.Action{}) && name != "grep" && name != "glob" {
			b.t.Errorf("%s: a failed plan says %+v", name, act)
		}
		return call, planErr.Error()
	}
	call.Planned = act
	return call, ""
}

func (b *bench) run(call Call) Result {
	b.t.Helper()
	tool, err := b.tools.Lookup(call.Name)
	if err != nil {
		b.t.Fatal(err)
	}
	return tool.Run(b.t.Context(), call)
}

// do plans and runs a call as the runtime does. It returns what the model reads:
// the text of the error, or the payload.
func (b *bench) do(name string, a args) (payload map[string]any, err string) {
	b.t.Helper()
	call, err := b.plan(name, a)
	if err != "" {
		return nil, "Tool error: " + err
	}
	return b.finish(call)
}

func (b *bench) finish(call Call) (payload map[string]any, err string) {
	b.t.Helper()
	res := b.run(call)
	if res.IsError {
		return nil, res.Content
	}
	var env struct {
		Result map[string]any `json:"result"`
	}
	if err := json.Unmarshal([]byte(res.Content), &env); err != nil {
		b.t.Fatal(err)
	}
	return env.Result, ""
}

// ok is do that must succeed.
func (b *bench) ok(name string, a args) map[string]any {
	b.t.Helper()
	payload, err := b.do(name, a)
	if err != "" {
		b.t.Fatalf("%s(%v) = %s", name, a, err)
	}
	return payload
}

// fails is do that must fail with a text that has all of want.
func (b *bench) fails(name string, a args, want ...string) {
	b.t.Helper()
	payload, err := b.do(name, a)
	b.wantError(name, payload, err, want...)
}

func (b *bench) wantError(name string, payload map[string]any, err string, want ...string) {
	b.t.Helper()
	for _, w := range append([]string{"Tool error: "}, want...) {
		if !strings.Contains(err, w) {
			b.t.Errorf("%s = %v, error %q, want %q in it", name, payload, err, w)
		}
	}
}
