package apptest_test

import (
	"testing"
	"testing/synctest"

	"github.com/rivo/tview"

	"buddy/app/apptest"
)

func TestTerminal(t *testing.T) {
	term := apptest.NewTerminal(10, 3)
	for _, piece := range []string{
		"\x1b[2;3Hab\x1b[1;38;2;1;2;3;44m日", "\x1b[m\b\bx", "\x1b[3;9H12345", "\x1b]2;tit", "le\x1b\\",
		"\x1b]8;;https://x\x1b\\\x1b[1;1Hl\x1b]8;;\x1b\\", "\x1b[?25l\v",
	} {
		if _, err := term.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := term.Text(), "l\n  abx\n        12\n"; got != want {
		t.Errorf("the screen is %q, want %q", got, want)
	}
	if _, _, link := term.Cell(0, 0); link != "https://x" {
		t.Errorf("the link is %q", link)
	}
	if _, style, _ := term.Cell(5, 1); style != "2;1;2;3|44|1" {
		t.Errorf("the style is %q", style)
	}
	if _, _, shown := term.Cursor(); shown || term.Title() != "title" || len(term.Odd()) != 1 {
		t.Errorf("cursor %v, title %q, odd %q", shown, term.Title(), term.Odd())
	}
}

func TestWidget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ui := apptest.StartRoot(t, 20, 3, tview.NewInputField().SetLabel("name "))
		ui.Type("héllo")
		ui.Press("Left", "Left", "Backspace", "Alt+b")
		ui.Want("name hélo")
		if x, y, shown := ui.Cursor(); x != 5 || y != 0 || !shown {
			t.Errorf("the cursor is at %d,%d, %v; want 5,0", x, y, shown)
		}
		ui.Resize(8, 2)
		ui.Want("name ")
	})
}
