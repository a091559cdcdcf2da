package tools

import (
	"strings"
	"testing"
)

func TestExpectedReplacementsAreKept(t *testing.T) {
	b := newBench(t)
	b.put("a.txt", "x x x\n")
	b.ok("read_file", args{"path": "a.txt"})
	run := func(n int) Result {
		tool, call, err := b.tools.Resolve(Call{Name: "replace", Arguments: string(compact(args{"file_path": "a.txt", "old_string": "x", "new_string": "y", "expected_replacements": n, "allow_multiple": true}))})
		if err == nil {
			call.Planned, err = tool.Plan(call)
		}
		if err != nil {
			return failure(err)
		}
		return tool.Run(t.Context(), call)
	}
	if res := run(2); !res.IsError || !strings.Contains(res.Content, "occurs 3 times, expected_replacements is 2") {
		t.Errorf("another number of places: %s", res.Content)
	}
	if res := run(3); res.IsError || b.content("a.txt") != "y y y\n" {
		t.Errorf("%s, %q", res.Content, b.content("a.txt"))
	}
}
