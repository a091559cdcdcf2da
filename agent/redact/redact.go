// Package redact removes secrets from text where it enters: tool output, before it becomes
// history, so that live and replayed sessions are the same.
//
//	r := redact.New(apiKey)
//	text = r.Text(text)      // a whole text
//	s := r.Stream()          // output in pieces
//	show(s.Write(piece))
//
// It knows the given values and the shapes of keys (shapes.go). It does not guess: text that
// merely looks random stays. [Entropy] guesses, for what leaves the session: exports, facts
// and debug logs.
package redact

import (
	"slices"
	"strings"

	"buddy/texts"
)

// Mark replaces a secret.
const Mark = "[redacted]"

// least is the minimal length of a given value, in bytes; shorter ones are too common as text.
const least = 8

// Redactor removes secrets. The nil Redactor knows no values. It is safe for concurrent use.
type Redactor struct{ find *finder }

// New returns a Redactor that also removes the given values. Short and blank ones are ignored.
func New(values ...string) *Redactor {
	f := known.clone()
	var all []string
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) < least {
			continue
		}
		for _, form := range []string{v, escaped(v)} {
			if !slices.Contains(all, form) {
				all = append(all, form)
				f.add(value{form})
			}
		}
	}
	return &Redactor{f}
}

// escaped encodes a value as in JSON, the format of results.
func escaped(v string) string {
	b, err := texts.JSON(v)
	if err != nil {
		return v
	}
	return strings.Trim(string(b), `"`)
}

func (r *Redactor) finder() *finder {
	if r == nil {
		return known
	}
	return r.find
}

// Text returns s without secrets, s itself when there are none.
func (r *Redactor) Text(s string) string {
	f := r.finder()
	var b strings.Builder
	done := 0
	for i := 0; ; {
		at, m := f.next(s, i)
		if at < 0 {
			break
		}
		if !m.is {
			i = at + 1
			continue
		}
		b.WriteString(s[done:max(done, m.from)])
		b.WriteString(Mark)
		done = max(done, m.to)
		i = max(m.to, at+1)
	}
	if done == 0 && b.Len() == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// kind is one kind of secret.
type kind interface {
	// hints returns texts of two bytes or more, one of which begins every secret of the kind.
	hints() []string
	// match examines the hint at s[i:].
	match(s string, i int) match
}

// match is the result of examining a hint. The zero match means no secret.
type match struct {
	from, to int  // the secret itself, without what may be shown of it
	is       bool // it is a secret if nothing follows
	more     bool // it reaches the end of the text: more text could change the result
}

// finder finds hints in one pass.
type finder struct {
	pairs [1 << 16 / 64]uint64 // a set of the first two bytes of hints
	kinds map[uint16][]hinted
	long  int // length of the longest hint
}

// hinted is a kind with one of its hints.
type hinted struct {
	hint string
	kind kind
}

func pair(s string) uint16 { return uint16(s[0])<<8 | uint16(s[1]) }

func (f *finder) add(k kind) {
	for _, h := range k.hints() {
		p := pair(h)
		f.pairs[p>>6] |= 1 << (p & 63)
		f.kinds[p] = append(f.kinds[p], hinted{h, k})
		f.long = max(f.long, len(h))
	}
}

func (f *finder) clone() *finder {
	c := &finder{pairs: f.pairs, kinds: make(map[uint16][]hinted, len(f.kinds)), long: f.long}
	for p, k := range f.kinds {
		c.kinds[p] = slices.Clip(k)
	}
	return c
}

// next returns the first index from i on where a secret is or may begin, and the match; -1
// when there is none. Of several kinds the longest secret wins, and one that may still become
// longer wins over all.
func (f *finder) next(s string, i int) (int, match) {
	for ; i+1 < len(s); i++ {
		p := uint16(s[i])<<8 | uint16(s[i+1])
		if f.pairs[p>>6]&(1<<(p&63)) == 0 {
			continue
		}
		var best match
		for _, h := range f.kinds[p] {
			if !strings.HasPrefix(s[i:], h.hint) {
				continue
			}
			best = better(best, h.kind.match(s, i))
		}
		if best.is || best.more {
			return i, best
		}
	}
	return -1, match{}
}

// better combines the matches of two kinds at one index.
func better(a, b match) match {
	switch {
	case !b.is && !b.more:
		return a
	case !a.is && !a.more:
		return b
	}
	more := a.more || b.more
	switch {
	case a.is == b.is:
		a.from, a.to = min(a.from, b.from), max(a.to, b.to)
	case b.is:
		a = b
	}
	a.more = more
	return a
}

// value matches a given secret.
type value struct{ text string }

// shown is the number of bytes of a given value that a stream may show before the rest comes: so little
// is no secret, and a prompt that ends like a key begins is not held back.
const shown = 3

func (v value) hints() []string { return []string{v.text[:2]} }

func (v value) match(s string, i int) match {
	switch rest := s[i:]; {
	case strings.HasPrefix(rest, v.text):
		return match{from: i, to: i + len(v.text), is: true}
	case strings.HasPrefix(v.text, rest):
		return match{from: min(i+shown, len(s)), to: len(s), more: true}
	}
	return match{}
}
