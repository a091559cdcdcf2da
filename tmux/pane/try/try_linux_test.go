//go:build amd64 || arm64

package try

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"buddy/tmux/pane/fence"
)

// place is a workspace with a folder for layers.
type place struct {
	t    testing.TB
	work string
	Config
}

// newPlace returns an empty workspace below base. If no command can be tried there it skips the test.
func newPlace(t testing.TB, base string) *place {
	t.Helper()
	// As buddy does, which matters for ordinary users.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, work: filepath.Join(base, "work")}
	p.Layers = filepath.Join(base, "layers")
	p.Fence = fence.Config{Settings: fence.Settings{Work: []string{p.work}, Cache: filepath.Join(base, "cache")}, Env: os.Environ(), Temp: filepath.Join(base, "temp")}
	for _, dir := range []string{p.work, p.Layers, p.Fence.Temp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	checked.Do(func() { notHere = Possible(p.Fence.Settings, os.Environ(), p.Layers) })
	if notHere != nil {
		t.Skip(notHere)
	}
	return p
}

// notHere holds the reason why no command can be tried on this machine.
var (
	checked sync.Once
	notHere error
)

// sh runs a script in the workspace without a sandbox.
func (p *place) sh(script string) {
	p.t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = p.work
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// try tries a command line, which must not change the workspace. The end of the test discards the result.
func (p *place) try(line string) *Result {
	p.t.Helper()
	before := contents(p.t, p.work)
	r, err := Run(context.Background(), p.Config, Command{Shell: "/bin/bash", Line: line, Dir: p.work})
	if err != nil {
		p.t.Fatal(err)
	}
	if after := contents(p.t, p.work); after != before {
		p.t.Errorf("%s: the workspace became\n%s\nfrom\n%s", line, after, before)
	}
	p.t.Cleanup(func() {
		if err := r.Discard(); err != nil {
			p.t.Error(err)
		}
		if _, err := os.Lstat(r.Layer); err == nil {
			p.t.Errorf("%q is left", r.Layer)
		}
	})
	return r
}

// keep keeps a result.
func (p *place) keep(r *Result) {
	p.t.Helper()
	if err := r.Keep(); err != nil {
		p.t.Fatal(err)
	}
}

// contents returns the names, modes, links and contents of all files of a folder.
func contents(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode().IsRegular():
			all, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(all)
		case info.Mode()&os.ModeSymlink != 0:
			if text, err = os.Readlink(path); err != nil {
				return err
			}
		}
		rel, err := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%q %v %.200q\n", rel, info.Mode(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// summary returns the changes, one a line.
func summary(r *Result) string {
	var b strings.Builder
	for _, c := range r.Changes {
		fmt.Fprintf(&b, "%s %q\n", c.Kind, c.Path)
	}
	return b.String()
}

// many makes n files in folders of fifty.
func (p *place) many(n int) {
	p.t.Helper()
	for i := range n {
		dir := filepath.Join(p.work, fmt.Sprintf("d%03d", i/50))
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%04d.txt", i)), []byte(strings.Repeat("line of foo\n", 20)), 0o644)); err != nil {
			p.t.Fatal(err)
		}
	}
}

// TestSed: a command changes many files in the layer only; keeping brings exactly these.
func TestSed(t *testing.T) {
	for _, n := range []int{200, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if n > 1000 && os.Getenv(allLines) == "" {
				t.Skip("takes seconds: " + allLines)
			}
			p := newPlace(t, t.TempDir())
			p.many(n)
			began := time.Now()
			r := p.try("find . -name '*.txt' -print0 | xargs -0 sed -i s/foo/bar/")
			tried := time.Since(began)
			if r.Code != 0 || r.Stopped != "" || len(r.Output) > 0 || len(r.Losses) > 0 {
				t.Errorf("exit %d, stopped: %q, output: %s, losses %v", r.Code, r.Stopped, r.Output, r.Losses)
			}
			if len(r.Changes) != n || slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Kind != Changed }) {
				t.Errorf("%d changes: %.1000s", len(r.Changes), summary(r))
			}
			c := r.Changes[0]
			if old, err := os.ReadFile(c.Old); err != nil || !strings.HasPrefix(string(old), "line of foo") {
				t.Errorf("before: %q, %v", old, err)
			}
			if now, err := os.ReadFile(c.New); err != nil || !strings.HasPrefix(string(now), "line of bar") {
				t.Errorf("afterwards: %q, %v", now, err)
			}
			began = time.Now()
			p.keep(r)
			t.Logf("%d files: tried in %v (the command alone %v), kept in %v", n, tried, r.Took, time.Since(began))
			if all := contents(t, p.work); strings.Count(all, "line of bar") < n || strings.Contains(all, "foo") {
				t.Errorf("kept: %.1000s", all)
			}
		})
	}
}
