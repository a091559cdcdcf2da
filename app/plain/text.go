// Package plain prints what happens as lines of text, for terminals, files and pipes.
//
//	r := plain.Remarks{Err: os.Stderr, Style: plain.StyleOf(os.Stdout, os.Stderr), Prefix: "buddy: "}
//	r.Remark(event.Notice{Text: "the session goes on"})
package plain

import (
	"os"

	"golang.org/x/term"

	"buddy/views/markup"
)

// Style prepares untrusted text for stdout and stderr: made safe for a terminal, as it is for a
// file or a pipe.
type Style struct{ OutTTY, ErrTTY bool }

// StyleOf finds out which of two outputs are terminals.
func StyleOf(stdout, stderr *os.File) Style {
	return Style{term.IsTerminal(int(stdout.Fd())), term.IsTerminal(int(stderr.Fd()))}
}

// Out prepares text for stdout.
func (p Style) Out(s string) string { return pick(p.OutTTY, s) }

// Err prepares text for stderr.
func (p Style) Err(s string) string { return pick(p.ErrTTY, s) }

func pick(tty bool, s string) string {
	if tty {
		return markup.Plain(s)
	}
	return s
}
