package tmux_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tmux/host"
	"buddy/tmux/host/hosttest"
	"buddy/tmux/pane"
	"buddy/tmux/tmuxtest"
)

// The test binary is its own supervisor, like buddy.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "pane" {
		os.Exit(pane.Main(os.Args[2:]))
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil { // the tests wait more than they compute
		panic(err)
	}
	os.Exit(m.Run())
}

// rig is a session with the directories of its test.
type rig struct {
	t testing.TB
	*tmux.Session
	opt tmux.Options
	srv *tmuxtest.Server // nil without tmux
	dir string
	n   int

	mu     sync.Mutex // guards events
	events []tmux.PaneEvent
}

func exe(t testing.TB) string {
	t.Helper()
	e, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// newRig returns a session in tmux, which the test's end closes.
func newRig(t testing.TB) *rig {
	t.Helper()
	srv := tmuxtest.New(t)
	r := &rig{t: t, srv: srv, dir: srv.Dir}
	r.opt = tmux.Options{Socket: srv.Socket, Session: "t", Exe: exe(t), OnPane: r.onPane, Greeting: pane.Greeting{Env: srv.Env, Cwd: srv.Dir}}
	r.Session = tmux.New(r.opt)
	r.closeAtEnd()
	return r
}

// newShRig is a session whose supervisor is the script, on this machine.
func newShRig(t testing.TB) *rig {
	t.Helper()
	if testing.Short() {
		t.Skip("targets take seconds")
	}
	srv := tmuxtest.New(t)
	return newHostRig(t, srv, localHost(t, srv.Env))
}

// localHost is this machine as a host, closed at the end.
func localHost(t testing.TB, env []string) *host.Host {
	h := host.Local(env)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func newHostRig(t testing.TB, srv *tmuxtest.Server, h *host.Host) *rig {
	t.Helper()
	r := &rig{t: t, srv: srv, dir: srv.Dir}
	r.opt = tmux.Options{Socket: srv.Socket, Session: "t", Host: h, OnPane: r.onPane, Greeting: pane.Greeting{Cwd: srv.Dir}}
	r.Session = tmux.New(r.opt)
	r.closeAtEnd()
	return r
}

func newSSHRig(t testing.TB) *rig {
	t.Helper()
	srv := tmuxtest.New(t)
	// More than by default: a busy sshd ends sessions more slowly than tests start them.
	return newHostRig(t, srv, hosttest.NewSSHD(t, "MaxSessions 30").Host(t))
}

func newContainerRig(t testing.TB, kind string) *rig {
	t.Helper()
	c := hosttest.NewContainer(t, kind)
	return newHostRig(t, tmuxtest.In(t, c.Dir), c.Host(t))
}

// newHostPlainRig is a session without tmux on a host.
func newHostPlainRig(t testing.TB, h *host.Host, dir string) *rig {
	t.Helper()
	r := &rig{t: t, dir: dir}
	r.opt = tmux.Options{Session: "t", Host: h, Greeting: pane.Greeting{Cwd: dir}}
	r.Session = tmux.NewPlain(r.opt)
	r.closeAtEnd()
	return r
}

// testTarget is a kind of session that the tests run on.
type testTarget struct {
	name   string
	rig    func(t testing.TB) *rig
	script bool // the supervisor is the script
	tmux   bool
	ash    bool // there is no bash
	zsh    bool // commands run in zsh
	ssh    bool // the same programs as sh, over ssh
}

// testTargets are all kinds. If a target lacks a feature, the test handles it.
var testTargets = []testTarget{
	{name: "supervisor", rig: newRig, tmux: true},
	{name: "plain", rig: newPlainRig},
	{name: "sh", rig: newShRig, script: true, tmux: true},
	{name: "ssh", rig: newSSHRig, script: true, tmux: true, ssh: true},
	{name: "container", rig: func(t testing.TB) *rig { return newContainerRig(t, hosttest.Bash) }, script: true, tmux: true},
	{name: "ash", rig: func(t testing.TB) *rig { return newContainerRig(t, hosttest.Ash) }, script: true, tmux: true, ash: true},
	{name: "plain ssh", script: true, rig: func(t testing.TB) *rig {
		s := hosttest.NewSSHD(t, "")
		dir := filepath.Join(s.Dir, "w")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return newHostPlainRig(t, s.Host(t), dir)
	}},
}

// all runs a test on every target; if panes is set only in tmux, and not twice in a container.
func all(t *testing.T, panes bool, test func(t *testing.T, at testTarget, r *rig)) {
	t.Parallel()
	for _, at := range testTargets {
		if panes && (!at.tmux || at.ash) {
			continue
		}
		t.Run(at.name, func(t *testing.T) { t.Parallel(); test(t, at, at.rig(t)) })
	}
}

func newPlainRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, dir: tmuxtest.Dir(t)}
	r.opt = tmux.Options{Session: "t", Greeting: pane.Greeting{Env: tmuxtest.Env(t, r.dir), Cwd: r.dir}}
	r.Session = tmux.NewPlain(r.opt)
	r.closeAtEnd()
	return r
}

func (r *rig) closeAtEnd() {
	s := r.Session
	r.t.Cleanup(func() {
		if _, err := s.Close(context.Background()); err != nil {
			r.t.Errorf("Close: %v", err)
		}
	})
}

func (r *rig) onPane(e tmux.PaneEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *rig) kinds() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var s []string
	for _, e := range r.events {
		s = append(s, string(e.Kind))
	}
	return strings.Join(s, " ")
}

func (r *rig) newDir() string {
	r.n++
	return filepath.Join(r.dir, "cmds", strconv.Itoa(r.n))
}

func (r *rig) start(spec tmux.Spec) *tmux.Running {
	r.t.Helper()
	spec.Dir = r.newDir()
	ctx, stop := context.WithTimeout(r.t.Context(), time.Minute) // for a queue behind a command that hangs
	defer stop()
	run, err := r.Start(ctx, spec)
	if err != nil {
		r.t.Fatalf("Start(%q): %v", spec.Command, err)
	}
	return run
}

func (r *rig) wait(run *tmux.Running) tmux.Result {
	r.t.Helper()
	ctx, stop := context.WithTimeout(r.t.Context(), time.Minute)
	defer stop()
	res, err := run.Wait(ctx)
	if err != nil {
		r.t.Fatalf("Wait: %v", err)
	}
	return res
}

func (r *rig) run(command string) tmux.Result {
	r.t.Helper()
	return r.wait(r.start(tmux.Spec{Command: command}))
}

// screen returns the visible text of the pane.
func (r *rig) screen() string {
	r.t.Helper()
	return r.srv.Tmux("capture-pane", "-p", "-t", r.Pane())
}

// want runs a command that must succeed and compares its output.
func (r *rig) want(command, stdout string) {
	r.t.Helper()
	res := r.run(command)
	if res.ExitCode != 0 || string(res.Stdout.Head) != stdout {
		r.t.Errorf("%s\n= exit %d, stdout %q, stderr %q\nwant 0, %q", command, res.ExitCode, res.Stdout.Head, res.Stderr.Head, stdout)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// Exported has the variables that the last command left exported, with and without tmux.
func TestExported(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, s := range map[string]*tmux.Session{"tmux": r.Session, "plain": tmux.NewPlain(r.opt)} {
		if got, err := s.Exported(); got != nil || err != nil {
			t.Errorf("%s: before the first command: %q, %v", name, got, err)
		}
		run, err := s.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Command: "export TABLE='or ders'; OTHER=x"})
		if err != nil {
			t.Fatal(err)
		}
		r.wait(run)
		got, err := s.Exported()
		if err != nil || !slices.Contains(got, "TABLE=or ders") || slices.Contains(got, "OTHER=x") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if _, err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
