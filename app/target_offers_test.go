package app

import (
	"errors"
	"testing"

	"buddy/app/slash"
	"buddy/config"
	"buddy/tmux/host"
)

func TestTargetOffers(t *testing.T) {
	var all []*target
	for _, setting := range []config.Target{{Name: "web", SSH: "root@web", Production: true}, {Name: "box", Container: "postgres"}} {
		tg, err := configured(setting, nil)
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
	for i, want := range []slash.TargetOffer{
		{Name: "local", Kind: "this machine", State: slash.TargetState{Text: "connected"}},
		{Name: "web", Kind: "ssh", Address: "root@web", Current: true, Production: true, State: slash.TargetState{Text: "not yet connected"}},
		{Name: "box", Kind: "container", Address: "postgres", State: slash.TargetState{Text: "away: there is no such container", Why: "there is no such container"}},
	} {
		if g := got[i]; g.Name != want.Name || g.Kind != want.Kind || g.Address != want.Address || g.Current != want.Current || g.Production != want.Production || g.State != want.State {
			t.Errorf("%+v, want %+v", g, want)
		}
	}
	if got := awayBecause(errors.New("no\nroute")); got.Text != "away: no route" {
		t.Errorf("%+v", got)
	}
}
