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
)

func TestFirstScreenOffersRecentSessions(t *testing.T) {
	now := time.Now()
	at := func(d time.Duration) time.Time { return now.Add(-d) }
	all := []slash.SavedSession{
		{ID: "now", Title: "this one", Used: now},
		{ID: "a", Title: "checkout \x1b[31mtaxes\nand more", Used: at(2 * time.Minute)},
		{ID: "e", Title: "of a script", Used: at(3 * time.Minute), Exec: true},
		{ID: "b", Title: strings.Repeat("日本語", 30), Used: at(3 * time.Hour)},
		{ID: "c", Title: "older", Used: at(50 * time.Hour)},
		{ID: "d", Title: "works on", Used: at(90 * time.Hour)},
	}
	ids, lines := recent(all, "now", map[string]string{"d": "works"}, now)
	if want := []string{"d", "a", "b"}; !slices.Equal(ids, want) {
		t.Errorf("offered %q, want %q", ids, want)
	}
	if text := strings.Join(lines, ""); strings.ContainsAny(text, "\x1b\n") {
		t.Errorf("unsafe: %q", text)
	}
	for _, size := range []struct {
		name       string
		cols, rows int
	}{{"recent-120", 120, 32}, {"recent-80", 80, 24}, {"recent-40", 40, 12}} {
		synctest.Test(t, func(t *testing.T) {
			x := openScreen(t, size.cols, size.rows, &compose.Options{})
			x.later(func() { x.ui.SetWelcome(slices.Concat(ui.Welcome(false, false), lines)) })
			x.Settle()
			golden(t, "first-"+size.name, x.Screen())
		})
	}
	if ids, lines := recent(all[:1], "now", nil, now); len(ids)+len(lines) > 0 {
		t.Errorf("the first session of a folder: %q, %q", ids, lines)
	}
}
