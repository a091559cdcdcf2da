package redact

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// A known key is replaced by its owner's name in every encoding. The longer of two keys wins, and short values are
// ignored.
func TestKeysShowTheirNames(t *testing.T) {
	k := NewKeys(Key{"work", "k-0123456789"}, Key{"home", `k-0123456789"quoted`}, Key{"SHORT", "abc"}, Key{"again", "k-0123456789"})
	for text, want := range map[string]string{
		"use k-0123456789 here":              "use [key of work] here",
		"k-0123456789k-0123456789":           "[key of work][key of work]",
		`k-0123456789"quoted`:                "[key of home]",
		`{"command":"k-0123456789\"quoted"}`: `{"command":"[key of home]"}`,
		"abc k-012345678":                    "abc k-012345678",
	} {
		if got := k.Text(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if (*Keys)(nil).Text("x") != "x" || NewKeys(Key{"a", "short"}) != nil {
		t.Error("no keys hide something")
	}
}

// After an edit, a key returns in the place of its name, and no other key does.
func TestKeysAreRestored(t *testing.T) {
	k := NewKeys(Key{"work", "k-0123456789"}, Key{"home", "h-0123456789"})
	original := `{"command":"login k-0123456789"}`
	edited := strings.Replace(k.Text(original), "login", "login -v [key of home]", 1)
	if got, want := k.Restore(edited, original), `{"command":"login -v [key of home] k-0123456789"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// However a text is split into pieces, a stream shows the same as for the whole text and never a part of a later
// key.
func TestKeysCutIntoPieces(t *testing.T) {
	k := NewKeys(Key{"work", "k-0123456789"}, Key{"twice", "aabaabaabaab"}, Key{"inner", "0123456789ab"})
	texts := []string{
		"it is k-0123456789.", "k-0123456789k-012", "aabaabaabaabaabaab", "k-k-k-0123456789", "k-0123456789ab and 0123456789ab", "no key", "k-01234567",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, text := range texts {
		for range 200 {
			s, got := k.Stream(), ""
			for rest := text; rest != ""; {
				n := 1 + rnd.IntN(len(rest))
				got += s.Write(rest[:n])
				rest = rest[n:]
			}
			if got += s.Flush(); strings.Contains(got, "0123456789") || strings.Contains(got, "aabaabaabaab") || got != k.Text(got) {
				t.Fatalf("%q shows as %q", text, got)
			}
		}
	}
	if s := k.Stream(); s.Write("it is k-012") != "it is " {
		t.Error("the beginning of a key was shown")
	}
}

// Keys are replaced in all strings of a value; the original value and byte slices do not change.
func TestKeysInValues(t *testing.T) {
	type part struct{ Text string }
	type whole struct {
		Parts  []part
		Named  map[string]string
		Signed json.RawMessage
		At     *part
		Any    any
		hidden string
	}
	k := NewKeys(Key{"work", "k-0123456789"})
	v := whole{[]part{{"a"}, {"k-0123456789"}}, map[string]string{"x": "k-0123456789"}, json.RawMessage(`"k-0123456789"`), &part{"k-0123456789"}, part{"k-0123456789"}, "k-0123456789"}
	const mark = "[key of work]"
	want := whole{[]part{{"a"}, {mark}}, map[string]string{"x": mark}, v.Signed, &part{mark}, part{mark}, v.hidden}
	if got := k.Hidden(v); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if v.Parts[1].Text != "k-0123456789" || v.At.Text != "k-0123456789" {
		t.Error("the value itself was changed")
	}
	clean := whole{Parts: []part{{"a"}}}
	if n := testing.AllocsPerRun(100, func() { k.Hidden(&clean) }); n > 0 {
		t.Errorf("%v allocations for a value without keys", n)
	}
}
