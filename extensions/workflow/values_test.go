package workflow_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"buddy/extensions/workflow"
)

const inputs = head + `inputs:
  base: {type: string, default: main, pattern: '\w[\w./-]*'}
  count: {type: int, default: 3}
  fast: {type: bool, optional: true}
  words: {type: list, optional: true}
  all: {type: targets}
  one: {type: target, default: web-1}
steps:
  - {id: a, tool: run_shell, each: "{{ inputs.all }}", params: {command: ls}}
  - {id: b, tool: read_file, params: {path: "x-{{ inputs.base }}", limit: "{{ inputs.count }}"}}
`

// TestInputsHaveTheirTypes checks that text becomes a value of the input's type, or is refused.
func TestInputsHaveTheirTypes(t *testing.T) {
	t.Parallel()
	w := parse(t, inputs)
	got, err := w.Values(map[string]string{"all": "web-1, web-2", "count": "7", "fast": "yes"})
	want := workflow.Values{"base": "main", "count": 7, "fast": true, "words": []string{}, "all": []string{"web-1", "web-2"}, "one": "web-1"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	_, err = w.Values(map[string]string{"base": "main\nx", "count": "many", "fast": "perhaps", "one": "", "bass": "x", "all": ","})
	for _, part := range []string{
		`"bass" is not an input (have: base, count, fast, words, all, one)`, `base is "main\nx", which does not match \w[\w./-]*: give base=main (string, matches \w[\w./-]*, default main)`, `count is "many", which is not a whole number: give count=3 (int, default 3)`,
		`fast is "perhaps", which is neither true nor false: give fast=true (bool, optional)`, "one is empty: give one=web-1 (target, default web-1)", "all needs at least one item: give all=web-1,web-2 (targets)",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v lacks %s", err, part)
		}
	}
	if _, err = w.Values(nil); err == nil || err.Error() != "all needs a value: give all=web-1,web-2 (targets)" {
		t.Error(err)
	}
}

// TestArgumentsKeepTypes checks that a value that is a whole parameter keeps its type, and becomes text inside a
// text.
func TestArgumentsKeepTypes(t *testing.T) {
	t.Parallel()
	w := parse(t, inputs)
	values, err := w.Values(map[string]string{"all": "web-1", "count": "5"})
	if err != nil {
		t.Fatal(err)
	}
	args, err := w.Step("b").Arguments(workflow.Scope{Inputs: values})
	if got := string(args); err != nil || got != `{"limit":5,"path":"x-main"}` {
		t.Errorf("%s, %v", got, err)
	}
	a := w.Step("a")
	items, err := a.Items(workflow.Scope{Inputs: values})
	if on := a.On(workflow.Scope{Inputs: values, Item: "web-1"}); err != nil || len(items) != 1 || !a.EachTarget || on != "web-1" {
		t.Errorf("%v on %q, %v, for each target: %v", items, on, err, a.EachTarget)
	}
}

// TestConditions checks each operator, and the values of a step that did not run.
func TestConditions(t *testing.T) {
	t.Parallel()
	code := 3
	sc := workflow.Scope{
		Inputs: workflow.Values{"s": "main", "n": 7, "b": true, "l": []string{"x", "y z"}},
		Steps: map[string]workflow.Result{
			"ran":  {Ran: true, OK: true, Output: "yes\n", Stdout: "12\n"},
			"fell": {Ran: true, Output: "boom", ExitCode: &code, Failed: []string{"web-2"}},
		},
	}
	for _, c := range []struct {
		text string
		want bool
	}{
		{`inputs.s == "main"`, true},
		{`inputs.s != 'main'`, false},
		{`inputs.n > 3`, true},
		{`inputs.n < 7`, false},
		{`inputs.n == 7`, true},
		{`inputs.b`, true},
		{`not inputs.b`, false},
		{`not not inputs.b`, true},
		{`inputs.l contains "y z"`, true},
		{`inputs.l contains "y"`, false},
		{`inputs.s contains "ai"`, true},
		{`steps.ran.output == "yes"`, true},
		{`steps.ran.stdout > 11`, true},
		{`steps.fell.ok == false`, true},
		{`steps.fell.exit_code == 3`, true},
		{`steps.fell.failed contains "web-2"`, true},
		{`steps.skipped.ok`, true},
		{`steps.skipped.exit_code == 0`, false},
		{`steps.skipped.exit_code > 0`, false},
		{`steps.skipped.output == ""`, true},
		{`exists("Makefile")`, true},
		{`exists("nothing")`, false},
		{`not exists("nothing") and inputs.b`, true},
		{`false and inputs.b or inputs.b`, true},
		{`inputs.b or true and false`, true},
		{`(inputs.b or true) and false`, false},
		{`not inputs.b or inputs.b`, true},
		{`"a" == "a b"`, false},
		{`"or" == 'or'`, true},
	} {
		text := head + "inputs: {s: {type: string}, n: {type: int}, b: {type: bool}, l: {type: list}}\nsteps:\n" +
			"  - {id: ran, tool: run_shell, params: {command: ls}}\n  - {id: skipped, tool: run_shell, params: {command: ls}}\n" +
			"  - {id: fell, tool: run_shell, each: [a], params: {command: ls}}\n  - id: last\n    tool: run_shell\n    params: {command: ls}\n    condition: |-\n      " + c.text + "\n"
		w := parse(t, text)
		got, err := w.Step("last").Condition.Holds(sc, func(path string) (bool, error) { return path == "Makefile", nil })
		if err != nil || got != c.want {
			t.Errorf("%s: %v, %v", c.text, got, err)
		}
	}
}

// TestConditionsSayWhatTheyCannotCompare checks that comparing a word with a number fails, and that an unknown file
// does not count as missing.
func TestConditionsSayWhatTheyCannotCompare(t *testing.T) {
	t.Parallel()
	w := parse(t, head+"inputs: {s: {type: string}}\nsteps:\n  - {id: a, tool: run_shell, condition: 'inputs.s > 3', params: {command: ls}}\n  - {id: b, tool: run_shell, condition: 'exists(\"x\")', params: {command: ls}}\n")
	if _, err := w.Step("a").Condition.Holds(workflow.Scope{Inputs: workflow.Values{"s": "many"}}, nil); err == nil || err.Error() != `inputs.s is not a number: "many"` {
		t.Error(err)
	}
	gone := errors.New("web-1 can't be reached")
	if _, err := w.Step("b").Condition.Holds(workflow.Scope{}, func(string) (bool, error) { return false, gone }); !errors.Is(err, gone) {
		t.Error(err)
	}
}

// TestOutputsOfSteps checks that lines of an output become items, and that lists in texts have commas.
func TestOutputsOfSteps(t *testing.T) {
	t.Parallel()
	w := parse(t, head+"steps:\n  - {id: a, tool: run_shell, params: {command: ls}}\n"+
		"  - {id: b, tool: run_shell, each: \"{{ steps.a.stdout }}\", params: {command: \"ls -- {{ item }}\"}, gate: {type: optional, message: \"List {{ item }}?\"}}\n"+
		"outputs: {o: \"done {{ steps.b.done }}, code {{ steps.a.exit_code }}, ok {{ steps.a.ok }}\"}\n")
	sc := workflow.Scope{Steps: map[string]workflow.Result{"a": {Ran: true, OK: true, Stdout: "x\n\n -y z \n"}, "b": {Ran: true, Done: []string{"x", "y"}}}}
	b := w.Step("b")
	items, err := b.Items(sc)
	if err != nil || !reflect.DeepEqual(items, []string{"x", "-y z"}) || b.EachTarget || !b.Gate.PerItem {
		t.Errorf("%q, %v, for each target: %v, gate %+v", items, err, b.EachTarget, b.Gate)
	}
	if got := w.Outputs[0].Text.Text(sc); got != "done x, y, code none, ok true" {
		t.Error(got)
	}
	if got := w.Outputs[0].Text.Text(workflow.Scope{}); got != "done , code none, ok none" {
		t.Errorf("nothing ran: %s", got)
	}
	sc.Item = items[1]
	if args, err := b.Arguments(sc); err != nil || string(args) != `{"command":"ls -- '-y z'"}` {
		t.Errorf("%s, %v", args, err)
	}
}
