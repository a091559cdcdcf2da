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

// TestLargeOutputsAreSearched: outputs of any size are searched, with line numbers; other large files are not.
func TestLargeOutputsAreSearched(t *testing.T) {
	ws, err := NewWorkspace(t.TempDir(), dotEnv)
	must(t, err)
	dir := filepath.Join(t.TempDir(), "out")
	ws.Outputs(dir)
	b := &bench{toolstest.Bench{T: t, Tools: tools.NewRegistry(Tools(ws)...)}, ws, dir}
	var text strings.Builder
	for i := 1; i <= 2_000_000; i++ {
		if i%500_000 == 0 {
			text.WriteString("needle\n")
		} else {
			text.WriteString("filler line\n")
		}
	}
	b.put("000001/out", text.String())
	path := b.path("000001/out")
	for _, tt := range []struct{ mode, want string }{
		{"lines", path + ":500000:needle\n" + path + ":1000000:needle\n" + path + ":1500000:needle\n" + path + ":2000000:needle\n"},
		{"files", path + "\n"},
		{"count", path + ":4\n"},
	} {
		if got := b.OK("grep", args{"path": path, "pattern": "^needle$", "mode": tt.mode}); got.Text != tt.want {
			t.Errorf("%s: %q, want %q", tt.mode, got.Text, tt.want)
		}
	}
	if got := b.OK("grep", args{"path": path, "pattern": "filler"}); !strings.Contains(got.Note, "more matches") {
		t.Errorf("%v", got.Note)
	}
	if got := b.OK("read_file", args{"path": path, "offset": 1_500_000, "limit": 1}); got.Text != "needle\n" {
		t.Errorf("read_file: %v", got)
	}
	must(t, os.WriteFile(filepath.Join(ws.root, "large"), []byte(text.String()), 0o600))
	if got := b.OK("grep", args{"path": "large", "pattern": "needle"}); !strings.Contains(got.Note, "over 10 MB") {
		t.Errorf("another large file: %v", got)
	}
}

// TestOutputs: read_file and grep read the outputs of the session, which are on this machine,
// in a workspace here and on a target, without approval; nothing else on this machine becomes
// readable.
func TestOutputs(t *testing.T) {
	target := host.Local(os.Environ())
	t.Cleanup(func() { _ = target.Close() })
	here, err := NewWorkspace(t.TempDir(), dotEnv)
	must(t, err)
	for name, ws := range map[string]*Workspace{"this machine": here, "target": NewTargetWorkspace(target, "there", t.TempDir(), dotEnv)} {
		dir := filepath.Join(t.TempDir(), "out")
		ws.Outputs(dir)
		b := &bench{toolstest.Bench{T: t, Tools: tools.NewRegistry(Tools(ws)...)}, ws, dir}
		b.put("000001/out", "one\nneedle here\n", "000001/err", "nothing\n", "../secret", "needle\n", "../output/x", "needle\n")
		must(t, os.WriteFile(filepath.Join(dir, "..", ".gitignore"), []byte("*\n"), 0o600))
		path := b.path("000001/out")
		call, problem := b.Plan("read_file", args{"path": path})
		if problem != "" || call.Planned.Kind != action.Internal || call.Planned.Path == "" {
			t.Errorf("%s: plan %+v, %s", name, call.Planned, problem)
		}
		if got := b.OK("read_file", args{"path": path}); got.Text != "one\nneedle here\n" {
			t.Errorf("%s: read_file = %v", name, got)
		}
		if got := b.OK("grep", args{"path": path, "pattern": "needle"}); !strings.Contains(got.Text, "needle here") {
			t.Errorf("%s: grep = %v", name, got)
		}
		// No other tool, and no other file.
		for _, other := range []string{filepath.Join(dir, "..", "secret"), dir + "put/x", "000001/out", filepath.Join(dir, "000001", "..", "..", "secret")} {
			call, _ := b.Plan("read_file", args{"path": other})
			if call.Planned.Kind == action.Internal {
				t.Errorf("%s: %s opens unasked", name, other)
			}
		}
		must(t, os.Symlink(filepath.Join(dir, "..", "secret"), b.path("000001/link")))
		must(t, os.Symlink(filepath.Join(dir, ".."), b.path("000002")))
		for _, link := range []string{"000001/link", "000002/secret"} {
			b.Fails("read_file", args{"path": b.path(link)}, "leads out of the session's output folder")
			b.Fails("grep", args{"path": b.path(link), "pattern": "x"}, "leads out of the session's output folder")
		}
		if call, _ := b.Plan("write_file", args{"path": path, "content": "x"}); call.Planned.Kind == action.Internal {
			t.Errorf("%s: write_file opens an output unasked", name)
		}
		// A link that replaces the file after the plan is not followed.
		must(t, os.Remove(path))
		must(t, os.Symlink(filepath.Join(dir, "..", "secret"), path))
		if res := b.Run(call); !res.IsError {
			t.Errorf("%s: a link was followed: %s", name, res.Content)
		}
		// A plan of another kind never reaches this machine.
		call.Planned = action.Action{Kind: action.FileRead, Path: "/nonexistent"}
		if res := b.Run(call); !res.IsError {
			t.Errorf("%s: %s", name, res.Content)
		}
	}
}
