package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"buddy/sessions"
	"buddy/views/markup"
)

const (
	maxHits    = 20               // that a search shows
	searchTime = 20 * time.Second // that it may take
)

// searchSessions finds text in the sessions of this folder, for people.
func (p *program) searchSessions(text string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), searchTime)
	defer cancel()
	var lines []string
	n, last := 0, ""
	err := p.store.Search(ctx, text, func(h sessions.Hit) bool {
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
func (p *program) mark(id string) string {
	if id == p.id {
		return "*"
	}
	return " "
}

// fork copies this session up to the end of an exchange; 0 is the last that has ended.
func (p *program) fork(exchange int) (string, error) {
	if p.current() == "" {
		return "", errors.New("nothing of this session is saved yet; the first prompt does that")
	}
	id, _, err := p.store.Fork(p.id, exchange)
	return id, err
}
