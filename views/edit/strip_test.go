package edit

import (
	"strings"
	"testing"

	"buddy/app/keymap"
	"buddy/views/markup"
)

func TestStrip(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		back       int // the cursor, in characters from the end
		width      int
		want       string
		cursor     int
	}{
		{"nothing", "", 0, 10, "", 0},
		{"fits", "hello", 2, 10, "hello", 3},
		{"lines", "a\nb", 0, 10, "a␊b", 3},
		{"wide", "日本語", 1, 20, "日本語", 4},
		{"hostile", "a\x1b\u202eb", 0, 30, "a␛‹U+202E›b", 11},
		{"cut at the left", "0123456789", 0, 8, "‹456789", 7},
		{"cut at both", "0123456789abcdef", 8, 8, "‹234567›", 7},
		{"cut at the right", "0123456789", 10, 8, "0123456›", 0},
		{"a wide one does not fit", "日本語日本語", 6, 8, "日本語›", 0},
		{"narrow", "0123456789", 0, 1, "‹89", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := New()
			e.SetText(tt.text)
			for range tt.back {
				e.Do(keymap.CharLeft)
			}
			got, cursor := e.Strip(tt.width)
			if got != tt.want || cursor != tt.cursor {
				t.Errorf("Strip(%d) = %q, %d, want %q, %d", tt.width, got, cursor, tt.want, tt.cursor)
			}
		})
	}
}

// A strip of any text fits and contains the cursor.
func FuzzStrip(f *testing.F) {
	f.Add("hello 日本 e\u0301\n\tx", 3, 12)
	f.Fuzz(func(t *testing.T, text string, back, width int) {
		if len(text) > 500 || width > 300 {
			return
		}
		e := New()
		e.SetText(text)
		for range min(max(back, 0), 500) {
			e.Do(keymap.CharLeft)
		}
		shown, cursor := e.Strip(width)
		if room := max(width, 4); markup.Width([]byte(shown)) > room+12 || cursor < 0 || cursor > room+12 || strings.ContainsAny(shown, "\n\r\x1b") {
			t.Errorf("Strip(%d) = %q, %d", width, shown, cursor) // a hostile character takes up to 10 columns
		}
	})
}

func TestCompleteWord(t *testing.T) {
	e := New()
	e.SetText("see @mai now")
	for range 4 {
		e.Do(keymap.CharLeft)
	}
	if word, before := e.Word(); word != "@mai" || before == "" {
		t.Errorf("Word() = %q, %v", word, before)
	}
	e.CompleteWord("@main.go")
	if e.Text() != "see @main.go now" {
		t.Errorf("text %q", e.Text())
	}
	e.SetText("/he")
	if word, before := e.Word(); word != "/he" || before != "" {
		t.Errorf("Word() = %q, %v", word, before)
	}
}
