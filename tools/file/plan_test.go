package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/tmux/host"
	"buddy/tools"
	"buddy/tools/toolstest"
)

// A session's plan is on this machine whatever the target of a call is, and all targets share what the model has read
// of it. Only write_file and edit_file write the plan, /undo stores nothing of it, and links are refused.
func TestPlanFile(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	path := filepath.Join(dir, "s1", "plan.md")
	shared := NewPlan(path)
	target := host.Local(os.Environ())
	t.Cleanup(func() { _ = target.Close() })
	here, err := NewWorkspace(dir, dotEnv)
	must(t, err)
	there := NewTargetWorkspace(target, "there", t.TempDir(), dotEnv)
	benches := map[string]*bench{}
	for name, ws := range map[string]*Workspace{"here": here, "there": there} {
		ws.KeepPlan(shared)
		benches[name] = &bench{toolstest.Bench{T: t, Tools: tools.NewRegistry(Tools(ws)...)}, ws, dir}
	}
	here2, there2 := benches["here"], benches["there"]
	there2.OK("write_file", args{"path": path, "content": "one\n"})
	here2.OK("edit_file", args{"path": "s1/plan.md", "old_string": "one", "new_string": "two"}) // relative, on this machine
	there2.OK("edit_file", args{"path": path, "old_string": "two", "new_string": "three"})
	if data, err := os.ReadFile(path); string(data) != "three\n" || err != nil {
		t.Errorf("the plan has %q, %v", data, err)
	}
	if got := there2.OK("read_file", args{"path": path}); got.Text != "three\n" {
		t.Errorf("read_file = %v", got)
	}
	must(t, os.WriteFile(path, []byte("by the person\n"), 0o600))
	there2.Fails("write_file", args{"path": path, "content": "four\n"}, "changed since you last read it")
	there2.OK("read_file", args{"path": path})

	call, _ := there2.Plan("write_file", args{"path": path, "content": "four\n"})
	if a := call.Planned; a.Kind != action.PlanFile || a.Path != path || !a.Mutation || !strings.Contains(a.Preview, "+four") {
		t.Errorf("planned %+v", a)
	}
	kept := 0
	call.Keep = func([]tools.Before) error { kept++; return nil }
	if res := there2.Run(call); res.IsError || kept != 0 || res.Seen != nil {
		t.Errorf("%s; %d files were kept; as files for a later process: %v", res.Content, kept, res.Seen)
	}
	for _, c := range []struct{ tool, path string }{
		{"write_file", "s1/plan.md/../plan2.md"}, {"write_file", "s1/PLAN.md"}, {"edit_file", "s1/other.md"},
	} {
		if call, _ := here2.Plan(c.tool, args{"path": c.path, "content": "x", "old_string": "x", "new_string": "y"}); call.Planned.Kind == action.PlanFile {
			t.Errorf("%s of %s is taken for the plan", c.tool, c.path)
		}
	}
	patch := "*** Begin Patch\n*** Add File: s1/plan.md/../plan.md\n+five\n*** End Patch\n"
	if call, problem := here2.Plan("apply_patch", args{"patch": patch}); call.Planned.Kind == action.PlanFile {
		t.Errorf("a patch of the plan is planned as %+v, %s", call.Planned, problem)
	}
	if call, _ := there2.Plan("write_file", args{"path": "s1/plan.md", "content": "x"}); call.Planned.Kind != action.FileWrite {
		t.Errorf("a file of the target is taken for the plan: %+v", call.Planned)
	}

	victim := filepath.Join(dir, "victim")
	must(t, os.WriteFile(victim, []byte("mine\n"), 0o600))
	must(t, os.Remove(path))
	must(t, os.Symlink(victim, path))
	there2.Fails("write_file", args{"path": path, "content": "x"}, "is a symbolic link to "+victim)
	there2.Fails("read_file", args{"path": path}, "is a symbolic link to "+victim)
	if data, _ := os.ReadFile(victim); string(data) != "mine\n" {
		t.Errorf("through the link: %q", data)
	}
}
