package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

// shop is a conversation with 6 matches of "tax": in a prompt, a folded trace, the head and output of a folded call,
// and an answer.
func shop() *viewtest.Session {
	s := (&viewtest.Session{Now: 100_000}).Feed(
		event.PromptSubmitted{ID: 1, Text: "why is the Tax wrong?"},
		event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: "Let me look."}, Reasoning: "Maybe tax.go rounds.\n"},
		event.ToolRequested{CallID: "a", Name: "run_shell", Action: action.Action{Kind: action.Shell, Command: "cat tax.go"}},
		event.ToolStarted{CallID: "a", Name: "run_shell"},
		event.ToolResult{CallID: "a", Name: "run_shell", ExitCode: viewtest.Ptr(0), Tail: "package shop\n" + strings.Repeat("line\n", 30) + "func Tax() {\n"},
		viewtest.Say("The **ta**x is truncated. "+strings.Repeat("It is a long story. ", 20)+"\n\n- so the TAX is wrong"),
	)
	for i := range 20 {
		s.Feed(viewtest.Say(fmt.Sprintf("filler %d", i)))
	}
	return s
}

// find types a text into the search line.
func find(t testing.TB, c *Conversation, text string) {
	t.Helper()
	viewtest.Press(t, c, string(keymap.Find), "'"+text)
}

// status returns the status of a search.
func status(c *Conversation) string { return c.find.status(&c.view) }

func TestFind(t *testing.T) {
	c := conversationOf(t, shop(), 58, 12)
	c.Focus(nil)
	find(t, c, "tax")
	if c.Scope() != keymap.Finding || status(c) != "6 of 6" {
		t.Errorf("scope %s, status %q, want 6 of 6", c.Scope(), status(c))
	}
	viewtest.Golden(t, "find-typing", c, 60, 14)
	viewtest.Press(t, c, string(keymap.FindAccept))
	if c.Scope() != keymap.Conversation {
		t.Errorf("the line is still open")
	}
	var seen []string
	for range 6 {
		viewtest.Press(t, c, string(keymap.FindPrevious))
		text := viewtest.Text(t, c, 58, 12)
		seen = append(seen, status(c))
		if !strings.Contains(strings.ToLower(text), "tax") {
			t.Errorf("%s: no match on the screen:\n%s", status(c), text)
		}
	}
	if got := strings.Join(seen, ", "); got != "5 of 6, 4 of 6, 3 of 6, 2 of 6, 1 of 6, 6 of 6" {
		t.Errorf("visited %s", got)
	}
	if viewtest.Press(t, c, string(keymap.FindNext)); status(c) != "1 of 6" {
		t.Errorf("after the last match comes %s", status(c))
	}
	viewtest.Golden(t, "find", c, 60, 14)
	if !c.EndFind() || c.EndFind() || status(c) != "" {
		t.Error("the search does not end")
	}
}

// A folded block stays folded while the text is typed and unfolds when its match is visited.
func TestFindUnfolds(t *testing.T) {
	c := conversationOf(t, shop(), 58, 12)
	find(t, c, "func Tax")
	if text := viewtest.Text(t, c, 58, 12); strings.Contains(text, "func Tax()") || !strings.Contains(text, "cat tax.go") || !strings.Contains(text, "1 of 1") {
		t.Errorf("the call was not shown folded:\n%s", text)
	}
	viewtest.Press(t, c, string(keymap.FindAccept))
	if text := viewtest.Text(t, c, 58, 12); !strings.Contains(text, "func Tax") || !strings.Contains(text, "1 of 1") {
		t.Errorf("the match is not shown:\n%s", text)
	}
	viewtest.Press(t, c, string(keymap.ScrollTop))
	LeaveFind(c)
	find(t, c, "cat")
	viewtest.Press(t, c, string(keymap.FindAccept))
	if status(c) != "1 of 2" { // the details only repeat the head
		t.Errorf("cat: %s, want 1 of 2 (the head and truncated)", status(c))
	}
}

func TestFindCloses(t *testing.T) {
	c := conversationOf(t, shop(), 58, 12)
	before := viewtest.Text(t, c, 58, 12)
	find(t, c, "Tax wrong")
	if text := viewtest.Text(t, c, 58, 12); !strings.Contains(text, "why is the Tax") {
		t.Errorf("the match is not shown while typing:\n%s", text)
	}
	viewtest.Press(t, c, string(keymap.FindErase), "'x", string(keymap.FindClose))
	if text := viewtest.Text(t, c, 58, 12); text != before {
		t.Errorf("Esc did not go back:\n%s\nwant:\n%s", text, before)
	}
	find(t, c, "xyzzy")
	if text := viewtest.Text(t, c, 58, 12); !strings.Contains(text, "no match") {
		t.Errorf("nothing is said:\n%s", text)
	}
	viewtest.Press(t, c, string(keymap.FindAccept), string(keymap.FindNext))
	for range 9 {
		viewtest.Press(t, c, string(keymap.Find), string(keymap.FindErase))
	}
	if c.EndFind() {
		t.Error("erasing an empty text does not close the search")
	}
}

func TestFindCapitals(t *testing.T) {
	for text, want := range map[string]string{"tax": "6 of 6", "Tax": "2 of 2", "TAX": "1 of 1", "taX": "no match", "the tax": "3 of 3"} {
		c := conversationOf(t, shop(), 58, 12)
		c.Find(text)
		if status(c) != want {
			t.Errorf("%q: %s, want %s", text, status(c), want)
		}
	}
}

// The search starts at the top of the view when the end is not followed.
func TestFindFromView(t *testing.T) {
	c := conversationOf(t, shop(), 58, 12)
	viewtest.Press(t, c, string(keymap.ScrollTop))
	c.Find("tax")
	if status(c) != "1 of 6" {
		t.Errorf("%s, want 1 of 6", status(c))
	}
}

// styled returns the text of the cells in a role's style, row by row.
func styled(t *testing.T, s tcell.SimulationScreen, role themes.Role) string {
	t.Helper()
	cells, w, h := s.GetContents()
	fg, bg, _ := draw.CellStyle(viewtest.Dark(t).Style(role)).Decompose()
	visited := draw.CellStyle(viewtest.Dark(t).Style(themes.Focus)).Reverse(true).Bold(true).Underline(true)
	var rows []string
	for y := range h {
		row := ""
		for _, c := range cells[y*w : (y+1)*w] {
			if f, b, _ := c.Style.Decompose(); f == fg && b == bg || role == themes.Match && c.Style == visited {
				row += string(c.Runes)
			}
		}
		if row != "" {
			rows = append(rows, row)
		}
	}
	return strings.Join(rows, "|")
}

func TestMatchesAreMarked(t *testing.T) {
	tests := []struct{ answer, text, want string }{
		{"one two one", "one", "oneone"},
		{"日本語 テスト 日本", "日本", "日本|日本"},
		{"cafe\u0301 au lait", "cafe", "cafe\u0301"},
		{"Straße STRASSE ΣΊΣΥΦΟΣ", "σίσυφος", "ΣΊΣΥΦΟΣ"},
		{"a **bo**ld word", "bold", "bold"},
		{strings.Repeat("word ", 12) + "needle in", "word needle in", "word|needle in"}, // across a wrap
		{"```\n\tx := 1\n```", "x :=", "x :="},
		{"aaaa", "aa", "aaaa"},
	}
	for _, tt := range tests {
		c := conversationOf(t, (&viewtest.Session{}).Feed(viewtest.Say(tt.answer)), 64, 6)
		c.Find(tt.text)
		if got := styled(t, viewtest.Screen(t, c, 64, 6), themes.Match); strings.ReplaceAll(got, "|", "") != strings.ReplaceAll(tt.want, "|", "") {
			t.Errorf("%q in %q: marked %q, want %q", tt.text, tt.answer, got, tt.want)
		}
	}
	c := conversationOf(t, (&viewtest.Session{}).Feed(event.ToolRequested{CallID: "a", Name: "run_shell", Action: action.Action{Command: "make test"}}), 38, 3)
	c.Find("make")
	if got := styled(t, viewtest.Screen(t, c, 38, 3), themes.Match); got != "make" {
		t.Errorf("in the head of a call %q is marked", got)
	}
}

// The search runs in slices; actions of the person in between count.
func TestFindInSlices(t *testing.T) {
	s := (&viewtest.Session{}).Feed(viewtest.Say("a needle"))
	filler := viewtest.Say("&#33; " + strings.Repeat("hay ", 1000)) // an entity: the prefilter can't reject it
	for range 1000 {                                                // 4 MB
		s.Feed(event.PromptSubmitted{Text: "go"}, filler)
	}
	c := conversationOf(t, s, 98, 28)
	var later []func()
	c.Later = func(f func()) { later = append(later, f) }
	turn := func() bool {
		if len(later) == 0 {
			return false
		}
		f := later[0]
		later = later[1:]
		f()
		return true
	}
	find(t, c, "n")
	viewtest.Press(t, c, "'eedle")
	if got := status(c); got != "searching" || len(later) != 1 {
		t.Errorf("status %q with %d slices waiting, want searching and 1", got, len(later))
	}
	turns := 0
	for turn() {
		turns++
	}
	if turns < 4 || turns > 40 || status(c) != "1 of 1" {
		t.Errorf("%d turns, status %s", turns, status(c))
	}
	LeaveFind(c)
	c.Find("hay")
	for turn() {
	}
	if got := status(c); got != "1 of 1000+" {
		t.Errorf("status %s, want 1 of 1000+", got)
	}
	LeaveFind(c)
	c.view.Bottom()
	viewtest.Text(t, c, 98, 28)
	c.Find("hay")
	for turn() {
	}
	if got := status(c); got != "1000+ found" { // the number of earlier matches is unknown
		t.Errorf("status %s, want 1000+ found", got)
	}
	LeaveFind(c)
	c.Find("needle")
	LeaveFind(c)
	for turn() {
	}
	if status(c) != "" || len(later) != 0 {
		t.Errorf("an ended search goes on: %s", status(c))
	}
}

// New text is counted, and blocks loaded in front move the search.
func TestFindWhileItGrows(t *testing.T) {
	s := shop()
	c := conversationOf(t, s, 58, 12)
	c.Find("tax")
	s.Feed(event.TaskStarted{ID: 1}, event.TextDelta{Text: "more tax"})
	c.Update(&s.State, state.Everything)
	s.Feed(event.TextDelta{Text: " and tax"}, viewtest.Say("more tax and tax"))
	c.Update(&s.State, state.Everything)
	if viewtest.Text(t, c, 58, 12); status(c) != "6 of 8" {
		t.Errorf("after two new ones: %s", status(c))
	}
	old := (&viewtest.Session{}).Feed(viewtest.Say("an old tax"), viewtest.Say("another"))
	s.Blocks = append(slices.Clone(old.Blocks), s.Blocks...)
	c.Update(&s.State, state.Everything)
	if viewtest.Text(t, c, 58, 12); status(c) != "7 of 9" {
		t.Errorf("after one before all: %s", status(c))
	}
	viewtest.Press(t, c, string(keymap.FindPrevious))
	if status(c) != "6 of 9" {
		t.Errorf("before that: %s", status(c))
	}
}

func TestFindInSmallPlaces(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 3}, {4, 4}, {12, 3}, {20, 5}} {
		c := conversationOf(t, shop(), size[0], size[1])
		c.Focus(nil)
		find(t, c, "tax is wrong")
		viewtest.Text(t, c, size[0], size[1])
		viewtest.Press(t, c, string(keymap.FindAccept), string(keymap.FindNext))
		viewtest.Text(t, c, size[0], size[1])
	}
	empty := NewConversation(viewtest.Dark(t), keymap.Default())
	find(t, empty, "x")
	viewtest.Press(t, empty, string(keymap.FindAccept), string(keymap.FindNext))
	viewtest.Text(t, empty, 18, 3)
}

func TestFindPaste(t *testing.T) {
	c := conversationOf(t, shop(), 58, 12)
	find(t, c, "the")
	c.PasteHandler()(" tax\nis", nil)
	if c.find.Text != "thetax is" {
		t.Errorf("pasted: %q", c.find.Text)
	}
}

// BenchmarkFind10MB measures one slice, and a whole search without a match.
func BenchmarkFind10MB(b *testing.B) {
	for _, bench := range []struct {
		name  string
		later func(func())
	}{{"key", func(func()) {}}, {"all", nil}} {
		b.Run(bench.name, func(b *testing.B) {
			c, _ := drawn(b, longSession(10<<20))
			c.Later = bench.later
			b.ReportAllocs()
			for b.Loop() {
				c.Find("zebra")
				c.find = finder{gen: c.find.gen}
			}
		})
	}
}

func BenchmarkDrawFound10MB(b *testing.B) {
	c, screen := drawn(b, longSession(10<<20))
	c.Find("zebra")
	b.ReportAllocs()
	for b.Loop() {
		c.Draw(screen)
	}
}
