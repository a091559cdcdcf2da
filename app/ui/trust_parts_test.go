package ui

import (
	"strings"
	"testing"
	"testing/synctest"

	"buddy/app/slash"
)

// parts are a hook with a long command, a server with a hostile name, and one that can't be
// trusted.
func parts() []slash.TrustItem {
	return []slash.TrustItem{
		{Kind: "hook", Name: "Stop", Print: "a", State: slash.NotTrusted, Runs: "sh x.sh", Lines: []string{"hook Stop runs when the model is done", "runs: sh x.sh " + strings.Repeat("very long ", 400) + "THE END"}},
		{Kind: "mcp", Name: "evil\x1b[2J\u202e", Print: "b", State: slash.NotTrusted, Runs: "touch /x", Lines: []string{"runs: touch /x"}},
		{Kind: "mcp", Name: "huge", State: slash.Untrustable, Runs: "xxx", Lines: []string{"it can't be trusted: it is too long"}},
	}
}

// The list shows each hook and server; each is asked about with all of it, and trusted singly. The
// session begins anew when the list is closed.
func TestPartsAreTrustedSingly(t *testing.T) {
	for _, size := range [][2]int{{120, 32}, {80, 24}, {40, 12}} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, size[0], size[1])
			x.parts = parts()
			x.Type("/trust\n")
			x.Want("What this project", "all 2 that wait", "hook Stop")
			x.Press("Down", "Enter")
			x.Want("Trust hook Stop?", "1  trust it")

			// It can't be trusted before its end was on the screen.
			x.Type("1")
			x.Press("Enter")
			x.Want("Trust hook Stop?", "not all of it")
			if x.parts[0].State != slash.NotTrusted {
				t.Fatal("a command was trusted whose end was never on the screen")
			}
			for range 60 {
				x.Press("PgDn")
			}
			x.Want("THE END")
			x.Press("Enter")
			if x.parts[0].State != slash.Trusted || x.parts[1].State != slash.NotTrusted {
				t.Errorf("%+v", x.parts)
			}
			x.Want("What this project")
			if x.left.Again {
				t.Error("the session began anew before the list was closed")
			}
			x.Press("Esc")
			if want := (slash.Next{Again: true, Resume: "7f3a-0000"}); x.left != want {
				t.Errorf("left %+v, want %+v", x.left, want)
			}
		})
	}
}

func TestTrustListChoices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.parts = parts()
		x.Type("/trust\n")
		x.Want("mcp evil␛[2J", "can't be trusted")

		// Looking and leaving decides nothing.
		x.Press("Down", "Down", "Enter")
		x.Want("Trust mcp evil␛[2J", "runs: touch /x")
		x.Type("2")
		x.Press("Enter")
		x.Press("Esc") // of the question
		x.Want("What this project")

		// What can't be trusted says why and offers nothing.
		x.Press("Down", "Enter")
		x.Want("it can't be trusted: it is too long", "1  leave it as it is")
		x.Press("Esc")

		// One that changed while it was looked at is not trusted; the list says so.
		x.Press("Up", "Enter")
		x.parts[1].Print = "c"
		x.Type("1")
		x.Want("changed while you looked at it")
		if x.parts[1].State != slash.NotTrusted {
			t.Errorf("%+v", x.parts[1])
		}

		// One that changed since it was trusted shows what changed, and can be trusted again.
		x.parts[1].State, x.diff = slash.Changed, "--- trusted/x.txt\n+++ x.txt\n@@ -1 +1 @@\n-fine\n+evil\n"
		x.Press("Esc")
		if x.left.Again {
			t.Error("the session begins anew though nothing was decided")
		}
		x.Type("/trust\n")
		x.Press("Down", "Down", "Enter")
		x.Want("changed since you trusted it", "2  show what changed")
		x.Type("2")
		x.Want("1 - fine", "1 + evil")
		x.Press("Esc")
		x.Press("Enter")
		x.Type("1")
		if x.parts[1].State != slash.Trusted {
			t.Errorf("%+v", x.parts[1])
		}

		// And trust ends.
		x.Press("Enter")
		x.Want("is trusted", "1  no longer trust it")
		x.Type("1")
		if x.parts[1].State != slash.NotTrusted {
			t.Errorf("%+v", x.parts[1])
		}
	})
}

// All that wait are shown whole, one below the other, and trusted together.
func TestAllPartsAreTrustedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.parts = parts()
		x.Type("/trust\n")
		x.Press("Enter")
		x.Want("Trust these 2?")
		x.Type("1")
		x.Want("not all of it")
		x.Press("End")
		x.Want("runs: touch /x")
		x.Press("Enter")
		if x.parts[0].State != slash.Trusted || x.parts[1].State != slash.Trusted || x.parts[2].State != slash.Untrustable {
			t.Errorf("%+v", x.parts)
		}
	})
}
