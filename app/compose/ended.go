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

// Desert leaves the session as a crash would, so that it can be resumed: from now on nothing is recorded, and commands
// keep running in their panes. It prints what keeps running. The runtime ends with the process.
func (p *Program) Desert(out io.Writer) {
	p.Live.abandon()
	p.Options.Programs.End() // publishes events, which would block forever once the journal is frozen
	p.Journal.freeze()
	ctx, cancel := context.WithTimeout(context.Background(), CloseTime)
	defer cancel()
	p.closeTargets(ctx, out)
	stored := p.Journal.Stored() != nil
	if err := p.Journal.close(); err != nil {
		_, _ = fmt.Fprintln(out, "buddy: "+markup.Plain(err.Error()))
	}
	if stored {
		_, _ = fmt.Fprintln(out, "buddy: stopped by a signal; to continue the session: "+markup.Plain(p.again()))
	}
}

// Farewell returns the line printed when the user leaves: the session's title and cost if known, and the command that
// resumes it; "" for a session that was not stored.
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

// ResumedLine returns a line with the resumed session's title and the time since its last use. last is the time of that
// use in Unix milliseconds. title may be "".
func ResumedLine(s *Setup, title string, last int64, now time.Time) string {
	text := "Resumed"
	if title = titled(s, title); title != "" {
		text += " “" + markup.Shorten(title, farewellTitle) + "”"
	}
	if last == 0 {
		return markup.Plain(text)
	}
	return markup.Plain(text + " · last used " + ago(now.Sub(time.UnixMilli(last))))
}

// titled returns the title of the session, else the start of its first prompt.
func titled(s *Setup, title string) string {
	if title == "" {
		if e, err := s.Store.Entry(s.ID); err == nil {
			title = e.Title
		}
	}
	return title
}

// ago returns a duration in words, for a sentence.
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

// farewellTitle limits the width of a title in the line, in cells.
const farewellTitle = 60

// again returns the command line that resumes the session.
func (s *Setup) again() string {
	return "buddy " + flagFor(s.Target) + "resume " + s.ID
}
