package fuzzy

import (
	"strings"
	"testing"
)

func TestFit(t *testing.T) {
	tests := []struct {
		query, better, worse string // worse fits less well; "" = does not matter
	}{
		{"scgo", "app/screen/screen.go", "app/some/cargo"},
		{"ui", "app/ui.go", "build/input"},
		{"UI", "app/UI.go", ""},
	}
	for _, tt := range tests {
		a, ok := Fit(tt.better, tt.query)
		if !ok {
			t.Errorf("Fit(%q, %q) does not fit", tt.better, tt.query)
		}
		if b, ok := Fit(tt.worse, tt.query); tt.worse != "" && ok && b >= a {
			t.Errorf("Fit(%q, %q) = %d, not less than %d of %q", tt.worse, tt.query, b, a, tt.better)
		}
	}
	if _, ok := Fit("app/ui.go", "UI"); ok {
		t.Error("a capital does not count")
	}
}

func TestWords(t *testing.T) {
	fits := func(text, query string, want bool) int {
		t.Helper()
		score, ok := Words(text, query)
		if ok != want {
			t.Errorf("Words(%q, %q) = %v, want %v", text, query, ok, want)
		}
		return score
	}
	fits("why do the checkout tests fail?", "tests check", true) // in any order
	fits("why do the checkout tests fail?", "nginx", false)
	fits("anything", "", true)
	whole, gaps := fits("Fix the NGINX config", "nginx", true), fits("new gate in next", "nginx", true)
	if whole <= gaps {
		t.Errorf("a whole word has %d, one with gaps %d", whole, gaps)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"session", "status", "theme"}
	for wrong, want := range map[string]string{"sesion": "session", "STATS": "status", "tehme": "theme"} {
		if got := Nearest(wrong, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", wrong, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("Nearest of nothing = %q", got)
	}
}

// TestMeant: a slip or two, or only the beginning, is near enough; another word is not, whatever its length.
func TestMeant(t *testing.T) {
	names := []string{"help", "session", "status", "ls"}
	for wrong, want := range map[string]string{
		"hepl": "help", "Sess": "session", "sesion": "session", "sl": "", "xyzzy": "", "": "", "documentation": "",
		strings.Repeat("s", 65): "",
	} {
		if got := meant(wrong, names); got != want {
			t.Errorf("meant(%q) = %q, want %q", wrong, got, want)
		}
	}
	if got := meant("help", nil); got != "" {
		t.Errorf("meant of nothing = %q", got)
	}
}

// What a text has as a whole comes before what has its letters somewhere, an early place
// before a late one.
func TestWordsOrder(t *testing.T) {
	best := []string{
		"/session  the sessions of this folder", "/status  model, tools and counters of this session", "/diff  all that its tools changed in ways so strange",
	}
	last := 1 << 30
	for _, text := range best {
		score, ok := Words(text, "sess")
		if !ok || score >= last {
			t.Errorf("%q: %d, %v after %d", text, score, ok, last)
		}
		last = score
	}
}
