package compose

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"buddy/agent/model"
	"buddy/texts"
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
		_, _ = fmt.Fprintln(said, "buddy: stopped by a signal; to continue the session: "+markup.Plain(p.again()))
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
	text := "Session saved"
	if title = titled(s, title); title != "" {
		text += ": " + markup.Shorten(title, farewellTitle)
	}
	if cost > 0 {
		text += " (" + cost.String() + ")"
	}
	return markup.Plain(text + ". Resume with: buddy " + flagFor(s.Target) + "resume " + short)
}

// SayResumed says which session is resumed, and how long ago it was used last: at a time in Unix milliseconds. title is its
// title, "" if it has none.
func SayResumed(s *Setup, title string, last int64, now time.Time) string {
	text := "Resumed"
	if title = titled(s, title); title != "" {
		text += " “" + markup.Shorten(title, farewellTitle) + "”"
	}
	if last == 0 {
		return markup.Plain(text)
	}
	return markup.Plain(text + " · last used " + ago(now.Sub(time.UnixMilli(last))))
}

// titled returns the title of the session, else the beginning of its first prompt.
func titled(s *Setup, title string) string {
	if title == "" {
		if e, err := s.Store.Entry(s.ID); err == nil {
			title = e.Title
		}
	}
	return title
}

// ago writes how long ago something was, for a sentence.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 24*time.Hour:
		return texts.Plural(int(d/time.Hour), "hour") + " ago"
	}
	return texts.Plural(int(d/(24*time.Hour)), "day") + " ago"
}

// farewellTitle limits the cells of a title in the line.
const farewellTitle = 60

// again is the command line that goes on with the session.
func (s *Setup) again() string {
	return "buddy " + flagFor(s.Target) + "resume " + s.ID
}
