package ui

import (
	"cmp"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/app/slash"
)

func TestPromptOfTheCommandLineIsSentAsIfTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		begin := func(n slash.Next) {
			x.u.deps.Later(func() { Begin(x.u, n) })
			x.Settle()
		}
		begin(slash.Next{Prompt: "fix the tests"})
		x.took(event.Submit{Text: "fix the tests"})
		begin(slash.Next{Prompt: "/review main"})
		x.took(event.Review{Base: "main"})
		begin(slash.Next{Browse: true})
		x.took()
		x.Want("Sessions")
	})
}

func TestQuestionMarkOnAnEmptyPromptIsTheCheatSheet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.Type("?")
		x.Settle()
		x.Want("any key closes")
		x.Press("Esc")
		x.unwanted("any key closes")
		x.Type("??when")
		x.Settle()
		x.unwanted("any key closes")
		x.Want("> ?when")
		x.Press("Ctrl+U")
		x.Type("why?")
		x.Settle()
		x.unwanted("any key closes")
		x.Want("why?")
	})
}

func TestConfigShowsTheSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		x.u.deps.Catalog.Settings = slash.Settings{
			Text: func() (string, error) { return "theme = \"light\"  # buddy.toml:3\n", nil },
			File: func() (string, error) { return "/home/ann/buddy.toml", nil },
		}
		x.Type("/config\n")
		x.Settle()
		x.Want(`theme = "light"  # buddy.toml:3`)
		x.Type("q/config edit\n")
		x.Settle()
		if len(x.opened) != 1 || x.opened[0] != "/home/ann/buddy.toml:0" {
			t.Errorf("opened %q", x.opened)
		}
		x.u.deps.Catalog.Settings.Text = func() (string, error) { return "", errors.New("buddy.toml:3: wrong") }
		x.Type("/config\n")
		x.Settle()
		x.Want("/config: buddy.toml:3: wrong")
		x.Type("/config now\n")
		x.Settle()
		x.Want(`"now" is not known (have: edit`)
	})
}

func TestOtherNamesOfCommandsAreOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		for _, name := range slash.AliasNames() {
			x.Type("/" + name)
			x.Settle()
			to, _, _ := strings.Cut(slash.Aliases[name], " ")
			c, _ := slash.Find(to)
			x.Want("▸/"+name, cmp.Or(c.Brief, c.Help))
			x.Type("\x15")
		}
	})
}
