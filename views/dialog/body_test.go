package dialog

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"buddy/agent/action"
	"buddy/app/keymap"
	"buddy/app/show"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/viewtest"
)

// No mouse action fails in a dialog, at any size drawn in between, and copied text is safe.
func TestMouseAnywhereInDialogs(t *testing.T) {
	text := strings.Repeat(viewtest.Hostile+" 日本語 words of a line that is longer than a row\n\n", 20)
	approval, _, _, answers := newTestApproval(t, viewtest.Ask("1", action.Action{Kind: action.Shell, Tool: "run_shell", Command: text, Why: viewtest.Hostile}))
	help := NewHelp(viewtest.Dark(t), keymap.Default())
	confirm := NewConfirm(viewtest.Dark(t), keymap.Default())
	confirm.Ask(Question{Title: viewtest.Hostile, Lines: strings.Split(text, "\n"), Scope: keymap.Confirm})
	changes := NewChanges(viewtest.Dark(t), keymap.Default(), "a", text)
	pager := newTestPager(t, strings.NewReader(text), int64(len(text)))
	picker := NewPicker(viewtest.Dark(t), keymap.Default(), PickerOptions{Title: "x"})
	picker.SetRows([]show.Row{{ID: "a", Cells: []string{viewtest.Hostile}}, {ID: "b", Cells: []string{"b"}}})
	copied := 0
	check := func(text string) {
		copied++
		if strings.ContainsAny(text, "\x1b\a") {
			t.Errorf("copied %q", text)
		}
	}
	approval.OnCopy, help.OnCopy, confirm.OnCopy, changes.OnCopy, pager.OnCopy = check, check, check, check, check
	actions := []tview.MouseAction{
		tview.MouseLeftDown, tview.MouseMove, tview.MouseLeftUp, tview.MouseLeftClick, tview.MouseLeftDoubleClick,
		tview.MouseScrollUp, tview.MouseScrollDown, tview.MouseRightDown,
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, p := range []tview.Primitive{approval, help, confirm, changes, pager, picker} {
		before := copied
		for range 1500 {
			if rnd.IntN(8) == 0 {
				viewtest.Text(t, p, 1+rnd.IntN(80), 1+rnd.IntN(30))
			}
			ev := tcell.NewEventMouse(rnd.IntN(70)-2, rnd.IntN(28)-2, 0, 0)
			p.MouseHandler()(actions[rnd.IntN(len(actions))], ev, func(tview.Primitive) {})
		}
		if copied == before && p != picker {
			t.Errorf("%T copied nothing", p)
		}
	}
	if len(*answers) > 0 {
		t.Errorf("the mouse answered %v", *answers)
	}
}

// Copied text is unwrapped.
func TestBodyCopiesWhatWasWrapped(t *testing.T) {
	for _, tt := range []string{
		"one two three four five", "/a/path/that/is/longer/than/a/row and more", "a", "日本語 日本語日本語日本語 x",
	} {
		for w := 4; w < 40; w++ {
			for _, indent := range []int{0, 2} {
				var words, letters body
				for _, b := range []*body{&words, &letters} {
					b.relay(w)
				}
				words.addWords(indent, draw.Untrusted(themes.Text, tt), w)
				words.addWords(indent, draw.Untrusted(themes.Text, "next"), w)
				letters.add(indent, nil, draw.Untrusted(themes.Text, tt), w)
				letters.add(indent, nil, draw.Untrusted(themes.Text, "next"), w)
				for _, b := range []*body{&words, &letters} {
					b.w, b.h = w, len(b.rows)
					b.mark = marking{on: true, head: bodyPlace{len(b.rows) - 1, w - 1}}
					if got := b.selected(); got != tt+"\nnext" {
						t.Fatalf("%d cells, indent %d: %q, want %q", w, indent, got, tt)
					}
				}
			}
		}
	}
}
