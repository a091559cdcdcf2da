package app

import (
	"os"

	"golang.org/x/term"

	"buddy/views/markup"
)

// plainText prepares foreign text for the two outputs of line mode: made safe for a
// terminal, as it is for a file or a pipe.
type plainText struct{ outTTY, errTTY bool }

func newPlainText(stdout, stderr *os.File) plainText {
	return plainText{term.IsTerminal(int(stdout.Fd())), term.IsTerminal(int(stderr.Fd()))}
}

func (p plainText) out(s string) string { return pick(p.outTTY, s) }
func (p plainText) err(s string) string { return pick(p.errTTY, s) }

func pick(tty bool, s string) string {
	if tty {
		return markup.Plain(s)
	}
	return s
}
