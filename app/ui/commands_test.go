package ui

import (
	"cmp"
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
		x.wantSent(event.Submit{Text: "fix the tests"})
		begin(slash.Next{Prompt: "/review main"})
		x.wantSent(event.Review{Base: "main"})
		begin(slash.Next{Browse: true})
		x.wantSent()
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
