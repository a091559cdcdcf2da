package redact

import "strings"

// pem matches private keys of PEM, OpenSSH or PGP. Lines may have a prefix or suffix, such as a line number, a file
// name, a quote, an indent, the sign of a diff, or a line end escaped as in JSON. The key's start or end may be
// missing, because long results are shortened.
type pem struct{}

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
	maxPEM   = 32 << 10
	maxLine  = 320 // of a line of a key, including its prefix
)

func (pem) hints() []string { return []string{pemBegin, pemEnd, "Private-Lines:"} }

func (pem) match(s string, i, hint int, end bool) match {
	if s[i] == 'P' {
		return putty(s, i, hint, end)
	}
	b, private, whole := pemLine(s, i)
	switch {
	case !whole && b == len(s) && !end:
		return undecided(len(s))
	case !whole || !private:
		return none
	case strings.HasPrefix(s[i:], pemEnd):
		return beforeEnd(s, i, b)
	}
	return pemBody(s, lead(s, i), b, end)
}

// pemLine parses a line such as -----BEGIN PRIVATE KEY-----, or the part of it before the end of the text.
func pemLine(s string, i int) (end int, private, whole bool) {
	const most = 80
	b := i + len(pemEnd) - 1
	label := s[min(b, len(s)):min(len(s), i+most)]
	n := strings.Index(label, "-----")
	switch {
	case n >= 0:
		return b + n + len("-----"), strings.Contains(label[:n], "PRIVATE KEY"), true
	case strings.ContainsAny(label, "\r\n\\\"") || i+most <= len(s):
		return i, false, false
	}
	return len(s), false, false
}

func lead(s string, i int) string {
	line := s[max(0, i-before):i]
	line = line[strings.LastIndexAny(line, "\n\"")+1:] // or from the start of a JSON string
	if n := strings.LastIndex(line, `\n`); n >= 0 {
		line = line[n+len(`\n`):]
	}
	return line
}

// pemBody matches the lines of a key after its first line. b is the end of that line, and first is the prefix before
// it.
func pemBody(s, first string, b int, end bool) match {
	e, bytes := b, 0
	for e < len(s) && e-b < maxPEM {
		line, next, whole := cutLine(s[e:])
		if at := strings.Index(line, pemEnd); at >= 0 && at < before {
			if to, _, closed := pemLine(s, e+at); closed {
				return match{from: b, to: to, is: bytes > 0}
			}
			if !end {
				return match{from: b, to: e, is: bytes >= 16, more: true}
			}
		}
		if !whole && !end && len(line) < maxLine {
			break
		}
		body, ok := keyLine(line, first)
		if !ok || body != "" && e == b {
			return match{from: b, to: trimEnd(s, b, e), is: bytes >= 16}
		}
		bytes += len(body)
		e += next
	}
	return pemSoFar(s, b, e, bytes, !end && e-b < maxPEM)
}

// pemSoFar matches the key s[b:e] with bytes characters of base64. open means that more may follow.
func pemSoFar(s string, b, e, bytes int, open bool) match {
	if open && bytes < 16 {
		return undecided(b)
	}
	return match{from: b, to: trimEnd(s, b, e), is: bytes >= 16, more: open}
}

// trimEnd returns the end of the key s[b:e] without trailing line ends.
func trimEnd(s string, b, e int) int {
	for e > b {
		switch {
		case s[e-1] == '\n' || s[e-1] == '\r':
			e--
		case e-b > 1 && s[e-2] == '\\' && (s[e-1] == 'n' || s[e-1] == 'r'):
			e -= 2
		default:
			return e
		}
	}
	return e
}

// cutLine returns the first line of s, the start of the next line, and whether the first line is complete. Line ends
// may be escaped as in JSON, even twice, and so may slashes.
func cutLine(s string) (line string, next int, whole bool) {
	n := strings.IndexAny(s[:min(len(s), maxLine)], "\n\\")
	switch {
	case n < 0:
		return s[:min(len(s), maxLine)], min(len(s), maxLine), len(s) >= maxLine
	case s[n] == '\n':
		return s[:n], n + 1, true
	}
	for next = n; next < len(s) && s[next] == '\\'; {
		next++
	}
	if next == len(s) {
		return s[:n], next, false
	}
	return s[:n], next + 1, true
}

// keyLine returns a line of a key without prefix and suffix, or "" for a header such as DEK-Info. ok is false if the
// line is not part of a key. first is the first line's prefix.
func keyLine(line, first string) (body string, ok bool) {
	line = strings.TrimRight(plainText(line), "\r$^M\"'`,;)+ \t")
	body = line[sameLead(line, plainText(first)):]
	body = strings.TrimLeft(body, " \t\"'`>|#*+-")
	if n := len(body) - len(strings.TrimLeft(body, "0123456789")); n > 0 && n < len(body) && strings.IndexByte(" \t:|-", body[n]) >= 0 {
		body = strings.TrimLeft(body[n:], " \t:|-\"'`")
	}
	body = strings.TrimPrefix(strings.TrimPrefix(body, "→"), "│")
	if i := strings.IndexByte(body, ':'); i > 0 && len(body) <= 80 && body[0] >= 'A' && body[0] <= 'Z' {
		return "", true
	}
	for i := range len(body) {
		if !base64[body[i]] {
			return "", false
		}
	}
	return body, len(body) <= 80
}

// sameLead returns the length of a line's prefix if it is like first, the prefix of another line. Numbers, spaces and
// the signs of diff and grep may differ.
func sameLead(line, first string) int {
	i := 0
	vary := func(c byte) bool { return c == ' ' || c == '\t' || digits[c] }
	for j := 0; j < len(first); {
		switch {
		case vary(first[j]):
			for j < len(first) && vary(first[j]) {
				j++
			}
			for i < len(line) && vary(line[i]) {
				i++
			}
		case i < len(line) && (line[i] == first[j] || strings.IndexByte(":-+ ", line[i]) >= 0 && strings.IndexByte(":-+ ", first[j]) >= 0):
			i, j = i+1, j+1
		default:
			return 0
		}
	}
	return i
}

// plainText returns a line without colour sequences.
func plainText(line string) string {
	if strings.IndexByte(line, '\x1b') < 0 {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] == '\x1b' && i+1 < len(line) && line[i+1] == '[' {
			for i += 2; i < len(line) && (line[i] < '@' || line[i] > '~'); i++ {
			}
			continue
		}
		b.WriteByte(line[i])
	}
	return b.String()
}

// beforeEnd matches the remains of a key whose start is missing: the lines of base64 before its end marker.
func beforeEnd(s string, i, end int) match {
	first := lead(s, i)
	b, bytes := i-len(first), 0
	for lines := 0; b > 0 && i-b < maxPEM; lines++ {
		e := b - 1
		if s[e] != '\n' {
			break
		}
		from := strings.LastIndexByte(s[:e], '\n') + 1
		if e-from > maxLine {
			break
		}
		body, ok := keyLine(s[from:e], first)
		if !ok || lines > 0 && len(body) < 16 { // the last line may be short
			break
		}
		b, bytes = from, bytes+len(body)
	}
	if bytes > 0 {
		return match{from: b, to: end, is: bytes >= 16}
	}
	return escapedBeforeEnd(s, i, end)
}

// escapedBeforeEnd is beforeEnd for lines whose ends are escaped as in JSON.
func escapedBeforeEnd(s string, i, end int) match {
	b := i
	for lines := 0; b > 0 && i-b < maxPEM; lines++ {
		e := len(strings.TrimSuffix(strings.TrimSuffix(s[:b], `\n`), `\r`))
		from := e
		for from > 0 && base64[s[from-1]] {
			from--
		}
		if from > 0 && s[from-1] == '\\' {
			from++ // the n of an escaped line end
		}
		if from >= e || lines > 1 && e-from < 16 {
			break
		}
		b = from
	}
	return match{from: b, to: end, is: i-b >= 16}
}

// putty matches the private lines and the checksum of a PuTTY key.
func putty(s string, i, hint int, end bool) match {
	if !strings.HasPrefix(s[i:], "Private-Lines:") {
		return none
	}
	b := i + hint
	n := strings.IndexByte(s[b:min(len(s), b+16)], '\n')
	if n < 0 && b+16 > len(s) && !end {
		return undecided(len(s))
	}
	if n < 0 {
		return none
	}
	return pemBody(s, lead(s, i), b+n, end)
}
