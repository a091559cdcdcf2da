package screen

import (
	"testing"
	"testing/synctest"
	"time"
)

// Text that comes faster than anybody types is a paste, even if the terminal does not mark it: its line ends are not
// Enter.
func TestUnmarkedPaste(t *testing.T) {
	const marks = pasteBegin + pasteEnd
	for _, tt := range []struct {
		name  string
		reads []string
		pause time.Duration
		keys  string
		text  string // pasted
	}{
		{"lines", []string{"rm -rf a\rrm -rf b\r"}, 0, marks, "rm -rf a\nrm -rf b\n"},
		{"short lines", []string{"!a\r!b\r!c\r"}, 0, marks, "!a\n!b\n!c\n"},
		{"letters of several bytes", []string{"äöü\räöü\rß"}, 0, marks, "äöü\näöü\nß"},
		{"in two reads", []string{"rm -rf a\rrm ", "b\r"}, time.Millisecond, marks + marks, "rm -rf a\nrm b\n"},
		{"after a key", []string{"\x15echo one\recho two"}, 0, "\x15" + marks, "echo one\necho two"},
		{"a line and Enter at once", []string{"!touch me\r"}, 0, marks + "\r", "!touch me"},
		{"a line and Enter soon after", []string{"!touch me", "\r"}, time.Millisecond, marks + "\r", "!touch me"},
		{"typed", []string{"l", "s", "\r", "p", "w", "d", "\r"}, 20 * time.Millisecond, "ls\rpwd\r", ""},
		{"typed while the machine was busy", []string{"!ls\rpw"}, 0, "!ls\rpw", ""},
		{"a key held down", []string{"jjjjjjjjjjjj"}, 0, "jjjjjjjjjjjj", ""},
		{"Enter of a terminal in newline mode", []string{"\\\r\n"}, 0, "\\\r", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecord()
				r.in.burst.now = time.Now
				for _, p := range tt.reads {
					r.in.feed([]byte(p))
					time.Sleep(tt.pause)
				}
				text := ""
				for _, p := range r.pastes {
					text += p.Text
				}
				if got := string(r.in.out); got != tt.keys || text != tt.text {
					t.Errorf("keys %q, pasted %q; want %q and %q", got, text, tt.keys, tt.text)
				}
			})
		})
	}
}
