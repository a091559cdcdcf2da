package workflow_test

import (
	"strings"
	"testing"

	"buddy/extensions/workflow"
)

const head = "name: x\ndescription: d\n"

// mistakes returns all mistakes of a file, one per line.
func mistakes(text string) string {
	w, all := workflow.Parse([]byte(text))
	if len(all) == 0 {
		all = w.Check(tools)
	}
	var lines []string
	for _, m := range all {
		lines = append(lines, m.String())
	}
	return strings.Join(lines, "\n")
}

// TestEachMistakeIsNamedWithItsLineAndKey checks that each mistake has its position.
func TestEachMistakeIsNamedWithItsLineAndKey(t *testing.T) {
	t.Parallel()
	const step = "  - {id: a, tool: run_shell, params: {command: ls}}\n"
	for _, c := range []struct{ name, text, want string }{
		{"unknown tool", head + "steps:\n  - {id: a, tool: run_shel, params: {command: ls}}\n", `line 4: steps.a.tool: there is no tool "run_shel"; did you mean run_shell?`},
		{"unknown parameter", head + "steps:\n  - id: a\n    tool: run_shell\n    params:\n      command: ls\n      commnd: ls\n", `line 8: steps.a.params.commnd: run_shell has no such parameter; did you mean command?`},
		{"target in params", head + "steps:\n  - {id: a, tool: run_shell, params: {command: ls, target: web}}\n", `line 4: steps.a.params.target: run_shell has no such parameter: write target next to params`},
		{"missing parameter", head + "steps:\n  - {id: a, tool: run_shell}\n", `line 4: steps.a.params: run_shell needs command`},
		{"wrong type", head + "steps:\n  - {id: a, tool: read_file, params: {path: x, limit: lots}}\n", `line 4: steps.a.params.limit: is string, but must be integer`},
		{"wrong type of a value", head + "inputs: {s: {type: string}}\nsteps:\n  - {id: a, tool: read_file, params: {path: x, limit: \"{{ inputs.s }}\"}}\n", `line 5: steps.a.params.limit: is string, but must be integer`},
		{"cycle", head + "steps:\n  - {id: a, tool: run_shell, needs: [c], params: {command: ls}}\n  - {id: b, tool: run_shell, params: {command: ls}}\n  - {id: c, tool: run_shell, params: {command: ls}}\n", `line 4: steps.a.needs: is a cycle: a → c → b → a`},
		{"needs itself", head + "steps:\n  - {id: a, tool: run_shell, needs: [a], params: {command: ls}}\n", `line 4: steps.a.needs: is a cycle: the step needs itself`},
		{"wrong order", head + "steps:\n  - {id: a, tool: run_shell, needs: [b], params: {command: ls}}\n  - {id: b, tool: run_shell, needs: [], params: {command: ls}}\n", `line 4: steps.a.needs: b is below: move it above this step`},
		{"unknown step", head + "steps:\n  - {id: a, tool: run_shell, needs: [z], params: {command: ls}}\n", `line 4: steps.a.needs: there is no step "z"`},
		{"missing input", head + "inputs: {base: {type: string}}\nsteps:\n  - {id: a, tool: run_shell, params: {command: \"ls {{ inputs.bass }}\"}}\n", `line 5: steps.a.params.command: there is no input "bass" (have: base)`},
		{"line of a value", head + "steps:\n  - id: a\n    tool: agent\n    params:\n      type: explore\n      title: x\n      prompt: |\n        one\n        {{ inputs.x }}\n", `line 11: steps.a.params.prompt: there is no input "x" (have: none)`},
		{"not over by then", head + "steps:\n" + step + "  - {id: b, tool: run_shell, needs: [], params: {command: \"echo {{ steps.a.stdout }}\"}}\n", `line 5: steps.b.params.command: the step a may not have ended by then: add it to needs`},
		{"unknown field", head + "steps:\n" + step + "  - {id: b, tool: run_shell, params: {command: \"echo {{ steps.a.result }}\"}}\n", `line 5: steps.b.params.command: steps.a.result: a step has no "result" (have: output, stdout, exit_code, ok, done, failed); two braces are written {{ "{{" }}`},
		{"unknown root", head + "steps:\n  - {id: a, tool: run_shell, params: {command: \"echo {{ env.HOME }}\"}}\n", `line 4: steps.a.params.command: "env.HOME" is unknown: write inputs.NAME, item or steps.ID.FIELD; two braces are written {{ "{{" }}`},
		{"item without each", head + "steps:\n  - {id: a, tool: run_shell, params: {command: \"echo {{ item }}\"}}\n", `line 4: steps.a.params.command: uses item, but the step has no key each`},
		{"failed without each", head + "steps:\n" + step + "  - {id: b, tool: run_shell, each: \"{{ steps.a.failed }}\", params: {command: ls}}\n", `line 5: steps.b.each: the step a has no key each, so it has no failed items`},
		{"each of a number", head + "inputs: {n: {type: int}}\nsteps:\n  - {id: a, tool: run_shell, each: \"{{ inputs.n }}\", params: {command: ls}}\n", `line 5: steps.a.each: inputs.n is a number, not a list`},
		{"bad pattern", head + "inputs:\n  base:\n    type: string\n    pattern: '^['\nsteps:\n" + step, "line 6: inputs.base.pattern: \"^[\" is not a valid pattern: error parsing regexp: missing closing ]: `[`"},
		{"bad default", head + "inputs:\n  base: {type: string, pattern: '\\w+', default: 'a b'}\nsteps:\n" + step, `line 4: inputs.base.default: is "a b", which does not match \w+`},
		{"bad type", head + "inputs:\n  base: {type: text}\nsteps:\n" + step, `line 4: inputs.base.type: "text" is not a type (have: string, int, bool, list, target, targets, file)`},
		{"bad gate", head + "steps:\n  - id: a\n    tool: run_shell\n    params: {command: ls}\n    gate: {type: sometimes, message: go}\n", `line 7: steps.a.gate.type: "sometimes" is not a type of gate (have: approval_required, optional, review_only, conditional)`},
		{"gate that passes unseen", head + "steps:\n  - id: a\n    tool: run_shell\n    params: {command: ls}\n    gate: {type: approval_required, message: go, timeout: 1m, default: approve}\n", `line 7: steps.a.gate.default: approve would pass the gate without an answer, which a gate of type approval_required can't allow`},
		{"gate without when", head + "steps:\n  - {id: a, tool: run_shell, params: {command: ls}, gate: {type: conditional, message: go}}\n", `line 4: steps.a.gate.when: is missing: a conditional gate needs this condition`},
		{"bad condition", head + "steps:\n" + step + "  - {id: b, tool: run_shell, condition: 'steps.a.ok and', params: {command: ls}}\n", `line 5: steps.b.condition: a value is missing at the end`},
		{"condition that is none", head + "steps:\n" + step + "  - {id: b, tool: run_shell, condition: steps.a.output, params: {command: ls}}\n", `line 5: steps.b.condition: steps.a.output is a text, not a condition`},
		{"never the same", head + "steps:\n" + step + "  - {id: b, tool: run_shell, condition: 'steps.a.ok == \"false\"', params: {command: ls}}\n", `line 5: steps.b.condition: steps.a.ok is true or false, and "false" is a text: they are never the same`},
		{"bad time", head + "steps:\n  - {id: a, tool: run_shell, timeout: soon, params: {command: ls}}\n", `line 4: steps.a.timeout: "soon" is not a duration of at most 24h, such as 30s, 15m or 2h`},
		{"bad on_error", head + "steps:\n  - {id: a, tool: run_shell, on_error: ignore, params: {command: ls}}\n", `line 4: steps.a.on_error: "ignore" is neither fail, skip nor {retry: 3, wait: 10s}`},
		{"typed keys", head + "inputs: {x: {type: string}}\nsteps:\n  - {id: a, tool: send-keys, params: {pane: \"%1\", literal_text: \"{{ inputs.x }}\"}}\n", `line 5: steps.a.params.literal_text: contains a value, which buddy can't quote in typed text: use run_shell`},
		{"unknown key", head + "steps:\n  - {id: a, tool: run_shell, param: {command: ls}}\n", "line 4: steps.a.param: is unknown; did you mean params?"},
		{"twice", head + "steps:\n" + step + step, "line 5: steps.a.id: is the id of two steps"},
		{"key twice", head + "name: y\nsteps:\n" + step, "line 3: name: is there twice"},
		{"bad id", head + "steps:\n  - {id: 'a b', tool: run_shell, params: {command: ls}}\n", `line 4: steps[1].id: "a b" is not made of a-z, 0-9 and _, with a letter first`},
		{"alias", head + "inputs: &x {}\noutputs: *x\nsteps:\n" + step, "line 4: file: buddy doesn't read YAML aliases (*NAME)"},
		{"no YAML", "name: x\n  y: z: a\n", "line 2: file: is not valid YAML: mapping values are not allowed in this context"},
		{"no mapping", "- a\n", "line 1: file: is not a list of KEY: VALUE"},
		{"nothing", "", "line 1: file: is not a list of KEY: VALUE"},
		{"two documents", head + "steps:\n" + step + "---\nname: y\n", "line 5: file: has a second document, which buddy would not read"},
		{"values and a date", head + "steps:\n  - {id: a, tool: read_file, params: {path: 2026-01-01}}\n", `line 4: steps.a.params.path: "2026-01-01" is not a text, number, true or false: write it in quotes`},
		{
			"several", head + "inputs:\n  a: {type: strin}\nsteps:\n  - {id: a, tool: run_shell, timeout: x, params: {command: 'echo \"{{ inputs.a }}\"'}}\n  - {tool: run_shell, params: {command: ls}}\n",
			"line 4: inputs.a.type: \"strin\" is not a type (have: string, int, bool, list, target, targets, file)\n" +
				"line 6: steps.a.timeout: \"x\" is not a duration of at most 24h, such as 30s, 15m or 2h\n" +
				"line 6: steps.a.params.command: {{ inputs.a }} is in quotes: buddy quotes the value itself, so close the quotes before it\n" +
				"line 7: steps[2].id: is missing",
		},
	} {
		if got := mistakes(c.text); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestLimitsOfAFile checks that exceeded limits are reported, and that a file just below is accepted.
func TestLimitsOfAFile(t *testing.T) {
	t.Parallel()
	steps := func(n int) string {
		var b strings.Builder
		b.WriteString(head + "steps:\n")
		for i := range n {
			b.WriteString("  - {id: s" + strings.Repeat("x", i) + ", tool: run_shell, params: {command: ls}}\n")
		}
		return b.String()
	}
	if got := mistakes(steps(workflow.MaxSteps)); got != "" {
		t.Error(got)
	}
	if got := mistakes(steps(workflow.MaxSteps + 1)); got != "line 3: steps: has 51 entries (allowed: 50)" && got != "line 4: steps: has 51 entries (allowed: 50)" {
		t.Error(got)
	}
	if got := mistakes(steps(1) + strings.Repeat("#", workflow.MaxFile)); !strings.Contains(got, "(allowed: 65536)") {
		t.Error(got)
	}
	deep := strings.Repeat("{a: ", 2000) + "x" + strings.Repeat("}", 2000)
	if got := mistakes(head + "steps:\n  - {id: a, tool: run_shell, params: " + deep + "}\n"); got == "" {
		t.Error("deep parameters passed")
	}
	if got := mistakes(head + "steps:\n  - {id: a, tool: run_shell, condition: '" + strings.Repeat("not ", 100) + "true', params: {command: ls}}\n"); !strings.Contains(got, "nested") {
		t.Error(got)
	}
}

// FuzzParse checks that no file causes a panic, and that each mistake has a position.
func FuzzParse(f *testing.F) {
	f.Add(head + "inputs: {a: {type: list, default: [x]}}\nsteps:\n  - {id: a, tool: run_shell, each: \"{{ inputs.a }}\", gate: {type: conditional, when: 'item == \"x\"', message: \"{{ item }}\"}, params: {command: \"ls {{ item }}\"}}\noutputs: {o: \"{{ steps.a.failed }}\"}\n")
	f.Add("a: &a [*a]")
	f.Add("? [x]\n: y\nsteps: [[]]\n")
	f.Fuzz(func(t *testing.T, text string) {
		w, all := workflow.Parse([]byte(text))
		for _, m := range all {
			if m.Line < 1 || m.Key == "" || strings.Contains(m.Reason, "\n") {
				t.Errorf("%q: %+v", text, m)
			}
		}
		if len(all) > 0 {
			return
		}
		w.Check(tools)
		w.Describe()
		inputs := workflow.Values{}
		for _, in := range w.Inputs {
			inputs[in.Name] = in.Default
		}
		for i := range w.Steps {
			_, _ = w.Steps[i].Arguments(workflow.Scope{Inputs: inputs, Item: "x"})
			_, _ = w.Steps[i].Items(workflow.Scope{Inputs: inputs})
			_, _ = w.Steps[i].Condition.Holds(workflow.Scope{Inputs: inputs}, func(string) (bool, error) { return true, nil })
		}
	})
}
