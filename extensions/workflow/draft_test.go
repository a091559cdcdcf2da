package workflow

import (
	"strings"
	"testing"
)

// A draft is a valid workflow, in which repeated values are inputs.
func TestDraft(t *testing.T) {
	known := Tools{
		"run_shell":  {{Name: "command", Type: "string", Required: true}, {Name: "why", Type: "string"}, {Name: "mutation", Type: "boolean"}},
		"write_file": {{Name: "path", Type: "string", Required: true}, {Name: "content", Type: "string", Required: true}},
		"todo":       {{Name: "list", Type: "string"}},
	}
	calls := []DraftCall{
		{"todo", `{"list":"- [ ] deploy"}`},
		{"run_shell", `{"command":"git checkout release-7","why":"the branch","risk":"low","mutation":true}`},
		{"run_shell", `{"command":"git log --format='{{x}}' release-7 -- docs/notes.md","why":"what changed"}`},
		{"run_shell", `{"command":"./install app v1.2.3","target":"web-1","why":"install"}`},
		{"run_shell", `{"command":"./check app v1.2.3x v1.2.3","target":"web-1"}`},
		{"write_file", `{"path":"docs/notes.md","content":"release-7 is out"}`},
		{"run_shell", `{"command":"mkdir /srv/out-2024"}`},
		{"run_shell", `{"command":"cp notes /srv/out-2024/"}`},
		{"run_shell", `{"command":"cp more /srv/out-2024/more; ls /srv/out-2024x"}`},
		{"unknown", `{}`},
	}
	text, err := Draft("release", "What was done\nfor release-7", calls, known)
	if err != nil {
		t.Fatal(err)
	}
	w, mistakes := Parse([]byte(text))
	if mistakes = append(mistakes, w.Check(known)...); len(mistakes) > 0 || len(w.Steps) != 8 {
		t.Fatalf("%v, %d steps\n%s", mistakes, len(w.Steps), text)
	}
	for _, want := range []string{
		"git checkout {{ inputs.value }}", "./install app {{ inputs.version }}", "./check app v1.2.3x {{ inputs.version }}", "target: '{{ inputs.target }}'",
		"path: '{{ inputs.path }}'", "version: {type: string, default: v1.2.3}", "value: {type: string, default: release-7}", "id: git_checkout", "mkdir {{ inputs.path_2 }}", "cp notes {{ inputs.path_2 }}/", "cp more {{ inputs.path_2 }}/more; ls /srv/out-2024x", "why: the branch", "{{ \"{{\" }}x}}",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the draft has no %q:\n%s", want, text)
		}
	}
	values, err := w.Values(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`{"command":"git checkout 'release-7'","mutation":true}`, `{"command":"git log --format='{{x}}' 'release-7' -- 'docs/notes.md'"}`} {
		if args, err := w.Steps[i].Arguments(Scope{Inputs: values}); err != nil || string(args) != want {
			t.Errorf("step %d calls %s, %v; want %s", i, args, err, want)
		}
	}
	if text, err := Draft("../outside", "", calls, known); err == nil {
		t.Errorf("a name that leads out of the folder was taken:\n%s", text)
	}
	if _, err := Draft("empty", "", calls[:1], known); err == nil {
		t.Error("a draft of no calls was made")
	}
}
