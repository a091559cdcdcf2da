package patch

import (
	"fmt"
	"strconv"
	"strings"
)

// Mismatch is an error of Apply: a hunk fits nowhere, or in several positions.
type Mismatch struct {
	Line   int    // of the hunk in the patch, from 1
	Want   string // the expected lines, joined
	Fits   []int  // lines of the file where it would fit, from 1
	Anchor bool   // Want is the line after @@, which was not found
}

func (m *Mismatch) Error() string {
	hunk := fmt.Sprintf("the hunk at line %d of the patch", m.Line)
	switch {
	case m.Anchor:
		return fmt.Sprintf("%s: the line after @@ is not in the file below the hunks before it", hunk)
	case len(m.Fits) == 1:
		return fmt.Sprintf("%s fits at line %d only, which is above the hunk before it; hunks must be in the order of the file", hunk, m.Fits[0])
	case len(m.Fits) > 1:
		return fmt.Sprintf("%s fits at lines %s; add lines of context", hunk, join(m.Fits))
	default:
		return hunk + " does not fit"
	}
}

func join(lines []int) string {
	var s []string
	for _, n := range lines {
		s = append(s, strconv.Itoa(n))
	}
	if len(s) == maxFits {
		s = append(s, "…")
	}
	return strings.Join(s, ", ")
}

// maxFits limits the listed positions of a hunk.
const maxFits = 10

const byteOrderMark = "\ufeff"

// Apply returns the file's content after the change. It keeps line ends and a byte order mark: added lines get the
// file's line ends, and a line that replaces another one gets that line's end. The error is a *Mismatch when the
// position of a hunk is not certain.
func (f File) Apply(before string) (string, error) {
	text, marked := strings.CutPrefix(before, byteOrderMark)
	a := &applier{own: carriage(f.Hunks) || text == "", end: "\n"}
	if 2*strings.Count(text, "\r\n") > strings.Count(text, "\n") {
		a.end = "\r\n"
	}
	for l := range strings.Lines(text) {
		a.lines = append(a.lines, l)
		a.bare = append(a.bare, bare(l))
	}
	for _, h := range f.Hunks {
		if err := a.apply(h); err != nil {
			return "", err
		}
	}
	after := a.finish()
	if f.New == "" && after != "" && len(f.Hunks) > 0 {
		return "", fmt.Errorf("the file is to be deleted, but has lines that the patch does not remove")
	}
	if marked && after != "" {
		after = byteOrderMark + after
	}
	return after, nil
}

// carriage reports whether lines of a patch end in carriage returns. If they do, the patch intends its line ends.
func carriage(hunks []Hunk) bool {
	for _, h := range hunks {
		for _, l := range h.lines {
			if strings.HasSuffix(l.text, "\r") {
				return true
			}
		}
	}
	return false
}

// applier applies the hunks of one file, from the top.
type applier struct {
	lines []string // of the file, with their ends
	bare  []string // the same without ends
	end   string   // the most frequent line end
	own   bool     // keep the line ends of the patch
	next  int      // the first line not yet in out
	drift int      // offset of the last hunk from its line number
	out   []string
}

func (a *applier) apply(h Hunk) error {
	at, skip, err := a.locate(h)
	if err != nil {
		return err
	}
	a.out = append(a.out, a.lines[a.next:at]...)
	a.next = at
	body := h.lines[skip.lead : len(h.lines)-skip.trail]
	var ends []string // of deleted lines that no added line has replaced yet
	end := a.end
	for _, l := range body {
		switch l.op {
		case ' ':
			a.out = append(a.out, a.lines[a.next])
			ends, end = nil, a.end
			a.next++
		case '-':
			ends = append(ends, a.endOf(a.next))
			a.next++
		case '+':
			if len(ends) > 0 {
				end, ends = ends[0], ends[1:]
			}
			a.out = append(a.out, a.added(l, end))
		}
	}
	if old, _, _ := h.before(); h.Start > 0 && len(old) > 0 { // a hunk without old lines is put after its line number
		a.drift = at - skip.lead - (h.Start - 1)
	}
	return nil
}

// endOf returns the end of line i of the file or, if the line has none, the file's most frequent end.
func (a *applier) endOf(i int) string {
	if !strings.HasSuffix(a.lines[i], "\n") {
		return a.end
	}
	return a.lines[i][len(a.bare[i]):]
}

// added returns an added line with a line end.
func (a *applier) added(l line, end string) string {
	switch {
	case l.open:
		return l.text
	case a.own:
		return l.text + "\n"
	default:
		return bare(l.text) + end
	}
}

// finish returns the whole text. The old last line gets a line end if lines follow it.
func (a *applier) finish() string {
	a.out = append(a.out, a.lines[a.next:]...)
	for i := range a.out {
		if i < len(a.out)-1 && !strings.HasSuffix(a.out[i], "\n") {
			a.out[i] += a.end
		}
	}
	return strings.Join(a.out, "")
}

// skipped counts the context lines at the start and the end of a hunk that are ignored.
type skipped struct{ lead, trail int }

// locate returns the index of the file's line at which h starts, and the numbers of ignored context lines.
func (a *applier) locate(h Hunk) (int, skipped, error) {
	from := a.next
	for _, anchor := range h.Anchors {
		at := a.anchor(anchor, from)
		if at < 0 {
			return 0, skipped{}, &Mismatch{Line: h.Line, Want: anchor, Anchor: true}
		}
		from = at + 1
	}
	old, lead, trail := h.before()
	if len(old) == 0 {
		return a.insertion(h, from), skipped{}, nil
	}
	for fuzz := range Fuzz + 1 {
		skip := skipped{min(fuzz, lead), min(fuzz, trail)}
		if fuzz > 0 && skip.lead < fuzz && skip.trail < fuzz || skip.lead+skip.trail >= len(old) {
			break // no more context to ignore
		}
		want := old[skip.lead : len(old)-skip.trail]
		fits := a.fits(want, from)
		if at := a.choose(h, want, fits, skip.lead); at >= 0 {
			return at, skip, nil
		}
		if len(fits) > 1 {
			return 0, skipped{}, mismatch(h, old, fits)
		}
	}
	if above := a.fits(old, 0); len(above) == 1 {
		return 0, skipped{}, mismatch(h, old, above)
	}
	return 0, skipped{}, mismatch(h, old, nil)
}

func mismatch(h Hunk, old []string, fits []int) *Mismatch {
	m := &Mismatch{Line: h.Line, Want: strings.Join(old, "\n")}
	for _, at := range fits {
		m.Fits = append(m.Fits, at+1)
	}
	return m
}

// anchor returns the index of the first line, at or after from, that equals s except for spaces around it; or -1.
func (a *applier) anchor(s string, from int) int {
	for at := from; at < len(a.bare); at++ {
		if strings.TrimSpace(a.bare[at]) == strings.TrimSpace(s) {
			return at
		}
	}
	return -1
}

// insertion returns the position of a hunk that only adds lines.
func (a *applier) insertion(h Hunk, from int) int {
	switch {
	case h.Start >= 0: // after that line
		return min(max(h.Start+a.drift, from), len(a.lines))
	case len(h.Anchors) > 0:
		return from
	default:
		return len(a.lines)
	}
}

// fits returns the first positions where the lines want occur in the file, at or after from.
func (a *applier) fits(want []string, from int) []int {
	var found []int
	for at := from; at+len(want) <= len(a.bare) && len(found) < maxFits; at++ {
		if a.matches(want, at) {
			found = append(found, at)
		}
	}
	return found
}

func (a *applier) matches(want []string, at int) bool {
	if at < 0 || at+len(want) > len(a.bare) {
		return false
	}
	for i, w := range want {
		if a.bare[at+i] != w {
			return false
		}
	}
	return true
}

// choose returns the position that the hunk means, or -1 if that is not certain. lead is the number of lines in the
// hunk before want.
func (a *applier) choose(h Hunk, want []string, fits []int, lead int) int {
	if len(fits) == 0 {
		return -1
	}
	if expected := h.Start - 1 + a.drift + lead; h.Start > 0 && expected >= a.next && a.matches(want, expected) {
		return expected
	}
	if last := len(a.bare) - len(want); h.AtEnd && last >= a.next && a.matches(want, last) {
		return last
	}
	if len(fits) == 1 || len(h.Anchors) > 0 {
		return fits[0]
	}
	return -1
}
