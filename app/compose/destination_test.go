package compose

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/app/exit"
	"buddy/app/slash"
	"buddy/config"
	"buddy/sessions"
	"buddy/tmux/host/hosttest"
	"buddy/tools/target"
)

func TestTargetOptions(t *testing.T) {
	for _, tt := range []struct {
		f    Options
		want string // of the error, "" for none
	}{
		{Options{}, ""},
		{Options{Place: Place{SSH: "a@b"}}, ""},
		{Options{Place: Place{Container: "web"}}, ""},
		{Options{Place: Place{SSH: "a", Container: "b"}}, "can't be combined"},
		{Options{Place: Place{SSHConfig: "c"}}, "needs --ssh"},
		{Options{Place: Place{Container: "b", SSHConfig: "c"}}, "needs --ssh"},
		{Options{Place: Place{SSH: "-oProxyCommand=x"}}, "must be a host"},
		{Options{Place: Place{Container: "a;b"}}, "must be a name or an id"},
		{Options{Place: Place{Dir: "/none/such"}}, "no such file"},
		{Options{Place: Place{Targets: []string{"web-01"}, SSH: "a"}}, "can't be combined"},
		{Options{Place: Place{Targets: []string{"web-01"}}, Config: os.DevNull}, `unknown target "web-01" (have: local)`},
		{Options{Place: Place{Targets: []string{slash.ThisMachine}}}, ""},
	} {
		_, err := NewDestination(&tt.f)
		var e exit.Error
		if tt.want == "" != (err == nil) || err != nil && (!errors.As(err, &e) || e.Code != exit.BadUsage || !strings.Contains(e.Text, tt.want)) {
			t.Errorf("newDestination(%+v) = %v, want %q", tt.f, err, tt.want)
		}
	}
}

func TestNeedTmux(t *testing.T) {
	ssh, err := NewDestination(&Options{Place: Place{SSH: "a@b"}})
	if err != nil {
		t.Fatal(err)
	}
	with, old, without := target.Environment{Tmux: "tmux 3.3a"}, target.Environment{Tmux: "tmux 3.1c"}, target.Environment{}
	for _, tt := range []struct {
		f    Options
		at   target.Environment
		want string
	}{
		{Options{Place: Place{SSH: "a@b"}}, without, ""}, // reported with the first command
		{Options{Place: Place{SSH: "a@b"}}, old, ""},
		{Options{Place: Place{SSH: "a@b"}, Tmux: "x"}, with, ""},
		{Options{Place: Place{SSH: "a@b"}, Tmux: "x"}, without, "tmux is not available: tmux"},
		{Options{Place: Place{SSH: "a@b"}, Tmux: "x"}, old, "too old"},
		{Options{Place: Place{Container: "a"}}, with, ""},
		{Options{Place: Place{Container: "a"}}, without, ""},
	} {
		err := ssh.needTmux(&tt.f, tt.at)
		if tt.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("needTmux(%+v, %+v) = %v, want %q", tt.f, tt.at, err, tt.want)
		}
	}
}

// A session resumes on its own target or not at all.
func TestSessionFitsTarget(t *testing.T) {
	for _, tt := range []struct{ has, is, want string }{
		{slash.ThisMachine, slash.ThisMachine, ""},
		{"", slash.ThisMachine, ""}, // from before sessions had targets
		{"root@web-02 (ssh)", "root@web-02 (ssh)", ""},
		{"root@web-02 (ssh)", slash.ThisMachine, "works on root@web-02 (ssh), not on this machine; continue it there: buddy --ssh root@web-02 resume 7f3a"},
		{"web (container)", "root@web (ssh)", "buddy --container web resume 7f3a"},
		{"web-01", slash.ThisMachine, "works on web-01, not on this machine; continue it there: buddy --target web-01 resume 7f3a"},
		{slash.ThisMachine, "web (container)", "works on this machine, not on web (container); continue it there: buddy resume 7f3a"},
		{"x;y (ssh)", slash.ThisMachine, "buddy --ssh 'x;y' resume 7f3a"},
	} {
		err := fits(tt.is, sessions.Header{ID: "7f3a", Target: tt.has}, false)
		if tt.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q on %q: %v, want %q", tt.has, tt.is, err, tt.want)
		}
	}
}

// TestTargetAway: the program starts without its target, explains why, and connects later.
func TestTargetAway(t *testing.T) {
	s := hosttest.NewSSHD(t, "")
	tg, err := NewDestination(&Options{Place: Place{SSH: s.Dest, SSHConfig: s.Config}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tg.Close() }()
	s.Wire.Refuse(true)
	if err := tg.Reach(io.Discard); err != nil {
		t.Fatalf("connect: %v", err)
	}
	w, ok := awayWarning(tg.Target).(event.Warning)
	if !ok || w.Code != "target" || !strings.HasSuffix(w.NextStep, "your next command tries to connect again") {
		t.Errorf("warning %+v", w)
	}
	if at, err := tg.Look(t.Context(), "/srv"); err != nil || at.Dir != "/srv" || at.Home != "" {
		t.Errorf("look at what is away: %+v, %v", at, err)
	}
	one, err := tg.Open(target.Environment{}, target.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if at := one.Facts(); at.Workspace != "" || at.Resolve("/etc") != "" {
		t.Errorf("a target that is away has the workspace %q", at.Workspace)
	}
	s.Wire.Refuse(false)
	tg.Away = nil
	at, err := tg.Look(t.Context(), s.Dir)
	real, _ := filepath.EvalSymlinks(s.Dir)
	if err != nil || at.Dir != real || at.Home == "" || at.OS == "" || at.Shell == "" {
		t.Errorf("look: %+v, %v", at, err)
	}
	if err := tg.Host.Connect(context.Background()); err != nil {
		t.Error(err)
	}
	if took, err := tg.Ping(); err != nil || took <= 0 {
		t.Errorf("ping: %v, %v", took, err)
	}
}

// TestBeside: the configuration lists the other targets; connections outlive a session.
func TestBeside(t *testing.T) {
	c := config.Config{Targets: []config.Target{{Name: "a", SSH: "x"}, {Name: "b", Container: "y"}}}
	name := func(all []*target.Target) (names []string) {
		for _, t := range all {
			names = append(names, t.Name)
		}
		return names
	}
	here := &Destination{Target: &target.Target{Name: slash.ThisMachine}}
	all, err := here.otherTargets(&Options{}, c, nil)
	if err != nil || !slices.Equal(name(all), []string{"a", "b"}) {
		t.Fatalf("%v, %v", name(all), err)
	}
	c.Targets[1].Container = "z"
	again, err := here.otherTargets(&Options{}, c, nil)
	if err != nil || again[0] != all[0] || again[1] == all[1] || again[1].Address != "z" {
		t.Errorf("%v, %+v", err, again)
	}
	if err := here.Close(); err != nil {
		t.Error(err)
	}
	first, err := configured(c.Targets[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		flags []string
		want  []string
	}{
		{[]string{"a"}, []string{"b"}},
		{[]string{"a", "local"}, []string{"local", "b"}},
		{[]string{"a", "b"}, []string{"b"}},
	} {
		if got, err := (&Destination{Target: first}).otherTargets(&Options{Place: Place{Targets: tt.flags}}, c, nil); err != nil || !reflect.DeepEqual(name(got), tt.want) {
			t.Errorf("--target %v: %v, %v; want %v", tt.flags, name(got), err, tt.want)
		}
	}
	if _, err := (&Destination{Target: first}).otherTargets(&Options{Place: Place{Targets: []string{"a", "db"}}}, c, nil); err == nil || !strings.Contains(err.Error(), `unknown target "db" (have: local, a, b)`) {
		t.Errorf("%v", err)
	}
}
