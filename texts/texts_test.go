package texts_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
	"unicode"

	"buddy/texts"
)

type word string

// encoded returns v as JSON, or the error.
func encoded(v any) string {
	b, err := texts.JSON(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestCuts(t *testing.T) {
	noon := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ name, got, want string }{
		{"one line", texts.OneLine(" a\n\tb\u00a0c "), "a b c"},
		{"short", texts.Clip("äöü", 3), "äöü"},
		{"characters", texts.Clip("äöüß", 3), "äö…"},
		{"later today", texts.Until(noon, noon.Add(time.Hour), "15:04:05"), "13:00:00"},
		{"tomorrow", texts.Until(noon, noon.Add(24*time.Hour), "15:04"), "Wed 2 Dec 12:00"},
		{"few bytes", texts.ClipBytes("äö", 4), "äö"},
		{"bytes", texts.ClipBytes("äöü", 3), "ä…"},
		{"five of five", texts.Some([]string{"a", "b", "c", "d", "e"}), "a, b, c, d, e"},
		{"five of seven", texts.Some([]string{"a", "b", "c", "d", "e", "f", "g"}), "a, b, c, d, e, and 2 more"},
		{"names", texts.Names([]word{"a", "b"}), "a, b"},
		{"JSON", encoded(map[string]string{"a": "<b>\n"}), `{"a":"<b>\n"}`},
		{"no JSON", encoded(func() {}), "json: unsupported type: func()"},
		{"whole", string(texts.WholeRunes([]byte("aä"))), "aä"},
		{"cut", string(texts.WholeRunes([]byte("a\xe2\x82"))), "a"},
		{"no beginning", string(texts.WholeRunes([]byte("a\x82\x82\x82\x82"))), "a\x82\x82\x82\x82"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"model", "omdel", 2}, {"kitten", "sitting", 3}} {
		if got := texts.Distance(tt.a, tt.b); got != tt.want || texts.Distance(tt.b, tt.a) != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestBelow(t *testing.T) {
	for _, tt := range []struct {
		path, folder string
		want         bool
	}{{"/a/b", "/a", true}, {"/a", "/a", true}, {"/ab", "/a", false}, {"/a/../b", "/a", false}, {"/a", "/", true}, {"a/b", "/a", false}, {"a/b", "a", false}, {"/a", "", false}} {
		if got := texts.Below(tt.path, tt.folder); got != tt.want {
			t.Errorf("Below(%q, %q) = %v", tt.path, tt.folder, got)
		}
	}
}

// FuzzFold compares with a search in lower case.
func FuzzFold(f *testing.F) {
	f.Add("xjx", "aXJxJX")
	f.Add("e", "E")
	f.Add("é1", "É1é1")
	f.Add("aab", "aaAab")
	lower := func(s string) []byte {
		return bytes.Map(func(r rune) rune {
			if r >= 'A' && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}, []byte(s))
	}
	f.Fuzz(func(t *testing.T, what, in string) {
		what, in = string(bytes.ToValidUTF8([]byte(what), nil)), string(bytes.ToValidUTF8([]byte(in), nil))
		if what == "" {
			return
		}
		if got, want := texts.NewFold(lower(what)).Index([]byte(in)), bytes.Index(lower(in), lower(what)); got != want {
			t.Errorf("Index(%q, %q) = %d, want %d", in, what, got, want)
		}
	})
}

func TestPrintableJSON(t *testing.T) {
	for _, text := range []string{"", "plain", "é 日本 👍", "c1 \u009b2J", "\x7f", "a\u202eb\u2066c\u2069", "\u2028\ufeff\u200b", "tag \U000e0041", "\x1b[31m\x00\r"} {
		in, err := texts.JSON(text)
		if err != nil {
			t.Fatal(err)
		}
		out := texts.PrintableJSON(in)
		if i := bytes.IndexFunc(out, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%q becomes %s, unprintable at %d", text, out, i)
		}
		var back string
		if err := json.Unmarshal(out, &back); err != nil || back != text {
			t.Errorf("%s means %q (%v), want %q", out, back, err, text)
		}
	}
}

func TestCommonCountsNoByteTwice(t *testing.T) {
	for _, tt := range []struct {
		a, b       string
		begin, end int
	}{
		{"", "", 0, 0},
		{"same", "same", 4, 0},
		{"aa", "aaa", 2, 0},
		{"one two", "one 2 two", 4, 3},
		{"left", "right", 0, 1},
		{"x", "", 0, 0},
	} {
		if begin, end := texts.Common([]byte(tt.a), []byte(tt.b)); begin != tt.begin || end != tt.end {
			t.Errorf("Common(%q, %q) = %d, %d, want %d, %d", tt.a, tt.b, begin, end, tt.begin, tt.end)
		}
	}
}

func TestPlural(t *testing.T) {
	for _, tt := range []struct {
		n          int
		what, want string
	}{
		{1, "byte", "1 byte"},
		{0, "byte", "0 bytes"},
		{3, "entry", "3 entries"},
		{4, "branch", "4 branches"},
		{2, "key", "2 keys"},
		{2, "day", "2 days"},
	} {
		if got := texts.Plural(tt.n, tt.what); got != tt.want {
			t.Errorf("Plural(%d, %q) = %q, want %q", tt.n, tt.what, got, tt.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1.0k", 9_949: "9.9k", 12_345: "12k", 999_999: "999k", 1_500_000: "1.5M"} {
		if got := texts.Count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestByteCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{1: "1 byte", 12: "12 bytes", 1500: "2 KB", 999000: "999 KB", 1.5e6: "1.5 MB", 93e6: "93.0 MB", 12e9: "12.0 GB"} {
		if got := texts.ByteCount(n); got != want {
			t.Errorf("ByteCount(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestUnfenced(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		" {}\n": "{}", "```json\n[1]\n```\n": "[1]", "```\na\n\nb\n```": "a\n\nb",
		"```json [1] ```": "```json [1] ```", "```\nopen": "```\nopen", "a ```\nb\n```": "a ```\nb\n```",
	} {
		if got := texts.Unfenced(in); got != want {
			t.Errorf("Unfenced(%q) = %q, want %q", in, got, want)
		}
	}
}
