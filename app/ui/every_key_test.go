package ui

import (
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/keymap"
	"buddy/app/layout"
	"buddy/sessions"
	"buddy/views/dialog"
	"buddy/views/draw"
)

// TestEveryKey presses each key of the table on the whole screen where it applies: each has a visible effect, or sends,
// copies, opens or leaves something.
func TestEveryKey(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	var titles []string
	for i := range 40 {
		titles = append(titles, fmt.Sprintf("session number %d", i))
	}
	store, _ := savedSessions(t, titles...)
	keys := keymap.Default()
	for _, scope := range keymap.Scopes() {
		enter, ok := places[scope]
		if !ok {
			t.Errorf("%s: no place to press its keys", scope)
			continue
		}
		for e := range keys.In(scope) {
			for _, k := range e.Keys {
				if n, ok := choices[scope]; ok && e.Action == keymap.ChoiceNumber && k.String() > n {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", scope, e.Action, k), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { pressOne(t, store, scope, enter, e.Action, k.String()) })
				})
			}
		}
	}
}

// pressOne goes to a place, presses a key there and checks for an effect.
func pressOne(t *testing.T, store sessions.Store, scope keymap.Scope, enter func(*testUI), a keymap.Action, key string) {
	x := busyScreen(t, store)
	if special := placesOf[a]; special != nil {
		enter = special
	}
	enter(x)
	x.Press(firstPress[scope][a]...)
	x.Settle()
	if at, _ := x.u.target(); at != scope && scope != keymap.Global {
		t.Fatalf("the keys are those of %q, not of %q:\n%s", at, scope, x.Screen())
	}
	before := x.marks(a)
	x.Press(key)
	x.Press(thenPress[a]...)
	if scope == keymap.Approval || scope == keymap.Question {
		time.Sleep(dialog.LetterPause)
	}
	if scope == keymap.Secret && a != keymap.SecretKeep && a != keymap.SecretCancel { // only its length shows
		x.Type("X\n")
	}
	if after := x.marks(a); after == before {
		t.Errorf("%s does nothing:\n%s", key, x.Screen())
	}
}

// marks returns everything by which a key can be noticed.
func (x *testUI) marks(a keymap.Action) string {
	x.Settle()
	if !x.Running() {
		return "left"
	}
	var b strings.Builder
	cols, rows, _ := x.Size()
	for y := range rows {
		for c := range cols {
			text, style, _ := x.Cell(c, y)
			if strings.Contains("◐◓◑◒", text) { // an animation
				text = "◐"
			}
			b.WriteString(text)
			b.WriteString(style)
		}
	}
	fmt.Fprintln(&b, x.copied, x.exports, x.edited, x.shape, x.kept)
	col, row, shown := x.Cursor()
	fmt.Fprintln(&b, "cursor", col, row, shown)
	if a == keymap.Redraw {
		written, _ := x.Written()
		fmt.Fprintln(&b, len(written))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range x.sent {
		if _, ok := c.(event.WatchPanes); !ok {
			fmt.Fprintf(&b, "%#v\n", c)
		}
	}
	return b.String()
}

// busyScreen has something of everything.
func busyScreen(t *testing.T, store sessions.Store) *testUI {
	x := openOn(t, 120, 32, store)
	x.u.deps.Edit = func(name, text string) (string, error) { x.edited = name; return text + "x", nil }
	x.u.deps.Look = func(name string, _ io.Reader) error { x.edited = name; return nil }
	x.diff = strings.Repeat("+a line of a diff\n", 90)
	x.Type("first prompt\nfind the first\nthe first of all\n")
	long := strings.Repeat("Words of the first answer in a line.\n\n", 60) + "```go\nx := 1\n```\n\n```go\ny := 2\n```\n\n" + strings.Repeat("More words.\n\n", 40)
	var lines, rows []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("line %d of the words", i))
		rows = append(rows, fmt.Sprintf("$ row %d", i))
	}
	code := 0
	output := strings.Join(lines, "\n")
	for id := 1; id <= 3; id++ {
		x.feed(event.PromptSubmitted{ID: id, Text: fmt.Sprintf("prompt %d", id)}, event.TaskStarted{ID: id, Kind: event.MainTask, Title: "do it"},
			event.ToolRequested{CallID: fmt.Sprint("c", id), Name: "run_shell", Action: ls}, event.ToolStarted{CallID: fmt.Sprint("c", id), Name: "run_shell"},
			event.ToolResult{CallID: fmt.Sprint("c", id), Name: "run_shell", Result: output, Tail: output, ExitCode: &code},
			event.ModelMessage{Message: model.Message{Content: long}})
		if id < 3 {
			x.feed(event.TaskFinished{ID: id, Outcome: event.Completed})
		}
	}
	for _, pane := range []string{"%1", "%2", "%3"} {
		x.feed(event.PaneOpened{Pane: pane, Title: "pane " + pane, Target: "local", Attach: "tmux attach"},
			event.PaneScreen{Pane: pane, W: 80, H: 40, Rows: rows[:40], Cursor: event.Cursor{Y: 39}})
	}
	x.mu.Lock()
	x.sent = nil
	x.mu.Unlock()
	return x
}

// focusOn gives a pane the keys.
func focusOn(p layout.Pane, press ...string) func(*testUI) {
	return func(x *testUI) {
		x.inside(func() { x.u.arranged.setFocus(p) })
		x.Press(press...)
	}
}

// rested gives a pane the keys, and waits for the end of the grace period.
func rested(p layout.Pane) func(*testUI) {
	return func(x *testUI) {
		focusOn(p)(x)
		x.rest()
	}
}

// approvalFor asks for approval of a long script.
func approvalFor(press ...string) func(*testUI) {
	return func(x *testUI) {
		act := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Risk: action.Low, Why: "to see", Command: strings.Repeat("echo words of it\n", 90)}
		x.feed(event.ToolRequested{CallID: "asked", Name: "run_shell", Arguments: `{"command":"echo words of it"}`, Action: act},
			event.ApprovalAsked{ID: "a1", CallID: "asked", Action: act, Context: action.ApprovalContext{Similar: "allow echo", Memory: action.Memory{Scopes: []string{"folder"}}}})
		time.Sleep(draw.GracePeriod)
		x.Press("F8")
		x.Press(press...)
	}
}

// questionFor asks a question with more lines than fit.
func questionFor(x *testUI) {
	x.feed(event.QuestionAsked{ID: "q1", CallID: "c3", Text: strings.Repeat("a line\n", 80), Choices: strings.Split(strings.Repeat("a choice,", 9), ",")})
	x.Press("F8", "PgDn", "Down", "Down", "Down", "Down")
}

func confirming(s keymap.Scope) func(*testUI) {
	return func(x *testUI) {
		x.inside(func() {
			x.u.dock.confirm.Ask(dialog.Question{Title: "Sure?", Scope: s, Lines: strings.Split(strings.Repeat("a line\n", 80), "\n"), Answer: func(keymap.Action) {}})
		})
		x.Press("PgDn")
	}
}

// midway types a line and moves to its middle.
func midway(enter func(*testUI), text string) func(*testUI) {
	return func(x *testUI) {
		enter(x)
		x.Type(text)
		x.Press("Ctrl+Left", "Ctrl+Left", "Right")
	}
}

const draft = "one (two) three\nfour five (six) seven\neight nine ten"

// drafting puts the cursor in the middle of the second of three lines.
func drafting(x *testUI) {
	x.Paste(draft)
	x.Press("Up", "Home", "Ctrl+Right", "Ctrl+Right", "Left")
}

// places lead to where the keys of a scope apply, with something above and below.
var places = map[keymap.Scope]func(*testUI){
	keymap.Global: drafting,
	keymap.Prompt: drafting,
	keymap.Popup:  func(x *testUI) { x.Type("/s") },
	keymap.Vi: func(x *testUI) {
		x.inside(func() { x.u.Prompt().SetVi(true) })
		x.Paste(draft)
		x.Press("Up", "Home", "Esc", "w", "l", "l")
	},
	keymap.Search:       func(x *testUI) { x.Press("Ctrl+R"); x.Type("first") },
	keymap.Conversation: focusOn(layout.Conversation, "PgUp", "PgUp", "PgUp"),
	keymap.Finding:      focusOn(layout.Conversation, "/", "w", "o"),
	keymap.Selecting:    focusOn(layout.Conversation, "PgUp", "PgUp", "v", "Down", "Down", "Right", "Right", "Right", "Right", "Right", "Right", "Right", "Right"),
	keymap.Panes: func(x *testUI) {
		focusOn(layout.Live)(x)
		x.Press("PgUp")
		x.feed(event.PaneHistory{Pane: "%3", Rows: strings.Split(strings.Repeat("an earlier row\n", 90), "\n")})
	},
	keymap.Typing: func(x *testUI) {
		rested(layout.Live)(x)
		x.Press("i")
	},
	keymap.Tasks: func(x *testUI) {
		x.feed(event.TaskStarted{ID: 4, Kind: event.BackgroundTask, Title: "do more"})
		focusOn(layout.Tasks)(x)
	},
	keymap.Approval: approvalFor("End", "PgUp", "Down"),
	keymap.Question: questionFor,
	keymap.Reason:   midway(approvalFor("d"), "one two three"),
	keymap.Amend: func(x *testUI) {
		approvalFor("e")(x)
		x.Press("Up", "Up", "Home", "Ctrl+Right", "Ctrl+Right", "Left")
	},
	keymap.Secret: midway(func(x *testUI) {
		x.inside(func() { x.u.v.secret.Ask("Key", "for the model", func(s string) { x.kept = s }) })
	}, "one two three"),
	keymap.Confirm: confirming(keymap.Confirm),
	keymap.Leaving: confirming(keymap.Leaving),
	keymap.Asking:  midway(func(x *testUI) { x.inside(func() { askTimeout(x.u.v.ask, x.u.deps.Send, 3) }) }, "10m 20m 30m"),
	keymap.Pager: func(x *testUI) {
		x.inside(func() { x.u.openOutput(x.u.state.Focused) })
		x.Press("Down", "Down", "Down")
	},
	keymap.Help:     func(x *testUI) { x.Press("F1", "PgDn") },
	keymap.Picker:   browsing("n", "Down", "Down", "Tab"),
	keymap.Sessions: browsing("n", "Down", "Down"),
	keymap.Board:    onBoard,
	keymap.Naming:   midway(browsing("Down", "r"), "one two three"),
	keymap.Document: func(x *testUI) {
		x.shown = testDocuments()
		x.Type("/config\n")
		x.Type("i")
		x.Press("Down", "Down")
	},
	keymap.Changes: func(x *testUI) { x.Type("/diff\n"); x.Press("PgDn") },
}

// choices holds the last choice of scopes that have few.
var choices = map[keymap.Scope]string{keymap.Approval: "3", keymap.Confirm: "2", keymap.Leaving: "3"}

// placesOf holds the places where some actions have an effect.
var placesOf = map[keymap.Action]func(*testUI){
	keymap.ShowApproval: approvalFor("Esc"),
	keymap.NextPane:     drafted,
	keymap.PreviousPane: drafted,
	keymap.EndOfInput:   func(*testUI) {},
	keymap.PaneType:     rested(layout.Live),
	keymap.ReasonRemember: func(x *testUI) {
		approvalFor("d")(x)
		x.rest()
	},
}

// drafted is the prompt with a draft, some time after typing.
func drafted(x *testUI) {
	drafting(x)
	x.rest()
}

// browsing opens the list of sessions.
func browsing(press ...string) func(*testUI) {
	return func(x *testUI) {
		x.Press("F4")
		x.Settle()
		time.Sleep(time.Second)
		x.Press(press...)
	}
}

// firstPress holds keys to press before keys that need them.
var firstPress = map[keymap.Scope]map[keymap.Action][]string{
	keymap.Vi: {
		keymap.ViSeekAgain: {"f", "e"}, keymap.ViSeekBack: {"f", "e", ";"}, keymap.ViPut: {"x"}, keymap.ViPutBefore: {"x"},
		keymap.ViRedo: {"x", "u"}, keymap.ViRepeatChange: {"x"},
	},
	keymap.Search: {keymap.SearchNewer: {"Ctrl+R"}},
	keymap.Conversation: {
		keymap.PromptNext: {"[", "["}, keymap.FindNext: {"/", "w", "o", "Enter"}, keymap.FindPrevious: {"/", "w", "o", "Enter"},
		keymap.OpenOutput: {"[", "Down"},
	},
	keymap.Tasks:    {keymap.ItemUp: {"Down"}},
	keymap.Question: {keymap.ChoiceNumber: {"Down", "Down", "Down", "Down"}},
	keymap.Pager:    {keymap.FindNext: {"/", "l", "i", "Enter"}, keymap.FindPrevious: {"/", "l", "i", "Enter"}},
}

// thenPress holds keys that complete a key.
var thenPress = map[keymap.Action][]string{
	keymap.ViTop: {"g"}, keymap.ViFind: {"s"}, keymap.ViTill: {"s"}, keymap.ViFindBack: {"f"}, keymap.ViTillBack: {"f"},
	keymap.ViDelete: {"w"}, keymap.ViChange: {"w"}, keymap.ViReplace: {"X"}, keymap.ViYank: {"y", "p"}, keymap.ViYankLine: {"p"},
}

func init() {
	editing := map[keymap.Action][]string{
		keymap.Yank: {"Ctrl+W"}, keymap.YankNext: {"Ctrl+W", "Right", "Ctrl+K", "Ctrl+Y"}, keymap.Undo: {"Ctrl+W"}, keymap.Redo: {"Ctrl+W", "Ctrl+_"},
	}
	editing[keymap.ReadDown] = []string{"PgUp"}
	firstPress[keymap.Vi][keymap.ReadDown] = []string{"PgUp"}
	for _, s := range []keymap.Scope{keymap.Prompt, keymap.Reason, keymap.Secret, keymap.Amend, keymap.Asking, keymap.Naming} {
		firstPress[s] = editing
	}
	amending := maps.Clone(editing)
	amending[keymap.LineUp], amending[keymap.LineDown] = []string{"Alt+Enter"}, []string{"Alt+Enter", "Up"}
	firstPress[keymap.Amend] = amending
}
