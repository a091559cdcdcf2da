package app

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
	"buddy/config"
	"buddy/sessions"
	"buddy/tmux/host/hosttest"
	"buddy/tools/target"
)

func TestTargetFlagsE01(t *testing.T) {
	for _, tt := range []struct {
		f    flags
		want string // of the error, "" is none
	}{
		{flags{}, ""},
		{flags{ssh: "a@b"}, ""},
		{flags{container: "web"}, ""},
		{flags{ssh: "a", container: "b"}, "exclude each other"},
		{flags{sshConfig: "c"}, "with --ssh only"},
		{flags{container: "b", sshConfig: "c"}, "with --ssh only"},
		{flags{ssh: "-oProxyCommand=x"}, "must be a host"},
		{flags{container: "a;b"}, "must be a name or an id"},
		{flags{dir: "/none/such"}, "no such file"},
		{flags{targets: []string{"web-01"}, ssh: "a"}, "exclude each other"},
		{flags{targets: []string{"web-01"}, config: os.DevNull}, `unknown target "web-01" (have: local)`},
		{flags{targets: []string{onThisMachine}}, ""},
	} {
		_, err := newDestination(&tt.f)
		var e exit
		if tt.want == "" != (err == nil) || err != nil && (!errors.As(err, &e) || e.code != exitUsage || !strings.Contains(e.text, tt.want)) {
			t.Errorf("newDestination(%+v) = %v, want %q", tt.f, err, tt.want)
		}
	}
}

func TestNeedTmux(t *testing.T) {
	ssh, err := newDestination(&flags{ssh: "a@b"})
	if err != nil {
		t.Fatal(err)
	}
	with, old, without := target.Environment{Tmux: "tmux 3.3a"}, target.Environment{Tmux: "tmux 3.1c"}, target.Environment{}
	for _, tt := range []struct {
		f    flags
		at   target.Environment
		want string
	}{
		{flags{ssh: "a@b"}, without, ""}, // said with the first command
		{flags{ssh: "a@b"}, old, ""},
		{flags{ssh: "a@b", tmux: "x"}, with, ""},
		{flags{ssh: "a@b", tmux: "x"}, without, "tmux is not installed; install it there, or leave out --tmux"},
		{flags{ssh: "a@b", tmux: "x"}, old, "too old"},
		{flags{container: "a"}, with, ""},
		{flags{container: "a"}, without, ""},
	} {
		err := ssh.needTmux(&tt.f, tt.at)
		if tt.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("needTmux(%+v, %+v) = %v, want %q", tt.f, tt.at, err, tt.want)
		}
	}
}

// A session goes on where its commands and files are, or not at all.
func TestSessionFitsTarget(t *testing.T) {
	for _, tt := range []struct{ has, is, want string }{
		{onThisMachine, onThisMachine, ""},
		{"", onThisMachine, ""}, // from before there were others
		{"root@web-02 (ssh)", "root@web-02 (ssh)", ""},
		{"root@web-02 (ssh)", onThisMachine, "works on root@web-02 (ssh), not on this machine; go on with it there: buddy --ssh root@web-02 resume 7f3a"},
		{"web (container)", "root@web (ssh)", "buddy --container web resume 7f3a"},
		{"web-01", onThisMachine, "works on web-01, not on this machine; go on with it there: buddy --target web-01 resume 7f3a"},
		{onThisMachine, "web (container)", "works on this machine, not on web (container); go on with it there: buddy resume 7f3a"},
		{"x;y (ssh)", onThisMachine, "buddy --ssh 'x;y' resume 7f3a"},
	} {
		err := fits(tt.is, sessions.Header{ID: "7f3a", Target: tt.has}, false)
		if tt.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q on %q: %v, want %q", tt.has, tt.is, err, tt.want)
		}
	}
}

// TestTargetAway: the program starts without its target, says why, and finds it later.
func TestTargetAway(t *testing.T) {
	s := hosttest.NewSSHD(t, "")
	tg, err := newDestination(&flags{ssh: s.Dest, sshConfig: s.Config})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tg.close() }()
	s.Wire.Refuse(true)
	if err := tg.connect(io.Discard); err != nil {
		t.Fatalf("connect: %v", err)
	}
	w, ok := awayWarning(tg.Target).(event.Warning)
	if !ok || w.Code != "target" || !strings.HasSuffix(w.NextStep, "the next command tries again") {
		t.Errorf("warning %+v", w)
	}
	if at, err := tg.Look("/srv"); err != nil || at.Dir != "/srv" || at.Home != "" {
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
	at, err := tg.Look(s.Dir)
	real, _ := filepath.EvalSymlinks(s.Dir)
	if err != nil || at.Dir != real || at.Home == "" || at.OS == "" || at.Shell == "" {
		t.Errorf("look: %+v, %v", at, err)
	}
	if err := tg.Host.Connect(context.Background()); err != nil {
		t.Error(err)
	}
	if state := stateOf(tg.Target); !strings.HasPrefix(state, "connected, answers in ") {
		t.Errorf("state %q", state)
	}
}

// TestBeside: the configuration is the list of what there is; connections outlive a session.
func TestBeside(t *testing.T) {
	c := config.Config{Targets: []config.Target{{Name: "a", SSH: "x"}, {Name: "b", Container: "y"}}}
	name := func(all []*target.Target) (names []string) {
		for _, t := range all {
			names = append(names, t.Name)
		}
		return names
	}
	here := &destination{Target: &target.Target{Name: onThisMachine}}
	all, err := here.beside(&flags{}, c, nil)
	if err != nil || !slices.Equal(name(all), []string{"a", "b"}) {
		t.Fatalf("%v, %v", name(all), err)
	}
	c.Targets[1].Container = "z"
	again, err := here.beside(&flags{}, c, nil)
	if err != nil || again[0] != all[0] || again[1] == all[1] || again[1].Address != "z" {
		t.Errorf("%v, %+v", err, again)
	}
	if err := here.close(); err != nil {
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
		if got, err := (&destination{Target: first}).beside(&flags{targets: tt.flags}, c, nil); err != nil || !reflect.DeepEqual(name(got), tt.want) {
			t.Errorf("--target %v: %v, %v; want %v", tt.flags, name(got), err, tt.want)
		}
	}
	if _, err := (&destination{Target: first}).beside(&flags{targets: []string{"a", "db"}}, c, nil); err == nil || !strings.Contains(err.Error(), `unknown target "db" (have: local, a, b)`) {
		t.Errorf("%v", err)
	}
}
