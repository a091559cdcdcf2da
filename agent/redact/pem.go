package redact

import "strings"

// pem matches private keys of PEM, OpenSSH or PGP, also with the line ends escaped as in JSON.
// Results are cut in the middle, so either end may be missing.
type pem struct{}

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
	maxPEM   = 16 << 10
)

func (pem) hints() []string { return []string{pemBegin, pemEnd} }

func (pem) match(s string, i int) match {
	b, private, whole := pemLine(s, i)
	switch {
	case !whole:
		return match{from: len(s), to: len(s), more: b == len(s)}
	case !private:
		return match{}
	case strings.HasPrefix(s[i:], pemEnd):
		return beforeEnd(s, i, b)
	}
	e, bytes := b, 0
	for e < len(s) && e-i < maxPEM {
		if strings.HasPrefix(s[e:], pemEnd) {
			end, _, closed := pemLine(s, e)
			return match{from: i, to: end, is: bytes > 0, more: !closed}
		}
		line, next := cutLine(s[e:])
		if line != "" && e == b || !ofPEM(line, e+next == len(s)) {
			break
		}
		if strings.IndexByte(line, ':') < 0 {
			bytes += len(line)
		}
		e += next
	}
	m := match{from: i, to: e, is: bytes >= 16, more: e == len(s) && e-i < maxPEM}
	if !m.is {
		m.from = b
	}
	if m.to = len(strings.TrimRight(s[:e], "\r\n")); m.to == e && strings.HasSuffix(s[:e], `\n`) {
		m.to = e - len(`\n`)
	}
	return m
}

// pemLine reads a line such as -----BEGIN PRIVATE KEY-----. A line that is cut by the end of
// the text ends there.
func pemLine(s string, i int) (end int, private, whole bool) {
	const most = 80
	b := i + len(pemEnd) - 1
	label := s[b:min(len(s), i+most)]
	n := strings.Index(label, "-----")
	switch {
	case n >= 0:
		return b + n + len("-----"), strings.Contains(label[:n], "PRIVATE KEY"), true
	case strings.ContainsAny(label, "\r\n\\\"") || i+most <= len(s):
		return i, false, false
	}
	return len(s), false, false
}

// cutLine returns the first line of s and the start of the next. Line ends may be escaped as
// in JSON.
func cutLine(s string) (line string, next int) {
	n := strings.IndexAny(s, "\n\\")
	switch {
	case n < 0:
		return strings.TrimSuffix(s, "\r"), len(s)
	case s[n] == '\n':
		return strings.TrimSuffix(s[:n], "\r"), n + 1
	}
	return s[:n], min(n+2, len(s))
}

// ofPEM reports whether a line may be part of a key: base64, or a header such as DEK-Info. The
// last line of a text may be incomplete.
func ofPEM(line string, last bool) bool {
	if i := strings.IndexByte(line, ':'); i > 0 && len(line) <= 80 && line[0] >= 'A' && line[0] <= 'Z' {
		return true
	}
	if last && strings.HasPrefix(pemEnd, line) {
		return true
	}
	for i := range len(line) {
		if !base64[line[i]] && (!last || line[i] != '-') {
			return false
		}
	}
	return len(line) <= 80 || last
}

// beforeEnd matches the rest of a key whose first lines were cut off: the lines of base64
// before its end marker.
func beforeEnd(s string, i, end int) match {
	b := i
	for lines := 0; b > 0 && i-b < maxPEM; lines++ {
		e := len(strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(s[:b], "\r\n"), `\n`), `\r`))
		from := e
		for from > 0 && base64[s[from-1]] {
			from--
		}
		if from > 0 && s[from-1] == '\\' {
			from++ // the n of an escaped line end
		}
		if from >= e || lines > 1 && e-from < 16 { // the last lines may be short
			break
		}
		b = from
	}
	return match{from: b, to: end, is: i-b >= 16}
}
