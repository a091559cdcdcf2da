package app

import (
	"context"
	"fmt"
	"io"

	"buddy/views/markup"
)

// desert leaves the session as a crash would, so that resuming goes on with it: from here on
// nothing is recorded, and commands go on in their panes. It says what stays behind. The runtime
// does not end before the program does.
func (p *program) desert(said io.Writer) {
	p.live.abandon()
	p.journal.freeze()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	p.closeTargets(ctx, said)
	stored := p.journal.stored() != nil
	if err := p.journal.close(); err != nil {
		_, _ = fmt.Fprintln(said, "buddy: "+markup.Plain(err.Error()))
	}
	if stored {
		_, _ = fmt.Fprintln(said, "buddy: ended from outside; the session goes on with: "+markup.Plain(p.again()))
	}
}

// again is the command line that goes on with the session.
func (p *program) again() string {
	return "buddy " + flagFor(p.dest.Name) + "resume " + p.id
}
