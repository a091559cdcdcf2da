package file

import (
	"context"
	"os"
	"strings"
	"testing"

	"buddy/tools"
)

// Computed texts are written to all files or to none, keep byte order marks and line ends, and don't make a file known
// to the model that it has not read.
func TestWriteTexts(t *testing.T) {
	b := newBench(t)
	b.put("a.go", "\ufeffone\r\ntwo\r\n")
	b.put("b.go", "one\n")
	b.OK("read_file", args{"path": "b.go"})
	write := func(all ...NewText) (tools.Result, error) {
		act, err := PlanTexts(b.ws, 0, "a reason", all)
		if err != nil {
			return tools.Result{}, err
		}
		return WriteTexts(context.Background(), b.ws, tools.Call{ID: "c1", Planned: act}, "Renamed one to 1 in", all), nil
	}
	a := NewText{b.path("a.go"), "one\r\ntwo\r\n", "1\r\ntwo\r\n"}
	for _, tt := range []struct {
		other NewText
		want  string
	}{
		{NewText{b.path("b.go"), "another\n", "1\n"}, `nothing was written: "b.go" has another content than the one that the change was computed for`},
		{NewText{b.path("none.go"), "", "1\n"}, `"none.go" does not exist`},
	} {
		if _, err := write(a, tt.other); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v", tt.want, err)
		}
	}
	if b.content("a.go") != "\ufeffone\r\ntwo\r\n" {
		t.Errorf("a part was written: %q", b.content("a.go"))
	}
	res, err := write(a, NewText{b.path("b.go"), "one\n", "1\n"})
	if err != nil || res.IsError || len(res.Seen) != 1 || res.Seen[0].Path != b.path("b.go") || !strings.HasPrefix(res.Content, "Renamed one to 1 in 2 files:\nedit a.go\nedit b.go") {
		t.Errorf("%+v, %v", res, err)
	}
	if b.content("a.go") != "\ufeff1\r\ntwo\r\n" || b.content("b.go") != "1\n" {
		t.Errorf("the files have %q and %q", b.content("a.go"), b.content("b.go"))
	}
	b.Fails("edit_file", args{"path": "a.go", "old_string": "1", "new_string": "2"}, "was not read")
	b.OK("edit_file", args{"path": "b.go", "old_string": "1", "new_string": "2"})
	if err := os.Chmod(b.path("a.go"), 0o400); err != nil {
		t.Fatal(err)
	}
	if act, err := PlanTexts(b.ws, 0, "", []NewText{{b.path("a.go"), "1\r\ntwo\r\n", "3\r\ntwo\r\n"}}); err != nil || !act.ReadOnly {
		t.Errorf("a read-only file: %+v, %v", act, err)
	}
}
