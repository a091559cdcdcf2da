// Package toolstest calls tools in tests, in the same way as the runtime.
//
//	b := toolstest.Bench{T: t, Tools: tools.NewRegistry(basic.NewTodo())}
//	got := b.OK("todo", toolstest.Args{"items": []toolstest.Args{}})
package toolstest

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/tools"
)

// Args are the arguments of a call.
type Args = map[string]any

// Bench calls tools and fails its test on unexpected outcomes.
type Bench struct {
	T      testing.TB
	Tools  *tools.Registry
	Reader int // the caller, see [tools.Call].Reader
}

// CallOf returns a call of the named tool. It adds a reason if the arguments have none.
func CallOf(name string, a Args) tools.Call {
	full := Args{"why": "a test"}
	maps.Copy(full, a)
	text, err := json.Marshal(full)
	if err != nil {
		panic(err)
	}
	return tools.Call{ID: "c1", Name: name, Arguments: string(text)}
}

// Plan plans a call and returns the text of its error.
func (b *Bench) Plan(name string, a Args) (call tools.Call, err string) {
	b.T.Helper()
	call = CallOf(name, a)
	call.Reader = b.Reader
	tool, lookupErr := b.Tools.Lookup(name)
	if lookupErr != nil {
		b.T.Fatal(lookupErr)
	}
	act, planErr := tool.Plan(call)
	if planErr != nil {
		if !reflect.DeepEqual(act, action.Action{}) && name != "grep" && name != "glob" {
			b.T.Errorf("%s: a failed plan says %+v", name, act)
		}
		return call, planErr.Error()
	}
	call.Planned = act
	return call, ""
}

// Run runs a planned call.
func (b *Bench) Run(call tools.Call) tools.Result {
	b.T.Helper()
	tool, err := b.Tools.Lookup(call.Name)
	if err != nil {
		b.T.Fatal(err)
	}
	return tool.Run(b.T.Context(), call)
}

// Output holds the result of a successful call, for the model and for display.
type Output struct {
	Text    string
	Note    string // the remarks: the text of the line in brackets
	Outcome string
}

// Do plans and runs a call. It returns the result for the model, or the text of the error.
func (b *Bench) Do(name string, a Args) (out Output, err string) {
	b.T.Helper()
	call, err := b.Plan(name, a)
	if err != "" {
		return Output{}, tools.Problem(err).Content
	}
	return b.Finish(call)
}

// Finish runs a planned call and returns the result for the model, as Do does.
func (b *Bench) Finish(call tools.Call) (out Output, err string) {
	b.T.Helper()
	res := b.Run(call)
	if res.IsError {
		return Output{}, res.Content
	}
	note := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(res.Aside), "["), "]")
	return Output{strings.TrimSuffix(res.Content, res.Aside), note, res.Outcome}, ""
}

// OK runs a call as Do does and fails the test on an error.
func (b *Bench) OK(name string, a Args) Output {
	b.T.Helper()
	out, err := b.Do(name, a)
	if err != "" {
		b.T.Fatalf("%s(%v) = %s", name, a, err)
	}
	return out
}

// Fails runs a call as Do does. It fails the test unless the call fails with a text that contains all of want.
func (b *Bench) Fails(name string, a Args, want ...string) {
	b.T.Helper()
	out, err := b.Do(name, a)
	b.WantError(name, out, err, want...)
}

// WantError fails the test unless err is the text of a failed call and contains all of want.
func (b *Bench) WantError(name string, out Output, err string, want ...string) {
	b.T.Helper()
	for _, w := range append([]string{"Tool error: "}, want...) {
		if !strings.Contains(err, w) {
			b.T.Errorf("%s = %v, error %q, want %q in it", name, out, err, w)
		}
	}
}
