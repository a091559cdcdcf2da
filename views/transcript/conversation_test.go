package transcript

import (
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
	"buddy/views/viewtest"
)

// conversationOf returns a view of a session, drawn once so that it has a size.
func conversationOf(t testing.TB, s *viewtest.Session, w, h int) *Conversation {
	c := NewConversation(viewtest.Dark(t), keymap.Default())
	c.SetNow(func() time.Time { return time.UnixMilli(s.Now) })
	c.Update(&s.State, state.Everything)
	viewtest.Text(t, c, w, h)
	return c
}

// wholeSession has a block of every kind.
func wholeSession() *viewtest.Session {
	s := &viewtest.Session{Now: 100_000}
	return s.Feed(
		event.SessionCreated{Cwd: "/src/shop"},
		event.TaskStarted{ID: 1, Kind: event.MainTask},
		event.PromptSubmitted{ID: 1, Text: "why do the checkout tests fail?\n日本語 👩\u200d🚀 [red]"},
		event.ReasoningDelta{Text: "The tests fail.\nLet me look.\n"},
		event.TextDelta{Text: "Let me run them first."},
		event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: "Let me run them first."}, Reasoning: "The tests fail.\nLet me look.\n"},
		event.ToolRequested{
			CallID: "a", Name: "run_shell", Arguments: `{"command":"go test ./checkout/..."}`,
			Action: action.Action{Kind: action.Shell, Command: "go test ./checkout/...", Why: "to see what fails"},
		},
		event.ToolStarted{CallID: "a", Name: "run_shell"},
		event.ToolResult{
			CallID: "a", Name: "run_shell", ExitCode: viewtest.Ptr(1), DurationMS: 3200,
			Tail: "--- \x1b[31mFAIL\x1b[m: TestTax\n    tax_test.go:41: got 1999, want 2000\n" + viewtest.HostileText + "\n",
		},
		event.ToolRequested{CallID: "b", Name: "read_file", Action: action.Action{Kind: action.FileRead, Path: "/src/shop/checkout/tax.go"}},
		event.ToolStarted{CallID: "b", Name: "read_file"},
		event.ToolResult{CallID: "b", Name: "read_file", Result: strings.Repeat("x\n", 214), Outcome: "214 lines", DurationMS: 40},
		viewtest.Say("The rounding in `tax.go` **truncates** instead of rounding:\n\n```diff\n func Tax(cents int) int {\n-\treturn cents * 19 / 100\n+\treturn (cents*19 + 50) / 100\n```\n\n"+
			"| where | 中文 | status |\n|---|---|---:|\n| `tax.go` | 是 | ✅ ok |\n\n1. see <https://go.dev/blog>\n2. "+viewtest.HostileText+"\n   - nested\n"),
		event.ToolRequested{CallID: "c", Name: "edit", Arguments: `{"path":"x"}`, Action: action.Action{Kind: action.FileWrite, Path: "/src/shop/checkout/tax.go"}},
		event.ApprovalAsked{ID: "1", CallID: "c"},
		event.ToolRequested{CallID: "d", Name: "fetch", Arguments: `{"url":"https://go.dev/","deep":true}`},
		event.ToolStarted{CallID: "d", Name: "fetch"},
		event.ToolRequested{CallID: "e", Name: "run_shell", Action: action.Action{Kind: action.Shell, Command: "rm -rf build\nmake"}},
		event.ApprovalAsked{ID: "2", CallID: "e"},
		event.ApprovalAnswered{ID: "2", CallID: "e", Decision: event.Deny},
		event.Notice{Text: "context compacted, 12 turns kept"},
		event.Warning{Text: "disk is almost full", NextStep: "free some space"},
		event.Error{Text: "model demo: connection refused " + viewtest.HostileText},
	)
}

func TestConversationGolden(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 32}, {40, 12}, {100, 70}} {
		s := wholeSession()
		s.Now += 31_000
		c := conversationOf(t, s, size[0], size[1])
		c.Focus(nil)
		viewtest.Golden(t, "conversation", c, size[0], size[1])
		viewtest.Press(t, c, "scroll-top")
		viewtest.Golden(t, "conversation-top", c, size[0], size[1])
	}
}

// The head of a successful call shows its result.
func TestCallsSayWhatCameOfThem(t *testing.T) {
	for _, c := range []struct {
		outcome, preview, want string
	}{
		{"3 lines", "", "3 lines"},
		{"lines \x1b[31m" + strings.Repeat("x", 50), "", "lines ␛[31mxxxxxxxxxxxx…"},
		{"two\nlines", "", "two lines"},
		{"", "--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n-a\n+b\n+c\n", "+2 −1"},
		{"1 line", "+1 -1 lines, 117 → 122 bytes\n--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n", "+1 −1"},
		{"", "", ""},
	} {
		kind := action.FileRead
		if c.preview != "" {
			kind = action.FileWrite
		}
		call := &state.Call{Name: "read_file", State: state.CallDone, Outcome: c.outcome, Action: action.Action{Kind: kind, Preview: c.preview}}
		if got := callGain(call); got != c.want {
			t.Errorf("%s: %q, want %q", c.outcome, got, c.want)
		}
		call.State = state.CallFailed
		if got := callGain(call); got != "" {
			t.Errorf("%s failed, and %q came of it", c.outcome, got)
		}
	}
}

func TestWelcomeGolden(t *testing.T) {
	c := NewConversation(viewtest.Dark(t), keymap.Default())
	c.SetWelcome([]string{"buddy", "An agent in your terminal that asks first.", "", "run ls -la", "tour", "/help"})
	for _, size := range [][2]int{{80, 24}, {40, 12}} {
		viewtest.Golden(t, "welcome", c, size[0], size[1])
	}
	viewtest.Text(t, c, 1, 1)
	viewtest.Text(t, c, 0, 0)
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("line ")
		b.WriteString(strings.Repeat("i", i%7))
		b.WriteString("\n\n")
	}
	return b.String()
}

func TestFollowsTheEndUntilScrolledUp(t *testing.T) {
	s := (&viewtest.Session{}).Feed(event.PromptSubmitted{Text: "hi"}, viewtest.Say(numbered(30)+"the end"))
	c := conversationOf(t, s, 38, 10)
	if rows := viewtest.ScreenRows(t, c, 38, 10); rows[9] != "the end" {
		t.Fatalf("last row %q, want the end", rows[9])
	}
	viewtest.Press(t, c, "page-up")
	before := viewtest.ScreenRows(t, c, 38, 10)
	s.Feed(event.PromptSubmitted{Text: "more"}, viewtest.Say("one\n\ntwo"))
	c.Update(&s.State, state.Conversation)
	after := viewtest.ScreenRows(t, c, 38, 10)
	if strings.Join(before[:9], "\n") != strings.Join(after[:9], "\n") {
		t.Errorf("scrolled up, the view moved:\n%s\nwas\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
	// a blank row, more, a blank row, one, a blank row, two
	if text := viewtest.Text(t, c, 38, 10); !strings.Contains(text, "↓ 6 new lines") {
		t.Errorf("no count of new rows in\n%s", text)
	}
	viewtest.Press(t, c, "scroll-bottom")
	if rows := viewtest.ScreenRows(t, c, 38, 10); rows[9] != "two" {
		t.Errorf("after End the last row is %q, want two", rows[9])
	}
	if text := viewtest.Text(t, c, 38, 10); strings.Contains(text, "new") {
		t.Errorf("still counts new rows:\n%s", text)
	}
}

// A followed stream scrolls by a third of the height at once.
func TestStreamScrollsByAThird(t *testing.T) {
	s := (&viewtest.Session{}).Feed(event.TaskStarted{ID: 1, Kind: event.MainTask}, event.PromptSubmitted{Text: "go"})
	c := conversationOf(t, s, 38, 12)
	var tops []string
	moves := 0
	for range 40 {
		s.Feed(event.TextDelta{Text: "- item\n"})
		c.Update(&s.State, state.Conversation)
		rows := viewtest.ScreenRows(t, c, 38, 12)
		if c.view.top != (anchor{}) && rows[11] != "" && rows[10] == "" {
			t.Fatalf("a hole in\n%s", strings.Join(rows, "\n"))
		}
		if top := strings.Join([]string{string(rune('0' + c.view.top.block)), string(rune('0' + c.view.top.row))}, ":"); len(tops) == 0 || tops[len(tops)-1] != top {
			tops = append(tops, top)
			moves++
		}
		if !c.view.follow {
			t.Fatal("stopped following")
		}
	}
	if moves > 12 {
		t.Errorf("the view moved %d times for 40 lines: %v", moves, tops)
	}
	s.Feed(viewtest.Say(strings.Repeat("- item\n", 40)), event.TaskFinished{ID: 1, Outcome: event.Completed})
	c.Update(&s.State, state.Everything)
	if rows := viewtest.ScreenRows(t, c, 38, 12); rows[11] != "• item" {
		t.Errorf("did not settle at the end:\n%s", strings.Join(rows, "\n"))
	}
}

func TestFolding(t *testing.T) {
	s := (&viewtest.Session{}).Feed(
		event.PromptSubmitted{Text: "go"},
		event.ReasoningDelta{Text: "one\ntwo\nthree"},
		event.ToolRequested{CallID: "a", Name: "write", Arguments: `{"path":"a.go","text":"x\ny","n":[1,2]}`, Action: action.Action{Why: "because"}},
		event.ToolStarted{CallID: "a"}, event.ToolResult{CallID: "a", Result: "done"})
	c := conversationOf(t, s, 58, 18)
	want := []string{"▌ go", "", "▸ Thinking", "▸ write path: a.go · text: x … · n: 1, 2            0.0s"}
	if got := viewtest.ScreenRows(t, c, 58, 18); strings.Join(got[:4], "\n") != strings.Join(want, "\n") {
		t.Errorf("folded:\n%s", strings.Join(got, "\n"))
	}
	viewtest.Press(t, c, "fold", "scroll-up", "fold")
	got := strings.TrimSpace(strings.Join(viewtest.ScreenRows(t, c, 58, 18), "\n"))
	if want := strings.Join([]string{
		"▌ go", "", "▾ Thinking", "one", "two", "three",
		"▾ write path: a.go · text: x … · n: 1, 2            0.0s", "why  because", "path  a.go", "text", "x", "y", "n  1, 2", "done",
	}, "\n"); got != want {
		t.Errorf("unfolded:\n%s\nwant\n%s", got, want)
	}
	viewtest.Press(t, c, "scroll-down", "fold")
	if got := viewtest.ScreenRows(t, c, 58, 18); !strings.HasPrefix(got[6], "▸ write") || got[7] != "" {
		t.Errorf("folded again:\n%s", strings.Join(got, "\n"))
	}
}

func TestErrorsUnfoldAnExcerpt(t *testing.T) {
	s := (&viewtest.Session{}).Feed(event.ToolRequested{CallID: "a", Name: "run_shell"}, event.ToolStarted{CallID: "a"},
		event.ToolResult{CallID: "a", IsError: true, Tail: strings.Repeat("noise\n", 50) + "the reason\n"})
	c := conversationOf(t, s, 58, 22)
	rows := viewtest.ScreenRows(t, c, 58, 22)
	if !strings.Contains(rows[0], "✗ a command") || !strings.Contains(rows[0], "failed") || rows[1] != "… 41 rows above · Enter shows all" || rows[11] != "the reason" {
		t.Errorf("got\n%s", strings.Join(rows, "\n"))
	}
	viewtest.Press(t, c, "fold", "scroll-top")
	if rows := viewtest.ScreenRows(t, c, 58, 22); rows[1] != "noise" {
		t.Errorf("Enter did not show all:\n%s", strings.Join(rows, "\n"))
	}
}

func TestKeysMoveAndCopy(t *testing.T) {
	s := &viewtest.Session{}
	for range 5 {
		s.Feed(event.PromptSubmitted{Text: "prompt"}, viewtest.Say("**answer**\n\n"+numbered(8)))
	}
	c := conversationOf(t, s, 38, 10)
	c.Focus(nil)
	var copied string
	c.OnCopy = func(text string) { copied = text }
	draw := func() []string { return viewtest.ScreenRows(t, c, 38, 10) }
	viewtest.Press(t, c, "prompt-previous")
	if rows := draw(); !strings.HasPrefix(rows[0], "▎▌ prompt") || c.view.focus != 8 {
		t.Errorf("[ shows %q with focus %d", rows[0], c.view.focus)
	}
	viewtest.Press(t, c, "prompt-previous", "prompt-previous")
	draw()
	viewtest.Press(t, c, "prompt-next")
	if draw(); c.view.focus != 6 {
		t.Errorf("[[] has focus %d, want 6", c.view.focus)
	}
	viewtest.Press(t, c, "copy-block")
	if copied != "prompt" {
		t.Errorf("copied %q", copied)
	}
	viewtest.Press(t, c, "scroll-down")
	draw()
	if viewtest.Press(t, c, "copy-block"); !strings.HasPrefix(copied, "**answer**") {
		t.Errorf("copied %q, want the answer as it came", copied)
	}
	for range 200 {
		viewtest.Press(t, c, "scroll-up")
		draw()
	}
	if c.view.focus != 0 || c.view.top != (anchor{}) {
		t.Errorf("200 times up leads to block %d, %v", c.view.focus, c.view.top)
	}
	for range 200 {
		viewtest.Press(t, c, "scroll-down")
		draw()
	}
	if c.view.focus != 9 || !c.view.follow {
		t.Errorf("200 times down leads to block %d, follow %v", c.view.focus, c.view.follow)
	}
	viewtest.Press(t, c, "scroll-top", "page-down", "scroll-bottom")
	if draw(); !c.view.follow {
		t.Error("G does not follow")
	}
}

func TestMouse(t *testing.T) {
	s := (&viewtest.Session{}).Feed(event.PromptSubmitted{Text: "go"}, event.ModelMessage{Message: model.Message{Content: numbered(20)}, Reasoning: "hidden"})
	c := conversationOf(t, s, 38, 10)
	mouse := func(a tview.MouseAction, x, y int) bool {
		used, _ := c.MouseHandler()(a, tcell.NewEventMouse(x, y, 0, 0), func(tview.Primitive) {})
		viewtest.Text(t, c, 38, 10)
		return used
	}
	for range 30 {
		mouse(tview.MouseScrollUp, 3, 3)
	}
	if c.view.top != (anchor{}) || c.view.follow {
		t.Fatalf("wheel up ends at %v", c.view.top)
	}
	mouse(tview.MouseLeftClick, 2, 2)
	if rows := viewtest.ScreenRows(t, c, 38, 10); rows[3] != "hidden" {
		t.Errorf("click on the head did not unfold:\n%s", strings.Join(rows, "\n"))
	}
	if mouse(tview.MouseScrollUp, 50, 50) {
		t.Error("took an event outside")
	}
}

func TestResizeKeepsThePlace(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		b.WriteString(strings.Repeat(string(rune('a'+i%26)), 9) + strings.Repeat(" word", 20) + "\n\n")
	}
	s := (&viewtest.Session{}).Feed(event.PromptSubmitted{Text: "go"}, viewtest.Say(b.String()))
	c := conversationOf(t, s, 58, 18)
	viewtest.Press(t, c, "scroll-top", "page-down", "page-down", "page-down")
	first := func(w int) string { return strings.Fields(strings.Join(viewtest.ScreenRows(t, c, w, 20), " "))[0] }
	for first(60) == "word" {
		viewtest.Press(t, c, "scroll-down")
	}
	want := first(60)
	for _, w := range []int{100, 30, 47, 60} {
		if got := first(w); got != want {
			t.Errorf("at width %d the first word is %q, want %q", w, got, want)
		}
	}
}

// The count of new rows survives a change of the width in the middle of an answer.
func TestResizeKeepsTheCountOfNewRows(t *testing.T) {
	s := (&viewtest.Session{}).Feed(event.TaskStarted{ID: 1, Kind: event.MainTask}, event.TextDelta{Text: strings.Repeat("word ", 400)})
	c := conversationOf(t, s, 58, 10)
	viewtest.Press(t, c, "page-up")
	s.Feed(event.TextDelta{Text: strings.Repeat("\n\nnew", 5)})
	c.Update(&s.State, state.Conversation)
	for _, w := range []int{60, 100, 40, 61} {
		if text := viewtest.Text(t, c, w, 10); !strings.Contains(text, "↓ 10 new lines") {
			t.Errorf("width %d: no count of 10 in\n%s", w, text)
		}
	}
}

// A session that is opened at its end gets its beginning later.
func TestBlocksMayComeInFront(t *testing.T) {
	s := (&viewtest.Session{}).Feed(event.PromptSubmitted{Text: "one"}, viewtest.Say(numbered(20)), event.PromptSubmitted{Text: "two"}, viewtest.Say(numbered(20)))
	all := s.Blocks
	s.Blocks = all[2:]
	c := conversationOf(t, s, 38, 10)
	viewtest.Press(t, c, "page-up")
	before := viewtest.Text(t, c, 38, 10)
	s.Blocks = all
	c.Update(&s.State, state.Conversation)
	if after := viewtest.Text(t, c, 38, 10); after != before {
		t.Errorf("the view moved:\n%s\nwas\n%s", after, before)
	}
	viewtest.Press(t, c, "scroll-top")
	if rows := viewtest.ScreenRows(t, c, 38, 10); rows[0] != "▌ one" {
		t.Errorf("first row %q", rows[0])
	}
}

func TestBlocksHaveALimitAndSaySo(t *testing.T) {
	s := (&viewtest.Session{}).Feed(event.PromptSubmitted{Text: strings.Repeat("x", maxShown) + "the rest"})
	c := conversationOf(t, s, 78, 22)
	if rows := viewtest.ScreenRows(t, c, 78, 22); !strings.HasPrefix(rows[21], "▌ … 8 bytes more") {
		t.Errorf("got\n%s", strings.Join(rows, "\n"))
	}
}

// A session that was drawn at each event looks like one that was replayed and drawn once; the texts of the blocks are
// never modified.
func TestStreamedEqualsReplayed(t *testing.T) {
	doc := numbered(3) + "- a\n- b\n\n```go\nx := 1\n\ny\n```\ntext **bold** [l](http://x.org)\n\n    code\n" + viewtest.HostileText + "\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
	live := (&viewtest.Session{}).Feed(event.PromptSubmitted{Text: "go"})
	c := conversationOf(t, live, 48, 28)
	for i := 0; i < len(doc); i += 7 {
		live.Feed(event.TextDelta{Text: doc[i:min(i+7, len(doc))]})
		c.Update(&live.State, state.Conversation)
		viewtest.Text(t, c, 48, 28)
	}
	live.Feed(viewtest.Say(doc))
	c.Update(&live.State, state.Conversation)
	if got := string(live.Blocks[1].Text); got != doc {
		t.Fatalf("drawing changed the text to %q", got)
	}
	replayed := conversationOf(t, (&viewtest.Session{}).Feed(event.PromptSubmitted{Text: "go"}, viewtest.Say(doc)), 48, 28)
	if got, want := viewtest.Text(t, c, 48, 28), viewtest.Text(t, replayed, 48, 28); got != want {
		t.Errorf("live\n%s\nreplayed\n%s", got, want)
	}
}

func TestFarBlocksAreForgotten(t *testing.T) {
	s := &viewtest.Session{}
	for range 1000 {
		s.Feed(event.PromptSubmitted{Text: "prompt"})
	}
	c := conversationOf(t, s, 38, 10)
	laid := func() (n int) {
		viewtest.Text(t, c, 38, 10)
		for _, v := range c.view.blocks {
			if v.laid != nil {
				n++
			}
		}
		return n
	}
	viewtest.Press(t, c, "scroll-top")
	laid()
	for range 100 {
		viewtest.Press(t, c, "page-down")
		laid()
	}
	if n := laid(); n > 2*keepLaid+20 {
		t.Errorf("%d blocks are laid out, want about %d", n, 2*keepLaid)
	}
	viewtest.Press(t, c, "scroll-bottom")
	if n := laid(); n > 2*keepLaid+20 {
		t.Errorf("%d blocks are laid out at the end, want about %d", n, 2*keepLaid)
	}
}

// Styles are roles: the same in every theme.
func TestConversationStyles(t *testing.T) {
	c := conversationOf(t, wholeSession(), 98, 68)
	screen := viewtest.Screen(t, c, 98, 68)
	cells, w, h := screen.GetContents()
	styleOf := func(text string) (tcell.Style, bool) {
		for y := range h {
			var row []rune
			var at []int
			for x := range w {
				if r := cells[y*w+x].Runes; len(r) > 0 {
					row = append(row, r[0])
					at = append(at, x)
				}
			}
			if i := strings.Index(string(row), text); i >= 0 {
				return cells[y*w+at[len([]rune(string(row)[:i]))]].Style, true
			}
		}
		return tcell.Style{}, false
	}
	for text, role := range map[string]themes.Role{
		"▌": themes.User, "▸ Th": themes.Reasoning, "read checkout": themes.ToolName, "▸ read": themes.ToolOK, "✗ go test": themes.ToolError, "exit 1": themes.ToolError,
		"‖": themes.Warning, "‹U+202E›": themes.Control, "tax.go tr": themes.Code, "truncates": themes.Strong, "warning  disk": themes.Warning,
		"error  model": themes.Error, "context compacted": themes.Notice, "no tag": themes.Text,
	} {
		got, ok := styleOf(text)
		if want := c.Palette[role]; !ok || got != want {
			t.Errorf("%q (found: %v) is drawn as %v, want role %s: %v", text, ok, got, role, want)
		}
	}
	if st, ok := styleOf("https://go.dev/blog"); !ok || st != c.Palette[themes.Link].Url("https://go.dev/blog") {
		t.Errorf("link is drawn as %v (found: %v)", st, ok)
	}
	st, ok := styleOf("FAIL")
	if fg, _, _ := st.Decompose(); !ok || fg != tcell.PaletteColor(1) {
		t.Errorf("tool output lost its colour: %v (found: %v)", st, ok)
	}
}

// No control character of untrusted text reaches the screen, at any size.
func TestHostileBlocksAreInert(t *testing.T) {
	bad := viewtest.HostileText + strings.Repeat("\u0301", 40) + "\u2028\x00\x9b\u009b31m\r\u200b\U000e0041日本" + strings.Repeat("👩\u200d", 40)
	s := (&viewtest.Session{Now: 5}).Feed(event.PromptSubmitted{Text: bad}, event.ReasoningDelta{Text: bad}, viewtest.Say(bad+"\n\n# "+bad+"\n\n|"+bad+"|\n|-|\n|"+bad+"|\n\n```"+bad+"\n"+bad+"\n```\n"),
		event.ToolRequested{CallID: bad, Name: bad, Arguments: bad, Action: action.Action{Kind: action.Shell, Command: bad, Why: bad}},
		event.DecisionExplained{CallID: bad, Reasoning: bad, Confidence: bad, Alternatives: []string{bad}, Rules: []event.DecisionRule{{Rule: bad, Text: bad}}},
		event.ToolStarted{CallID: bad}, event.ToolOutput{CallID: bad, Text: bad}, event.Notice{Text: bad}, event.Warning{Text: bad}, event.Error{Text: bad})
	c := conversationOf(t, s, 58, 198)
	o := outputOf(t, s)
	for _, v := range c.view.blocks {
		v.fold = unfolded
	}
	for w := 1; w < 70; w += 3 {
		for _, p := range []tview.Primitive{c, o} {
			cells, _, _ := viewtest.Screen(t, p, w, 200).GetContents()
			for _, cell := range cells {
				for _, r := range cell.Runes {
					if markup.Visible(r) != "" || r == '\n' || r == '\t' {
						t.Fatalf("width %d: cell %q holds %U", w, string(cell.Runes), r)
					}
				}
			}
		}
	}
}

// strictScreen fails the test when something is drawn outside of a rectangle.
type strictScreen struct {
	tcell.Screen
	t          *testing.T
	x, y, w, h int
	drawn      map[[2]int]bool
}

func (s *strictScreen) SetContent(x, y int, r rune, _ []rune, _ tcell.Style) {
	if x < s.x || y < s.y || x >= s.x+s.w || y >= s.y+s.h {
		s.t.Fatalf("%q at %d,%d is outside of %d×%d at %d,%d", r, x, y, s.w, s.h, s.x, s.y)
	}
	s.drawn[[2]int{x, y}] = true
}

// Every cell of the view is drawn and none outside, at any size.
func TestDrawsItsRectangle(t *testing.T) {
	s := wholeSession().Feed(event.ToolStarted{CallID: "d", Name: "fetch"}, event.ToolOutput{CallID: "d", Text: "日本語\ttab\n"})
	c, o, empty := conversationOf(t, s, 28, 8), outputOf(t, s), NewConversation(viewtest.Dark(t), keymap.Default())
	empty.SetWelcome([]string{"buddy", "日本語"})
	for _, p := range []tview.Primitive{c, o, empty} {
		for w := range 24 {
			for h := range 9 {
				screen := &strictScreen{t: t, x: 3, y: 2, w: w, h: h, drawn: map[[2]int]bool{}}
				p.SetRect(3, 2, w, h)
				p.Draw(screen)
				if len(screen.drawn) != w*h && w > 2 && h > 2 {
					t.Errorf("%T at %d×%d draws %d cells", p, w, h, len(screen.drawn))
				}
			}
		}
	}
}

// Code has the colours of any theme, and highlighting does not change the text.
func TestCodeHasTheColoursOfTheTheme(t *testing.T) {
	for _, name := range []string{"dark", "light"} {
		theme, err := themes.Load("", name)
		if err != nil {
			t.Fatal(err)
		}
		s := (&viewtest.Session{}).Feed(viewtest.Say("Look:\n\n```go\nfunc a() {} // \x1b\n```\n"))
		c := NewConversation(theme, keymap.Default())
		var work func() func()
		c.SetBackground(func(w func() func()) { work = w })
		c.Update(&s.State, state.Everything)
		before := viewtest.Text(t, c, 38, 6)
		if got, want := styleAt(t, c, 'f'), draw.CellStyle(theme.Style(themes.Code)); got != want {
			t.Errorf("%s: before the highlighter is done the code is %v, want %v", name, got, want)
		}
		work()()
		for r, role := range map[rune]themes.Role{'f': themes.SynKeyword, '/': themes.SynComment, '␛': themes.Control, 'k': themes.Text} {
			if got, want := styleAt(t, c, r), draw.CellStyle(theme.Style(role)); got != want {
				t.Errorf("%s: %c is %v, want %v", name, r, got, want)
			}
		}
		if after := viewtest.Text(t, c, 38, 6); after != before {
			t.Errorf("%s: the text changed:\n%s\n%s", name, before, after)
		}
	}
}

// styleAt returns the style of the first cell below the border with a rune.
func styleAt(t *testing.T, p tview.Primitive, r rune) tcell.Style {
	t.Helper()
	cells, _, _ := viewtest.Screen(t, p, 38, 6).GetContents()
	for _, cell := range cells {
		if len(cell.Runes) > 0 && cell.Runes[0] == r {
			return cell.Style
		}
	}
	t.Fatalf("%c is not on the screen", r)
	return tcell.StyleDefault
}

// Repeating the key copies the next code block; any other key starts over.
func TestCopyCodeAgain(t *testing.T) {
	s := (&viewtest.Session{}).Feed(viewtest.Say("```sh\na\n```\nand\n```sh\nb\n```\n"), viewtest.Say("```sh\nc\n```"))
	c := conversationOf(t, s, 58, 28)
	var got []string
	c.OnCopy = func(text string) { got = append(got, text) }
	c.view.focus = 0
	viewtest.Press(t, c, "copy-code", "copy-code", "copy-code", "copy-block", "copy-code", "scroll-down", "copy-code", "copy-code")
	if want := "a b a ```sh\na\n```\nand\n```sh\nb\n```\n a c c"; strings.Join(got, " ") != want {
		t.Errorf("copied %q, want %q", strings.Join(got, " "), want)
	}
}

// Of several code blocks the one in view is copied.
func TestCopyCode(t *testing.T) {
	filler := strings.Repeat("text\n\n", 20)
	s := (&viewtest.Session{}).Feed(viewtest.Say("```go\nfirst()\n```\n" + filler + "```go\nif second {\n\tfirst()\n}\n```\n" + filler + "```go\nthird()\n```\n"))
	c := conversationOf(t, s, 58, 12)
	var got []string
	c.OnCopy = func(text string) { got = append(got, text) }
	viewtest.Press(t, c, "scroll-top", "copy-code")
	for range 3 {
		viewtest.Press(t, c, "page-down", "page-down")
		viewtest.Text(t, c, 58, 12)
		viewtest.Press(t, c, "copy-code")
	}
	viewtest.Press(t, c, "scroll-bottom")
	viewtest.Text(t, c, 58, 12)
	viewtest.Press(t, c, "copy-code")
	if want := "first()|if second {\n\tfirst()\n}|if second {\n\tfirst()\n}|third()|third()"; strings.Join(got, "|") != want {
		t.Errorf("copied %q, want %q", strings.Join(got, "|"), want)
	}
}
