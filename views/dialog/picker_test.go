package dialog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivo/tview"

	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/views/markup"
	"buddy/views/transcript"
	"buddy/views/viewtest"
)

func newTestPicker(t testing.TB, o PickerOptions, titles ...string) *Picker {
	p := NewPicker(viewtest.Dark(t), keymap.Default(), o)
	p.Focus(nil)
	rows := make([]show.Row, len(titles))
	for i, title := range titles {
		rows[i] = show.Row{ID: fmt.Sprint(i), Mark: i == 1, Cells: []string{title, fmt.Sprintf("%dm", i), "gpt-5.3-codex"}}
	}
	p.SetRows(rows)
	return p
}

func TestPickerGolden(t *testing.T) {
	titles := []string{"why do the tests fail?", viewtest.Hostile, "修复 nginx 的配置文件并重新启动服务器 👩‍🚀👨‍👩‍👧", strings.Repeat("long ", 60)}
	for i := range 40 {
		titles = append(titles, fmt.Sprintf("session %d", i))
	}
	preview := transcript.NewConversation(viewtest.Dark(t), keymap.Default())
	o := PickerOptions{Title: "Sessions", Hint: "type to filter", Columns: []string{"title", "used", "model"}, Preview: preview, Keys: keymap.Sessions}
	for _, size := range [][2]int{{80, 24}, {120, 32}, {200, 60}, {40, 12}} {
		viewtest.Golden(t, "picker", newTestPicker(t, o, titles...), size[0], size[1])
	}
	typed := newTestPicker(t, o, titles...)
	typed.SetQuery("se 3")
	viewtest.Golden(t, "picker-filter", typed, 60, 14)
	asked := newTestPicker(t, o, titles...)
	asked.AskText("title:", viewtest.Hostile, func(string) {})
	viewtest.Golden(t, "picker-naming", asked, 60, 10)
	asked.Confirm("Move \x1b[31m日本 to the trash?", func() {})
	viewtest.Golden(t, "picker-confirm", asked, 60, 10)
	viewtest.Golden(t, "picker-empty", newTestPicker(t, PickerOptions{Title: "Sessions", Empty: "none is saved yet"}), 40, 6)
	tiny := newTestPicker(t, o, titles...)
	for w := range 12 {
		for h := range 8 {
			viewtest.Text(t, tiny, max(w, 1), max(h, 1)) // draws nothing outside, and does not panic
		}
	}
}

func TestPickerKeys(t *testing.T) {
	var chosen, moved []string
	o := PickerOptions{
		OnChoose: func(r show.Row) { chosen = append(chosen, r.ID) },
		OnMove:   func(r show.Row) { moved = append(moved, r.ID) },
	}
	p := newTestPicker(t, o, "alpha", "beta", "gamma", "delta")
	viewtest.Text(t, p, 60, 7)
	viewtest.Press(t, p, "pick-up", "pick", "pick-first", "pick-page-down", "pick", "pick-last", "pick", "'am", "pick", "pick-erase", "pick-clear")
	if fmt.Sprint(chosen) != "[3 2 3 2]" {
		t.Errorf("chose %v of %v", chosen, moved)
	}
	if r, _ := p.Selected(); r.ID != "0" || p.Query() != "" {
		t.Errorf("selected %+v with the filter %q", r, p.Query())
	}
	p.SetRows(p.rows[1:]) // the selected row is gone
	if r, ok := p.Selected(); !ok || r.ID != "1" {
		t.Errorf("selected %+v", r)
	}
	p.SetRows(nil)
	viewtest.Press(t, p, "pick-up", "pick-down", "pick-page-up", "pick", "'x", "pick-erase")
	if _, ok := p.Selected(); ok {
		t.Error("something is selected in an empty list")
	}
}

func TestPickerKeepsItsSelection(t *testing.T) {
	p := newTestPicker(t, PickerOptions{}, "alpha", "beta", "gamma")
	p.Select("2")
	p.SetRows([]show.Row{{ID: "2", Cells: []string{"gamma"}}, {ID: "0", Cells: []string{"alpha"}}})
	if r, _ := p.Selected(); r.ID != "2" {
		t.Errorf("selected %+v, want 2", r)
	}
}

func TestPickerStaysFastWithManyRows(t *testing.T) { // 10,000 sessions
	titles := make([]string, 10_000)
	for i := range titles {
		titles[i] = fmt.Sprintf("session %d about the checkout and its tests", i)
	}
	p := newTestPicker(t, PickerOptions{Preview: tview.NewBox()}, titles...)
	start := time.Now()
	viewtest.Press(t, p, "'9999")
	viewtest.Text(t, p, 120, 32)
	if elapsed := time.Since(start); elapsed > time.Minute {
		t.Errorf("four keys took %v", elapsed)
	}
	if r, _ := p.Selected(); r.ID != "9999" {
		t.Errorf("selected %+v", r)
	}
}

func BenchmarkPickerFilter(b *testing.B) { // a key in the filter over 10,000 sessions
	titles := make([]string, 10_000)
	for i := range titles {
		titles[i] = fmt.Sprintf("session %d about the checkout and its tests", i)
	}
	p := newTestPicker(b, PickerOptions{}, titles...)
	b.ReportAllocs()
	for b.Loop() {
		p.SetQuery("check 77")
	}
}

func TestChangesGolden(t *testing.T) {
	diff := markup.FileMark + "checkout/tax.go  +1 -1 lines, 90 → 120 bytes\n--- checkout/tax.go\n+++ checkout/tax.go\n@@ -3,3 +3,3 @@\n func Tax(cents int) int {\n-\treturn cents * 19 / 100\n+\treturn (cents*19 + 50) / 100 // 日本 👨‍👩‍👧\n }\n" +
		markup.FileMark + viewtest.Hostile + "  +1 -1 lines, 5 bytes\n@@ -1 +1 @@\n-" + viewtest.Hostile + "\n+" + strings.Repeat("more ", 40) + "\n"
	for _, size := range [][2]int{{80, 24}, {120, 32}, {200, 60}, {40, 12}} {
		c := NewChanges(viewtest.Dark(t), keymap.Default(), "2 files, +2 -2", diff)
		viewtest.Golden(t, "changes", c, size[0], size[1])
	}
	c := NewChanges(viewtest.Dark(t), keymap.Default(), "", diff)
	var did []string
	c.OnCopy = func(text string) { did = append(did, "copy "+fmt.Sprint(text == diff)) }
	c.OnEdit = func(string) { did = append(did, "edit") }
	c.OnClose = func() { did = append(did, "close") }
	viewtest.Text(t, c, 40, 8)
	viewtest.Press(t, c, "scroll-bottom", "copy-changes", "edit-changes", "close-changes", "back")
	if got := fmt.Sprint(did); got != "[copy true edit close close]" {
		t.Error(got)
	}
}

func BenchmarkChanges(b *testing.B) { // opening the largest possible diff
	diff := markup.FileMark + "a.go\n@@ -1 +1 @@\n" + strings.Repeat("+\tif err := something(ctx, a, b); err != nil {\n", 2<<20/46)
	b.ReportAllocs()
	for b.Loop() {
		viewtest.Text(b, NewChanges(viewtest.Dark(b), keymap.Default(), "", diff), 120, 32)
	}
}

// TestPickerGivesRoomToWhatStandsAlone: a list is as wide as its rows need, and a row without other cells uses the full
// width.
func TestPickerGivesRoomToWhatStandsAlone(t *testing.T) {
	const long = "a row about something that takes rather more words than the columns beside it leave, up to here"
	p := newTestPicker(t, PickerOptions{Title: "Actions", Columns: []string{"what", "key", "where"}})
	p.SetRows([]show.Row{{ID: "1", Cells: []string{long, ""}}, {ID: "2", Cells: []string{long, "Ctrl+Space", "Everywhere"}}})
	w, h := p.Size(120, 30)
	if w < len(long) || w > widestPicker {
		t.Fatalf("%d columns", w)
	}
	rows := strings.Split(viewtest.Text(t, p, w, h), "\n")
	if !strings.Contains(rows[3], "up to here") || strings.Contains(rows[4], "up to here") || !strings.Contains(rows[4], "Everywhere") {
		t.Errorf("%s\n%s", rows[3], rows[4])
	}
	if w, _ := p.Size(60, 30); w != 60 {
		t.Errorf("%d columns of 60", w)
	}
}
