package texts

import (
	"bytes"
	"strings"
)

// Fold finds a text, ignoring the case of ASCII letters. It searches for the rarest letter
// first, so that [bytes.IndexByte] skips most of the data.
type Fold struct {
	lower []byte
	rare  int // index of the rarest letter
}

// seldom orders letters from frequent to rare in prose and source code. Other bytes count as
// frequent.
const seldom = "etrinasolcdpufmhgbyxvwkqzj"

// NewFold returns a Fold of a non-empty text without upper-case ASCII letters.
func NewFold(lower []byte) Fold {
	f := Fold{lower: lower}
	for i := range lower {
		if strings.IndexByte(seldom, lower[i]) > strings.IndexByte(seldom, lower[f.rare]) {
			f.rare = i
		}
	}
	return f
}

// Index returns the index of the text in data, or -1.
func (f Fold) Index(data []byte) int {
	low, up := f.lower[f.rare], upper(f.lower[f.rare])
	// nextLow and nextUp are the next positions of the rare letter in lower and upper case. Each is searched for again
	// only after the loop has passed it.
	nextLow, nextUp := -1, -1
	for at := f.rare; at < len(data); at++ {
		if nextLow < at {
			nextLow = indexFrom(data, low, at)
		}
		if nextUp < at {
			nextUp = nextLow
			if up != low {
				nextUp = indexFrom(data, up, at)
			}
		}
		at = min(nextLow, nextUp)
		start := at - f.rare
		if start+len(f.lower) > len(data) {
			return -1
		}
		if equalFold(data[start:start+len(f.lower)], f.lower) {
			return start
		}
	}
	return -1
}

// indexFrom returns the index of the first c in data from index at on, or len(data).
func indexFrom(data []byte, c byte, at int) int {
	if i := bytes.IndexByte(data[at:], c); i >= 0 {
		return at + i
	}
	return len(data)
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// equalFold compares data with a lower case text of the same length.
func equalFold(data, lower []byte) bool {
	for i, c := range lower {
		if data[i] != c && data[i] != upper(c) {
			return false
		}
	}
	return true
}
