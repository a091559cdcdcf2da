package compose

import (
	"context"
	"fmt"
	"io"
	"strings"

	"buddy/agent/model"
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

// Farewell returns the line that is printed when a person leaves: the command that goes on with
// the session, with its title and what it cost as far as they are known. It is "" for a session
// that was not stored.
func (p *Program) Farewell(title string, cost model.Money) string {
	if p.Journal.Stored() == nil {
		return ""
	}
	short, _, _ := strings.Cut(p.ID, "-")
	if id, err := p.Store.Find(short); err != nil || id != p.ID {
		short = p.ID
	}
	parts := []string{"buddy " + flagFor(p.Dest.Name) + "resume " + short}
	if title != "" {
		parts = append(parts, markup.Shorten(title, farewellTitle))
	}
	if cost > 0 {
		parts = append(parts, cost.String())
	}
	return markup.Plain(strings.Join(parts, " · "))
}

// farewellTitle is how many cells of a title the line has.
const farewellTitle = 60

// again is the command line that goes on with the session.
func (p *Program) again() string {
	return "buddy " + flagFor(p.Dest.Name) + "resume " + p.ID
}
