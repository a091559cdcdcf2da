package file

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"

	"buddy/texts"
	"buddy/tools"
)

// Limits of the preview of a change, which always shows all written lines.
const (
	previewBytes = 4 << 20 // a larger change is refused
	previewLines = 50_000
	removedBytes = 256 << 10 // of the removed lines
	removedLines = 2000
	keptBytes    = 500     // of an unchanged line
	diffLines    = 100_000 // lines that are compared
)

// preview describes a change of a file by a line with the sizes and a unified diff with all written lines. name is the
// model's name for the file. Before a tool makes the change, it builds the preview again and compares it with the
// approved one.
func preview(name string, old snapshot, data []byte) string {
	return compare(name, old, data, charsetOf(old.data))
}

// compare is preview for new content that is encoded in a charset.
func compare(name string, old snapshot, data []byte, to *charset) string {
	was, from := decode(old.data)
	is := to.decode(data)
	after := fmt.Sprintf("%d bytes%s", len(data), to.in())
	switch {
	case !old.exists:
		return diff("/dev/null", name, "", is, "new file", after)
	case !old.whole() || !isText(was):
		what := fmt.Sprintf("replaces a file of %d bytes that is not text or too large to compare", old.size)
		return diff("/dev/null", name, "", is, what, after)
	case bytes.Equal(old.data, data):
		return "no change: the file has this content already\n"
	case from == to:
		return diff(name, name, was, is, "", fmt.Sprintf("%d → %s", old.size, after))
	default:
		return diff(name, name, was, is, "", fmt.Sprintf("%d bytes%s → %s", old.size, from.in(), after))
	}
}

// diff returns the line with the sizes and the unified diff of two texts.
func diff(oldName, newName, before, after, what, size string) string {
	if what != "" {
		what += ", "
	}
	first, before, after := changed(before, after)
	if n, m := countLines(before), countLines(after); n+m > diffLines {
		plus := "+" + strings.ReplaceAll(after, "\n", "\n+")
		return fmt.Sprintf("%s%d lines from line %d on become %d, too many to compare, %s\n%s\n", what, n, first+1, m, size, strings.TrimSuffix(plus, "\n+"))
	}
	u, err := udiff.ToUnifiedDiff(oldName, newName, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil { // the edits were computed from this text, so they fit
		return fmt.Sprintf("the change cannot be shown: %v\n", err)
	}
	added, removed := 0, 0
	for _, h := range u.Hunks {
		h.FromLine += first
		h.ToLine += first
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			}
		}
	}
	return fmt.Sprintf("%s+%d -%d lines, %s\n", what, added, removed, size) + shortened(u.String())
}

// changed returns the lines of both texts from the first to the last difference, with context, and the number of lines
// before them. The cost depends on the size of the change, not of the file.
func changed(before, after string) (int, string, string) {
	start, short := 0, min(len(before), len(after))
	for start < short && before[start] == after[start] {
		start++
	}
	for range udiff.DefaultContextLines + 1 { // one to the start of the line
		start = strings.LastIndexByte(before[:max(start-1, 0)], '\n') + 1
	}
	first := strings.Count(before[:start], "\n")
	before, after = before[start:], after[start:]

	end, short := 0, min(len(before), len(after))
	for end < short && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	for range udiff.DefaultContextLines + 1 { // one to the end of the line
		i := strings.IndexByte(before[len(before)-end:], '\n')
		if i < 0 {
			return first, before, after
		}
		end -= i + 1
	}
	return first, before[:len(before)-end], after[:len(after)-end]
}

// shortened cuts the middle of long unchanged lines from a unified diff, and removed lines over the limit. Written
// lines stay complete, because the user approves them.
func shortened(diff string) string {
	var b strings.Builder
	var bytes, lines, hidden, without int // of the removed lines: shown and not shown
	rest := func() {
		if hidden > 0 {
			fmt.Fprintf(&b, "… %s removed: %d bytes\n", texts.Plural(hidden, "more line"), without)
		}
		hidden, without = 0, 0
	}
	n := 0
	for line := range strings.Lines(diff) {
		n++
		head := n <= 2 // the names
		switch {
		case !head && line[0] == '-':
			if lines++; lines > removedLines || bytes+len(line) > removedBytes {
				hidden, without = hidden+1, without+len(line)-1
				continue
			}
			bytes += len(line)
		case !head && line[0] == ' ' && len(line) > keptBytes:
			cut := len(line) - keptBytes
			line = tools.Head(line, keptBytes/2) + fmt.Sprintf(" … %d unchanged bytes … ", cut) + strings.ToValidUTF8(line[len(line)-keptBytes/2:], "")
		}
		rest()
		b.WriteString(line)
	}
	rest()
	return b.String()
}

// wholly returns a preview, or an error if it is too large for the user to read.
func wholly(preview string) (string, error) {
	if n := strings.Count(preview, "\n"); n > previewLines || len(preview) > previewBytes {
		return "", fmt.Errorf("the change is too large to show for approval: %d lines, %.1f MB (at most %d lines and %.1f MB); make it in parts, or with a command",
			n, float64(len(preview))/1e6, previewLines, previewBytes/1e6)
	}
	return preview, nil
}

// isText reports whether a decoded text can be shown to a model as it is.
func isText(text string) bool {
	return !strings.Contains(text, "\x00") && utf8.ValidString(text)
}
