package redact

import (
	"slices"
	"strings"
)

// named matches the value after a name that announces a secret, in the notations of shells, settings, markup,
// programs, queries and command lines:
//
//	export DB_PASSWORD=X     "apiKey": "X"      client_secret: X       token := `X`
//	'password' => 'X'        <secret>X</secret> --token X              IDENTIFIED BY 'X'
//	?access_token=X          Pwd=X;             - name: TOKEN          env["TOKEN"] = "X"
//	                                              value: X
type named struct{}

func (named) anyCase() {}

func (named) hints() []string {
	return []string{"passw", "passphrase", "passcode", "_pass", "-pass", "pass=", "pass:", "pwd", "secret", "token", "key", "credential", "creds", "auth", "jwt", "session", "identified by", "password by", " sid="}
}

// Parts of names that announce a secret, in lower case and without separators. passwords and tokens match the end of a
// name; passwordWords and tokenWords match the name's last word or the whole name.
var (
	passwords     = []string{"password", "passwd", "passphrase", "passcode", "passwort", "identifiedby", "passwordby"}
	passwordWords = []string{"pass", "pwd"}
	tokens        = []string{
		"secret", "token", "apikey", "accesskey", "secretkey", "privatekey", "signingkey", "encryptionkey", "authkey", "accountkey",
		"masterkey", "sharedkey", "servicekey", "clientkey", "licensekey", "deploykey", "sessionkey", "appkey", "storagekey", "webhookkey",
		"hmackey", "jwtkey", "sshkey", "adminkey", "encryptkey", "cryptkey", "subscriptionkey", "functionkey", "keybase", "integrationkey",
		"credential", "credentials", "sessionid", "sessid", "authstring", "connectsid",
	}
	tokenWords = []string{"auth", "jwt", "creds", "sid"}
	positions  = []string{"nexttoken", "pagetoken", "continuetoken", "continuationtoken", "synctoken", "stoptoken"} // not secrets
	// stages lists words that may follow these parts, as in TOKEN_PROD.
	stages = []string{
		"production", "prod", "development", "dev", "test", "staging", "stage", "live", "value", "base64", "b64", "primary", "secondary",
		"current", "old", "new", "raw", "string", "default", "admin", "root", "user",
	}
)

// maxName limits the length of a name, in bytes.
const maxName = 64

// class says what kind of secret a name announces.
type class int

const (
	noSecret class = iota
	ofPassword
	ofToken
)

func (named) match(s string, i, hint int, end bool) match {
	e := i + hint
	for e < len(s) && e-i < maxName && inName(s[e]) {
		e++
	}
	switch {
	case e == len(s) && !end:
		return undecided(len(s))
	case e == len(s) || e-i == maxName:
		return none
	}
	b := nameStart(s, i)
	is := classAt(s, b, e)
	if is == noSecret {
		return none
	}
	p := notation{s: s, name: b, i: e, end: end}
	if !p.separate() {
		return p.open()
	}
	v := p.i
	if !p.value() {
		return p.open()
	}
	if !p.secret(is, s[v:p.i]) {
		return none
	}
	return match{from: v, to: p.i, is: true}
}

// nameStart returns the start of the name that contains s[i].
func nameStart(s string, i int) int {
	b := i
	for b > 0 && i-b < maxName && inName(s[b-1]) {
		b--
	}
	if b > 0 && s[b-1] == '\\' && b < i {
		b++ // the n of \n
	}
	return b
}

// classAt classifies the name s[b:e] in its context. In the query of a URL, "key" announces a token; the host of a URL
// is not a name.
func classAt(s string, b, e int) class {
	switch {
	case b > 1 && s[b-2:b] == "//":
		return noSecret
	case b > 0 && (s[b-1] == '?' || s[b-1] == '&') && strings.EqualFold(s[b:e], "key"):
		return ofToken
	}
	return classify(s[b:e])
}

func inName(c byte) bool { return dashed[c] || c == '.' }

func classify(name string) class {
	if is := classOf(name); is != noSecret {
		return is
	}
	name = strings.TrimRight(name, "0123456789_-.")
	for _, stage := range stages {
		if n := len(name) - len(stage); n > 0 && strings.EqualFold(name[n:], stage) {
			return classOf(strings.TrimRight(name[:n], "0123456789_-."))
		}
	}
	return classOf(name)
}

// classOf classifies a name by how it ends.
func classOf(name string) class {
	var buf [2 * maxName]byte
	flat, last := buf[:0], 0
	for i := 0; i < len(name) && len(flat) < len(buf); i++ {
		c := name[i]
		if !alnum[c] {
			last = len(flat)
			continue
		}
		if c >= 'A' && c <= 'Z' {
			if i > 0 && name[i-1] >= 'a' {
				last = len(flat)
			}
			c |= 0x20
		}
		flat = append(flat, c)
	}
	whole := string(flat)
	ends := func(suffix string) bool { return strings.HasSuffix(whole, suffix) }
	final := whole[last:]
	switch {
	case slices.ContainsFunc(passwords, ends), slices.Contains(passwordWords, final):
		return ofPassword
	case slices.ContainsFunc(positions, ends):
		return noSecret
	case slices.ContainsFunc(tokens, ends), slices.Contains(tokenWords, final):
		return ofToken
	}
	return noSecret
}
