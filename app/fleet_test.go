package app

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"buddy/agent/policy"
	"buddy/config"
	"buddy/tmux"
	"buddy/tools"
)

// idlePlace is a place without a command.
func idlePlace(t *testing.T, tg *target, dir string) *place {
	t.Helper()
	files, err := tools.NewWorkspace(dir, policy.Secret)
	if err != nil {
		t.Fatal(err)
	}
	o := tmux.Options{Session: tg.name, Exe: "none", Socket: dir + "/sock"}
	p := &place{target: tg, at: surroundings{dir: files.Root(), home: "/home/" + tg.name}, panes: tmux.New(o), plain: tmux.NewPlain(o), files: files}
	p.shell = tools.NewRunShell(p.panes, p.plain, tg.name, "", nil)
	p.site = tools.NewSite(p.shell, files)
	return p
}

func TestFleet(t *testing.T) {
	away := errors.New("it is away")
	made := map[string]int{}
	web := &target{name: "web", setting: config.Target{Name: "web", Cwd: "/srv", Production: true}}
	down := &target{name: "down"}
	dir := t.TempDir()
	f := newFleet(idlePlace(t, &target{name: onThisMachine}, t.TempDir()), []*target{web, down}, func(tg *target) (*place, error) {
		if made[tg.name]++; tg == down {
			return nil, away
		}
		return idlePlace(t, tg, dir), nil
	})
	if got := f.Names(); !slices.Equal(got, []string{"local", "web", "down"}) || f.Current() != "local" {
		t.Errorf("%v, on %s", got, f.Current())
	}
	if cwd, ok := f.Switch("web"); !ok || cwd != "/srv" || f.Current() != "web" || made["web"] != 0 {
		t.Errorf("Switch = %q, %v, made %d", cwd, ok, made["web"])
	}
	if at := f.at("web"); !at.Guarded || at.Workspace != "" || f.at("local").Resolve == nil {
		t.Errorf("before the first call: %+v", at)
	}
	if err := f.Type(t.Context(), "web:%3", []byte("x")); !errors.Is(err, tmux.ErrNoPane) {
		t.Errorf("Type into what is not there: %v", err)
	}
	for range 2 {
		if _, err := f.Open(t.Context(), "web"); err != nil {
			t.Error(err)
		}
		if _, err := f.Open(t.Context(), "down"); !errors.Is(err, away) {
			t.Errorf("Open: %v", err)
		}
	}
	if made["web"] != 1 || made["down"] != 2 { // what is down is tried again
		t.Errorf("made %v", made)
	}
	if got := f.describeOne(down, false); !strings.Contains(got, "could not be reached") || !strings.Contains(got, away.Error()) {
		t.Errorf("a target that is down is described as %q", got)
	}
	if at := f.at("web"); !at.Guarded || at.Workspace == "" || at.Home != "/home/web" {
		t.Errorf("after the first call: %+v", at)
	}
	if p, id := f.paneOf("web:%3"); p == nil || p.target != web || id != "%3" {
		t.Errorf("web:%%3 is %+v, %s", p, id)
	}
	if p, id := f.paneOf("%3"); p != f.first || id != "%3" {
		t.Errorf("%%3 is %+v, %s", p, id)
	}
	if _, ok := f.Switch("db"); ok {
		t.Error("switched to what is not there")
	}
	if _, err := f.Open(t.Context(), "db"); err == nil || !strings.Contains(err.Error(), "have: local, web, down") {
		t.Errorf("Open: %v", err)
	}
	var said bytes.Buffer
	f.close(t.Context(), &said)
	if said.Len() > 0 {
		t.Errorf("said %q", said.String())
	}
}

// TestBeside: the configuration is the list of what there is; connections outlive a session.
func TestBeside(t *testing.T) {
	c := config.Config{Targets: []config.Target{{Name: "a", SSH: "x"}, {Name: "b", Container: "y"}}}
	name := func(all []*target) (names []string) {
		for _, t := range all {
			names = append(names, t.name)
		}
		return names
	}
	here := &target{name: onThisMachine}
	all, err := here.beside(&flags{}, c, nil)
	if err != nil || !slices.Equal(name(all), []string{"a", "b"}) {
		t.Fatalf("%v, %v", name(all), err)
	}
	c.Targets[1].Container = "z"
	again, err := here.beside(&flags{}, c, nil)
	if err != nil || again[0] != all[0] || again[1] == all[1] || again[1].setting.Container != "z" {
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
		if got, err := first.beside(&flags{targets: tt.flags}, c, nil); err != nil || !reflect.DeepEqual(name(got), tt.want) {
			t.Errorf("--target %v: %v, %v; want %v", tt.flags, name(got), err, tt.want)
		}
	}
	if _, err := first.beside(&flags{targets: []string{"a", "db"}}, c, nil); err == nil || !strings.Contains(err.Error(), `unknown target "db" (have: local, a, b)`) {
		t.Errorf("%v", err)
	}
}
