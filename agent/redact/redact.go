// Package redact takes secrets out of text where it enters: what tools print, before it
// becomes history, so that live and replayed sessions are the same (DECISIONS 9).
//
//	r := redact.New(apiKey)
//	text = r.Text(text)
//
// It knows the values that it is given and the shapes of common keys. It does not guess:
// text that merely looks random stays.
package redact

import (
	"regexp"
	"slices"
	"strings"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// least is the length below which a value is too common a text to be taken out.
const least = 8

// shape is what keys of one kind look like. Text without the hint has none, which is
// quick to see; with is what stands there instead, in the syntax of regexp.
type shape struct {
	hint    string
	pattern *regexp.Regexp
	with    string
}

func key(hint, pattern string) shape { return shape{hint, regexp.MustCompile(pattern), Mark} }

// shapes are from the providers' documentation of their token formats.
var shapes = []shape{
	key("sk-", `\bsk-(?:ant-|or-|proj-)?[A-Za-z0-9_-]{20,}`), // OpenAI, Anthropic, OpenRouter
	key("gh", `\bgh[pousr]_[A-Za-z0-9]{36,}\b`),
	key("github_pat_", `\bgithub_pat_[A-Za-z0-9_]{40,}\b`),
	key("glpat-", `\bglpat-[A-Za-z0-9_-]{20,}`), // GitLab
	key("AKIA", `\bAKIA[A-Z0-9]{16}\b`),         // AWS
	key("ASIA", `\bASIA[A-Z0-9]{16}\b`),
	key("AIza", `\bAIza[A-Za-z0-9_-]{35}`),       // Google
	key("xox", `\bxox[abprs]-[A-Za-z0-9-]{10,}`), // Slack
	key("gsk_", `\bgsk_[A-Za-z0-9]{40,}\b`),      // Groq
	key("npm_", `\bnpm_[A-Za-z0-9]{36}\b`),
	key("eyJ", `\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`), // JSON web token
	// PEM, as it is or escaped in JSON.
	key("PRIVATE KEY-----", `-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]|-[^-])*-----END [A-Z ]*PRIVATE KEY-----`),
	{"uthorization", regexp.MustCompile(`(?i)(\bauthorization: *(?:bearer|basic) +)[A-Za-z0-9+/=._~-]{8,}`), "${1}" + Mark},
	{"@", regexp.MustCompile(`(://[^/\s:@"']{1,64}:)[^/\s:@"']{3,}@`), "${1}" + Mark + "@"},
}

// Redactor takes out secrets. The nil Redactor knows no values. It is safe for
// concurrent use.
type Redactor struct{ values []string }

// New returns a Redactor that also takes out the given values. Short ones, and blank
// ones, are ignored.
func New(values ...string) *Redactor {
	r := &Redactor{}
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) >= least && !slices.Contains(r.values, v) {
			r.values = append(r.values, v)
		}
	}
	return r
}

// Text returns s without secrets. It gives back s itself when there are none.
func (r *Redactor) Text(s string) string {
	if r != nil {
		for _, v := range r.values {
			s = strings.ReplaceAll(s, v, Mark)
		}
	}
	for _, sh := range shapes {
		if strings.Contains(s, sh.hint) {
			s = sh.pattern.ReplaceAllString(s, sh.with)
		}
	}
	return s
}
