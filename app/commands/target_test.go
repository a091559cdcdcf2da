package commands

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"buddy/app/apptest"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/tmux/host"
	"buddy/tools/target"
)

// The list says which targets can be reached without connecting to any, and why one can't be.
func TestTargetList(t *testing.T) {
	all := []*target.Target{{Name: "web", Address: "root@web", Production: true}, {Name: "box", Address: "postgres"}}
	away := &host.DownError{Host: "postgres (container)", Why: "there is no such\ncontainer"}
	set := target.NewSet(apptest.Idle(t, &target.Target{Name: slash.ThisMachine}, t.TempDir()), all, func(context.Context, *target.Target) (*target.Session, error) { return nil, away })
	_, _ = set.Open(t.Context(), "box")
	set.Switch("web")
	list := targetList(set, false)
	if len(list.Rows) != 3 || list.Rest != nil {
		t.Fatalf("%+v", list)
	}
	for i, want := range []show.Row{
		{ID: "local", Cells: []string{"local", "connected"}},
		{ID: "web", Cells: []string{"web · production", "not connected yet"}, Mark: true},
		{ID: "box", Cells: []string{"box", "away: there is no such container"}, Line: "box: there is no such container"},
	} {
		r := list.Rows[i]
		if r.ID != want.ID || !reflect.DeepEqual(r.Cells[:2], want.Cells) || r.Mark != want.Mark || r.Line != want.Line {
			t.Errorf("%+v, want %+v", r, want)
		}
		if len(r.Deeds) != 1 || !reflect.DeepEqual(r.Deeds[0].Run, []string{"target", want.ID}) {
			t.Errorf("%+v", r.Deeds)
		}
	}
	if got := awayBecause(errors.New("no\nroute")); got != "no route" {
		t.Errorf("%q", got)
	}
}
