package redact

import "strings"

// known finds secrets by their shape.
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

// Character sets of keys. A range is two characters.
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

// token matches a key that begins with one of a few prefixes, such as ghp_, followed by at
// least a number of characters from a set.
type token struct {
	begins []string
	body   *set
	least  int
	digit  bool // it contains a digit; else it is a word
}

// Size limits of secrets in bytes; longer runs are something else. In a text made of prefixes
// each one costs up to the limit.
const (
	maxToken = 512
	maxValue = 4096 // after a name, in a URL, of a JSON web token
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

// run matches the rest of a key, at most most bytes from b on.
func (t token) run(s string, i, b, most int) match {
	e, digit, _ := span(s, b, t.body, most)
	for e > b && e < len(s) && (s[e-1] == '.' || s[e-1] == ',') {
		e-- // end of a sentence
	}
	n := e - b
	m := match{from: i, to: e, is: n >= t.least && n <= most && (digit || !t.digit), more: e == len(s) && n <= most}
	if m.more && !m.is {
		m.from = b // the prefix alone is no secret
	}
	return m
}

// span returns the end of the run of bytes of a set from b on, looking at most + 1 bytes far,
// and whether it contains digits and letters.
func span(s string, b int, of *set, most int) (e int, digit, letter bool) {
	for e = b; e < len(s) && e-b <= most && of[s[e]]; e++ {
		digit = digit || s[e] >= '0' && s[e] <= '9'
		letter = letter || s[e] > '9'
	}
	return e, digit, letter
}

// starts reports whether a word may begin at s[i]: after a character that is in no word, an
// escape of JSON such as \n, or a colour sequence.
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

// named matches a value after a name that marks it as secret, such as aws_secret_access_key =
// ….
type named struct {
	names []string
	body  *set
	least int
	mixed bool // letters and digits; else it is a word or a number
	tight bool // only the name's own sign and a quote may precede the value
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

// maxGap is the largest distance between a name and its value, in bytes.
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

// scheme matches the value of an Authorization header after its scheme.
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

// skip returns the index after at most maxGap characters of a set.
func skip(s string, i int, any string) int {
	for end := i + maxGap; i < len(s) && i < end && strings.IndexByte(any, s[i]) >= 0; {
		i++
	}
	return i
}

// password matches the password of a URL: scheme://user:password@host.
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
		return match{from: e, to: e, more: true} // may be the port in http://localhost:8080
	case e == len(s):
		return match{from: b, to: e, more: e-b < maxValue}
	case s[e] == '@' && e > b && s[b] != '$' && s[b:e] != Mark:
		return match{from: b, to: e, is: true}
	}
	return match{}
}

// notInURL are the characters that end a user's name or password.
const notInURL = " \t\r\n/@\"'<>`\\{}|"

// skipNot returns the index of the first of some characters, or of the limit.
func skipNot(s string, i int, any string, most int) int {
	for end := i + most; i < len(s) && i < end && strings.IndexByte(any, s[i]) < 0; {
		i++
	}
	return i
}

// port reports whether a text may be a port, or the start of one.
func port(s string) bool { return len(s) <= 5 && strings.Trim(s, "0123456789") == "" }

// jwt matches a JSON web token or anything of its form: three parts, of which the first two
// are JSON objects.
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

// netrc matches the password of an entry in ~/.netrc, whose words may be spread over any
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

// shapes follow the documentation of the token formats by their issuers.
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

	// Generic forms.
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
