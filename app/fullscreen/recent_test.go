package fullscreen

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/app/compose"
	"buddy/app/slash"
	"buddy/app/ui"
	"buddy/views/viewtest"
)

func TestFirstScreenOffersRecentSessions(t *testing.T) {
	now := time.Now()
	at := func(d time.Duration) time.Time { return now.Add(-d) }
	all := []slash.SavedSession{
		{ID: "now", Title: "this one", Used: now},
		{ID: "a", Title: "checkout \x1b[31mtaxes\nand more", Used: at(2 * time.Minute)},
		{ID: "e", Title: "of a script", Used: at(3 * time.Minute), Exec: true},
		{ID: "f", Title: "can't be opened", Used: at(4 * time.Minute), Problem: "line 1 is damaged"},
		{ID: "b", Title: strings.Repeat("日本語", 30), Used: at(3 * time.Hour)},
		{ID: "c", Title: "older", Used: at(50 * time.Hour)},
		{ID: "d", Title: "works on", Used: at(90 * time.Hour)},
	}
	offered := recent(all, "now", map[string]string{"d": "works"}, now)
	var ids []string
	for _, r := range offered {
		ids = append(ids, r.ID)
		if strings.ContainsAny(r.Line, "\x1b\n") {
			t.Errorf("unsafe: %q", r.Line)
		}
	}
	if want := []string{"d", "a", "b"}; !slices.Equal(ids, want) {
		t.Errorf("offered %q, want %q", ids, want)
	}
	for _, size := range []struct {
		name       string
		cols, rows int
	}{{"recent-120", 120, 32}, {"recent-80", 80, 24}, {"recent-40", 40, 12}} {
		synctest.Test(t, func(t *testing.T) {
			x := openScreen(t, size.cols, size.rows, &compose.Options{})
			x.later(func() {
				ui.SetFirst(x.ui, ui.Examples(false, false))
				ui.OfferRecent(x.ui, offered)
			})
			x.Settle()
			viewtest.GoldenText(t, "first-"+size.name, x.Screen())
		})
	}
	if got := recent(all[:1], "now", nil, now); len(got) > 0 {
		t.Errorf("the first session of a folder: %q", got)
	}
}
