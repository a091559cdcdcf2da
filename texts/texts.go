// Package texts shortens, compares and searches short texts.
//
//	line := texts.Clip(texts.OneLine(s), 80)
//
// It may be imported by every package, and imports none of this program.
package texts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// OneLine joins the lines of s: every run of white space becomes one space.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Capital returns a text with its first letter in upper case.
func Capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n <= 1 && r == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// Plural formats a number of things: 1 byte, 2 bytes, 3 entries, 4 branches.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	switch stem, y := strings.CutSuffix(what, "y"); {
	case y && !strings.HasSuffix(stem, "a") && !strings.HasSuffix(stem, "e"): // not day, key
		what = stem + "ie"
	case strings.HasSuffix(what, "ch"), strings.HasSuffix(what, "sh"):
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Sentence returns a clause as a sentence: with a capital letter and a period at its end. "" stays "".
func Sentence(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return ""
	}
	if s = Capital(s); strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// Clip returns s, or its beginning with an ellipsis, n characters in total.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// ClipBytes returns s, or the complete characters that fit into n bytes, followed by an ellipsis.
func ClipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Unfenced returns text without the code fence around it, which many models add.
func Unfenced(text string) string {
	text = strings.TrimSpace(text)
	inside, open := strings.CutPrefix(text, "```")
	inside, closed := strings.CutSuffix(inside, "```")
	if _, body, ok := strings.Cut(inside, "\n"); ok && open && closed {
		return strings.TrimSpace(body)
	}
	return text
}

// WithNext returns text followed by the next step, if there is one.
func WithNext(text, next string) string {
	if next == "" {
		return text
	}
	return text + " · " + next
}

// Count formats a number with at most four characters and a unit.
func Count(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 10_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// ByteCount formats a number of bytes in KB, MB or GB, in powers of 1000.
func ByteCount(n int64) string {
	switch {
	case n < 1000:
		return Plural(int(n), "byte")
	case n < 1000*1000:
		return fmt.Sprintf("%.0f KB", float64(n)/1000)
	case n < 1000*1000*1000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// WholeRunes returns p without an incomplete character at its end.
func WholeRunes(p []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if utf8.RuneStart(p[len(p)-n]) {
			if !utf8.FullRune(p[len(p)-n:]) {
				return p[:len(p)-n]
			}
			break
		}
	}
	return p
}

// Some joins at most the first five items and the number of the others.
func Some(items []string) string {
	const most = 5
	if len(items) > most {
		items = append(items[:most:most], fmt.Sprintf("and %d more", len(items)-most))
	}
	return strings.Join(items, ", ")
}

// Names joins words of a string type: "a, b, c".
func Names[T ~string](words []T) string {
	return Join(words, ", ", func(w T) string { return string(w) })
}

// Join joins the results of show for all items, with sep between them.
func Join[T any](items []T, sep string, show func(T) string) string {
	shown := make([]string, len(items))
	for i, item := range items {
		shown[i] = show(item)
	}
	return strings.Join(shown, sep)
}

// HasAny reports whether one of words, which must be in lower case, occurs in s, ignoring case.
func HasAny(s string, words ...string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// Overlap returns the length of the longest proper prefix of mark that b ends with.
func Overlap(b []byte, mark string) int {
	for i := max(0, len(b)-len(mark)+1); i < len(b); i++ {
		if b[i] == mark[0] && strings.HasPrefix(mark, string(b[i:])) {
			return len(b) - i
		}
	}
	return 0
}

// JSON encodes v on one line, without the HTML escapes of [json.Marshal].
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// PrintableJSON escapes all characters in the strings of JSON that are invisible, control a terminal or reorder text.
// The meaning stays the same.
func PrintableJSON(data []byte) []byte {
	if !bytes.ContainsFunc(data, unprintable) {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case !unprintable(r):
			out = append(out, data[:n]...)
		case r < 1<<16:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
		data = data[n:]
	}
	return out
}

// unprintable reports whether a character needs an escape. encoding/json has escaped those below DEL.
func unprintable(r rune) bool { return r >= 0x7f && !unicode.IsPrint(r) }

// Distance counts the insertions, deletions and replacements of bytes from a to b. Its time
// grows with the product of their lengths.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Below reports whether a path is folder or inside it. Both must be absolute; links are not
// followed.
func Below(path, folder string) bool {
	if !filepath.IsAbs(path) || !filepath.IsAbs(folder) {
		return false
	}
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// RealPath returns a path without symbolic links, or just cleaned if they can't be resolved.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// WithTilde replaces the person's home folder in a path by ~. home is "" if unknown.
func WithTilde(path, home string) string {
	if home != "" && Below(path, home) {
		return "~" + strings.TrimPrefix(path, home)
	}
	return path
}

// Common returns the lengths in bytes of the common beginning of a and b and, after that, of their common end.
func Common[T ~string | ~[]byte](a, b T) (begin, end int) {
	n := min(len(a), len(b))
	for begin < n && a[begin] == b[begin] {
		begin++
	}
	for end < n-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return begin, end
}

// Until formats a time in the future, in the zone of t and with the layout clock. Unless it is today, the day precedes
// it.
func Until(now, t time.Time, clock string) string {
	if now = now.In(t.Location()); now.YearDay() != t.YearDay() || now.Year() != t.Year() {
		clock = "Mon 2 Jan " + clock
	}
	return t.Format(clock)
}

// Age formats how long ago something was.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}
