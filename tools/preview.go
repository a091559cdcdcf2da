package tools

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"
)

// What a person is shown of a change, at most.
const (
	previewLines = 2000
	previewBytes = 256 << 10
)

// preview describes a change of the file that the model calls name: a line with its
// size, then a unified diff, cut at previewLines. Run makes it again and compares, so
// that what was approved is what happens; the sizes in the first line tell of changes
// below the cut.
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

func diff(oldName, newName, before, after, what, size string) string {
	u, err := udiff.ToUnifiedDiff(oldName, newName, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil { // the edits were made for this text, so they fit it
		return fmt.Sprintf("the change cannot be shown: %v\n", err)
	}
	added, removed := 0, 0
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			}
		}
	}
	if what != "" {
		what += ", "
	}
	return fmt.Sprintf("%s+%d -%d lines, %s\n", what, added, removed, size) + capped(u.String())
}

// capped cuts a text at previewLines and previewBytes and says so.
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
	shown := head(text[:end], previewBytes)
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
