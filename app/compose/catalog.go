package compose

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/app/account"
	"buddy/app/slash"
	"buddy/sessions"
	"buddy/views/markup"
)

const (
	maxHits    = 20               // that a search shows
	searchTime = 20 * time.Second // that it may take
)

// searchSessions finds text in the sessions of this folder, for people.
func (p *Program) searchSessions(text string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), searchTime)
	defer cancel()
	var lines []string
	n, last := 0, ""
	err := p.Store.Search(ctx, text, func(h sessions.Hit) bool {
		if n++; n > maxHits {
			return false
		}
		if h.Entry.ID != last {
			last = h.Entry.ID
			lines = append(lines, fmt.Sprintf("%s %s  %s", p.mark(last), last, markup.Shorten(h.Entry.Title, 50)))
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
func (p *Program) mark(id string) string {
	if id == p.ID {
		return "*"
	}
	return " "
}

// fork copies this session up to the end of an exchange; 0 is the last that has ended.
func (p *Program) fork(exchange int) (string, error) {
	if p.current() == "" {
		return "", errors.New("nothing of this session is saved yet; the first prompt does that")
	}
	id, _, err := p.Store.Fork(p.ID, exchange)
	return id, err
}

// Catalog returns what there is to choose from. Logins end with ctx.
func (p *Program) Catalog(ctx context.Context) slash.Catalog {
	return slash.Catalog{
		// with --model demo, or with it in the settings, there is no problem
		Access:   account.Access(ctx, p.Config, p.Config.Active == nil && p.Problem != ""),
		Offers:   func() []slash.Offer { return OffersOf(context.Background(), p.Config, p.Index) },
		Sessions: p.listSessions,
		Search:   p.searchSessions,
		Fork:     p.fork,
		Saved:    slash.SavedIn(p.Store),
		Export:   p.exportHere,
		Changes:  p.changes,
		Rules:    slash.RuleList{List: p.permissions, Remove: p.removeRule},
		Find:     p.findHere,
		Targets:  slash.TargetList{Describe: p.describe, Offers: func() []slash.TargetOffer { return targetOffers(p.Targets) }},
		Trust:    p.trust,
		Current:  p.current,
		Notice:   func(text string) { p.Live.Publish(event.Notice{Text: text}) },
	}
}

// MaxListed is how many sessions a list shows.
const MaxListed = 20

func (p *Program) listSessions() (string, error) {
	entries, err := p.Store.List()
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return "no session of this folder is saved yet; the first prompt makes one", nil
	}
	text := fmt.Sprintf("sessions of this folder (%d), the latest first:", len(entries))
	for _, e := range entries[:min(len(entries), MaxListed)] {
		text += fmt.Sprintf("\n%s %s  %s  %s", p.mark(e.ID), e.ID, e.Used.Format("2006-01-02 15:04"), markup.Shorten(e.Title, 50))
	}
	return text + "\n/session resume ID goes on with one of them", nil
}
