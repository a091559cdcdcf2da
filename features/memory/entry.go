package memory

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"buddy/agent/action"
	"buddy/texts"
)

// Scope names the projects and people for which an entry holds.
type Scope string

// The scopes, widest first: all projects of the person, everybody who works on a project, this folder on this machine.
const (
	Person Scope = "person"
	Team   Scope = "team"
	Folder Scope = "folder"
)

// Scopes lists all scopes, widest first.
var Scopes = []Scope{Person, Team, Folder}

// Kind is the type of an entry.
type Kind string

// The kinds, in the order in which the model sees them.
const (
	Rule       Kind = "rule"
	Correction Kind = "correction"
	Fact       Kind = "fact"
)

var kinds = []Kind{Rule, Correction, Fact}

// sections lists the sections of a new file, with the first letter of their entries' ids.
var sections = []struct {
	kind    Kind
	heading string
	letter  string
}{{Rule, "Rules", "r"}, {Fact, "Facts", "f"}, {Correction, "Corrections", "c"}}

// MaxText limits the text of an entry, in characters.
const MaxText = action.MaxTaught

// Ages since the last confirmation after which an entry moves to the end, and after which the person is asked about it.
const (
	sinks = 90 * 24 * time.Hour
	asked = 180 * 24 * time.Hour
)

// Entry is one line of a memory file.
type Entry struct {
	ID    string // such as r-4k2d; derived from the text where the line has none
	Scope Scope
	Kind  Kind
	Text  string // one line of at most MaxText characters
	Note  Note
	File  string
	Line  int // from 1

	// Overridden is the id of an entry that contradicts this one and wins: newer in the same scope, or of a narrower
	// scope.
	Overridden string
	// Opposed is the id of a project's entry that contradicts this entry of the person; the model sees both.
	Opposed string
	// Sinking entries, 90 days after the last confirmation, come last. Asked entries, after 180 days, should be
	// confirmed or dropped by the person.
	Sinking, Asked bool

	support   int       // of Note, set by age
	confirmed time.Time // of Note, set by age
}

// unlimited reports whether an entry holds for all paths and targets.
func (e Entry) unlimited() bool { return len(e.Note.Paths()) == 0 && e.Note.Target() == "" }

// age caches support and date for sorting, and marks old entries. An entry without a date never gets old.
func (e *Entry) age(now time.Time) {
	e.support, e.confirmed = e.Note.Support(), e.Note.confirmed()
	if !e.confirmed.IsZero() {
		e.Sinking, e.Asked = now.Sub(e.confirmed) >= sinks, now.Sub(e.confirmed) >= asked
	}
}

const day = time.DateOnly

// Note is the comment of an entry: its id, its date, and words such as from:c-9x1a,c-b07e. Unknown words are kept.
type Note []string

// parseNote splits a comment into words. A quoted part is one word.
func parseNote(s string) Note {
	var n Note
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		end := len(s)
		quoted := false
		for i, c := range s {
			if c == '"' {
				quoted = !quoted
			}
			if c == ' ' && !quoted {
				end = i
				break
			}
		}
		n, s = append(n, s[:end]), s[end:]
	}
	return n
}

func (n Note) String() string { return strings.Join(n, " ") }

// id returns the id of the entry, or "".
func (n Note) id() string {
	for _, w := range n {
		if isID(w) {
			return w
		}
	}
	return ""
}

// isID reports whether a word has the form of an entry's id.
func isID(w string) bool {
	letter, rest, ok := strings.Cut(w, "-")
	return ok && len(letter) == 1 && strings.Contains("rfc", letter) && len(rest) >= 3 && len(rest) <= 16 &&
		!strings.ContainsFunc(rest, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
}

// Date returns the day of the entry, or the zero time.
func (n Note) Date() time.Time {
	for _, w := range n {
		if t, err := time.Parse(day, w); err == nil {
			return t
		}
	}
	return time.Time{}
}

// Get returns the value if the note has a word name:value, otherwise "".
func (n Note) Get(name string) string {
	for _, w := range n {
		if v, ok := strings.CutPrefix(w, name+":"); ok {
			return v
		}
	}
	return ""
}

// Sources returns the ids of the records that the entry was learned from.
func (n Note) Sources() []string { return list(n.Get("from")) }

// Paths returns the globs of the files for which the entry holds; none for all files.
func (n Note) Paths() []string {
	return slices.DeleteFunc(list(n.Get("paths")), func(glob string) bool { return glob == "**" })
}

// Target returns the target for which the entry holds, "" for all.
func (n Note) Target() string { return n.Get("target") }

// Support returns how often the entry was learned or seen, at least 1.
func (n Note) Support() int {
	most := 1
	for _, name := range []string{"support", "seen"} {
		if v, err := strconv.Atoi(n.Get(name)); err == nil {
			most = max(most, min(v, 1_000_000))
		}
	}
	return most
}

// confirmed returns when the entry was written or last confirmed, or the zero time.
func (n Note) confirmed() time.Time {
	at := n.Date()
	if checked, err := time.Parse(day, n.Get("checked")); err == nil && checked.After(at) {
		at = checked
	}
	return at
}

// with returns a copy of the note in which the word name:value replaces an earlier one; an empty value removes the
// word.
func (n Note) with(name, value string) Note {
	n = slices.Clone(n)
	at := slices.IndexFunc(n, func(w string) bool { return strings.HasPrefix(w, name+":") })
	word := name + ":" + comment(value)
	switch {
	case value == "" && at >= 0:
		return slices.Delete(n, at, at+1)
	case value == "":
		return n
	case at >= 0:
		n[at] = word
		return n
	}
	return append(n, word)
}

func list(s string) []string {
	return slices.DeleteFunc(strings.Split(s, ","), func(w string) bool { return w == "" })
}

// comment changes a word so that it can't end the comment, and quotes it if it has spaces.
func comment(s string) string {
	s = strings.NewReplacer("-->", "→", "<!--", "←").Replace(texts.OneLine(s))
	if strings.Contains(s, " ") && strings.Count(s, `"`)%2 != 0 {
		s = strings.ReplaceAll(s, `"`, "'")
	}
	if strings.Contains(s, " ") && !strings.Contains(s, `"`) {
		s = `"` + s + `"`
	}
	return s
}

// cleanText returns a text in the form of an entry, or why it can't be one.
func cleanText(text string) (string, error) {
	text = strings.NewReplacer("-->", "→", "<!--", "←").Replace(texts.OneLine(strings.ToValidUTF8(text, "\ufffd")))
	text = strings.TrimSpace(strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, text))
	switch n := utf8.RuneCountInString(text); {
	case text == "":
		return "", errors.New("a memory entry needs a text")
	case n > MaxText:
		return "", fmt.Errorf("a memory entry has at most %d characters, this one has %d: shorten or split it", MaxText, n)
	}
	return text, nil
}

var base = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newID returns an id of n characters, derived from texts, that is not taken.
func newID(letter string, n int, taken func(string) bool, of ...string) string {
	for salt := 0; ; salt++ {
		sum := sha256.Sum256([]byte(strings.Join(of, "\x00") + strconv.Itoa(salt)))
		if id := letter + "-" + base.EncodeToString(sum[:])[:n]; taken == nil || !taken(id) {
			return id
		}
	}
}

func letterOf(k Kind) string {
	for _, s := range sections {
		if s.kind == k {
			return s.letter
		}
	}
	return "r"
}
