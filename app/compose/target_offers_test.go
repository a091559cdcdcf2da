package compose

import (
	"context"
	"errors"
	"strings"
	"testing"

	"buddy/app/apptest"
	"buddy/app/slash"
	"buddy/config"
	"buddy/tmux/host"
	"buddy/tools/target"
)

func TestTargetOffers(t *testing.T) {
	var all []*target.Target
	for _, setting := range []config.Target{{Name: "web", SSH: "root@web", Production: true}, {Name: "box", Container: "postgres"}} {
		tg, err := configured(setting, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tg.Close() }()
		all = append(all, tg)
	}
	away := &host.DownError{Host: "postgres (container)", Why: "there is no such\ncontainer"}
	set := target.NewSet(apptest.Idle(t, &target.Target{Name: slash.ThisMachine}, t.TempDir()), all, func(context.Context, *target.Target) (*target.Session, error) { return nil, away })
	_, _ = set.Open(t.Context(), "box")
	set.Switch("web")
	got := targetOffers(set)
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
	if got := describeTarget(set, all[1]); !strings.Contains(got, "could not be reached") || !strings.Contains(got, away.Error()) {
		t.Errorf("a target that is down is described as %q", got)
	}
	if got := awayBecause(errors.New("no\nroute")); got.Text != "away: no route" {
		t.Errorf("%+v", got)
	}
}
