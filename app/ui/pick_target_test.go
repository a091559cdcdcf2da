package ui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/app/slash"
)

func testTargets() []slash.TargetOffer {
	return []slash.TargetOffer{
		{Name: "local", Kind: "this machine", Current: true, State: slash.TargetState{Text: "connected"}},
		{Name: "web-01", Kind: "ssh", Address: "root@web-01", State: slash.TargetState{Text: "asking …"}, Ask: func() slash.TargetState { return slash.TargetState{Text: "connected · 3.0 ms"} }},
		{Name: "prod", Kind: "ssh", Address: "root@[red]\x1b[31m日本", Production: true, State: slash.TargetState{Text: "not yet connected"}},
		{Name: "box", Kind: "container", Address: "postgres", State: slash.TargetState{Text: "away: there is no such container; start it", Why: "there is no such container; start it"}},
	}
}

func TestTargetPicker(t *testing.T) { // several targets
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
		x.targets = []slash.TargetOffer{{Name: "root@web (ssh)", Folder: "/srv", Attach: "tmux attach", Ask: func() slash.TargetState { return slash.TargetState{Text: "connected · 3.0 ms"} }}}
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
