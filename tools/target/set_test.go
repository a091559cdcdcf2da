package target

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/tmux"
	"buddy/tmux/host/hosttest"
	"buddy/tools"
)

// idle returns a session without commands on a target.
func idle(t *testing.T, at *Target, dir string) *Session {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	one, err := at.Open(Environment{Dir: real, Home: "/home/" + at.Name}, Options{Options: tmux.Options{Session: at.Name, Exe: "none", Socket: dir + "/sock"}})
	if err != nil {
		t.Fatal(err)
	}
	return one
}

func TestSet(t *testing.T) {
	away := errors.New("it is away")
	made := map[string]int{}
	web, down := &Target{Name: "web", Cwd: "/srv", Production: true}, &Target{Name: "down"}
	dir := t.TempDir()
	set := NewSet(idle(t, &Target{Name: "local"}, t.TempDir()), []*Target{web, down}, func(_ context.Context, one *Target) (*Session, error) {
		if made[one.Name]++; one == down {
			return nil, away
		}
		return idle(t, one, dir), nil
	})
	if got := set.Names(); !slices.Equal(got, []string{"local", "web", "down"}) || set.Current() != "local" {
		t.Errorf("%v, on %s", got, set.Current())
	}
	if cwd, ok := set.Switch("web"); !ok || cwd != "/srv" || set.Current() != "web" || made["web"] != 0 {
		t.Errorf("Switch = %q, %v, made %d", cwd, ok, made["web"])
	}
	if at := set.Facts("web"); !at.Guarded || at.Workspace != "" || set.Facts("local").Resolve == nil {
		t.Errorf("before the first call: %+v", at)
	}
	if _, _, err := set.Pane("web:%3"); !errors.Is(err, tmux.ErrNoPane) {
		t.Errorf("a pane of what is not there: %v", err)
	}
	for range 2 {
		if _, err := set.Open(t.Context(), "web"); err != nil {
			t.Error(err)
		}
		if _, err := set.Open(t.Context(), "down"); !errors.Is(err, away) || !errors.Is(set.Failure("down"), away) {
			t.Errorf("Open: %v", err)
		}
	}
	if made["web"] != 1 || made["down"] != 2 { // a target that was down is tried again
		t.Errorf("made %v", made)
	}
	if at := set.Facts("web"); !at.Guarded || at.Workspace == "" || at.Home != "/home/web" {
		t.Errorf("after the first call: %+v", at)
	}
	if at, id, err := set.Pane("web:%3"); at != set.Session("web").Panes || id != "%3" || err != nil {
		t.Errorf("web:%%3 is %+v, %s, %v", at, id, err)
	}
	if at, id, err := set.Pane("%3"); at != set.First().Panes || id != "%3" || err != nil {
		t.Errorf("%%3 is %+v, %s, %v", at, id, err)
	}
	if _, ok := set.Switch("db"); ok {
		t.Error("switched to what is not there")
	}
	if _, err := set.Open(t.Context(), "db"); err == nil || !strings.Contains(err.Error(), "have: local, web, down") {
		t.Errorf("Open: %v", err)
	}
	set.Close(t.Context(), func(text string) { t.Errorf("said %q", text) })
}

// A cancelled call does not wait for a target, neither while it connects nor while another call connects.
func TestOpenEndsWithItsCall(t *testing.T) {
	begun := make(chan struct{})
	set := NewSet(idle(t, &Target{Name: "local"}, t.TempDir()), []*Target{{Name: "web"}}, func(ctx context.Context, _ *Target) (*Session, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ctx, stop := context.WithCancel(t.Context())
	planned := make(chan error, 1)
	go func() {
		_, err := set.Route(set.First().Shell).Plan(tools.Call{Arguments: `{"command":"x","target":"web"}`, Planning: ctx})
		planned <- err
	}()
	<-begun
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := set.Open(ended, "web"); !errors.Is(err, context.Canceled) {
		t.Errorf("Open: %v", err)
	}
	stop()
	if err := <-planned; err == nil {
		t.Error("Plan: no error")
	}
}

// A link on a target is resolved there before its destination is judged.
func TestLinksOfATargetAreFollowed(t *testing.T) {
	s := hosttest.NewSSHD(t, "")
	work, _ := linked(t)
	at := &Target{Name: "web", Host: s.Host(t)}
	env, err := at.Look(t.Context(), work)
	if err != nil {
		t.Fatal(err)
	}
	one, err := at.Open(env, Options{})
	if err != nil || one.Facts().Elsewhere {
		t.Fatalf("%v; an ssh host that is this machine counts as another: %v", err, one.Facts().Elsewhere)
	}
	p := policy.Policy{At: NewSet(one, nil, nil).Facts}
	for line, want := range map[string]action.Decision{
		"cat a.go": action.Allow, "cat in/x.go": action.Allow, "cat in/../x.go": action.Allow, "cat none.go": action.Allow, "ls": action.Allow,
		"cat b.go": action.Ask, "cat chain": action.Ask, "cat notes.md": action.Ask, "cat out/key.txt": action.Ask, "cat out/../x.go": action.Ask, "cat ../beside/x.go": action.Ask, "ls out": action.Ask, "cat *.go": action.Ask, "cat round": action.Ask,
	} {
		if v := p.Judge(action.Action{Kind: action.Shell, Tool: "run_shell", Target: at.Name, Command: line, Cwd: work}, action.ModeAsk); v.Decision != want {
			t.Errorf("%q: %+v, want %s", line, v, want)
		}
	}
}

// Only a target with another kernel counts as another machine.
func TestWhichTargetsAreElsewhere(t *testing.T) {
	ours, err := os.ReadFile(bootID)
	if err != nil {
		t.Skip(err)
	}
	for _, tt := range []struct {
		system, boot string
		want         bool
	}{
		{"Linux", strings.TrimSpace(string(ours)), false}, {"Linux", "00000000-0000-4000-8000-000000000000", true}, {"Linux", "", false}, {"Darwin", "", true},
	} {
		if got := elsewhere(tt.system, tt.boot); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
