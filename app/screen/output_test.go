package screen_test

import (
	"strings"
	"testing"

	"buddy/app/apptest"
	"buddy/app/screen"
)

// What the terminal shows does not depend on what the filter leaves out.
func FuzzOutput(f *testing.F) {
	f.Add([]byte{0, 1, 2, 30, 31, 4, 80, 81, 5, 6, 82, 7, 8, 9, 10, 200, 11})
	f.Add([]byte{14, 90, 15, 12, 13, 91, 255, 2, 3})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 500 {
			return
		}
		plain, filtered := apptest.NewTerminal(20, 5), apptest.NewTerminal(20, 5)
		tty := screen.NewTty(filtered, nil)
		pieces := []string{
			"\x1b[?2026h", "\x1b[?25l", "\x1b[?12l\x1b[?25h", "\x1b[2 q", "\x1b(B\x1b[m", "\x1b[38;2;1;2;3m",
			"\x1b[1m", "\x1b[48;5;7m", "\x1b]8;;https://x\x1b\\", "\x1b]8;;\x1b\\", "\x1b[H\x1b[2J", "\x1b[?2026l",
			"\x1b[1;1H", "\x1b[5;20H", "日", "  \b\b本",
		}
		var frame strings.Builder
		for _, b := range program {
			switch {
			case int(b) < len(pieces):
				frame.WriteString(pieces[b])
			case b < 80:
				frame.WriteString("\x1b[" + string('1'+rune(b%5)) + ";" + string('1'+rune(b%9)) + "H")
			case b < 250:
				frame.WriteByte('A' + b%50)
			default: // the frame ends
				_, _ = plain.Write([]byte(frame.String()))
				_, _ = tty.Write([]byte(frame.String()))
				frame.Reset()
				frame.WriteString("\x1b[m\x1b]8;;\x1b\\\x1b[2;2H") // as each frame of tcell begins
			}
		}
		_, _ = plain.Write([]byte(frame.String()))
		_, _ = tty.Write([]byte(frame.String()))
		for y := range 5 {
			for x := range 20 {
				text, style, link := plain.Cell(x, y)
				gotText, gotStyle, gotLink := filtered.Cell(x, y)
				if text != gotText || style != gotStyle || link != gotLink {
					t.Fatalf("cell %d,%d is %q %q %q, want %q %q %q\n%q", x, y, gotText, gotStyle, gotLink, text, style, link, program)
				}
			}
		}
		_, _, shown := plain.Cursor()
		if _, _, got := filtered.Cursor(); got != shown && strings.Contains(frame.String(), "?25") {
			t.Errorf("cursor shown: %v, want %v", got, shown)
		}
	})
}
