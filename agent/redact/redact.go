// Package redact removes secrets from text. Tool output is redacted before it is stored, so that live and replayed
// sessions show the same.
//
//	r := redact.New(apiKey)
//	text = r.Text(text)      // a whole text
//	s := r.Stream()          // output in pieces
//	show(s.Write(piece))
//
// A [Redactor] finds the given values, keys with a known form (shapes.go), private keys (pem.go), secrets in headers
// and URLs (headers.go), and values after a name such as "password" (named.go). It does not remove other text that
// merely looks random. [Entropy] does, for data that leaves the session, such as exports and debug logs.
//
// The name before a secret and the prefix of a key stay, so that the reader sees what was removed.
package redact

import (
	"slices"
	"strings"

	"buddy/texts"
)

// Mark is the text that replaces a secret.
const Mark = "[redacted]"

// least is the minimal length of a value passed to New, in bytes; shorter ones are too common in text.
const least = 8

// Redactor removes secrets: those with a known form, and the values passed to New. A nil Redactor has no such values.
// It is safe for concurrent use.
type Redactor struct {
	find   *finder
	values []string
}

// New returns a Redactor that also removes the given values. It ignores short and blank ones.
func New(values ...string) *Redactor {
	r := &Redactor{find: known.clone()}
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) < least {
			continue
		}
		for _, form := range []string{v, escaped(v)} {
			if !slices.Contains(r.values, form) {
				r.values = append(r.values, form)
				r.find.add(value{form})
			}
		}
	}
	return r
}

// escaped returns a value as it is written in JSON, the format of tool results.
func escaped(v string) string {
	b, err := texts.JSON(v)
	if err != nil {
		return v
	}
	return strings.Trim(string(b), `"`)
}

// Text returns s with secrets replaced.
func (r *Redactor) Text(s string) string {
	whole := r.Stream()
	whole.text = s
	return whole.step(true)
}

// kind finds one kind of secret.
type kind interface {
	// hints returns texts of at least three bytes, one of which is in or before every secret of the kind.
	hints() []string
	// match decides whether the hint at s[i:i+hint] belongs to a secret. It looks at most [before] bytes back. end
	// means that s is complete.
	match(s string, i, hint int, end bool) match
}

// match is the result of examining a hint. The zero match means that there is no secret.
type match struct {
	from, to int // the secret without its visible prefix
	// is means that there is a secret, whatever text follows. more means that the match reaches the end of the text,
	// and that later text may make it a secret or extend it. It is never set if the text is complete.
	is, more bool
}

// none means that there is no secret. undecided means that only later text can show whether a secret starts at from;
// the text before from can already be shown.
var none match

func undecided(from int) match { return match{from: from, to: from, more: true} }

// finder finds the hints of many kinds in one pass.
type finder struct {
	seen  [1 << hashBits / 64]uint64 // bit set of hashes of the first three bytes of hints; fits the fastest cache
	heads [1 << hashBits]uint16      // by hash: index in hints plus one; 0: none
	hints []hinted
	long  int // length of the longest hint
}

const hashBits = 16

// hinted is a kind with one of its hints.
type hinted struct {
	hint string
	fold bool // ignores case
	kind kind
	next uint16 // next hint with the same hash, as in heads
}

func (h *hinted) begins(s string) bool {
	n := len(h.hint)
	if len(s) < n || s[:3] != h.hint[:3] {
		return false
	}
	return s[:n] == h.hint || h.fold && strings.EqualFold(s[:n], h.hint)
}

// folded marks a kind whose hints match in upper and lower case. The hints are given in lower case.
type folded interface{ anyCase() }

func hash(three uint32) uint32 { return three * 0x9E3779B1 >> (32 - hashBits) }

func (f *finder) add(k kind) {
	_, fold := k.(folded)
	for _, h := range k.hints() {
		f.long = max(f.long, len(h))
		for _, begin := range cases(h[:3], fold) {
			n := hash(uint32(begin[0]) | uint32(begin[1])<<8 | uint32(begin[2])<<16)
			f.seen[n/64] |= 1 << (n % 64)
			at := &f.heads[n]
			f.hints = append(f.hints, hinted{begin + h[3:], fold, k, *at})
			*at = uint16(len(f.hints))
		}
	}
}

// cases returns a text or, if fold is set, all its variants in upper and lower case.
func cases(s string, fold bool) []string {
	all := []string{s}
	for i := 0; fold && i < len(s); i++ {
		if s[i] < 'a' || s[i] > 'z' {
			continue
		}
		for _, t := range all {
			all = append(all, t[:i]+strings.ToUpper(t[i:i+1])+t[i+1:])
		}
	}
	return all
}

func (f *finder) clone() *finder {
	c := *f
	c.hints = slices.Clip(f.hints)
	return &c
}

// next returns the first index from i on of a hint that leads to a match, and the match, combined if several kinds
// match there. It returns -1 if there is none.
func (f *finder) next(s string, i int, end bool) (int, match) {
	if i+2 >= len(s) {
		return -1, none
	}
	three := uint32(s[i])<<8 | uint32(s[i+1])<<16
	for ; i+2 < len(s); i++ {
		three = three>>8 | uint32(s[i+2])<<16
		h := hash(three)
		if f.seen[h/64]&(1<<(h%64)) == 0 {
			continue
		}
		var all match
		for n := f.heads[h]; n != 0; n = f.hints[n-1].next {
			if h := &f.hints[n-1]; h.begins(s[i:]) {
				all = unite(all, h.kind.match(s, i, len(h.hint), end))
			}
		}
		if all.is || all.more {
			return i, all
		}
	}
	return -1, none
}

// unite combines the matches of two kinds at one index. If one of them is undecided, so is the result.
func unite(a, b match) match {
	switch {
	case !b.is && !b.more:
		return a
	case !a.is && !a.more:
		return b
	}
	all := match{from: min(a.from, b.from), to: max(a.to, b.to), is: true, more: a.more || b.more}
	if !a.is || !b.is {
		all.is = false
	}
	return all
}

type value struct{ text string }

func (v value) hints() []string { return []string{v.text} }

func (v value) match(_ string, i, _ int, _ bool) match {
	return match{from: i, to: i + len(v.text), is: true}
}
