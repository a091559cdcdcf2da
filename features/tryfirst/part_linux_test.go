package tryfirst

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/texts/ansi"
	"buddy/tmux/pane/fence"
	"buddy/tools"
)

// newPart returns a part for a new workspace.
func newPart(t *testing.T) (p *Part, work string) {
	t.Helper()
	base := t.TempDir()
	work = filepath.Join(base, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	p = New(Options{
		Target: "local", Session: "s1", Bases: Bases(work, "/proc/nowhere"), Env: os.Environ(), Output: 4000,
		Fence:    fence.Settings{Work: []string{work}, Cache: filepath.Join(base, "cache")},
		Exported: func() ([]string, error) { return nil, nil },
	})
	if err := p.possible(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(p.layers.close)
	return p, work
}

// try tries a command.
func (p *Part) try(t *testing.T, command string) *trial {
	t.Helper()
	call := tools.Call{Planned: action.Action{Command: command, Cwd: p.o.Fence.Work[0]}}
	got, err := p.Try(t.Context(), call, func(context.Context, action.Tried) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	return got.(*trial)
}

// What a command would change is described without secrets, and keeping makes exactly that.
func TestTryAndKeep(t *testing.T) {
	p, work := newPart(t)
	for name, text := range map[string]string{"a.txt": "one\nold\n", ".env": "KEY=1\n", "gone.txt": "x\n"} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tr := p.try(t, `sed -i s/old/new/ a.txt; echo KEY=2 > .env; rm gone.txt; mkdir d; : > empty; printf '\033[1mbold\033[0m\n'; date +%N > random; mkdir -p .git/objects && echo x > .git/objects/1 && mkdir .git/hooks && echo y > .git/hooks/post-commit`)
	var all strings.Builder
	for _, f := range tr.tried.Files {
		all.WriteString(f.Path + ": " + f.Preview)
	}
	for _, want := range []string{"a.txt: +1 -1 lines", "-old\n+new", ".env: changed, may hold secrets: 6 → 6 bytes", "gone.txt: deleted", "d: nothing → a folder", "empty: new and empty", ".git/hooks/post-commit: new file", ".git: "} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q in\n%s", want, all.String())
		}
	}
	if strings.Contains(all.String(), "KEY=") || tr.tried.Output != "bold" || ansi.Strip(tr.tried.Output) != tr.tried.Output {
		t.Errorf("the output is %q, the changes are\n%s", tr.tried.Output, all.String())
	}
	if _, err := os.Stat(filepath.Join(work, "random")); err == nil {
		t.Error("the try has changed the workspace")
	}
	var listed string
	for _, f := range tr.tried.Files {
		if f.Path == "random" {
			listed = f.Preview
		}
	}
	if err := tr.Keep(); err != nil {
		t.Fatal(err)
	}
	random, _ := os.ReadFile(filepath.Join(work, "random"))
	if !strings.Contains(listed, "+"+string(random)) || len(random) == 0 {
		t.Errorf("kept %q, the person saw %q", random, listed)
	}
	if r := tr.Result(); !strings.HasPrefix(r.Content, "bold") || !strings.Contains(r.Content, "the user has seen and kept its changes") || *r.ExitCode != 0 {
		t.Errorf("the model reads %+v", r)
	}
	if err := tr.Discard(); err != nil {
		t.Error(err)
	}
	if err := p.possible(); err != nil || !strings.HasPrefix(p.layers.dir, filepath.Join(filepath.Dir(work), ".buddy-try")) {
		t.Errorf("layers are in %q, %v", p.layers.dir, err)
	}
	p.layers.close()
	if _, err := os.Stat(filepath.Join(filepath.Dir(work), ".buddy-try")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the folder of layers is left")
	}
}

// The next session removes the layers of one that was killed, and leaves those of a session that runs.
func TestLeftLayersAreRemoved(t *testing.T) {
	p, work := newPart(t)
	tr := p.try(t, "echo x > a")
	if kept, errs := clean(p.o.Bases, []string{work}); kept != 0 || len(errs) > 0 {
		t.Errorf("kept %d, %v", kept, errs)
	}
	if _, err := os.Stat(tr.r.Layer); err != nil {
		t.Fatal("the layer of a running session was removed: ", err)
	}
	if err := p.layers.lock.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, errs := clean(p.o.Bases, []string{work}); kept != 0 || len(errs) > 0 {
		t.Errorf("kept %d, %v", kept, errs)
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(p.layers.dir))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%q is left: %v", p.layers.dir, err)
	}
}
