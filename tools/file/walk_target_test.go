package file

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"buddy/tmux/host/hosttest"
)

// WalkFiles visits the files of the target; those that could be listed in time are included.
func TestWorkspaceWalkFiles(t *testing.T) {
	srv := hosttest.NewSSHD(t, "")
	dir := filepath.Join(srv.Dir, "w")
	for name, text := range map[string]string{
		".gitignore": "*.log\n", "a.go": "", "b.log": "", "node_modules/m/x.go": "", "sub/c.go": "", "sub/deep/d.go": "", ".git/config": "",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	here, err := NewWorkspace(dir, dotEnv)
	must(t, err)
	there := NewTargetWorkspace(srv.Host(t), "there", dir, dotEnv)
	for name, ws := range map[string]*Workspace{"this machine": here, "target": there} {
		var got []string
		err := ws.WalkFiles(t.Context(), func(name string) bool { return name == "node_modules" }, func(rel string) error {
			got = append(got, rel)
			return nil
		})
		if want := []string{".gitignore", "a.go", "sub/c.go", "sub/deep/d.go"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := there.WalkFiles(ctx, func(string) bool { return false }, func(string) error { return nil }); err == nil {
		t.Error("nothing was listed, and nothing says so")
	}
}
