package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"buddy/texts"
)

// Error is a mistake in a setting. Its text is always one printable line, "place: key: cause", whatever the file
// contains. Programs exit with 2 on it.
type Error struct {
	Place string // "file:line", a file, an option or an environment variable; may be empty
	Key   string // as [Path] writes it; may be empty
	Err   error  // the cause, with the allowed values
}

// Error returns the error as one printable line, "place: key: cause".
func (e *Error) Error() string {
	var b strings.Builder
	for _, part := range []string{e.Place, e.Key} {
		if part != "" {
			b.WriteString(visible(part, 200))
			b.WriteString(": ")
		}
	}
	b.WriteString(visible(e.Err.Error(), 1000))
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Index maps each key to the source of its value: path (see [Path]) to "file:line", or to the option or variable that
// replaced the file's value. It does not contain defaults.
type Index map[string]string

// Error returns err as an error about the key, with the key's position. Keys that are not in the index, such as
// defaults, have no position.
func (x Index) Error(key string, err error) *Error {
	return &Error{Place: x[key], Key: key, Err: err}
}

// Path joins the parts of a key with dots and quotes those that TOML would quote:
// Path("models", "gpt 5", "api") is `models."gpt 5".api`.
func Path(parts ...string) string {
	quoted := make([]string, len(parts))
	for i, p := range parts {
		if strings.IndexFunc(p, notBare) >= 0 || p == "" {
			p = strconv.Quote(p)
		}
		quoted[i] = p
	}
	return strings.Join(quoted, ".")
}

func notBare(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

// visible escapes control characters and cuts after limit bytes, because keys and paths may come from untrusted files.
func visible(s string, limit int) string {
	if len(s) <= limit && utf8.ValidString(s) && strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= limit {
			b.WriteString("…")
			break
		}
		if unprintable(r) {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// list formats the allowed names, with the one nearest to a wrong name: "(have: a, b; nearest: b)".
func list(names []string, wrong string) string {
	const most = 12
	near := ""
	if n := nearest(wrong, names); n != "" {
		near = "; nearest: " + n
	}
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return "(have: " + strings.Join(names, ", ") + near + ")"
}

// nearest returns the name with the smallest edit distance to wrong, or "" when none is close.
func nearest(wrong string, names []string) string {
	if len(wrong) > 64 { // not a typing error, and the cost grows with the product of the lengths
		return ""
	}
	best, least := "", max(2, len(wrong)/3)+1
	for _, n := range names {
		if d := texts.Distance(wrong, n); d < least && d < len(n) {
			best, least = n, d
		}
	}
	return best
}

// Unknown returns the error about a name that is not allowed: "unknown tool "grp" (have: glob, grep; nearest: grep)".
func Unknown(what, name string, allowed []string) error {
	return fmt.Errorf("unknown %s %q %s", what, name, list(allowed, name))
}
