package markup

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"buddy/texts"
	"buddy/themes"
)

// isDiff tells whether a language is that of unified diffs, whose lines need no lexer.
func isDiff(lang string) bool {
	return strings.EqualFold(lang, "diff") || strings.EqualFold(lang, "patch")
}

// DiffRole returns the role of one line of a unified diff, and whether the line after
// it is within a hunk if the line itself is: there no line names a file.
func DiffRole(line string, hunk bool) (role themes.Role, within bool) {
	switch {
	case strings.HasPrefix(line, "@@"):
		return themes.DiffHunk, true
	case !hunk && (strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "diff ")):
		return themes.Muted, false
	case strings.HasPrefix(line, "+"):
		return themes.DiffAdd, hunk
	case strings.HasPrefix(line, "-"):
		return themes.DiffDelete, hunk
	}
	return themes.Text, hunk
}

// maxCompared is how long a line may be, in bytes, whose changes are looked for.
const maxCompared = 2 << 10

// markChanges sets off what changed within the lines of a diff: where as many lines were
// added as were deleted before them, and the pairs have most of their text in common.
func (t *Text) markChanges(lines []extent) {
	sign := func(i int) byte {
		if l := lines[i]; l.from < l.to {
			return t.Bytes[l.from]
		}
		return 0
	}
	var changes []extent
	for i := 0; i < len(lines); {
		deleted := i
		for i < len(lines) && sign(i) == '-' {
			i++
		}
		added := i
		for i < len(lines) && sign(i) == '+' {
			i++
		}
		if n := added - deleted; n == 0 || n != i-added {
			if i == deleted {
				i++
			}
			continue
		}
		var after []extent
		for k := range added - deleted {
			a, b := lines[deleted+k], lines[added+k]
			before, now := t.Bytes[a.from+1:a.to], t.Bytes[b.from+1:b.to]
			from, ends := ChangedPart(before, now)
			if ends == [2]int{} || bytes.HasPrefix(before, []byte("--")) && bytes.HasPrefix(now, []byte("++")) { // names of files
				continue
			}
			changes = append(changes, extent{a.from + 1 + int32(from), a.from + 1 + int32(ends[0])})
			after = append(after, extent{b.from + 1 + int32(from), b.from + 1 + int32(ends[1])})
		}
		changes = append(changes, after...)
	}
	t.setOff(changes)
}

// ChangedPart returns where two lines begin to differ and where the difference ends in each;
// zeros if they do not differ or have too little in common.
func ChangedPart(a, b []byte) (from int, ends [2]int) {
	if len(a) > maxCompared || len(b) > maxCompared || bytes.Equal(a, b) {
		return 0, ends
	}
	from, end := texts.Common(a, b)
	for from > 0 && (cutsWord(a, from) || cutsWord(b, from)) {
		from--
	}
	for end > 0 && (cutsWord(a, len(a)-end) || cutsWord(b, len(b)-end)) {
		end--
	}
	same := len(bytes.TrimSpace(a[:from])) + len(bytes.TrimSpace(a[len(a)-end:]))
	if 3*same < max(len(bytes.TrimSpace(a)), len(bytes.TrimSpace(b))) {
		return 0, ends
	}
	return from, [2]int{len(a) - end, len(b) - end}
}

// cutsWord tells whether an offset is within a word, or within a character.
func cutsWord(p []byte, at int) bool {
	if at == 0 || at == len(p) {
		return false
	}
	if !utf8.RuneStart(p[at]) {
		return true
	}
	before, _ := utf8.DecodeLastRune(p[:at])
	after, _ := utf8.DecodeRune(p[at:])
	return isWordRune(before) && isWordRune(after) || glues(after)
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// setOff shows stretches of the text reversed. They are in order and do not overlap.
func (t *Text) setOff(stretches []extent) {
	if len(stretches) == 0 {
		return
	}
	first := t.RunAt(int(stretches[0].from))
	old := slices.Clone(t.Runs[first:])
	t.Runs = t.Runs[:first]
	pos := int32(0)
	if first > 0 {
		pos = t.Runs[first-1].End
	}
	for _, run := range old {
		for pos < run.End {
			for len(stretches) > 0 && stretches[0].to <= pos {
				stretches = stretches[1:]
			}
			end, st := run.End, run.Style
			switch {
			case len(stretches) == 0:
			case pos < stretches[0].from:
				end = min(end, stretches[0].from)
			default:
				end = min(end, stretches[0].to)
				st.Attr |= Reverse
			}
			t.run(end, st)
			pos = end
		}
	}
}
