package file

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"

	"buddy/tools"
)

// Limits of the preview of a change.
const (
	previewLines = 2000
	previewBytes = 256 << 10
	diffLines    = 100_000 // lines that are compared
)

// preview describes a change of the file that the model calls name: a line with the sizes,
// then a unified diff, cut at previewLines. Run builds it again and compares, so that what was
// approved is what happens; the sizes reveal changes below the cut.
func preview(name string, old snapshot, data []byte) string {
	after := fmt.Sprintf("%d bytes", len(data))
	switch {
	case !old.exists:
		return diff("/dev/null", name, "", string(data), "new file", after)
	case !old.whole() || !isText(old.data):
		what := fmt.Sprintf("replaces a file of %d bytes that is not text or too large to compare", old.size)
		return diff("/dev/null", name, "", string(data), what, after)
	case bytes.Equal(old.data, data):
		return "no change: the file has this content already\n"
	default:
		return diff(name, name, string(old.data), string(data), "", fmt.Sprintf("%d → %d bytes", old.size, len(data)))
	}
}

// diff returns the line with the sizes and the unified diff of two texts.
func diff(oldName, newName, before, after, what, size string) string {
	if what != "" {
		what += ", "
	}
	first, before, after := changed(before, after)
	if n, m := countLines([]byte(before)), countLines([]byte(after)); n+m > diffLines {
		plus := "+" + strings.ReplaceAll(capped(after), "\n", "\n+")
		return fmt.Sprintf("%s%d lines from line %d on become %d, too many to compare, %s\n%s\n", what, n, first+1, m, size, strings.TrimSuffix(plus, "\n+"))
	}
	u, err := udiff.ToUnifiedDiff(oldName, newName, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil { // the edits were made for this text, so they fit
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
	return fmt.Sprintf("%s+%d -%d lines, %s\n", what, added, removed, size) + capped(u.String())
}

// changed returns the lines in which two texts differ, with context, and the number of lines
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

// capped cuts a text at previewLines and previewBytes, with a note.
func capped(text string) string {
	end := 0
	for range previewLines {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			end = len(text)
			break
		}
		end += i + 1
	}
	shown := tools.Head(text[:end], previewBytes)
	rest := text[len(shown):]
	if rest == "" {
		return text
	}
	if !strings.HasSuffix(shown, "\n") {
		shown += "\n"
	}
	return shown + fmt.Sprintf("… cut here: %d more bytes in %d lines\n", len(rest), strings.Count(rest, "\n"))
}

// isText reports whether data can be shown to a model as it is.
func isText(data []byte) bool {
	return bytes.IndexByte(data, 0) < 0 && utf8.Valid(data)
}
