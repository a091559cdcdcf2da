package transcript

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/app/state"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

// selectedCells returns the text shown as selected, row by row.
func selectedCells(t testing.TB, c *Conversation, w, h int) string {
	t.Helper()
	cells, _, _ := viewtest.Screen(t, c, w, h).GetContents()
	want := draw.CellStyle(viewtest.Dark(t).Style(themes.Selection))
	var b strings.Builder
	for i, cell := range cells {
		if cell.Style == want && len(cell.Runes) > 0 {
			b.WriteString(string(cell.Runes))
		}
		if i%w == w-1 && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// mouse sends a mouse action at a cell.
func mouse(c *Conversation, action tview.MouseAction, x, y int) {
	c.MouseHandler()(action, tcell.NewEventMouse(x, y, tcell.Button1, 0), func(tview.Primitive) {})
}

func dragged(c *Conversation, x1, y1, x2, y2 int) {
	mouse(c, tview.MouseLeftDown, x1, y1)
	mouse(c, tview.MouseMove, x2, y2)
	mouse(c, tview.MouseLeftUp, x2, y2)
}

func selectable(t *testing.T) (c *Conversation, s *viewtest.Session, copied *string) {
	s = (&viewtest.Session{Now: 1000}).Feed(
		event.PromptSubmitted{ID: 1, Text: "please look at src/tax.go, line 41"},
		viewtest.Say("The **rounding** is wrong in a way that wraps over the end of a row:\n\n```go\nfunc Tax() {\n\treturn 1\n}\n```\n\n- 日本語 done"),
		event.ToolRequested{CallID: "a", Name: "run_shell", Action: ls},
		event.Notice{Text: "a notice"},
	)
	c = conversationOf(t, s, 38, 18)
	c.Focus(nil)
	copied = new(string)
	c.OnCopy = func(text string) { *copied = text }
	return c, s, copied
}

var ls = action.Action{Kind: action.Shell, Command: "ls -la"}

func TestSelectByMouse(t *testing.T) {
	// Row 0 is the prompt, 2 and 3 the answer, 5 to 7 the code, 9 the list, 11 the call.
	for name, d := range map[string]struct {
		x1, y1, x2, y2 int
		want           string
	}{
		"in a row":           {5, 2, 12, 2, "rounding"},
		"backwards":          {12, 2, 5, 2, "rounding"},
		"a wrapped line":     {1, 2, 38, 3, "The rounding is wrong in a way that wraps over the end of a row:"},
		"over blocks":        {18, 0, 3, 2, "src/tax.go, line 41\n\nThe"},
		"code has no indent": {1, 5, 38, 7, "func Tax() {\n\treturn 1\n}"},
		"wide characters":    {4, 9, 5, 9, "日本"},
		"from a blank row":   {8, 1, 3, 2, "The"},
		"below all":          {3, 12, 29, 18, "a notice"},
		"the head of a call": {3, 11, 8, 11, "ls -la"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, copied := selectable(t)
			dragged(c, d.x1, d.y1, d.x2, d.y2)
			if *copied != d.want {
				t.Errorf("copied %q, want %q\n%s", *copied, d.want, viewtest.Text(t, c, 38, 18))
			}
			flat := func(s string) string { return strings.Join(strings.Fields(s), "") }
			if got := selectedCells(t, c, 40, 20); flat(got) != flat(d.want) {
				t.Errorf("shown as selected: %q", got)
			}
		})
	}
}

func TestClicksSelectWordsAndLines(t *testing.T) {
	c, s, copied := selectable(t)
	click := func(x, y int) {
		mouse(c, tview.MouseLeftDown, x, y)
		mouse(c, tview.MouseLeftUp, x, y)
	}
	if click(19, 0); *copied != "" || c.sel.on {
		t.Errorf("one click copied %q", *copied)
	}
	if click(19, 0); *copied != "src/tax.go" {
		t.Errorf("two clicks copied %q, want the path without the comma", *copied)
	}
	if click(19, 0); *copied != "please look at src/tax.go, line 41" {
		t.Errorf("three clicks copied %q, want the line", *copied)
	}
	*copied = ""
	s.Now += 1000
	if click(19, 0); *copied != "" || c.sel.on {
		t.Errorf("a click later copied %q", *copied)
	}
	mouse(c, tview.MouseLeftDown, 19, 0)
	mouse(c, tview.MouseMove, 31, 0) // by words: to the end of "line"
	mouse(c, tview.MouseLeftUp, 31, 0)
	if *copied != "src/tax.go, line" {
		t.Errorf("dragging after two clicks copied %q, want whole words", *copied)
	}
}

func TestSelectByKeys(t *testing.T) {
	for keys, want := range map[string]string{
		"select select-copy": "p",
		"select select-word-right select-left select-copy":                                "please ",
		"select select-word-end select-copy":                                              "please",
		"select select-word-end select-word-end select-here select-word-end select-copy":  "k at",
		"select select-line-end select-word-end select-here select-word-left select-copy": "The",
		"select select-line-end select-copy":                                              "please look at src/tax.go, line 41",
		"select select-down select-copy":                                                  "please look at src/tax.go, line 41\n\nThe",
		"select select-word-right select-here select-right select-right select-copy":      "loo",
		"select select-down select-lines select-copy":                                     "please look at src/tax.go, line 41\n\nThe rounding is wrong in a way that wraps over the end of a row:",
		"select select-bottom select-here select-word-left select-copy":                   "notice",
		"select select-word-right select-word-left select-copy":                           "p",
		"select select-left select-up select-copy":                                        "p",
	} {
		t.Run(keys, func(t *testing.T) {
			c, _, copied := selectable(t)
			viewtest.Press(t, c, "scroll-top", "prompt-previous")
			c.view.focus = 0
			viewtest.Press(t, c, strings.Fields(keys)...)
			if *copied != want {
				t.Errorf("copied %q, want %q", *copied, want)
			}
			if c.Scope() != keymap.Conversation {
				t.Errorf("after copying the scope is %s", c.Scope())
			}
		})
	}
}

// A selection starts with the visited match.
func TestSelectWhatWasFound(t *testing.T) {
	c, _, copied := selectable(t)
	viewtest.Press(t, c, "find", "'wraps", "find-accept", "select")
	if got := selectedCells(t, c, 40, 20); got != "wraps\n" {
		t.Errorf("selected %q", got)
	}
	viewtest.Press(t, c, "select-word-end", "select-copy")
	if *copied != "wraps over" {
		t.Errorf("copied %q", *copied)
	}
	viewtest.Press(t, c, "scroll-top", "prompt-previous")
	c.view.focus = 0
	viewtest.Press(t, c, "select", "select-copy")
	if *copied != "p" {
		t.Errorf("in another block: copied %q", *copied)
	}
}

// A selection keeps its words at another width, with new text, and when older blocks are loaded.
func TestSelectionStaysOnItsWords(t *testing.T) {
	c, s, copied := selectable(t)
	dragged(c, 5, 2, 12, 2)
	*copied = ""
	if got := selectedCells(t, c, 23, 20); got != "rounding\n" {
		t.Errorf("narrower: %q is selected", got)
	}
	s.Feed(viewtest.Say("more"))
	s.Blocks = append([]*state.Block{{Kind: state.UserBlock, Text: []byte("older")}}, s.Blocks...)
	c.Update(&s.State, state.Everything)
	c.view.Top()
	if got := selectedCells(t, c, 60, 30); got != "rounding\n" {
		t.Errorf("with more text: %q is selected", got)
	}
	if !c.CopySelection() || *copied != "rounding" || c.CopySelection() {
		t.Errorf("copied %q", *copied)
	}
	dragged(c, 5, 0, 12, 4)
	if !c.EndSelection() || selectedCells(t, c, 60, 30) != "" {
		t.Error("the selection does not end")
	}
	dragged(c, 5, 0, 12, 4)
	s.Blocks = s.Blocks[3:] // a retry removes an answer
	c.Update(&s.State, state.Everything)
	if c.sel.on {
		t.Error("something is selected of blocks that are gone")
	}
}

func TestDraggingAtAnEdgeScrolls(t *testing.T) {
	s := &viewtest.Session{}
	for i := range 60 {
		s.Feed(event.Notice{Text: fmt.Sprintf("row %d", i)})
	}
	c := conversationOf(t, s, 28, 10)
	copied := ""
	c.OnCopy = func(text string) { copied = text }
	var next func()
	c.SetAfter(func(d time.Duration, f func()) { next = f })
	mouse(c, tview.MouseLeftDown, 3, 4)
	mouse(c, tview.MouseMove, 3, 0)
	for range 7 {
		f := next
		if next = nil; f == nil {
			t.Fatal("nothing goes on scrolling")
		}
		f()
	}
	mouse(c, tview.MouseLeftUp, 3, 0)
	if next != nil {
		if next(); c.mouse.scrolling {
			t.Error("it scrolls after the button was released")
		}
	}
	if !strings.HasPrefix(copied, "row 43\n") || !strings.HasSuffix(copied, "row 54") && !strings.HasSuffix(copied, "\nr") {
		t.Errorf("copied %q, want rows 43 to 54", copied)
	}
}

// While a person selects, new text does not move the view; a mere click does not stop following.
func TestSelectingHoldsTheView(t *testing.T) {
	s := (&viewtest.Session{}).Feed(event.TaskStarted{ID: 1, Kind: event.MainTask})
	c := conversationOf(t, s, 28, 10)
	c.OnCopy = func(string) {}
	grow := func() anchor {
		for i := range 20 {
			s.Feed(event.Notice{Text: fmt.Sprintf("row %d", i)})
		}
		c.Update(&s.State, state.Everything)
		viewtest.Text(t, c, 28, 10)
		return c.view.top
	}
	before := grow()
	mouse(c, tview.MouseLeftDown, 4, 4)
	mouse(c, tview.MouseLeftUp, 4, 4)
	if after := grow(); after == before || !c.view.follow {
		t.Error("a click stops the view from following")
	}
	mouse(c, tview.MouseLeftDown, 4, 4)
	mouse(c, tview.MouseMove, 6, 4)
	before = c.view.top
	if after := grow(); after != before {
		t.Errorf("the view moves from %v to %v while the button is down", before, after)
	}
	mouse(c, tview.MouseLeftUp, 6, 4)
	c.EndSelection()
	c.view.Bottom()
	grow()
	viewtest.Press(t, c, "select")
	before = c.view.top
	if after := grow(); after != before {
		t.Errorf("the view moves from %v to %v while keys select", before, after)
	}
}

// Folds survive another width, new text, and older blocks that are loaded before them.
func TestFoldsStay(t *testing.T) {
	s := wholeSession()
	c := conversationOf(t, s, 78, 58)
	c.Focus(nil)
	folds := func() string {
		var b strings.Builder
		for _, v := range c.view.blocks {
			if v.foldable() {
				fmt.Fprint(&b, v.shown(), " ")
			}
		}
		return b.String()
	}
	for i, v := range c.view.blocks {
		if v.foldable() {
			c.view.focus = i
			c.view.toggleFold()
		}
	}
	want := folds()
	viewtest.Text(t, c, 38, 18)
	s.Feed(event.Notice{Text: "more"})
	s.Blocks = append([]*state.Block{{Kind: state.UserBlock, Text: []byte("older")}}, s.Blocks...)
	c.Update(&s.State, state.Everything)
	viewtest.Text(t, c, 98, 28)
	c.view.Top()
	c.view.evict()
	viewtest.Text(t, c, 78, 58)
	if got := folds(); got != want || !strings.Contains(want, fmt.Sprint(unfolded)) {
		t.Errorf("folds %s, want %s", got, want)
	}
}

// Selecting never fails, with any blocks and places.
func TestSelectionAnywhere(t *testing.T) {
	s := wholeSession()
	c := conversationOf(t, s, 48, 14)
	c.Focus(nil)
	c.OnCopy = func(string) {}
	for _, fold := range []bool{false, true} {
		if fold {
			for i := range c.view.blocks {
				c.view.focus = i
				c.view.toggleFold()
			}
		}
		for y1 := range 16 {
			for y2 := range 16 {
				dragged(c, 3, y1, 30, y2)
				viewtest.Text(t, c, 48, 14)
			}
		}
		for _, a := range []string{"scroll-top", "select", "select-down", "select-right", "select-page-down", "select-word-right", "select-line-end", "select-bottom", "select-lines", "select-up", "select-top", "select-end"} {
			for range 5 {
				viewtest.Press(t, c, a)
			}
			viewtest.Text(t, c, 48, 14)
		}
	}
	empty := NewConversation(viewtest.Dark(t), keymap.Default())
	viewtest.Press(t, empty, "select")
	dragged(empty, 1, 1, 5, 5)
}
