//go:build linux && (amd64 || arm64)

package canarytest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"buddy/tmux/host/child"
	"buddy/tmux/pane/canarytest"
	"buddy/tmux/pane/confine"
	"buddy/tmux/pane/fence"
)

const (
	// howMany names the variable with the number of programs, and seedIs the one with the seed.
	howMany, seedIs = "PROGRAMS_TEST", "PROGRAMS_TEST_SEED"
	// asUser names the variable with which TestPrograms starts itself as a user.
	asUser = "PROGRAMS_TEST_USER"
)

// surroundings is a sandbox for programs.
type surroundings struct {
	name string
	// enter returns a function that runs a line inside and returns the changed canaries. The error is the reason why it
	// can't be tried here.
	enter func(t *testing.T, w *canarytest.World) (func(canarytest.Line) []string, error)
}

var allSurroundings = []surroundings{
	{"the read-only sandbox", func(t *testing.T, w *canarytest.World) (func(canarytest.Line) []string, error) { return inBox(t, w, 0) }},
	{"the read-only sandbox with the oldest Landlock", func(t *testing.T, w *canarytest.World) (func(canarytest.Line) []string, error) { return inBox(t, w, 1) }},
	{"the fence", inFence},
	{"a hook in the fence", func(t *testing.T, w *canarytest.World) (func(canarytest.Line) []string, error) {
		return inChild(t, w, false)
	}},
	{"a server in the fence", func(t *testing.T, w *canarytest.World) (func(canarytest.Line) []string, error) {
		return inChild(t, w, true)
	}},
}

func inBox(t *testing.T, w *canarytest.World, abi int) (func(canarytest.Line) []string, error) {
	if err := confine.Possible(); err != nil {
		return nil, err
	}
	box, err := confine.New(confine.Config{Reach: confine.Reach{Read: []string{w.Workspace}}, Env: w.Env, Temp: w.Temp, ABI: abi})
	if err != nil {
		return nil, err
	}
	t.Cleanup(box.Close)
	return func(l canarytest.Line) []string {
		return w.Run(l, 0, confine.Environ(w.Env, w.Env, nil, w.Temp), box.Start, func(cmd *exec.Cmd) {
			if err := box.Sweep(cmd.Process.Pid); err != nil {
				t.Errorf("%s: %v", l.Text, err)
			}
		})
	}, nil
}

// newFence returns the fence around the workspace. The watched folder is visible in it, so that programs find it.
func newFence(w *canarytest.World, server bool) (*fence.Fence, error) {
	settings := fence.Settings{Work: []string{w.Workspace}}
	if err := fence.Available(settings, w.Env); err != nil {
		return nil, err
	}
	return fence.New(fence.Config{Env: append(slices.Clone(w.Env), "GOROOT="+w.Out), Temp: w.Temp, Settings: settings, Server: server})
}

func inFence(t *testing.T, w *canarytest.World) (func(canarytest.Line) []string, error) {
	f, err := newFence(w, false)
	if err != nil {
		return nil, err
	}
	t.Cleanup(f.Close)
	return func(l canarytest.Line) []string {
		return w.Run(l, 0, f.Environ(w.Env, nil), f.Start, func(cmd *exec.Cmd) {
			if err := f.Sweep(cmd.Process.Pid); err != nil {
				t.Errorf("%s: %v", l.Text, err)
			}
		})
	}, nil
}

// inChild runs lines as buddy runs hooks and servers in auto mode.
func inChild(t *testing.T, w *canarytest.World, server bool) (func(canarytest.Line) []string, error) {
	run := func(l canarytest.Line, within child.Holder) []string {
		return w.Watch(l, 0, func(ctx context.Context, text string, out *os.File) error {
			p, err := child.Start(ctx, child.Spec{
				Name: l.Canary, Command: []string{"/bin/bash", "-c", text}, Dir: w.Workspace, Within: within,
				Env: append(slices.Clone(w.Env), "VICTIM="+strconv.Itoa(w.Victim())),
			})
			if err != nil {
				return err
			}
			_, err = io.Copy(out, p.Stdout())
			<-p.Done()
			p.Stop()
			_, output := out.WriteString(p.Stderr())
			return errors.Join(err, output)
		})
	}
	control := canarytest.Line{Text: `echo changed >"$OUT/f"`, Canary: "file"}
	if got := run(control, nil); !slices.Contains(got, "file") {
		t.Fatalf("without the fence %s changes %q", control.Text, got)
	}
	f, err := newFence(w, server)
	if err != nil {
		return nil, err
	}
	f.Close()
	return func(l canarytest.Line) []string {
		f, err := newFence(w, server) // a child closes its own fence
		if err != nil {
			t.Fatal(err)
		}
		return run(l, f)
	}, nil
}

// TestPrograms runs random programs unrestricted, which must change their canary to count, and in all surroundings,
// where they must change none: as root and as an ordinary user.
func TestPrograms(t *testing.T) {
	if os.Getenv(howMany) == "" {
		t.Skip("takes minutes: " + howMany + "=300 runs it")
	}
	if os.Getenv(asUser) != "" {
		for _, s := range allSurroundings {
			t.Run(s.name, s.try)
		}
		return
	}
	seed := os.Getenv(seedIs)
	if seed == "" {
		seed = "46"
	}
	users := map[string]*syscall.Credential{"self": nil}
	if os.Getuid() == 0 {
		users["nobody"] = &syscall.Credential{Uid: canarytest.Nobody, Gid: canarytest.Nobody}
	}
	for name, who := range users {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(canarytest.CopyProgram(t), "-test.run=^TestPrograms$", "-test.v", "-test.timeout=60m")
			cmd.Dir = "/"
			cmd.Env = []string{asUser + "=" + name, seedIs + "=" + seed, howMany + "=" + os.Getenv(howMany), "PATH=" + canarytest.Path}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("programs counted")) {
				t.Errorf("seed %s: %v\n%s", seed, err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// try runs all programs in the surroundings.
func (s surroundings) try(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv(seedIs), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(os.Getenv(howMany))
	if err != nil {
		t.Fatal(err)
	}
	w := canarytest.New(t, canarytest.Options{Dir: "/var/tmp", Script: script})
	run, err := s.enter(t, w)
	if err != nil {
		t.Skip(err)
	}
	counted := 0
	for _, l := range canarytest.Programs(seed, n) {
		if !w.Has(l) {
			continue
		}
		if got := w.Plain(l, 2*time.Second); !slices.Contains(got, l.Canary) {
			t.Logf("not counted, %s as it is changes %q: %s\n%s", l.Canary, got, l.Text, w.Said())
			continue
		}
		counted++
		if got := run(l); len(got) > 0 {
			t.Errorf("%s: %s\nin %s changes %q", l.Canary, l.Text, s.name, got)
		}
	}
	t.Logf("%d of %d programs counted", counted, n)
	if counted < n*8/10 {
		t.Errorf("only %d of %d programs do what they try: they prove little", counted, n)
	}
}

// script makes the folders.
const script = `
set -e
mkdir -p "$OUT/d" "$OUT/e" "$WS" "$HOME" "$TMPDIR" "$VDIR"
echo c4n4ry >"$VDIR/secret"
echo keep >"$OUT/f"; echo g >"$OUT/d/g"
cd "$WS"
git init -q --template= .
echo 1 >f1
`
