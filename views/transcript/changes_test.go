package transcript

import (
	"fmt"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/texts"
	"buddy/themes"
	"buddy/views/viewtest"
)

const taxPreview = "+4 -1 lines, 100 → 160 bytes\n--- checkout/tax.go\n+++ checkout/tax.go\n@@ -2,7 +2,10 @@\n \n // Tax is what a customer pays.\n func Tax(cents int) int {\n" +
	"-\treturn cents * 19 / 100\n+\tif cents < 0 {\n+\t\treturn -Tax(-cents)\n+\t}\n+\treturn (cents*19 + 50) / 100\n }\n \n func Net() {}\n"

// changedBy is a session in which a call changed the files of paths.
func changedBy(preview string, paths ...string) *viewtest.Session {
	act := action.Action{Kind: action.FileWrite, Tool: "edit_file", Path: "/src/shop/checkout/tax.go", Paths: paths, Preview: preview}
	return (&viewtest.Session{Now: 1000}).Feed(
		event.SessionCreated{Cwd: "/src/shop"},
		event.PromptSubmitted{ID: 1, Text: "fix the rounding"},
		event.ToolRequested{CallID: "a", Name: "edit_file", Arguments: `{}`, Action: act},
		event.ToolStarted{CallID: "a", Name: "edit_file"},
		event.ToolResult{CallID: "a", Name: "edit_file", Result: `{"message":"ok"}`, DurationMS: 12},
	)
}

// longPreview is a new file of so many lines.
func longPreview(lines int) string {
	return fmt.Sprintf("new file, +%d -0 lines, 9 bytes\n--- /dev/null\n+++ checkout/tax.go\n@@ -0,0 +1,%d @@\n", lines, lines) + strings.Repeat("+x\n", lines)
}

func TestChangesGolden(t *testing.T) {
	for name, s := range map[string]*viewtest.Session{
		"changed":       changedBy(taxPreview),
		"changed-long":  changedBy(longPreview(40)),
		"changed-files": changedBy("edit a.go: +1 -1 lines, 9 bytes\ndelete b.go: 1 byte\n--- a.go\n+++ a.go\n@@ -1 +1 @@\n-a "+viewtest.Hostile+"\n+b "+viewtest.Hostile+"\n--- b.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-package b\n", "/src/shop/a.go", "/src/shop/b.go"),
	} {
		for _, size := range [][2]int{{80, 24}, {40, 12}} {
			viewtest.Golden(t, name, conversationOf(t, s, size[0], size[1]), size[0], size[1])
		}
	}
}

// A change is shown up to a number of rows, then the number of further lines; Enter shows all.
func TestChangesAreFolded(t *testing.T) {
	for _, lines := range []int{changeRows, changeRows + 1, 3000} {
		c := conversationOf(t, changedBy(longPreview(lines)), 80, 60)
		folded := viewtest.Text(t, c, 80, 60)
		if got := strings.Count(folded, " + x"); got != changeRows {
			t.Errorf("%d lines: %d show", lines, got)
		}
		more := fmt.Sprintf("… %s · +%d −0 in total · Enter shows all", texts.Plural(lines-changeRows, "more line"), lines)
		if strings.Contains(folded, more) != (lines > changeRows) {
			t.Errorf("%d lines: no %q in\n%s", lines, more, folded)
		}
		viewtest.Press(t, c, "fold")
		if got, want := strings.Count(viewtest.Text(t, c, 80, lines+20), " + x"), lines; got != want {
			t.Errorf("%d lines: %d show unfolded", lines, got)
		}
	}
	wide := "+1 -0 lines, 9 bytes\n--- a\n+++ a\n@@ -0,0 +1 @@\n+" + strings.Repeat("x", 5000) + "\n"
	if got := viewtest.Text(t, conversationOf(t, changedBy(wide), 80, 60), 80, 60); !strings.Contains(got, "… 1 more line") {
		t.Errorf("a long line takes all rows:\n%s", got)
	}
}

// A change that was not made is shown as its line only.
func TestChangesThatWereNotMade(t *testing.T) {
	for name, e := range map[string]event.Event{
		"waits":  event.ApprovalAsked{ID: "1", CallID: "a"},
		"failed": event.ToolResult{CallID: "a", Name: "edit_file", Result: `{"error":"no such file"}`, IsError: true},
	} {
		s := (&viewtest.Session{Now: 1000}).Feed(
			event.ToolRequested{CallID: "a", Name: "edit_file", Action: action.Action{Kind: action.FileWrite, Path: "/a", Preview: taxPreview}}, e)
		if got := viewtest.Text(t, conversationOf(t, s, 80, 24), 80, 24); strings.Contains(got, "return -Tax") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// A diff has the same rows below a call and in an answer.
func TestDiffsInConversationsAreTheSame(t *testing.T) {
	_, diff, _ := strings.Cut(taxPreview, "\n")
	want := diffRows(t, changedBy(taxPreview))
	s := (&viewtest.Session{Now: 1000}).Feed(viewtest.Say("Here:\n\n```diff\n" + diff + "```\n"))
	if got := diffRows(t, s); got != want || strings.Count(got, "\n") != 9 {
		t.Errorf("in an answer:\n%s\nbelow a call:\n%s", got, want)
	}
}

// diffRows returns the numbered rows of a diff, without borders and padding.
func diffRows(t *testing.T, s *viewtest.Session) string {
	var b strings.Builder
	for line := range strings.Lines(viewtest.Text(t, conversationOf(t, s, 80, 30), 80, 30)) {
		if row := strings.Trim(line, "│▎ \n"); row != "" && row[0] >= '0' && row[0] <= '9' {
			b.WriteString(row + "\n")
		}
	}
	return b.String()
}

// Bands extend to the right border.
func TestChangesAreBands(t *testing.T) {
	c := conversationOf(t, changedBy(taxPreview), 80, 30)
	s := viewtest.Screen(t, c, 80, 30)
	bands := 0
	for y := range 30 {
		_, left, _ := s.Get(5, y)
		_, right, _ := s.Get(77, y)
		for _, r := range []themes.Role{themes.DiffAddBand, themes.DiffDeleteBand} {
			_, want, _ := c.Palette[r].Decompose()
			_, a, _ := left.Decompose()
			_, b, _ := right.Decompose()
			if a == want && b == want {
				bands++
			}
		}
	}
	if bands != 5 {
		t.Errorf("%d rows are bands", bands)
	}
}

// Visible code is highlighted when it is drawn.
func TestChangesAreHighlighted(t *testing.T) {
	c := conversationOf(t, changedBy(taxPreview), 80, 30)
	c.SetBackground(func(work func() func()) { work()() })
	c.view.blocks[1].laid = nil
	viewtest.Text(t, c, 80, 30)
	d := c.view.blocks[1].laid.diff
	var words []string
	from := int32(0)
	for _, run := range d.Text.Runs {
		if run.Style.Role == themes.SynKeyword {
			words = append(words, string(d.Text.Bytes[from:run.End]))
		}
		from = run.End
	}
	if got := strings.Join(words, " "); got != "func return if return return func" && got != "func return if return return" {
		t.Errorf("keywords: %q", got)
	}
}

// TestPrintedDiffIsDrawnAsOne: a diff in the output of an unfolded command is drawn as a diff; other or incomplete
// output is shown unchanged.
func TestPrintedDiffIsDrawnAsOne(t *testing.T) {
	_, diff, _ := strings.Cut(taxPreview, "\n")
	printed := func(text string, ended bool) *viewtest.Session {
		s := (&viewtest.Session{Now: 1000}).Feed(
			event.ToolRequested{CallID: "c1", Name: "shell", Action: action.Action{Kind: action.Git, Command: "git diff"}},
			event.ToolStarted{CallID: "c1", Name: "shell"},
			event.ToolOutput{CallID: "c1", Text: text},
		)
		if ended {
			s.Feed(event.ToolResult{CallID: "c1", Name: "shell", Result: text, Tail: text})
		}
		return s
	}
	rows := func(s *viewtest.Session) string {
		c := conversationOf(t, s, 80, 30)
		c.view.blocks[0].fold, c.view.blocks[0].laid = unfolded, nil
		return viewtest.Text(t, c, 80, 30)
	}
	for name, c := range map[string]struct {
		s    *viewtest.Session
		band bool
	}{
		"a diff":         {printed(diff, true), true},
		"still comes":    {printed(diff, false), false},
		"no diff at all": {printed("ok\n"+diff, true), false},
	} {
		text := rows(c.s)
		if got := strings.Contains(text, "✎ edit checkout/tax.go"); got != c.band {
			t.Errorf("%s: drawn as a diff: %v\n%s", name, got, text)
		}
		if got := strings.Contains(text, "+++ "); got == c.band {
			t.Errorf("%s: as it was printed: %v\n%s", name, got, text)
		}
	}
}
