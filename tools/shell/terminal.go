package shell

import (
	"strings"
	"unicode/utf8"

	"buddy/texts/ansi"
)

// TerminalText returns the text of terminal output as a person would have read it: without
// escape sequences, lines in their last state. full reports that the alternate screen was
// used, whose content is omitted.
func TerminalText(p []byte) (text string, full bool) {
	t := terminalReader{}
	for len(p) > 0 {
		p = t.take(p)
	}
	return string(t.done) + t.trimmed(), t.full
}

// terminalReader holds the current line and those above it.
type terminalReader struct {
	done  []byte
	line  []rune
	at    int  // column of the next character
	other bool // the alternate screen is shown
	full  bool // it was shown at some time
}

func (t *terminalReader) trimmed() string { return strings.TrimRight(string(t.line), " ") }

// take handles the first element of p and returns the rest.
func (t *terminalReader) take(p []byte) []byte {
	switch c := p[0]; {
	case c == 0x1b:
		n := ansi.Len(p)
		t.escape(string(p[:n]))
		return p[n:]
	case t.other:
	case c == '\n':
		t.done = append(append(t.done, t.trimmed()...), '\n')
		t.line, t.at = t.line[:0], 0
	case c == '\r':
		t.at = 0
	case c == '\b':
		t.at = max(t.at-1, 0)
	case c >= ' ' && c != 0x7f, c == '\t':
		r, n := utf8.DecodeRune(p)
		if t.at < len(t.line) {
			t.line[t.at] = r
		} else {
			t.line = append(t.line, r)
		}
		t.at++
		return p[n:]
	}
	return p[1:]
}

func (t *terminalReader) escape(seq string) {
	switch {
	case seq == "\x1b[K", seq == "\x1b[0K", seq == "\x1b[J", seq == "\x1b[0J":
		t.line = t.line[:t.at]
	case seq == "\x1b[2K":
		t.line, t.at = t.line[:0], 0
	case strings.HasPrefix(seq, "\x1b[?1049"), strings.HasPrefix(seq, "\x1b[?47"), strings.HasPrefix(seq, "\x1b[?1047"):
		t.other = strings.HasSuffix(seq, "h")
		t.full = t.full || t.other
	}
}
