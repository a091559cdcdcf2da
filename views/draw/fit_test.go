package draw

import (
	"slices"
	"strings"
	"testing"

	"buddy/themes"
)

func textsOf(rows [][]Span) []string {
	var all []string
	for _, r := range rows {
		var b strings.Builder
		for _, sp := range r {
			b.WriteString(sp.Text)
		}
		all = append(all, b.String())
	}
	return all
}

func TestWrapSentence(t *testing.T) {
	for _, tt := range []struct {
		text string
		w    int
		want []string
	}{
		{"", 5, []string{""}},
		{"one two three", 20, []string{"one two three"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"one two three", 6, []string{"one", "two", "three"}},
		{"a /very/long/path b", 6, []string{"a", "/very/", "long/p", "ath b"}},
		{"日本 語", 5, []string{"日本", "語"}},
		{"a    b", 3, []string{"a", "b"}},
		{"  a", 3, []string{"a"}},
	} {
		rows := WrapSentence(Untrusted(themes.Text, tt.text), tt.w)
		if got := textsOf(rows); !slices.Equal(got, tt.want) {
			t.Errorf("wrapSentence(%q, %d) = %q, want %q", tt.text, tt.w, got, tt.want)
		}
	}
}

// Rows break between words, and joined they are the exact text.
func TestWrapWhole(t *testing.T) {
	for _, tt := range []struct {
		text string
		w    int
		want []string
	}{
		{"", 5, []string{""}},
		{"in this session", 13, []string{"in this ", "session"}},
		{"one two", 7, []string{"one two"}},
		{"one two", 3, []string{"one", " ", "two"}},
		{"a /very/long/path b", 6, []string{"a ", "/very/", "long/p", "ath b"}},
		{"a     b", 3, []string{"a  ", "   ", "b"}},
		{"日本 語", 5, []string{"日本 ", "語"}},
	} {
		rows := WrapWhole(Untrusted(themes.Text, tt.text), tt.w)
		if got := textsOf(rows); !slices.Equal(got, tt.want) || strings.Join(got, "") != tt.text {
			t.Errorf("WrapWhole(%q, %d) = %q, want %q", tt.text, tt.w, got, tt.want)
		}
		for _, r := range rows {
			if Width(r) > tt.w {
				t.Errorf("WrapWhole(%q, %d) has a row of %d cells", tt.text, tt.w, Width(r))
			}
		}
	}
}

// Only spaces are lost, at any width.
func FuzzWrapSentence(f *testing.F) {
	f.Add("the key is kept in /home/ann/.config", 10)
	f.Add("日本 👩‍🚀 \x1b[31m e\u0301", 3)
	f.Fuzz(func(t *testing.T, text string, w int) {
		w = 2 + max(0, w)%100
		spans := Untrusted(themes.Text, text)
		want := strings.ReplaceAll(strings.Join(textsOf([][]Span{spans}), ""), " ", "")
		rows := WrapSentence(spans, w)
		for _, r := range rows {
			if Width(r) > w {
				t.Errorf("a row of %d cells of %d: %q", Width(r), w, textsOf([][]Span{r}))
			}
		}
		if got := strings.ReplaceAll(strings.Join(textsOf(rows), ""), " ", ""); got != want {
			t.Errorf("%q became %q", want, got)
		}
	})
}

func TestAtMost(t *testing.T) {
	rows := WrapSentence(Untrusted(themes.Text, "one two three four"), 6)
	for most, want := range [][]string{{}, {"one …"}, {"one", "two …"}, {"one", "two", "three…"}, {"one", "two", "three", "four"}, {"one", "two", "three", "four"}} {
		if got := textsOf(AtMost(rows, most, 6)); !slices.Equal(got, want) {
			t.Errorf("at most %d: %q, want %q", most, got, want)
		}
	}
	if got := textsOf(rows); !slices.Equal(got, []string{"one", "two", "three", "four"}) {
		t.Errorf("the rows became %q", got)
	}
}
