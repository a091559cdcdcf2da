package app

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/config"
	"buddy/tmux/host"
)

func testTargets() []targetOffer {
	return []targetOffer{
		{Name: "local", Kind: "this machine", Current: true, State: targetState{Text: "connected"}},
		{Name: "web-01", Kind: "ssh", Address: "root@web-01", State: targetState{Text: "asking …"}, Ask: func() targetState { return targetState{Text: "connected · 3.0 ms"} }},
		{Name: "prod", Kind: "ssh", Address: "root@[red]\x1b[31m日本", Production: true, State: targetState{Text: "not yet connected"}},
		{Name: "box", Kind: "container", Address: "postgres", State: awayBecause(&host.DownError{Host: "postgres (container)", Why: "there is no such container", Next: "start it"})},
	}
}

func TestTargetPicker(t *testing.T) { // E01: several targets
	for _, size := range [][2]int{{120, 32}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, size[0], size[1])
				x.targets = testTargets()
				x.Type("/target\n")
				x.Want("Targets · 4", "▸*local", "connected", "web-01", "prod · production", "box")
				if size[0] == 120 {
					x.Want("connected · 3.0 ms", "ssh", "root@web-01", "container", "not yet connected")
				}
				x.unwanted("asking")
				x.Press("Up") // from the first to the last
				x.Want("▸ box", "box: there is no such", "start it")
				x.Press("Home")
				x.unwanted("start it")
				x.Type("production\n")
				x.took(event.SwitchTarget{Name: "prod"})
				x.unwanted("Targets")
				x.Press("F2") // the list of commands leads there, too
				x.Type("another target\n")
				x.Want("Targets · 4")
				x.Press("Esc")
				x.unwanted("Targets")
				x.Type("/target\n\n")
				x.Want("this machine is current already")
				x.took()
			})
		})
	}
}

func TestTargetByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.targets = testTargets()
		x.Type("/target web-01\n")
		x.took(event.SwitchTarget{Name: "web-01"})
		x.Type("/target db\n")
		x.Want(`/target: unknown target "db" (have: local, web-01, prod, box)`)
		x.took()
	})
}

func TestTheOnlyTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.targets = []targetOffer{{Name: "root@web (ssh)", Folder: "/srv", Attach: "tmux attach", Ask: func() targetState { return targetState{Text: "connected · 3.0 ms"} }}}
		x.Type("/target\n")
		if want := "commands run on root@web (ssh), the only target, in /srv · connected · 3.0 ms · attach: tmux attach"; x.noticed != want {
			t.Errorf("said %q, want %q", x.noticed, want)
		}
		x.unwanted("Targets")
		x.targets = testTargets()[:1]
		x.Type("/target\n")
		if !strings.HasPrefix(x.noticed, "commands run on this machine, the only target") || !strings.Contains(x.noticed, "[targets.NAME]") {
			t.Errorf("said %q", x.noticed)
		}
	})
}

func TestTargetOffers(t *testing.T) {
	var all []*target
	for _, setting := range []config.Target{{Name: "web", SSH: "root@web", Production: true}, {Name: "box", Container: "postgres"}} {
		tg, err := configured(setting)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tg.close() }()
		all = append(all, tg)
	}
	away := &host.DownError{Host: "postgres (container)", Why: "there is no such\ncontainer"}
	f := newFleet(idlePlace(t, &target{name: onThisMachine}, t.TempDir()), all, func(*target) (*place, error) { return nil, away })
	_, _ = f.Open(t.Context(), "box")
	f.Switch("web")
	got := f.offers()
	if len(got) != 3 || got[0].Name != "local" || got[0].Current || got[0].Folder == "" || got[0].Attach != "" || got[0].Ask != nil {
		t.Errorf("%+v", got)
	}
	for i, want := range []targetOffer{
		{Name: "local", Kind: "this machine", State: targetState{Text: "connected"}},
		{Name: "web", Kind: "ssh", Address: "root@web", Current: true, Production: true, State: targetState{Text: "not yet connected"}},
		{Name: "box", Kind: "container", Address: "postgres", State: targetState{Text: "away: there is no such container", Why: "there is no such container"}},
	} {
		if g := got[i]; g.Name != want.Name || g.Kind != want.Kind || g.Address != want.Address || g.Current != want.Current || g.Production != want.Production || g.State != want.State {
			t.Errorf("%+v, want %+v", g, want)
		}
	}
	if got := awayBecause(errors.New("no\nroute")); got.Text != "away: no route" {
		t.Errorf("%+v", got)
	}
}
