package ui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"buddy/app/show"
	"buddy/app/slash"
	"buddy/texts"
	"buddy/views/markup"
)

// query handles the typed query. If it starts with a slash, query searches all sessions for the rest and returns true.
// Otherwise the list filters its rows by it.
func (b *browser) query(query string) bool {
	text, search := strings.CutPrefix(query, "/")
	b.endSearch()
	if !search {
		b.list()
		return false
	}
	b.p.SetEmpty("")
	b.p.SetColumns(hitColumns)
	b.p.SetRows(nil)
	if strings.TrimSpace(text) == "" {
		b.p.SetNote("type text to search in all sessions")
		return true
	}
	b.search(text)
	return true
}

func (b *browser) endSearch() {
	if b.stop != nil {
		b.stop()
		b.stop = nil
	}
}

// search finds text in all sessions, up to mostHits times, and shows hits while it runs.
func (b *browser) search(text string) {
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	b.p.SetNote("searching …")
	b.work(func() func() {
		var hits []slash.Hit
		updated := time.Now()
		err := b.saved.Search(ctx, text, func(h slash.Hit) bool {
			hits = append(hits, h)
			if time.Since(updated) > hitsPause {
				updated = time.Now()
				part := slices.Clip(hits)
				b.u.deps.Later(func() { b.found(ctx, part, "searching …") })
			}
			return len(hits) < mostHits
		})
		return func() {
			note := texts.Plural(len(hits), "hit")
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				note = err.Error()
			case len(hits) == mostHits:
				note = fmt.Sprintf("the first %d matches", mostHits)
			}
			b.found(ctx, hits, note)
		}
	})
}

// found shows the hits of a search unless the search was cancelled.
func (b *browser) found(ctx context.Context, hits []slash.Hit, note string) {
	if ctx.Err() != nil || b.closed.Load() {
		return
	}
	now := b.u.deps.Now()
	rows := make([]show.Row, len(hits))
	for i, h := range hits {
		rows[i] = show.Row{
			ID: h.Session.ID + "#" + strconv.Itoa(i), Mark: h.Session.ID == b.u.state.Info.Session,
			Cells: []string{h.Text, texts.Age(now.Sub(time.UnixMilli(h.Event.Time))), "", markup.Shorten(h.Session.Title, 28), cmp.Or(h.Session.Target, "local"), ""},
		}
	}
	b.hits = hits
	b.p.SetRows(rows)
	b.p.SetNote(note)
}

// spotOf returns the position of a row's search hit, or the zero Spot if the row is a session.
func (b *browser) spotOf(row show.Row) slash.Spot {
	_, number, ok := strings.Cut(row.ID, "#")
	i, err := strconv.Atoi(number)
	if !ok || err != nil || i >= len(b.hits) {
		return slash.Spot{}
	}
	return b.hits[i].Spot(strings.TrimPrefix(b.p.Query(), "/"))
}
