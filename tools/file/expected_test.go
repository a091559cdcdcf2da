package file

import (
	"strings"
	"testing"

	"buddy/tools"
)

func TestExpectedReplacementsAreKept(t *testing.T) {
	b := newBench(t)
	b.put("a.txt", "x x x\n")
	b.OK("read_file", args{"path": "a.txt"})
	run := func(n int) tools.Result {
		tool, call, err := b.Tools.Resolve(tools.Call{Name: "replace", Arguments: string(tools.JSON(args{"file_path": "a.txt", "old_string": "x", "new_string": "y", "expected_replacements": n, "allow_multiple": true}))})
		if err == nil {
			call.Planned, err = tool.Plan(call)
		}
		if err != nil {
			return tools.Failure(err)
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
