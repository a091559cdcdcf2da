package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/agent/review"
	"buddy/app/account"
	"buddy/app/slash"
	"buddy/sessions"
	"buddy/tools/fs"
	"buddy/views/markup"
)

const (
	maxHits    = 20               // that a search shows
	searchTime = 20 * time.Second // that it may take
)

// searchSessions finds text in the sessions of this folder, for people.
func (s *Setup) searchSessions(text string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), searchTime)
	defer cancel()
	var lines []string
	n, last := 0, ""
	err := s.Store.Search(ctx, text, func(h sessions.Hit) bool {
		if n++; n > maxHits {
			return false
		}
		if h.Entry.ID != last {
			last = h.Entry.ID
			lines = append(lines, fmt.Sprintf("%s %s  %s", s.mark(last), last, markup.Shorten(h.Entry.Title, 50)))
		}
		lines = append(lines, fmt.Sprintf("    %s  %s", time.UnixMilli(h.Envelope.Time).Format("2006-01-02 15:04"), h.Text))
		return true
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		lines = append(lines, fmt.Sprintf("stopped after %s", searchTime))
	case err != nil:
		return "", err
	case n == 0:
		return fmt.Sprintf("%q is in no session of this folder", text), nil
	case n > maxHits:
		lines = append(lines, "there are more; buddy sessions search shows all")
	}
	return strings.Join(lines, "\n"), nil
}

// mark marks this session in a list.
func (s *Setup) mark(id string) string {
	if id == s.ID {
		return "*"
	}
	return " "
}

// fork copies this session up to the end of an exchange; 0 is the last that has ended.
func (s *Setup) fork(exchange int) (string, error) {
	if s.current() == "" {
		return "", errors.New("nothing of this session is saved yet; the first prompt does that")
	}
	id, _, err := s.Store.Fork(s.ID, exchange)
	return id, TrustFirst(s.ID, err)
}

// transcript returns what the model was told and said in a session.
func (s *Setup) transcript(id string) (string, error) {
	if id == s.ID && !s.Stored() {
		return "", errors.New("nothing was said yet: the first prompt begins the transcript")
	}
	return s.Store.Transcript(id)
}

// Catalog returns the choices that need no runtime. Logins end with ctx.
func (s *Setup) Catalog(ctx context.Context) slash.Catalog {
	return slash.Catalog{
		// with --model demo, or with it in the settings, there is no problem
		Access:     account.Access(ctx, s.Config, s.Config.Active == nil && s.Problem != ""),
		Sessions:   func() (string, error) { return listSessions(s) },
		Search:     s.searchSessions,
		Fork:       s.fork,
		Saved:      slash.SavedIn(s.Store),
		Export:     s.exportHere,
		Transcript: s.transcript,
		Find:       s.findHere,
		Trust:      &slash.TrustList{Folder: s.trust, List: s.trustItems, Set: s.setTrust, Diff: s.partDiff},
		Styles:     slash.StyleList{Describe: s.listStyles, Choose: s.setStyle},
		Current:    s.current,
		Settings: slash.Settings{
			Text: func() (string, error) { return settingsText(s) }, File: func() (string, error) { return settingsFile(s) },
		},
		Locate: func(folder string, f event.Finding) review.Spot {
			return review.Locate(ctx, fs.Local, folder, f)
		},
	}
}

// Catalog returns all that there is to choose from, for a line in the same process.
func (p *Program) Catalog(ctx context.Context) slash.Catalog {
	all := p.Setup.Catalog(ctx)
	all.Since = func() ([]agent.Change, error) { return ChangedSince(p) }
	return all
}

// MaxListed limits the sessions that a list shows.
const MaxListed = 20

func listSessions(s *Setup) (string, error) {
	entries, err := s.Store.List()
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return "no session of this folder is saved yet; the first prompt makes one", nil
	}
	text := fmt.Sprintf("sessions of this folder (%d), the latest first, those of buddy exec at the end:", len(entries))
	slices.SortStableFunc(entries, func(a, b sessions.Entry) int { return cmp.Compare(a.Header.By, b.Header.By) })
	for _, e := range entries[:min(len(entries), MaxListed)] {
		text += fmt.Sprintf("\n%s %s  %s  %s", s.mark(e.ID), e.ID, e.Used.Format("2006-01-02 15:04"), markup.Shorten(cmp.Or(e.Problem, e.Title), 50))
	}
	return text + "\n/session resume ID goes on with one of them", nil
}
