package ui

import (
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/views/dialog"
)

// On the smallest supported screen, dialogs show their text or mark that there is more, and always name the keys that
// leave them.
func TestDialogsOnASmallScreen(t *testing.T) {
	path := "/home/ann/a/rather/long/way/to/the/folder/of/the/keys/auth.json"
	request := func(act action.Action, similar string) func(*testUI) {
		return func(x *testUI) {
			x.feed(append(running, event.ApprovalAsked{ID: "a1", CallID: "c1", Action: act, Context: action.ApprovalContext{Similar: similar, Consequences: []string{"files go away"}}})...)
		}
	}
	script := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Risk: action.High, Mutation: true, Why: "clean up", Command: "set -e\necho 1\necho 2\necho 3\necho 4\necho 5"}
	explained := func(x *testUI) {
		request(script, "")(x)
		x.rest()
		x.decide("?")
	}
	for name, tt := range map[string]struct {
		open func(*testUI)
		want []string
	}{
		"secret": {func(x *testUI) {
			x.u.deps.Later(func() {
				x.u.v.secret.Ask("Log in to OpenAI", "It is kept in "+path+", which only you can read.", func(string) {})
			})
		}, []string{"Log in to OpenAI", "keys/auth.j", "only you can read", "Enter save", "Esc cancel"}},
		"time limit":         {func(x *testUI) { x.u.deps.Later(func() { askTimeout(x.u.v.ask, x.u.deps.Send, 4) }) }, []string{"Time limit for task #4", "Cancel the task after (30s", "Enter set", "Esc back"}},
		"approval":           {request(script, ""), []string{"Run this command?", "high risk", "1 set -e", "more · PgDn", "1 Yes", "2 No", "Press F8 to answer"}},
		"approval of a kind": {func(x *testUI) { request(script, "don't ask again for echo")(x); x.rest() }, []string{"1 set -e", "more · PgDn", "1 Yes", "Yes, don't ask again", "3 No", "? details"}},
		"its rule":           {func(x *testUI) { request(script, "don't ask again for echo")(x); x.rest(); x.Press("End") }, []string{"don't ask again for", "echo"}},
		"explained":          {explained, []string{"Files go away.", "PgUp", "2 No"}},
		"quit": {func(x *testUI) {
			x.u.deps.Later(func() {
				x.u.dock.confirm.Ask(dialog.Question{Title: "Quit?", Scope: keymap.Leaving, Lines: []string{"1 command still runs:", strings.Repeat("make ", 60), "see it later with: tmux attach"}})
			})
		}, []string{"1 command still runs:", "more · PgDn", "1  Detach (everything keeps", "2  Stop it and quit", "3  Stay"}},
		"help":     {func(x *testUI) { x.Press("F1") }, []string{"Help", "Esc closes", "more · PgDn"}},
		"models":   {func(x *testUI) { x.Type("/model\n") }, []string{"Models · 3", "Enter choose", "Esc close"}},
		"themes":   {func(x *testUI) { x.Type("/theme\n") }, []string{"type to filter; move to preview", "Esc close"}},
		"sessions": {func(x *testUI) { x.Press("F4") }, []string{"filter titles; / searches all text", "Enter choose", "Esc close"}},
		"delete": {func(x *testUI) { x.Press("F4"); x.Settle(); x.Press("Down", "x") }, []string{
			"Move", "to the trash?", "y Yes", "n No",
		}},
		"title":    {func(x *testUI) { x.Press("F4"); x.Settle(); x.Press("Down", "r") }, []string{"title:", "takes more than a row", "Enter accept", "Esc cancel"}},
		"commands": {func(x *testUI) { x.Press("F2") }, []string{"Commands and actions", "Enter choose", "Esc close"}},
	} {
		t.Run(name, func(t *testing.T) {
			store, _ := savedSessions(t, "a title that is so long that it takes more than a row of the dialog")
			synctest.Test(t, func(t *testing.T) {
				x := openOn(t, 40, 12, store)
				tt.open(x)
				x.Settle()
				x.Want(tt.want...)
			})
		})
	}
}

// A question shows whatever pane has the focus, and the pane keeps it.
func TestQuestionOnASmallScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 40, 14)
		x.feed(running...)
		x.feed(twoPanes...)
		x.Press("Tab")
		x.Want("server ●")
		x.feed(event.QuestionAsked{ID: "q", Text: "Which port?", Choices: []string{"80", "8080"}})
		x.Want("─ Which port? ─", "2  8080")
	})
}
