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

// Scope says for whom an entry holds.
type Scope string

// The scopes, the widest first: all projects of the person, everybody who works on a project, this
// folder on this machine.
const (
	Person Scope = "person"
	Team   Scope = "team"
	Folder Scope = "folder"
)

// Scopes are all scopes, the widest first.
var Scopes = []Scope{Person, Team, Folder}

// Kind says what an entry tells.
type Kind string

// The kinds, in the order in which a model is told them.
const (
	Rule       Kind = "rule"
	Correction Kind = "correction"
	Fact       Kind = "fact"
)

var kinds = []Kind{Rule, Correction, Fact}

// sections are the kinds in the order of a new file, with their headings and the letters of their ids.
var sections = []struct {
	kind    Kind
	heading string
	letter  string
}{{Rule, "Rules", "r"}, {Fact, "Facts", "f"}, {Correction, "Corrections", "c"}}

// MaxText limits the text of an entry, in characters.
const MaxText = action.MaxTaught

// Ages after which an entry that nobody confirmed sinks to the end, and is asked about.
const (
	sinks = 90 * 24 * time.Hour
	asked = 180 * 24 * time.Hour
)

// Entry is one line of a memory file.
type Entry struct {
	ID    string // such as r-4k2d; that of a line without one is made of its text
	Scope Scope
	Kind  Kind
	Text  string // one line of at most MaxText characters
	Note  Note
	File  string // absolute
	Line  int    // in the file, from 1

	// Overridden is the id of a newer entry of the same scope, or of one of a narrower scope, that says
	// the opposite; "" for none.
	Overridden string
	// Opposed is the id of an entry of the project that says the opposite of one that the person has for all
	// projects: both are told. "" for none.
	Opposed string
	// Sinking entries come last, Asked ones the person should confirm or drop: nothing confirmed them for
	// 90 and 180 days.
	Sinking, Asked bool

	support   int       // of Note, once age was called
	confirmed time.Time // of Note, once age was called
}

// unlimited reports whether an entry holds for all paths and targets.
func (e Entry) unlimited() bool { return len(e.Note.Paths()) == 0 && e.Note.Target() == "" }

// age sets what is compared often, and what follows from how old an entry is. Without a date it never
// gets old.
func (e *Entry) age(now time.Time) {
	e.support, e.confirmed = e.Note.Support(), e.Note.confirmed()
	if !e.confirmed.IsZero() {
		e.Sinking, e.Asked = now.Sub(e.confirmed) >= sinks, now.Sub(e.confirmed) >= asked
	}
}

// day is the format of dates.
const day = time.DateOnly

// Note is the comment of an entry: its id, its date, and words such as from:c-9x1a,c-b07e. Unknown words
// stay as they are.
type Note []string

// parseNote returns the words of a comment. What is in quotes is one word.
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

// id returns the id of the entry, "" for none.
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

// Date returns the day of the entry, the zero time for none.
func (n Note) Date() time.Time {
	for _, w := range n {
		if t, err := time.Parse(day, w); err == nil {
			return t
		}
	}
	return time.Time{}
}

// Get returns what follows a name and a colon, "" for nothing.
func (n Note) Get(name string) string {
	for _, w := range n {
		if v, ok := strings.CutPrefix(w, name+":"); ok {
			return v
		}
	}
	return ""
}

// Sources are the ids of what the entry was learned from.
func (n Note) Sources() []string { return list(n.Get("from")) }

// Paths are the globs of the files for which the entry holds; none for all.
func (n Note) Paths() []string {
	return slices.DeleteFunc(list(n.Get("paths")), func(glob string) bool { return glob == "**" })
}

// Target is the target for which the entry holds, "" for all.
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

// confirmed returns when the entry was written or confirmed last, the zero time if that is not known.
func (n Note) confirmed() time.Time {
	at := n.Date()
	if checked, err := time.Parse(day, n.Get("checked")); err == nil && checked.After(at) {
		at = checked
	}
	return at
}

// with returns the note with another value of a name; "" takes it out.
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

// comment returns a word without what would end a comment or begin another word.
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

// cleanText returns a text as an entry has it, or why it can't be one.
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
		return "", errors.New("an entry of memory needs a text")
	case n > MaxText:
		return "", fmt.Errorf("an entry of memory has at most %d characters, this one has %d: say it shorter, or make two of it", MaxText, n)
	}
	return text, nil
}

var base = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newID returns an id with n characters made of some text that is none of taken.
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
