package redact

import "strings"

type set [256]bool

func chars(ranges string) *set {
	var c set
	for i := 0; i+1 < len(ranges); i += 2 {
		for b := int(ranges[i]); b <= int(ranges[i+1]); b++ {
			c[b] = true
		}
	}
	return &c
}

// Alphabets of keys. Every two characters are the ends of a range.
var (
	digits = chars("09")
	hex    = chars("09afAF")
	upper  = chars("AZ09")
	alnum  = chars("AZaz09")
	word   = chars("AZaz09__")
	dashed = chars("AZaz09__--")
	dotted = chars("AZaz09__--..")
	base64 = chars("AZaz09++//==")
	header = chars("AZaz09__--..++//==~~")
	query  = chars("AZaz09%%++//==--__~~")
	crypt  = chars("AZaz09..//$$++==,,--") // of hashed passwords
)

// shape is the format of a kind of key: one of several prefixes, separated by spaces, followed by a minimal number of
// characters of an alphabet.
type shape struct {
	provider string
	begins   string
	body     *set
	least    int
	most     int  // a longer run is not a key; 0: no limit
	digit    bool // must contain a digit; otherwise it is a word
}

// Limits in bytes.
const (
	maxToken = 512      // a run must be recognized as a key within this length
	maxValue = 4096     // of a value after a name, a password in a URL, or a part of a JSON web token
	maxKey   = 16 << 10 // of a key; the rest is shown
)

func (t shape) hints() []string { return strings.Fields(t.begins) }

func (t shape) match(s string, i, hint int, end bool) match {
	if word[s[i]] && !starts(s, i) {
		return none
	}
	return t.run(s, i+hint, end)
}

// run matches the characters of a key, which start at b.
func (t shape) run(s string, b int, end bool) match {
	e, digit, ok := t.extent(s, b)
	if !ok {
		return none
	}
	open := e == len(s) && !end
	for dots := 0; e > b && dots < 3 && (s[e-1] == '.' || s[e-1] == ','); dots++ {
		e-- // the period of a sentence
	}
	n := e - b
	enough := n >= t.least && (!t.digit || digit)
	switch {
	case enough && t.most == 0:
		return match{from: b, to: e, is: true, more: open}
	case t.most > 0 && n > t.most:
		return none
	case open:
		return undecided(b)
	}
	return match{from: b, to: e, is: enough}
}

// extent returns the end of the key characters that start at b, and whether they contain a digit. ok is false if there
// are so many that the text can't be a key of this shape.
func (t shape) extent(s string, b int) (e int, digit, ok bool) {
	for e = b; e < len(s) && e-b < maxKey && t.body[s[e]]; e++ {
		digit = digit || digits[s[e]]
		if e-b == maxToken && (t.most > 0 || t.digit && !digit) {
			return e, digit, false
		}
	}
	return e, digit, true
}

// starts reports whether a word may start at s[i]: after a non-word character, a JSON escape such as \n, a URL
// escape such as %3D, or a colour sequence.
func starts(s string, i int) bool {
	if i == 0 || !word[s[i-1]] {
		return true
	}
	before := s[max(0, i-16):i]
	n := len(before)
	switch {
	case n >= 2 && before[n-2] == '\\' && strings.IndexByte("nrtbf", before[n-1]) >= 0,
		n >= 6 && before[n-6] == '\\' && before[n-5] == 'u',
		n >= 3 && before[n-3] == '%' && hex[before[n-2]] && hex[before[n-1]]:
		return true
	}
	rest := strings.TrimRight(before[:n-1], "0123456789;")
	return strings.HasSuffix(rest, "\x1b[") || strings.HasSuffix(rest, `\u001b[`)
}

// jwt matches a JSON web token or anything of its form: three parts, the first two of which are JSON objects, or
// five parts if it is encrypted.
type jwt struct{}

func (jwt) hints() []string { return []string{"eyJ"} }

func (jwt) match(s string, i, hint int, end bool) match {
	if !starts(s, i) {
		return none
	}
	shown := i + hint
	e := i
	for part, most := range []int{maxToken, maxValue, maxKey} {
		b := e
		e = partEnd(s, b, most, part == 2)
		last := e == len(s)
		open := last && !end
		switch {
		case part == 1 && e-b >= 3 && !strings.HasPrefix(s[b:], "eyJ"):
			return none
		case part == 2 && e-b >= 10:
			return match{from: shown, to: b + len(strings.TrimRight(s[b:e], ".")), is: true, more: open}
		case open && e-b < most:
			return undecided(shown)
		case part == 2 || last || e-b < 10 || s[e] != '.':
			return none
		}
		e++
	}
	return none
}

// partEnd returns the end of the token part that starts at b; only the last part may contain dots.
func partEnd(s string, b, most int, dots bool) int {
	e := b
	for e < len(s) && e-b < most && (dashed[s[e]] || dots && s[e] == '.') {
		e++
	}
	return e
}
