package compose

import (
	"testing"
	"time"

	"buddy/sessions"
)

func TestSayResumed(t *testing.T) {
	s := &Setup{Store: sessions.Store{}, ID: "7f3a"}
	now := time.UnixMilli(1e12)
	for _, tt := range []struct {
		title string
		ago   time.Duration
		want  string
	}{
		{"explain the tax bug", 5 * time.Minute, "Resumed “explain the tax bug” · last used 5 min ago"},
		{"taxes", 30 * time.Second, "Resumed “taxes” · last used just now"},
		{"taxes", time.Hour, "Resumed “taxes” · last used 1 hour ago"},
		{"taxes", 49 * time.Hour, "Resumed “taxes” · last used 2 days ago"},
		{"red\x1b[31m", time.Minute, "Resumed “red␛[31m” · last used 1 min ago"},
		{"", time.Minute, "Resumed · last used 1 min ago"},
	} {
		if got := ResumedLine(s, tt.title, now.Add(-tt.ago).UnixMilli(), now); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if got := ResumedLine(s, "taxes", 0, now); got != "Resumed “taxes”" {
		t.Errorf("without a time: %q", got)
	}
}
