package redact

import "strings"

// known finds the secrets that have a shape.
var known = newFinder(shapes)

func newFinder(kinds []kind) *finder {
	f := &finder{kinds: make(map[uint16][]hinted)}
	for _, k := range kinds {
		f.add(k)
	}
	return f
}

// set is a set of bytes.
type set [256]bool

func chars(ranges string) *set {
	var c set
	for i := 0; i+1 < len(ranges); i += 2 {
		for b := int(ranges[i]); b <= int(ranges[i+1]); b++ {
			c[b] = true
		}
	}
	return &c
}

// What keys are made of. A range is two characters.
var (
	hex     = chars("09af")
	upper   = chars("AZ09")
	alnum   = chars("AZaz09")
	word    = chars("AZaz09__")
	dashed  = chars("AZaz09__--")
	dotted  = chars("AZaz09__--..")
	base64  = chars("AZaz09++//==")
	header  = chars("AZaz09__--..++//==~~")
	printed = chars("!!##%%*;?[]]^_az||~~AZ") // of a value: no quote, space, bracket or $
)

// token is a key that begins with one of a few texts, such as ghp_, and goes on with
// at least so many of its bytes.
type token struct {
	begins []string
	body   *set
	least  int
	digit  bool // there is one in it; else it is a word
}

// How many bytes a secret has at most; longer runs are something else. A text that is made
// of beginnings costs as much as the bound, for each of them.
const (
	maxToken = 512
	maxValue = 4096 // behind a name, in a URL, of a JSON web token
)

func (t token) hints() []string { return t.begins }

func (t token) match(s string, i int) match {
	if !starts(s, i) {
		return match{}
	}
	for _, h := range t.begins {
		if strings.HasPrefix(s[i:], h) {
			return t.run(s, i, i+len(h), maxToken)
		}
	}
	return match{}
}

// run is the match of a key whose own bytes begin at b and are at most so many.
func (t token) run(s string, i, b, most int) match {
	e, digit, _ := span(s, b, t.body, most)
	for e > b && e < len(s) && (s[e-1] == '.' || s[e-1] == ',') {
		e-- // of the sentence
	}
	n := e - b
	m := match{from: i, to: e, is: n >= t.least && n <= most && (digit || !t.digit), more: e == len(s) && n <= most}
	if m.more && !m.is {
		m.from = b // until then only the beginning is known, which is no secret
	}
	return m
}

// span returns the end of the bytes of a set from b on, of which one more than most is
// enough, and whether digits and letters are among them.
func span(s string, b int, of *set, most int) (e int, digit, letter bool) {
	for e = b; e < len(s) && e-b <= most && of[s[e]]; e++ {
		digit = digit || s[e] >= '0' && s[e] <= '9'
		letter = letter || s[e] > '9'
	}
	return e, digit, letter
}

// starts reports whether a word may begin at s[i]: after what is in no word, after an
// escape of JSON such as \n, or after a colour sequence.
func starts(s string, i int) bool {
	if i == 0 || !word[s[i-1]] {
		return true
	}
	before := s[max(0, i-16):i]
	if n := len(before); n >= 2 && before[n-2] == '\\' && strings.IndexByte("nrtbf", before[n-1]) >= 0 {
		return true
	}
	if n := len(before); n >= 6 && before[n-6] == '\\' && before[n-5] == 'u' {
		return true
	}
	rest := strings.TrimRight(before[:len(before)-1], "0123456789;")
	return strings.HasSuffix(rest, "\x1b[") || strings.HasSuffix(rest, `\u001b[`)
}

// named is a value behind a name that says that it is secret, such as
// aws_secret_access_key = ….
type named struct {
	names []string
	body  *set
	least int
	mixed bool // letters and digits; else it is a word or a number
	tight bool // nothing but the name's own sign and a quote is before the value
}

func (n named) hints() []string { return n.names }

func (n named) match(s string, i int) match {
	for _, name := range n.names {
		if strings.HasPrefix(s[i:], name) {
			return n.value(s, i+len(name))
		}
	}
	return match{}
}

// maxGap is how many bytes may be between a name and its value.
const maxGap = 12

func (n named) value(s string, b int) match {
	between := " \t\"':=>\\"
	if n.tight {
		between = "\"'\\"
	}
	gap := b
	b = skip(s, gap, between)
	if b-gap == maxGap || b == gap && !n.tight && b < len(s) {
		return match{}
	}
	e, digit, letter := span(s, b, n.body, maxValue)
	long := e-b > maxValue
	return match{from: b, to: e, is: e-b >= n.least && !long && (!n.mixed || digit && letter), more: e == len(s) && !long}
}

// scheme is the value of an Authorization header, behind the word that says what it is.
type scheme struct{}

func (scheme) hints() []string {
	return []string{"Authorization", "authorization", "AUTHORIZATION"}
}

func (scheme) match(s string, i int) match {
	b := skip(s, i+len("authorization"), " \t\"'\\:=")
	e := b
	for e < len(s) && e-b < 12 && word[s[e]] {
		e++
	}
	switch strings.ToLower(s[b:e]) {
	case "bearer", "basic", "token", "apikey", "digest":
	default:
		return match{from: len(s), to: len(s), more: e == len(s)}
	}
	v := skip(s, e, " \t")
	if v == e && v < len(s) {
		return match{}
	}
	return token{body: header, least: 8}.run(s, v, v, maxValue)
}

// skip returns the place behind the characters of a set, of which there are at most maxGap.
func skip(s string, i int, any string) int {
	for end := i + maxGap; i < len(s) && i < end && strings.IndexByte(any, s[i]) >= 0; {
		i++
	}
	return i
}

// password is that of a URL: scheme://user:password@host.
type password struct{}

func (password) hints() []string { return []string{"://"} }

func (password) match(s string, i int) match {
	i += len("://")
	colon := skipNot(s, i, notInURL+":", 64)
	if colon == len(s) {
		return match{from: colon, to: colon, more: colon-i < 64}
	}
	if s[colon] != ':' {
		return match{}
	}
	b := colon + 1
	e := skipNot(s, b, notInURL, maxValue)
	switch {
	case e == len(s) && port(s[b:]):
		return match{from: e, to: e, more: true} // that of http://localhost:8080
	case e == len(s):
		return match{from: b, to: e, more: e-b < maxValue}
	case s[e] == '@' && e > b && s[b] != '$' && s[b:e] != Mark:
		return match{from: b, to: e, is: true}
	}
	return match{}
}

// notInURL is what ends a user's name or password.
const notInURL = " \t\r\n/@\"'<>`\\{}|"

// skipNot returns the first place of one of some characters, or that behind the limit.
func skipNot(s string, i int, any string, most int) int {
	for end := i + most; i < len(s) && i < end && strings.IndexByte(any, s[i]) < 0; {
		i++
	}
	return i
}

// port reports whether a text may be a port, or the beginning of one.
func port(s string) bool { return len(s) <= 5 && strings.Trim(s, "0123456789") == "" }

// jwt is a JSON web token, and what has its form: three parts, of which the first two are
// JSON objects.
type jwt struct{}

func (jwt) hints() []string { return []string{"eyJ"} }

func (jwt) match(s string, i int) match {
	if !starts(s, i) {
		return match{}
	}
	e := i
	for part := range 3 {
		b := e
		for e < len(s) && e-i < maxValue && dashed[s[e]] && (part > 0 || e-i < maxToken) {
			e++
		}
		if e == len(s) {
			return match{from: i + len("eyJ"), to: e, is: part == 2 && e-b >= 10, more: true}
		}
		if e-b < 10 || part == 1 && !strings.HasPrefix(s[b:], "eyJ") {
			return match{}
		}
		if part == 2 {
			break
		}
		if s[e] != '.' {
			return match{}
		}
		e++
	}
	return match{from: i, to: e, is: true}
}

// netrc is the password of a line of ~/.netrc, in which tokens follow each other in any
// number of lines.
type netrc struct{}

func (netrc) hints() []string { return []string{"machine "} }

func (netrc) match(s string, i int) match {
	if !starts(s, i) {
		return match{}
	}
	const most = 512
	rest := s[i:min(len(s), i+most)]
	at := strings.Index(rest, "password ")
	if next := strings.Index(rest[1:], "machine "); next >= 0 && next < at {
		at = -1
	}
	login := strings.Index(rest, "login ")
	switch {
	case at < 0 || login < 0:
		return match{from: len(s), to: len(s), more: len(rest) == len(s)-i && len(rest) < most}
	case login > at:
		return match{}
	}
	b := skip(s, i+at+len("password "), " \t")
	e := b
	for e < len(s) && e-b < most && strings.IndexByte(" \t\r\n\\\"'\x1b", s[e]) < 0 {
		e++
	}
	return match{from: b, to: e, is: e > b && s[b:e] != Mark, more: e == len(s)}
}

// shapes are from the documentation of the token formats of those who issue them.
var shapes = []kind{
	// Models.
	token{begins: []string{"sk-"}, body: dashed, least: 20, digit: true}, // OpenAI, Anthropic, OpenRouter, DeepSeek and more
	token{begins: []string{"xai-"}, body: alnum, least: 60},
	token{begins: []string{"gsk_"}, body: alnum, least: 40}, // Groq
	token{begins: []string{"hf_"}, body: alnum, least: 30},  // Hugging Face
	token{begins: []string{"r8_"}, body: alnum, least: 35},  // Replicate
	token{begins: []string{"pplx-"}, body: alnum, least: 40},
	token{begins: []string{"csk-"}, body: alnum, least: 40}, // Cerebras
	token{begins: []string{"nvapi-"}, body: dashed, least: 50},
	token{begins: []string{"tgp_v1_"}, body: dashed, least: 40},     // Together
	token{begins: []string{"AIza"}, body: dashed, least: 35},        // Google
	token{begins: []string{"ya29."}, body: dashed, least: 40},       // Google, short-lived
	token{begins: []string{"GOCSPX-"}, body: dashed, least: 24},     // Google, of a client
	token{begins: []string{"AKIA", "ASIA"}, body: upper, least: 16}, // AWS, the id
	token{begins: []string{"ABSK"}, body: base64, least: 100},       // AWS Bedrock
	named{names: []string{"aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey"}, body: base64, least: 30},
	named{names: []string{"aws_session_token", "AWS_SESSION_TOKEN", "SessionToken", "sessionToken"}, body: base64, least: 60},
	named{names: []string{"AccountKey=", "SharedAccessKey="}, body: base64, least: 40, tight: true}, // Azure
	named{names: []string{"&sig=", "?sig=", "X-Amz-Signature="}, body: chars("AZaz09%%++//==--__"), least: 40, tight: true},

	// Code and packages.
	token{begins: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, body: word, least: 36},
	token{begins: []string{"github_pat_"}, body: word, least: 40},
	token{begins: []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "gloas-", "glsoat-", "glft-", "glimt-", "glagent-"}, body: dotted, least: 20},
	token{begins: []string{"npm_"}, body: alnum, least: 36},
	named{names: []string{"_authToken=", "_password="}, body: header, least: 8, tight: true}, // .npmrc
	token{begins: []string{"pypi-"}, body: dashed, least: 50},
	token{begins: []string{"rubygems_"}, body: hex, least: 48},
	token{begins: []string{"dckr_pat_", "dckr_oat_"}, body: dashed, least: 20},

	// Services.
	token{begins: []string{"xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-"}, body: dotted, least: 10, digit: true}, // Slack
	named{names: []string{"hooks.slack.com/services/"}, body: chars("AZaz09//"), least: 30, tight: true},
	token{begins: []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"}, body: alnum, least: 16}, // Stripe
	token{begins: []string{"SG."}, body: dotted, least: 60},                                                   // SendGrid
	token{begins: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, body: hex, least: 64},                            // DigitalOcean
	token{begins: []string{"shpat_", "shpca_", "shppa_", "shpss_"}, body: hex, least: 32},                     // Shopify
	token{begins: []string{"lin_api_"}, body: alnum, least: 40},                                               // Linear
	token{begins: []string{"ntn_"}, body: alnum, least: 40},                                                   // Notion
	token{begins: []string{"hvs.", "hvb."}, body: dashed, least: 24},                                          // Vault
	token{begins: []string{"dapi"}, body: hex, least: 32},                                                     // Databricks
	token{begins: []string{"glsa_", "glc_"}, body: dashed, least: 32, digit: true},                            // Grafana
	token{begins: []string{"sbp_"}, body: hex, least: 40},                                                     // Supabase
	token{begins: []string{"tskey-"}, body: dashed, least: 20, digit: true},                                   // Tailscale
	token{begins: []string{"AGE-SECRET-KEY-1"}, body: upper, least: 58},

	// Forms that many use.
	pem{},
	jwt{},
	scheme{},
	named{names: []string{"x-api-key", "X-Api-Key", "X-API-Key", "X-API-KEY", "PRIVATE-TOKEN", "Private-Token", "private-token"}, body: header, least: 16, mixed: true},
	password{},
	netrc{},
	named{names: []string{
		"TOKEN=", "SECRET=", "PASSWORD=", "PASSWD=", "API_KEY=", "ACCESS_KEY=", "PRIVATE_KEY=", "SECRET_KEY=",
	}, body: printed, least: 8, mixed: true, tight: true},
}
