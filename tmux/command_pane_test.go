package tmux_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tmux/host/hosttest"
	"buddy/tmux/tmuxtest"
)

// ownPaneTargets can give commands their own pane or shell, at little cost.
var ownPaneTargets = []testTarget{
	{name: "supervisor", rig: newRig, tmux: true},
	{name: "plain", rig: newPlainRig},
	{name: "sh", rig: newShRig, script: true, tmux: true},
	{name: "container", rig: func(t testing.TB) *rig { return newContainerRig(t, hosttest.Bash) }, script: true, tmux: true},
}

func owns(t *testing.T, panes bool, test func(t *testing.T, at testTarget, r *rig)) {
	t.Parallel()
	for _, at := range ownPaneTargets {
		if panes && !at.tmux {
			continue
		}
		t.Run(at.name, func(t *testing.T) { t.Parallel(); test(t, at, at.rig(t)) })
	}
}

func (r *rig) panes() []string {
	r.t.Helper()
	all, err := r.Panes(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	var ids []string
	for _, p := range all {
		ids = append(ids, p.ID)
	}
	return ids
}

// TestOwnPane: a command in its own pane starts with the folder, variables and functions of the shared one, passes
// nothing back, does not delay it, and its pane closes.
func TestOwnPane(t *testing.T) {
	owns(t, false, func(t *testing.T, at testTarget, r *rig) {
		r.run("mkdir -p sub && cd sub && export X=1 && f() { echo f; }")
		gate := r.start(tmux.Spec{Own: true, Title: "a #(touch evil) title", Command: "f; echo $X ${PWD##*/} >&2; export X=2; cd /; while [ ! -e go ] && [ ! -e \"$OLDPWD/go\" ]; do sleep 0.02; done; exit 3"})
		r.want("echo $X ${PWD##*/}", "1 sub\n") // meanwhile
		if at.tmux {
			if ids := r.panes(); len(ids) != 2 || ids[0] != r.Pane() || ids[1] != gate.Pane() {
				t.Errorf("panes %v, shared %s, own %s", ids, r.Pane(), gate.Pane())
			}
			got := r.srv.Tmux("display-message", "-p", "-t", gate.Pane(), "#{window_name}|#{pane_title}|#{@buddy_managed}|#{@buddy_owner}|#{pane_width}x#{pane_height}")
			if got != "a _(touch evil) title|a _(touch evil) title|1|buddy|120x40" {
				t.Errorf("own pane: %s", got)
			}
		}
		r.want("touch go", "")
		res := r.wait(gate)
		if res.ExitCode != 3 || string(res.Stdout.Head) != "f\n" || string(res.Stderr.Head) != "1 sub\n" {
			t.Errorf("result %+v", res)
		}
		r.want("echo $X ${PWD##*/}", "1 sub\n")
		if at.tmux {
			tmuxtest.Until(t, "the pane closes", func() bool { return len(r.panes()) == 1 })
			tmuxtest.Until(t, "that is told", func() bool { return r.kinds() == "opened opened closed" })
		}
	})
}

// TestOwnPaneCancelled: cancelling works in such a pane, too.
func TestOwnPaneCancelled(t *testing.T) {
	owns(t, false, func(t *testing.T, _ testTarget, r *rig) {
		run := r.start(tmux.Spec{Own: true, Command: "echo begun; exec sleep 100"})
		run.Cancel()
		if res := r.wait(run); !res.Cancelled || res.ExitCode == 0 {
			t.Errorf("result %+v", res)
		}
	})
}

// TestOwnPaneFirst: the first command of a session may have its own pane.
func TestOwnPaneFirst(t *testing.T) {
	owns(t, false, func(t *testing.T, _ testTarget, r *rig) {
		res := r.wait(r.start(tmux.Spec{Own: true, Command: "pwd"}))
		if res.ExitCode != 0 || string(res.Stdout.Head) != r.dir+"\n" {
			t.Errorf("result %+v, want %s", res, r.dir)
		}
	})
}

// TestMaxPanes: five panes with the shared one; the error lists them.
func TestMaxPanes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var runs []*tmux.Running
	for range tmux.MaxPanes - 1 {
		runs = append(runs, r.start(tmux.Spec{Own: true, Title: "sleeper", Command: "sleep 100"}))
	}
	_, err := r.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Own: true, Command: "true"})
	if !errors.Is(err, tmux.ErrPanes) || !strings.Contains(err.Error(), runs[0].Pane()+" (sleeper)") {
		t.Errorf("error %v", err)
	}
	if err := r.Kill(t.Context(), runs[0].Pane()); err != nil {
		t.Fatal(err)
	}
	if res := r.wait(runs[0]); res.ExitCode == 0 || res.Fault == "" {
		t.Errorf("killed: %+v", res)
	}
	r.wait(r.start(tmux.Spec{Own: true, Command: "true"}))
	for _, run := range runs[1:] {
		run.Cancel()
		r.wait(run)
	}
	if err := r.Kill(t.Context(), r.Pane()); err == nil {
		t.Error("the shared pane was killed")
	}
}

// TestOwnPaneOutlivesUs: a command in its own pane keeps running when the program ends, and another process of the
// session finds it, or its end.
func TestOwnPaneOutlivesUs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.start(tmux.Spec{Own: true, Command: "while [ ! -e go ]; do sleep 0.02; done; echo done"})
	dir := r.dir + "/cmds/1"
	left, err := r.Close(t.Context())
	if err != nil || len(left) != 1 || left[0] != "buddy-t" {
		t.Errorf("Close = %v, %v", left, err)
	}
	second := tmux.New(r.opt)
	again, err := second.Reattach(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again.Pane() != run.Pane() {
		t.Errorf("pane %s, was %s", again.Pane(), run.Pane())
	}
	r.Session = second
	r.want("touch go", "")
	if res := r.wait(again); res.ExitCode != 0 || string(res.Stdout.Head) != "done\n" {
		t.Errorf("result %+v", res)
	}
	if left, err := second.Close(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("Close = %v, %v", left, err)
	}
	if again, err = second.Reattach(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	if res := r.wait(again); string(res.Stdout.Head) != "done\n" {
		t.Errorf("result after all %+v", res)
	}
}

// TestAdopt: an idle pane of an earlier process is closed when the next one opens; a busy one counts.
func TestAdopt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	idle := r.start(tmux.Spec{Own: true, Command: "while [ ! -e go ]; do sleep 0.02; done"})
	busy := r.start(tmux.Spec{Own: true, Command: "sleep 100"})
	if _, err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Session = tmux.New(r.opt)
	r.closeAtEnd()
	r.run("touch go; while [ ! -e cmds/1/rc ]; do sleep 0.02; done")
	third := r.start(tmux.Spec{Own: true, Command: "sleep 100"})
	ids := strings.Join(r.panes(), " ")
	if strings.Contains(ids, idle.Pane()) || !strings.Contains(ids, busy.Pane()) {
		t.Errorf("panes %s; idle %s, busy %s", ids, idle.Pane(), busy.Pane())
	}
	if err := r.Kill(t.Context(), busy.Pane()); err != nil {
		t.Error(err)
	}
	third.Cancel()
	r.wait(third)
}

// TestKillWhileItsSupervisorWrites: an ending supervisor may write files into its directory while that is removed.
func TestKillWhileItsSupervisorWrites(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.start(tmux.Spec{Own: true, Command: "sleep 100"})
	dirs, err := filepath.Glob(filepath.Join(r.dir, "buddy-*", "*-own-*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("directories %q, %v", dirs, err)
	}
	wrote := make(chan int)
	go func() {
		n := 0
		for end := time.Now().Add(time.Second); time.Now().Before(end); n++ {
			if os.WriteFile(filepath.Join(dirs[0], "late-"+strconv.Itoa(n)), nil, 0o600) != nil {
				break
			}
		}
		wrote <- n
	}()
	if err := r.Kill(t.Context(), run.Pane()); err != nil {
		t.Errorf("Kill: %v", err)
	}
	if n := <-wrote; n == 0 {
		t.Error("nothing was written while the directory was removed")
	}
	if _, err := os.Stat(dirs[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is left: %v", err)
	}
}

// TestSweep removes our sessions in which everything is dead, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	make := func(name, command string, marked bool) {
		r.srv.Tmux("new-session", "-d", "-s", name, "-x", "80", "-y", "24", "sleep 100")
		r.srv.Tmux("set-option", "-t", name, "remain-on-exit", "on")
		if marked {
			r.srv.Tmux("set-option", "-t", name, "@buddy_managed", "1")
			r.srv.Tmux("set-option", "-t", name, "@buddy_owner", "buddy")
		}
		r.srv.Tmux("respawn-pane", "-k", "-t", name, command)
	}
	make("buddy-dead", "true", true)
	make("buddy-live", "sleep 100", true)
	make("theirs", "true", false)
	tmuxtest.Until(t, "two panes are dead", func() bool {
		return strings.Count(r.srv.Tmux("list-panes", "-a", "-F", "#{pane_dead}"), "1") == 2
	})
	r.run("true")
	if got := strings.Fields(r.srv.Tmux("list-sessions", "-F", "#{session_name}")); strings.Join(got, " ") != "buddy-live buddy-t theirs" {
		t.Errorf("sessions %v", got)
	}
}
