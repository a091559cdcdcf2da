package redact

import "strings"

// scheme matches the secret in an Authorization header: the text after a scheme such as Bearer. Without a scheme, the
// text must mix letters and digits.
type scheme struct{}

func (scheme) anyCase() {}

func (scheme) hints() []string { return []string{"authorization", "bearer "} }

// schemes maps the schemes of an Authorization header to the minimal length of the secret after them.
var schemes = map[string]int{
	"bearer": 8, "basic": 8, "token": 8, "apikey": 8, "api-key": 8, "digest": 8, "key": 8, "negotiate": 16,
	"ssws": 8, "genericapikey": 8, "aws4-hmac-sha256": 8, "splunk": 8, "bot": 8, "oauth": 8,
}

func (scheme) match(s string, i, hint int, end bool) match {
	b, least := i+hint, 20
	if hint == len("authorization") {
		gap := b
		b = skip(s, gap, " \t\"'\\:=>,")
		e := b
		for e < len(s) && e-b < 20 && dashed[s[e]] {
			e++
		}
		if e == len(s) && !end {
			return undecided(b)
		}
		if b == gap {
			return none
		}
		if least = schemes[strings.ToLower(s[b:e])]; least > 0 {
			if b = skip(s, e, " \t"); b == e {
				return none
			}
		} else {
			return plain(s, b, end)
		}
	}
	return shape{body: header, least: least, digit: hint != len("authorization")}.run(s, b, end)
}

// plain matches the secret in a header without a scheme.
func plain(s string, b int, end bool) match {
	m := shape{body: header, least: 16, digit: true}.run(s, b, end)
	if m.is && !m.more && !random(s[m.from:m.to]) {
		return none
	}
	if m.is && m.more { // later text may show that it is no secret
		return undecided(m.from)
	}
	return m
}

// cookie matches the cookies in a Cookie header, from the first value on, and the value in a Set-Cookie header.
type cookie struct{}

func (cookie) anyCase() {}

func (cookie) hints() []string { return []string{"cookie: ", `cookie": "`, `cookie\": \"`, "cookie:"} }

func (cookie) match(s string, i, hint int, end bool) match {
	stop := "\r\n\"'`\\"
	if i >= 4 && strings.EqualFold(s[i-4:i], "set-") {
		stop += ";"
	} else if i > 0 && word[s[i-1]] && !starts(s, i) {
		return none
	}
	b := skip(s, i+hint, " \t")
	e := skipNot(s, b, stop, maxValue)
	if e == len(s) && !end && e-b < maxValue {
		return undecided(b)
	}
	name := strings.IndexByte(s[b:e], '=')
	if name < 0 || e-b-name < 8 || !mixed(s[b+name:e]) || strings.ContainsAny(s[b+name:b+name+2], "$<{(") {
		return none
	}
	return match{from: b + name + 1, to: e, is: true}
}

// skip returns the index of the first character from i on that is not in any, at most i+maxGap.
func skip(s string, i int, any string) int {
	for end := i + maxGap; i < len(s) && i < end && strings.IndexByte(any, s[i]) >= 0; {
		i++
	}
	return i
}

// maxGap limits the distance between a name and its value, in bytes.
const maxGap = 24

// skipNot returns the index of the first character from i on that is in any, at most i+most.
func skipNot(s string, i int, any string, most int) int {
	for end := i + most; i < len(s) && i < end && strings.IndexByte(any, s[i]) < 0; {
		i++
	}
	return i
}

// password matches the password of a URL: scheme://user:password@host.
type password struct{}

func (password) hints() []string { return []string{"://"} }

// notInURL holds the characters that end a user name or password.
const notInURL = " \t\r\n/@\"'<>`\\{}|"

func (password) match(s string, i, hint int, end bool) match {
	i += hint
	colon := skipNot(s, i, notInURL+":", 64)
	if colon == len(s) && !end && colon-i < 64 {
		return undecided(colon)
	}
	if colon == len(s) || s[colon] != ':' {
		return none
	}
	b := colon + 1
	e := skipNot(s, b, notInURL, maxValue)
	if e == len(s) && !end && e-b < maxValue {
		return undecided(b)
	}
	if e == len(s) || s[e] != '@' || !isURLPassword(s[b:e]) {
		return none
	}
	return match{from: b, to: e, is: true}
}

// isURLPassword reports whether v is a password, not a variable or a placeholder.
func isURLPassword(v string) bool { return v != "" && strings.IndexByte("$%<", v[0]) < 0 && v != Mark }

// login matches the password in an option of a command that logs in, such as mysql -pX, sshpass -p X, docker login -p X
// or curl -u user:X.
type login struct{}

func (login) hints() []string { return []string{" -p", " -u", " --user"} }

// commands lists parts of command lines in which the option -p takes a password.
var commands = []string{"mysql", "mariadb", "sshpass", " login", "mongo", "redis-cli", "smbclient", "ldapsearch", "7z "}

func (login) match(s string, i, hint int, end bool) match {
	line := s[max(0, i-before):i]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	user := s[i+2] != 'p'
	if !user && !containsAny(line, commands) || user && !strings.Contains(line, "curl") && !strings.Contains(line, "wget") {
		return none
	}
	b := skip(s, i+hint, " =\\\"'")
	e := skipNot(s, b, " \t\r\n\"'`\\;|&", maxValue)
	if e == len(s) && !end && e-b < maxValue {
		return undecided(b)
	}
	if user {
		colon := strings.IndexByte(s[b:e], ':')
		if colon < 0 {
			return none
		}
		b += colon + 1
	}
	if v := s[b:e]; len(v) < 6 || strings.ContainsAny(v, "$<[{*(") || v[0] == '-' || !mixed(v) {
		return none
	}
	return match{from: b, to: e, is: true}
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
