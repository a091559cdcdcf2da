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
	p.Options.Programs.End() // tells the stream, which waits for ever once the journal is frozen
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

// Farewell returns the line that is printed when a person leaves: the session's title and cost as far as
// they are known, and the command that resumes it. It is "" for a session
// that was not stored.
func (s *Setup) Farewell(title string, cost model.Money) string {
	if !s.Stored() {
		return ""
	}
	short, _, _ := strings.Cut(s.ID, "-")
	if id, err := s.Store.Find(short); err != nil || id != s.ID {
		short = s.ID
	}
	if title == "" {
		if e, err := s.Store.Entry(s.ID); err == nil { // the beginning of the first prompt
			title = e.Title
		}
	}
	text := "Session saved"
	if title != "" {
		text += ": " + markup.Shorten(title, farewellTitle)
	}
	if cost > 0 {
		text += " (" + cost.String() + ")"
	}
	return markup.Plain(text + ". Resume with: buddy " + flagFor(s.Target) + "resume " + short)
}

// farewellTitle limits the cells of a title in the line.
const farewellTitle = 60

// again is the command line that goes on with the session.
func (s *Setup) again() string {
	return "buddy " + flagFor(s.Target) + "resume " + s.ID
}
