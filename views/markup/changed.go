package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxCompared = 2 << 10 // bytes of a line that is compared by words
	maxWords    = 64      // differing words that are compared pairwise
	maxPairs    = 64      // pairs of lines that are compared for similarity
	leastShare  = 0.4     // minimum share of equal text for lines that are versions of each other
)

// piece is a byte range of a line.
type piece struct{ from, to int }

// pairs returns for each deleted line the index of the added line that replaced it, or -1. Indexes increase. If the
// numbers of lines differ, similar lines are paired.
func pairs(deleted, added []diffLine) []int {
	found := make([]int, len(deleted))
	next := 0
	for i := range deleted {
		found[i] = -1
		if len(deleted) == len(added) {
			found[i] = i
			continue
		}
		best := leastShare
		for k := next; k < len(added) && len(deleted)*len(added) <= maxPairs; k++ {
			if c := compare(deleted[i].text, added[k].text); c.share() > best {
				found[i], best = k, c.share()
			}
		}
		next = max(next, found[i]+1)
	}
	return found
}

// changedPieces returns the parts of two lines that differ, by whole words, or none if the lines are equal or have too
// little in common.
func changedPieces(a, b string) (before, after []piece) {
	c := compare(a, b)
	if a == b || c.share() < leastShare {
		return nil, nil
	}
	return gaps(c.before, c.same, func(r sameWords) int { return r.before }), gaps(c.after, c.same, func(r sameWords) int { return r.after })
}

// comparison holds the words of two lines and their common parts.
type comparison struct {
	before, after []string // their words
	same          []sameWords
}

// sameWords is a sequence of n words in both lines, with its index in each.
type sameWords struct{ before, after, n int }

// compare finds the common words of two lines: at the start, at the end, and the longest common sequence between them
// unless it is too long to search.
func compare(a, b string) comparison {
	if len(a) > maxCompared || len(b) > maxCompared {
		return comparison{}
	}
	c := comparison{before: words(a), after: words(b)}
	start, end := 0, 0
	short := min(len(c.before), len(c.after))
	for start < short && c.before[start] == c.after[start] {
		start++
	}
	for end < short-start && c.before[len(c.before)-1-end] == c.after[len(c.after)-1-end] {
		end++
	}
	c.same = append(c.same, sameWords{0, 0, start})
	x, y := c.before[start:len(c.before)-end], c.after[start:len(c.after)-end]
	if len(x) <= maxWords && len(y) <= maxWords {
		c.between(x, y, start)
	}
	c.same = append(c.same, sameWords{len(c.before) - end, len(c.after) - end, end})
	return c
}

// between adds the longest common sequence of two lists of words; at is the index of their first words in each line.
func (c *comparison) between(x, y []string, at int) {
	var most [maxWords + 1][maxWords + 1]uint8 // the longest sequence in the words after these two
	for i := len(x) - 1; i >= 0; i-- {
		for k := len(y) - 1; k >= 0; k-- {
			if x[i] == y[k] {
				most[i][k] = most[i+1][k+1] + 1
			} else {
				most[i][k] = max(most[i+1][k], most[i][k+1])
			}
		}
	}
	for i, k := 0, 0; i < len(x) && k < len(y); {
		switch {
		case x[i] == y[k]:
			c.same = append(c.same, sameWords{at + i, at + k, 1})
			i, k = i+1, k+1
		case most[i+1][k] >= most[i][k+1]:
			i++
		default:
			k++
		}
	}
}

// share returns the share of equal text in two lines, from 0 to 1, without spaces.
func (c comparison) share() float64 {
	same := 0
	for _, r := range c.same {
		same += inked(c.before[r.before : r.before+r.n])
	}
	return 2 * float64(same) / float64(max(1, inked(c.before)+inked(c.after)))
}

// inked counts the bytes of words other than spaces.
func inked(words []string) (n int) {
	for _, w := range words {
		n += len(strings.TrimSpace(w))
	}
	return n
}

// gaps returns the parts of a line that differ, merging those separated by spaces only.
func gaps(words []string, same []sameWords, at func(sameWords) int) (all []piece) {
	off, word := 0, 0
	skip := func(to int) (from int) {
		for from = off; word < to; word++ {
			off += len(words[word])
		}
		return from
	}
	blank := false // only spaces since the last part
	for _, r := range same {
		if from := skip(at(r)); from < off {
			if n := len(all) - 1; n >= 0 && blank {
				all[n].to = off
			} else {
				all = append(all, piece{from, off})
			}
			blank = true
		}
		skip(at(r) + r.n)
		blank = blank && inked(words[at(r):at(r)+r.n]) == 0
	}
	return all
}

// marks returns the changed parts to highlight: without spaces at their ends, and without parts that are only spaces.
// Spaces at the end of the line are highlighted, because they would be invisible.
func marks(line string, changed []piece) (all []piece) {
	for _, p := range changed {
		text := line[p.from:p.to]
		p.from += len(text) - len(strings.TrimLeft(text, " \t"))
		if p.from == p.to && p.to == len(line) {
			p.from -= len(text)
		}
		if p.to < len(line) {
			p.to = max(p.from, p.to-len(text)+len(strings.TrimRight(text, " \t")))
		}
		if p.from < p.to {
			all = append(all, p)
		}
	}
	return all
}

// words splits a line into words, runs of spaces, and single other characters.
func words(line string) (all []string) {
	for line != "" {
		n := firstWord(line)
		all, line = append(all, line[:n]), line[n:]
	}
	return all
}

// firstWord returns the length of the first word, run of spaces, or other character of a line.
func firstWord(line string) int {
	first, n := utf8.DecodeRuneInString(line)
	for n < len(line) {
		r, size := utf8.DecodeRuneInString(line[n:])
		if !glues(r) && r != zwj && (sortOf(r) == 0 || sortOf(r) != sortOf(first)) {
			break
		}
		n += size
	}
	return n
}

// sortOf distinguishes letters (1), spaces (2) and all others (0).
func sortOf(r rune) int {
	switch {
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return 1
	case r == ' ' || r == '\t':
		return 2
	}
	return 0
}
