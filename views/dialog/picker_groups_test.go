package dialog

import (
	"strings"
	"testing"

	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/views/viewtest"
)

// Rows of a group have one heading, which is never selected; the selection stays on its row while rows are replaced;
// a filter hides the headings.
func TestPickerGroups(t *testing.T) {
	rows := []show.Row{
		{ID: "a", Group: "waiting for you", Cells: []string{"alpha"}},
		{ID: "b", Group: "waiting for you", Cells: []string{"beta"}},
		{ID: "c", Group: viewtest.Hostile, Cells: []string{"gamma"}},
		{ID: "d", Group: "idle", Cells: []string{"delta"}},
	}
	p := NewPicker(viewtest.Dark(t), keymap.Default(), PickerOptions{Title: "Dashboard", Columns: []string{"title"}})
	p.Focus(nil)
	p.SetRows(rows)
	viewtest.Golden(t, "picker-groups", p, 40, 14)
	selected := func(want string) {
		t.Helper()
		if r, _ := p.Selected(); r.ID != want {
			t.Errorf("selected %q, want %q", r.ID, want)
		}
	}
	for _, want := range []string{"b", "c", "d", "a"} {
		viewtest.Press(t, p, "pick-down")
		selected(want)
	}
	p.Select("c")
	p.SetRows([]show.Row{rows[3], {ID: "c", Group: "waiting for you", Cells: []string{"gamma"}}, rows[0]})
	selected("c")
	if got := p.Visible(); len(got) != 3 {
		t.Errorf("%d rows are visible", len(got))
	}
	for h := range 12 { // with as few rows as possible, the selected one is in view
		p.Select("a")
		if text := viewtest.Text(t, p, 40, max(h, 5)); !strings.Contains(text, "▸ alpha") {
			t.Errorf("%d rows:\n%s", h, text)
		}
	}
	viewtest.Press(t, p, "'ga")
	if text := viewtest.Text(t, p, 40, 14); strings.Contains(text, "waiting") || !strings.Contains(text, "gamma") {
		t.Error(text)
	}
}

// Every line leads to its row, and each row to its line.
func TestLinesOfGroups(t *testing.T) {
	for _, groups := range []string{"", "aaa", "abc", "aabbb", "abbc", " ab", "a  b"} {
		p := NewPicker(viewtest.Dark(t), keymap.Default(), PickerOptions{})
		var rows []show.Row
		for i, g := range groups {
			rows = append(rows, show.Row{ID: string(rune('0' + i)), Group: strings.TrimSpace(string(g)), Cells: []string{"x"}})
		}
		p.SetRows(rows)
		seen := 0
		for line := range len(p.shown) + len(p.heads) {
			if i, ok := p.heads.rowAt(line, len(p.shown)); ok {
				if i != seen || p.heads.lineOf(i) != line {
					t.Errorf("%q: line %d has row %d, whose line is %d", groups, line, i, p.heads.lineOf(i))
				}
				seen++
			}
		}
		if seen != len(rows) {
			t.Errorf("%q: %d rows", groups, seen)
		}
	}
}

// A list whose keys apply at once has them again when its filter is empty again.
func TestKeysAfterTheFilter(t *testing.T) {
	p := NewPicker(viewtest.Dark(t), keymap.Default(), PickerOptions{Keys: keymap.Board, OnKeys: true})
	p.SetQuery("ga")
	if p.Scope() == keymap.Board {
		t.Error("letters are keys while the person filters")
	}
	p.SetQuery("")
	if p.Scope() != keymap.Board {
		t.Error("letters still filter")
	}
}
