package dialog

import (
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
	"buddy/views/viewtest"
)

// A diff shows the lines of a file with their numbers; what looks like a header within it is text of
// the file, and what is no diff shows as it is.
func TestApprovalDiff(t *testing.T) {
	const counts = "+1 -1 lines, 5 → 5 bytes"
	for _, tt := range []struct {
		name  string
		path  string
		paths []string
		text  []string
		want  []string
	}{
		{
			"one file", "/s/tax.go", nil,
			[]string{counts, "--- s/tax.go", "+++ s/tax.go", "@@ -9,3 +9,3 @@", " a", "-b", "+c", " d", "@@ -100 +100 @@", "-x", "+y"},
			[]string{"/s/tax.go  " + counts, "  9   a", " 10 - b", " 10 + c", " 11   d", "…", "100 - x", "100 + y"},
		},
		{
			"new", "/s/a", nil,
			[]string{"new file, +1 -0 lines, 2 bytes", "--- /dev/null", "+++ a", "@@ -0,0 +1 @@", "+x", "\\ No newline at end of file"},
			[]string{"/s/a  new file, +1 -0 lines, 2 bytes", "1 + x", "  \\ No newline at end of file"},
		},
		{
			"headers that are text", "/s/a", nil,
			[]string{counts, "--- a", "+++ a", "@@ -1,3 +1,2 @@", "--- b", "-@@ -1 +1 @@", "+++ b", " @@ -1 +1 @@"},
			[]string{"/s/a  " + counts, "1 - -- b", "2 - @@ -1 +1 @@", "1 + ++ b", "2   @@ -1 +1 @@"},
		},
		{
			"more lines than the header says", "/s/a", nil,
			[]string{counts, "--- a", "+++ a", "@@ -1 +1 @@", "-b", "+c", "+hidden"},
			[]string{"/s/a  " + counts, "1 - b", "1 + c", "+hidden"},
		},
		{
			"cut", "/s/a", nil,
			[]string{counts, "--- a", "+++ a", "@@ -1,9 +1,9 @@", " b", "… cut here: 12 more bytes in 8 lines"},
			[]string{"/s/a  " + counts, "1   b", "… cut here: 12 more bytes in 8 lines"},
		},
		{
			"another file", "/s/a", nil,
			[]string{counts, "--- b", "+++ b", "@@ -1 +1 @@", "-b", "+c"},
			[]string{"/s/a  " + counts, "b", "1 - b", "1 + c"},
		},
		{
			"several files", "/s/a",
			[]string{"/s/a", "/s/b"},
			[]string{"edit a: " + counts, "delete b: 1 byte", "--- a", "+++ a", "@@ -1 +1 @@", "-b", "+c", "--- b", "+++ /dev/null", "@@ -1 +0,0 @@", "-b"},
			[]string{"/s/a", "edit a: " + counts, "delete b: 1 byte", "a", "1 - b", "1 + c", "b", "1 - b"},
		},
		{"no diff", "/s/a", nil, []string{"no change: the file has this content already"}, []string{"/s/a  no change: the file has this content already"}},
		{"no hunk", "/s/a", nil, []string{counts, "--- a", "+++ a", "@@ x"}, []string{"/s/a  " + counts, "--- a", "+++ a", "@@ x"}},
	} {
		d, _, _, _ := newTestApproval(t, viewtest.Ask("1", action.Action{
			Kind: action.FileWrite, Tool: "edit_file", Path: tt.path, Paths: tt.paths, Preview: strings.Join(tt.text, "\n") + "\n",
		}))
		d.layBody(80)
		var got []string
		for _, r := range d.lines.rows {
			got = append(got, strings.TrimPrefix(string(draw.Bytes(r.spans)), "  "))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Added and deleted lines are bands, and what changed within them is set off.
func TestApprovalDiffMarksWhatChanged(t *testing.T) {
	d, _, _, _ := newTestApproval(t, viewtest.Ask("1", action.Action{
		Kind: action.FileWrite, Tool: "edit_file", Path: "/a", Preview: "+1 -1 lines\n--- a\n+++ a\n@@ -1,2 +1,2 @@\n-return cents*19 now\n+return cents*20 now\n b\n",
	}))
	d.layBody(60)
	reversed := func(i int) (text string) {
		for _, sp := range d.lines.rows[i].spans {
			if sp.Style.Attr&markup.Reverse != 0 {
				text += sp.Text
			}
		}
		return text
	}
	for i, want := range []struct {
		band themes.Role
		text string
	}{{themes.Text, ""}, {themes.DiffDeleteBand, "19"}, {themes.DiffAddBand, "20"}, {themes.Text, ""}} {
		if got := d.lines.rows[i].band; got != want.band || reversed(i) != want.text {
			t.Errorf("row %d: band %s, changed %q, want %s, %q", i, got, reversed(i), want.band, want.text)
		}
	}
	s := viewtest.Screen(t, d, 66, 14)
	for i, r := range d.lines.rows[1:3] {
		for _, sp := range r.spans[1:] {
			if sp.Style.Role != r.band {
				t.Errorf("row %d: %q interrupts the band", i, sp.Text)
			}
		}
	}
	if _, st, _ := s.Get(63, 3); st != d.Palette[themes.DiffDeleteBand] {
		t.Errorf("the band does not reach the border: %+v", st)
	}
}
