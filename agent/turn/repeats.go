package turn

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// leastRepeated is the minimum length, in characters, of a repeated text.
const leastRepeated = 50

// errRepeats ends an answer that repeats itself.
var errRepeats = errors.New("the answer kept repeating the same text and was cut off; ask in other words, or choose another model with /model")

const (
	gramSize   = 50         // bytes compared to find an earlier position with the same text
	gramEvery  = 16         // bytes between two remembered positions
	gramSlots  = 1 << 12    // remembered positions
	repeatsMin = 512        // shorter texts are not checked
	gramFactor = 0x01000193 // factor of the rolling hash
)

// gramOut is the factor by which step multiplies the oldest byte of a gram, a passage of gramSize bytes, to remove it
// from the rolling hash.
var gramOut = func() uint64 {
	out := uint64(1)
	for range gramSize {
		out *= gramFactor
	}
	return out
}()

// repeats detects that a growing text ends with the same text many times in a row, in constant time per byte: an
// earlier place with the same 50 bytes suggests a period, and the period holds as long as each byte equals the one a
// period before it. The zero value is ready.
type repeats struct {
	seen   []int32 // ends of grams, by hash; 0 is none
	hash   uint64  // of the last gram
	done   int     // bytes checked so far
	period int     // current period; 0 is none
	since  int     // start of the text with the period
	unit   int     // smallest multiple of the period with leastRepeated characters; 0: not known yet
}

// over checks the bytes added to a text, and reports whether the text now ends with the same passage, repeated the
// given number of times; 0 disables the check. end is the offset at which the first repetition ends.
func (r *repeats) over(text []byte, times int) (end int, yes bool) {
	if times == 0 || len(text) < repeatsMin {
		return 0, false
	}
	if r.seen == nil {
		r.seen = make([]int32, gramSlots)
	}
	for ; r.done < len(text); r.done++ {
		r.step(text, r.done)
		if r.period == 0 {
			continue
		}
		if run := r.done + 1 - r.since; run >= 2*r.period && r.unit == 0 {
			r.measure(text)
		}
		if r.unit > 0 && r.done+1-r.since >= times*r.unit {
			return r.since + r.unit, true
		}
	}
	return 0, false
}

// step processes the byte at i.
func (r *repeats) step(text []byte, i int) {
	r.hash = r.hash*gramFactor + uint64(text[i]) + 1
	if i >= gramSize {
		r.hash -= gramOut * (uint64(text[i-gramSize]) + 1)
	}
	if r.period > 0 && text[i] != text[i-r.period] {
		r.period = 0
	}
	end := i + 1
	if end < gramSize || r.period > 0 && end%gramEvery != 0 {
		return
	}
	slot := &r.seen[r.hash*0x9E3779B97F4A7C15>>(64-12)]
	if before := int(*slot); r.period == 0 && before > 0 && bytes.Equal(text[before-gramSize:before], text[end-gramSize:end]) {
		r.period, r.since, r.unit = end-before, before-gramSize, 0
	}
	if end%gramEvery == 0 {
		*slot = int32(end)
	}
}

// measure finds the start of the periodic text, and the length of the repeated unit.
func (r *repeats) measure(text []byte) {
	for r.since > 0 && text[r.since-1] == text[r.since-1+r.period] {
		r.since--
	}
	chars := max(1, utf8.RuneCount(text[r.since:r.since+r.period]))
	r.unit = (leastRepeated + chars - 1) / chars * r.period
}

// repeatsItself reports whether the text now ends in too many repetitions. If so, it keeps only the first one.
func (g *growing) repeatsItself(times int) bool {
	end, yes := g.repeats.over(g.buf, times)
	if yes {
		text := strings.TrimRight(strings.ToValidUTF8(string(g.buf[:end]), ""), " \t\r\n")
		g.buf = fmt.Appendf(nil, "%s\n\n… (cut off: it repeated itself)", text)
		g.saved = len(g.buf) // nothing follows, so no checkpoint
	}
	return yes
}
