package app

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/sessions"
	"buddy/tmux/host/hosttest"
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
		_, err := newTarget(&tt.f)
		var e exit
		if tt.want == "" != (err == nil) || err != nil && (!errors.As(err, &e) || e.code != exitUsage || !strings.Contains(e.text, tt.want)) {
			t.Errorf("newTarget(%+v) = %v, want %q", tt.f, err, tt.want)
		}
	}
}

func TestNeedTmux(t *testing.T) {
	ssh, err := newTarget(&flags{ssh: "a@b"})
	if err != nil {
		t.Fatal(err)
	}
	with, old, without := surroundings{tmux: "tmux 3.3a"}, surroundings{tmux: "tmux 3.1c"}, surroundings{}
	for _, tt := range []struct {
		f    flags
		at   surroundings
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
		err := (&target{name: tt.is}).fits(sessions.Header{ID: "7f3a", Target: tt.has}, false)
		if tt.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q on %q: %v, want %q", tt.has, tt.is, err, tt.want)
		}
	}
}

// A link on a target is followed there before what it leads to is judged.
func TestLinksOfATargetAreFollowed(t *testing.T) {
	s := hosttest.NewSSHD(t, "")
	work, _ := linked(t)
	tg, err := newTarget(&flags{ssh: s.Dest, sshConfig: s.Config})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tg.close() }()
	at, err := tg.look(work)
	if err != nil {
		t.Fatal(err)
	}
	files, err := tg.workspace(at.dir)
	if err != nil {
		t.Fatal(err)
	}
	p := policy.Policy{At: newFleet(&place{target: tg, files: files, at: at}, nil, nil).at}
	for line, want := range map[string]action.Decision{
		"cat a.go": action.Allow, "cat in/x.go": action.Allow, "cat in/../x.go": action.Allow, "cat none.go": action.Allow, "ls": action.Allow,
		"cat b.go": action.Ask, "cat chain": action.Ask, "cat notes.md": action.Ask, "cat out/key.txt": action.Ask, "cat out/../x.go": action.Ask, "cat ../beside/x.go": action.Ask, "ls out": action.Ask, "cat *.go": action.Ask, "cat round": action.Ask,
	} {
		if v := p.Judge(action.Action{Kind: action.Shell, Tool: "run_shell", Target: tg.name, Command: line, Cwd: work}, action.ModeAsk); v.Decision != want {
			t.Errorf("%q: %+v, want %s", line, v, want)
		}
	}
}

// TestTargetAway: the program starts without its target, says why, and finds it later.
func TestTargetAway(t *testing.T) {
	s := hosttest.NewSSHD(t, "")
	tg, err := newTarget(&flags{ssh: s.Dest, sshConfig: s.Config})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tg.close() }()
	s.Wire.Refuse(true)
	if err := tg.connect(io.Discard); err != nil {
		t.Fatalf("connect: %v", err)
	}
	w, ok := tg.warning().(event.Warning)
	if !ok || w.Code != "target" || !strings.HasSuffix(w.NextStep, "the next command tries again") {
		t.Errorf("warning %+v", w)
	}
	if at, err := tg.look("/srv"); err != nil || at.dir != "/srv" || at.home != "" {
		t.Errorf("look at what is away: %+v, %v", at, err)
	}
	files, err := tg.workspace("")
	if err != nil {
		t.Fatal(err)
	}
	if at := newFleet(&place{target: tg, files: files}, nil, nil).at(tg.name); at.Workspace != "" || at.Resolve("/etc") != "" {
		t.Errorf("a target that is away has the workspace %q", at.Workspace)
	}
	s.Wire.Refuse(false)
	tg.away = nil
	at, err := tg.look(s.Dir)
	real, _ := filepath.EvalSymlinks(s.Dir)
	if err != nil || at.dir != real || at.home == "" || at.os == "" || at.shell == "" {
		t.Errorf("look: %+v, %v", at, err)
	}
	if err := tg.host.Connect(context.Background()); err != nil {
		t.Error(err)
	}
	if state := tg.state(); !strings.HasPrefix(state, "connected, answers in ") {
		t.Errorf("state %q", state)
	}
}
