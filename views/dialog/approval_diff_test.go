package dialog

import (
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/markup"
	"buddy/views/viewtest"
)

const taxDiff = "+4 -1 lines, 100 → 160 bytes\n--- checkout/tax.go\n+++ checkout/tax.go\n@@ -2,7 +2,10 @@\n \n // Tax is what a customer pays.\n func Tax(cents int) int {\n" +
	"-\treturn cents * 19 / 100\n+\tif cents < 0 {\n+\t\treturn -Tax(-cents)\n+\t}\n+\treturn (cents*19 + 50) / 100\n }\n \n func Net() {}\n"

func editOf(path, preview string) action.Action {
	return action.Action{Kind: action.FileWrite, Tool: "edit_file", Path: path, Preview: preview}
}

// bodyText returns the trimmed texts of rows.
func bodyText(rows []bodyRow) (text []string) {
	for i := range rows {
		all, _ := rows[i].text()
		text = append(text, strings.TrimSpace(string(all)))
	}
	return text
}

// The question names the file, once, and several files in a list above their diffs; other actions are never taken for a
// diff.
func TestApprovalDiff(t *testing.T) {
	for _, tt := range []struct {
		name string
		act  action.Action
		want []string
	}{
		{"one file", editOf("/s/tax.go", "+1 -1 lines, 5 → 5 bytes\n--- tax.go\n+++ tax.go\n@@ -9 +9 @@\n-b\n+c\n"), []string{"9 - b", "9 + c"}},
		{
			"several",
			action.Action{Kind: action.FileDelete, Path: "/a", Paths: []string{"/a", "/b"}, Preview: "edit a: +1 -1 lines, 5 bytes\ndelete b: 1 byte\n--- a\n+++ a\n@@ -1 +1 @@\n-b\n+c\n"},
			[]string{"edit a: +1 -1 lines, 5 bytes", "delete b: 1 byte", "✎ edit a   +1 −1", "1 - b", "1 + c"},
		},
		{"no file", action.Action{Kind: action.MCP, Preview: "━ a  b\n@@ -1 +1 @@\n-b\n"}, []string{"━ a  b", "@@ -1 +1 @@", "-b"}},
	} {
		d, _, _, _ := newTestApproval(t, viewtest.Ask("1", tt.act))
		if got := bodyText(d.layBody(80, 0).rows); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Bands extend from border to border, and changed words are highlighted.
func TestApprovalDiffIsDrawnInBands(t *testing.T) {
	d, _, _, _ := newTestApproval(t, viewtest.Ask("1", editOf("/a", "+1 -1 lines\n--- a\n+++ a\n@@ -1,2 +1,2 @@\n-return cents*19 now\n+return cents*20 now\n b\n")))
	s := viewtest.Screen(t, d, 66, 14)
	for y, want := range map[int]struct{ band, word themes.Role }{1: {themes.DiffDeleteBand, themes.DiffDeleteWord}, 2: {themes.DiffAddBand, themes.DiffAddWord}} {
		var words strings.Builder
		for x := 3; x < 65; x++ {
			text, st, _ := s.Get(x, y)
			_, got, _ := st.Decompose()
			_, band, _ := d.Palette[want.band].Decompose()
			_, word, _ := d.Palette[want.word].Decompose()
			switch got {
			case word:
				words.WriteString(text)
			case band:
			default:
				t.Errorf("row %d, column %d: %q interrupts the band", y, x, text)
			}
		}
		if got := words.String(); got != map[int]string{1: "19", 2: "20"}[y] {
			t.Errorf("row %d: %q stands out", y, got)
		}
	}
}

// If there are few rows, changed lines are shown first.
func TestApprovalShowsTheDecisiveLinesFirst(t *testing.T) {
	d, _, _, _ := newTestApproval(t, viewtest.Ask("1", editOf("/s/checkout/tax.go", taxDiff)))
	low, high := viewtest.Text(t, d, 60, 9), viewtest.Text(t, d, 60, 30)
	if strings.Contains(low, "func Tax(cents int)") || !strings.Contains(low, "- ····return cents") {
		t.Errorf("in few rows:\n%s", low)
	}
	if !strings.Contains(high, "func Tax(cents int)") || !strings.Contains(high, "+ ····return (cents") {
		t.Errorf("in many rows:\n%s", high)
	}
}

// A diff has the same rows in an approval and in the list of changes.
func TestDiffsInDialogsAreTheSame(t *testing.T) {
	a, _, _, _ := newTestApproval(t, viewtest.Ask("1", editOf("/s/checkout/tax.go", taxDiff)))
	want := bodyText(a.layBody(60, 0).rows)
	c := NewChanges(viewtest.Dark(t), keymap.Default(), "", markup.PreviewDiff("/s/checkout/tax.go", taxDiff))
	viewtest.Screen(t, c, 60, 20)
	if got := bodyText(c.body.rows); !slices.Equal(got[1:], want) { // the question names the file
		t.Errorf("%q, want %q", got, want)
	}
}

// Text copied from a diff is the code with tabs, without numbers and signs.
func TestCopyFromDiff(t *testing.T) {
	c := NewChanges(viewtest.Dark(t), keymap.Default(), "", taxDiff)
	viewtest.Screen(t, c, 60, 20)
	c.body.mark = marking{on: true, anchor: bodyPlace{4, 0}, head: bodyPlace{6, 59}}
	if got, want := c.body.selected(), "\treturn cents * 19 / 100\n\tif cents < 0 {\n\t\treturn -Tax(-cents)"; got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
}

// TestDiffKeepsItsRowsWhereTheyAreFew: facts give way before rows of the diff do, also on the smallest screen with a
// dock; the rule that a key would add stays visible.
func TestDiffKeepsItsRowsWhereTheyAreFew(t *testing.T) {
	var diff strings.Builder
	diff.WriteString("+12 -0 lines, 100 → 160 bytes\n--- checkout/tax.go\n+++ checkout/tax.go\n@@ -1,0 +1,12 @@\n")
	for range 12 {
		diff.WriteString("+\tadded()\n")
	}
	asked := viewtest.Ask("1", editOf("/s/checkout/tax.go", diff.String()))
	asked.Action.Target, asked.Verdict.Reason = "local", "changes a file"
	asked.Context.Similar, asked.Context.Passes = "don't ask again for edits in checkout/ this session", []string{"checkout/notes.md"}
	for _, h := range []int{12, 13, 14} {
		d, _, _, _ := newTestApproval(t, asked)
		text := viewtest.Text(t, d, 60, h)
		if n := strings.Count(text, "+ ····added()"); n < 6 {
			t.Errorf("%d rows: %d of the diff, want 6:\n%s", h, n, text)
		}
		for _, want := range []string{"Edit checkout/tax.go?", "don't ask again for edits in checkout/", "1 Yes"} {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%d rows: no %q:\n%s", h, want, text)
			}
		}
	}
}

// Context lines fill the rows of a diff: none is empty below the answers.
func TestDiffFillsItsRows(t *testing.T) {
	d, _, _, _ := newTestApproval(t, viewtest.Ask("1", editOf("/s/checkout/tax.go", taxDiff)))
	for h := 11; h < 24; h++ {
		lines := strings.Split(strings.TrimRight(viewtest.Text(t, d, 80, min(h, d.Rows(80))), "\n"), "\n")
		if last := lines[len(lines)-2]; strings.TrimSpace(last) == "" && strings.TrimSpace(lines[len(lines)-3]) == "" {
			t.Errorf("%d rows:\n%s", h, strings.Join(lines, "\n"))
		}
	}
}

// The details come after the command and the facts, which stay in view.
func TestDetailsLeaveTheCommandInView(t *testing.T) {
	asked := viewtest.Ask("1", action.Action{Kind: action.Shell, Tool: "run_shell", Command: "rm -rf dist/old", Cwd: "/home/ann/shop", Why: "free the space"})
	asked.Verdict.Reason = "rm deletes files"
	d, _, _, _ := newTestApproval(t, asked)
	viewtest.Screen(t, d, 80, 14)
	d.explain = explaining{on: true, changed: true}
	text := viewtest.Text(t, d, 80, 14)
	command, why, details := strings.Index(text, "rm -rf dist/old"), strings.Index(text, "free the space"), strings.Index(text, "You are asked because")
	if command < 0 || why < command || details < why {
		t.Errorf("the command, the reason and the details are at %d, %d and %d:\n%s", command, why, details, text)
	}
}
