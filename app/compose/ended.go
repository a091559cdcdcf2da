package compose

import (
	"context"
	"fmt"
	"io"

	"buddy/views/markup"
)

// Desert leaves the session as a crash would, so that resuming goes on with it: from here on
// nothing is recorded, and commands go on in their panes. It says what stays behind. The runtime
// does not end before the program does.
func (p *Program) Desert(said io.Writer) {
	p.Live.abandon()
	p.Journal.freeze()
	ctx, cancel := context.WithTimeout(context.Background(), CloseTime)
	defer cancel()
	p.closeTargets(ctx, said)
	stored := p.Journal.Stored() != nil
	if err := p.Journal.close(); err != nil {
		_, _ = fmt.Fprintln(said, "buddy: "+markup.Plain(err.Error()))
	}
	if stored {
		_, _ = fmt.Fprintln(said, "buddy: ended from outside; the session goes on with: "+markup.Plain(p.again()))
	}
}

// again is the command line that goes on with the session.
func (p *Program) again() string {
	return "buddy " + flagFor(p.Dest.Name) + "resume " + p.ID
}
