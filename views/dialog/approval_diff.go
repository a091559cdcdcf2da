package dialog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/action"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
)

// addPreview appends a preview behind the path that it is about: that of files is a line that
// counts for each of them, then their diffs.
func (b *body) addPreview(act action.Action, w int) {
	lines := strings.Split(strings.TrimSuffix(act.Preview, "\n"), "\n")
	files := act.Kind == action.FileWrite || act.Kind == action.FileDelete
	if act.Path != "" {
		path := draw.Untrusted(themes.Strong, act.Path)
		both := append(append(slices.Clip(path), draw.Text(themes.Text, "  ")), draw.Untrusted(themes.Muted, lines[0])...)
		if files && len(act.Paths) == 0 && draw.Width(both) <= w-bodyIndent { // one line for the file
			path, lines = both, lines[1:]
		}
		b.add(bodyIndent, nil, path, w)
	}
	for len(lines) > 0 {
		if n := b.addFile(lines, act, w); files && n > 0 {
			lines = lines[n:]
			continue
		}
		b.add(bodyIndent, nil, draw.Untrusted(themes.Text, lines[0]), w)
		lines = lines[1:]
	}
}

// addFile appends the diff of one file with which lines begin and returns how many of them it is; 0 if
// they begin with none. A file that the dialog has named already is not named again.
func (b *body) addFile(lines []string, act action.Action, w int) (used int) {
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "--- ") || !strings.HasPrefix(lines[1], "+++ ") {
		return 0
	}
	hunks, used := readHunks(lines[2:])
	if used == 0 {
		return 0
	}
	if name := fileOf(lines[0], lines[1]); len(act.Paths) > 0 || act.Path != name && !strings.HasSuffix(act.Path, "/"+name) {
		b.add(bodyIndent, nil, draw.Untrusted(themes.Strong, name), w)
	}
	for i, h := range hunks {
		if i > 0 {
			b.add(bodyIndent, nil, []draw.Span{draw.Text(themes.Muted, "…")}, w)
		}
		h = h.trim()
		h.mark()
		b.addHunk(h, len(strconv.Itoa(hunks[len(hunks)-1].last())), w)
	}
	return 2 + used
}

// fileOf returns the name of the file in the two lines before its hunks; of one that is new or
// goes away there is only one.
func fileOf(before, after string) string {
	if name := after[len("+++ "):]; name != "/dev/null" {
		return name
	}
	return before[len("--- "):]
}

// addHunk appends the lines of a hunk: number, sign and text, over the whole width in the colour of
// the sign.
func (b *body) addHunk(h hunk, digits, w int) {
	for _, l := range h {
		role := themes.Text
		number := themes.Muted
		switch l.sign {
		case '+':
			role, number = themes.DiffAddBand, themes.DiffAddBand
		case '-':
			role, number = themes.DiffDeleteBand, themes.DiffDeleteBand
		}
		gutter := []draw.Span{draw.Text(number, fmt.Sprintf("%*d %c ", digits, l.number, l.sign))}
		if l.sign == '\\' { // about the end of the file
			gutter = []draw.Span{draw.Text(themes.Muted, strings.Repeat(" ", digits+1)+"\\")}
			role = themes.Muted
		}
		text := draw.Untrusted(role, l.text[:l.from])
		for _, sp := range draw.Untrusted(role, l.text[l.from:l.to]) {
			sp.Style.Attr |= markup.Reverse
			text = append(text, sp)
		}
		text = append(text, draw.Untrusted(role, l.text[l.to:])...)
		at := len(b.rows)
		b.add(bodyIndent, gutter, text, w)
		for i := at; role != themes.Muted && i < len(b.rows); i++ {
			b.rows[i].band = role
			b.rows[i].spans[1].Style.Role = number // the blanks before a wrapped row, too
		}
	}
}

// hunk is a stretch of a diff.
type hunk []hunkLine

// hunkLine is a line of a hunk. Of its text what stands between two offsets changed.
type hunkLine struct {
	sign     byte // blank, + or -; \ says something of the end of the file
	number   int  // in the new file, of a deleted line in the old one
	text     string
	from, to int
}

const hunkContext = 2 // lines around a change that show

// trim leaves out lines at the edges that did not change, but for a few.
func (h hunk) trim() hunk {
	first := slices.IndexFunc(h, hunkLine.changed)
	if first < 0 {
		return h
	}
	last := len(h)
	for last > 0 && !h[last-1].changed() {
		last--
	}
	return h[max(0, first-hunkContext):min(len(h), last+hunkContext)]
}

func (l hunkLine) changed() bool { return l.sign == '+' || l.sign == '-' }

// last returns the greatest number of a line.
func (h hunk) last() (n int) {
	for _, l := range h {
		n = max(n, l.number)
	}
	return n
}

// readHunks reads the hunks at the beginning of some lines and returns how many lines they are. Each
// has as many lines as its header says, so that no line of a file ends it; the last may be cut.
func readHunks(lines []string) (all []hunk, used int) {
	for used < len(lines) {
		was, now, ok := hunkHeader(lines[used])
		if !ok {
			break
		}
		used++
		var h hunk
		for used < len(lines) && (was.count > 0 || now.count > 0 || strings.HasPrefix(lines[used], "\\")) {
			l, ok := readLine(lines[used], &was, &now)
			if !ok {
				break
			}
			h = append(h, l)
			used++
		}
		all = append(all, h)
	}
	return all, used
}

// stretch is where lines of a file are that have not been read yet.
type stretch struct{ line, count int }

// readLine reads a line of a hunk, whose rest is in the two files where was and now say.
func readLine(line string, was, now *stretch) (l hunkLine, ok bool) {
	if line == "" {
		return l, false
	}
	l = hunkLine{sign: line[0], text: line[1:], number: now.line}
	switch {
	case l.sign == '\\':
		return l, true
	case l.sign == '-' && was.count > 0:
		l.number = was.line
		was.line, was.count = was.line+1, was.count-1
		return l, true
	case l.sign == '+' && now.count > 0:
		now.line, now.count = now.line+1, now.count-1
		return l, true
	case l.sign == ' ' && was.count > 0 && now.count > 0:
		was.line, was.count = was.line+1, was.count-1
		now.line, now.count = now.line+1, now.count-1
		return l, true
	}
	return l, false
}

// hunkHeader reads the header of a hunk: @@ -3,4 +3,5 @@.
func hunkHeader(line string) (was, now stretch, ok bool) {
	f := strings.Fields(line)
	if len(f) < 4 || f[0] != "@@" || f[3] != "@@" {
		return was, now, false
	}
	was, before := readStretch(f[1], "-")
	now, after := readStretch(f[2], "+")
	return was, now, before && after
}

func readStretch(text, sign string) (s stretch, ok bool) {
	text, signed := strings.CutPrefix(text, sign)
	first, count, counted := strings.Cut(text, ",")
	line, err := strconv.Atoi(first)
	s = stretch{line, 1}
	if counted && err == nil {
		s.count, err = strconv.Atoi(count)
	}
	return s, signed && err == nil && s.line >= 0 && s.count >= 0
}

// mark sets what changed within lines: where as many were added as were deleted before them.
func (h hunk) mark() {
	run := func(i int, sign byte) int {
		for i < len(h) && h[i].sign == sign {
			i++
		}
		return i
	}
	for i := 0; i < len(h); {
		added := run(i, '-')
		end := run(added, '+')
		for k := range added - i {
			if added-i != end-added {
				break
			}
			before, now := &h[i+k], &h[added+k]
			from, ends := markup.ChangedPart([]byte(before.text), []byte(now.text))
			before.from, before.to = from, ends[0]
			now.from, now.to = from, ends[1]
		}
		i = max(end, i+1)
	}
}
