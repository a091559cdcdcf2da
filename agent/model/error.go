package model

import (
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ErrorKind says where a request failed.
type ErrorKind uint8

// The kinds of errors.
const (
	StatusError   ErrorKind = iota + 1 // the server answered with an error status
	ReportedError                      // the answer began well, then held an error object
	ConnectError                       // no connection, or it broke before the answer began
	TimeoutError                       // nothing came for too long
	CutError                           // the answer ended before it was complete
	FormatError                        // the answer is not what the protocol says
	StallError                         // the answer stopped in the middle; see Recovery
	SetupError                         // nothing that sending again could mend: a certificate, a redirect
	SlowError                          // a server nearby has not answered yet and may still work on it
	ContextError                       // the conversation is longer than the model takes; a shorter one may be sent
	EmptyError                         // the answer came whole, and nothing that a model could have said is in it
)

// Error is a request that failed. Adapters return no other error, except the cause of
// a cancelled context; use errors.As. No field ever holds a key.
type Error struct {
	Kind       ErrorKind
	Endpoint   string        // the URL without credentials
	Status     int           // HTTP status, or what a reported error amounts to; 0 = none
	What       string        // one line
	Said       string        // what the server said of it in words, one line; "" if it said nothing for people
	Body       string        // how the answer began, on one line, at most 2000 bytes
	Tries      int           // how often the request was sent, if that is more than once
	RetryAfter time.Duration // what the server asked for; 0 = nothing
	Hint       string        // what the person can do
	Recovery   Recovery      // StallError: what is to follow
	Window     int           // ContextError: how many tokens the server says that the model takes; 0 = it does not
	Silence    time.Duration // how long nothing came, of one that ended for that; else 0
	Err        error         // the cause; may be nil
}

// Recovery says what follows when an answer has stalled.
type Recovery string

// The recoveries. The zero value means RecoverRetry.
const (
	RecoverRetry    Recovery = "retry"    // the same model is asked again, a few times, then the fallback
	RecoverFallback Recovery = "fallback" // the fallback is asked at once; without one the request fails
	RecoverAbort    Recovery = "abort"    // the request fails
)

// Error is one sentence: the server, what happened, what it said of that, what to do. The
// answer itself, often JSON, is not in it; see Raw.
func (e *Error) Error() string {
	if e.Hint != "" {
		return e.Cause() + "; " + e.Hint
	}
	return e.Cause()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed a little later.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case StatusError, ReportedError:
		return e.Status == 408 || e.Status == 429 || e.Status >= 500
	case ConnectError, TimeoutError, CutError, FormatError, EmptyError:
		return true
	case StallError:
		return e.Recovery == RecoverRetry || e.Recovery == ""
	}
	return false
}

// Overloaded reports whether the server had too much to do, or this account asked too
// often: later, or at another model, the same request is likely to succeed.
func (e *Error) Overloaded() bool {
	if e.Kind != StatusError && e.Kind != ReportedError {
		return false
	}
	return e.Status == 429 || e.Status == 503 || e.Status == 529
}

// Passes reports whether the same request may succeed later, without a change: when the server, the network or
// the account's quota is there again.
func (e *Error) Passes() bool {
	quota := e.Kind == SetupError && (e.Status == http.StatusPaymentRequired || e.Status == http.StatusTooManyRequests)
	return e.Retryable() || e.Kind == StallError || e.Kind == SlowError || quota
}

// Loopback reports whether the server is a program on this machine.
func (e *Error) Loopback() bool {
	u, err := url.Parse(e.Endpoint)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// Replaceable reports whether another model may answer in place of this one.
func (e *Error) Replaceable() bool {
	return e.Overloaded() || e.Kind == StallError && e.Recovery != RecoverAbort
}

// Replaced says in two words why another model answers in place of this one, "" if none may.
func (e *Error) Replaced() string {
	switch {
	case !e.Replaceable():
		return ""
	case e.Kind == StallError:
		return "Stream stalled"
	}
	return "Model overloaded"
}

// overRate finds what a limit per minute or day allows and what the request alone has: "Request too large for gpt-4o in
// organization org-x on tokens per min (TPM): Limit 30000, Requested 36278" (OpenAI, github.com/Aider-AI/aider/issues/1880).
// "Limit 6000, Used 5034, Requested 1443" passes (Groq, github.com/elizaOS/eliza/issues/4040 has both).
var overRate = regexp.MustCompile(`(?i)\blimit:? ([\d,]{1,15})\b.{0,80}?\brequested:? ([\d,]{1,15})`)

// OverRate reports whether what a server says of a request means that it has more tokens than the account may ever
// send at once, so that no waiting helps.
func OverRate(said string) bool {
	found := overRate.FindStringSubmatch(said)
	if found == nil {
		return false
	}
	number := func(s string) int {
		n, _ := strconv.Atoi(strings.ReplaceAll(s, ",", "")) // the pattern makes it one
		return n
	}
	return number(found[2]) > number(found[1])
}

// Limits of foreign text, in bytes.
const (
	excerptLimit = 200  // what an error says of it
	bodyLimit    = 2000 // kept of it for a person who asks
)

// Excerpt returns the beginning of foreign text, safe to show on one line: white space
// becomes single blanks, what cannot be seen becomes U+FFFD. It has at most 200 bytes
// and never part of a code point; "…" follows when something was left out.
func Excerpt(b []byte) string { return excerpt(b, excerptLimit) }

func excerpt(b []byte, limit int) string {
	var out strings.Builder
	blank := false
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		if unicode.IsSpace(r) {
			blank = out.Len() > 0
			continue
		}
		if !unicode.IsPrint(r) {
			r = utf8.RuneError
		}
		if out.Len()+utf8.RuneLen(r)+1 > limit {
			return out.String() + "…"
		}
		if blank {
			out.WriteByte(' ')
			blank = false
		}
		out.WriteRune(r)
	}
	return out.String()
}

// askedWait finds what servers write: "Please try again in 2.5s", "try again in 1m30.5s",
// "Please retry in 36.5s", "retry after 20 seconds".
var askedWait = regexp.MustCompile(`(?i)(?:try again|retry) (?:in|after) (\d[\d.hms]*)\s*(seconds?|minutes?|hours?)?`)

// AskedWait returns how long a text of a server asks to wait before the next request; 0 when
// it does not.
func AskedWait(said string) time.Duration {
	found := askedWait.FindStringSubmatch(said)
	if found == nil {
		return 0
	}
	number := strings.TrimRight(found[1], ".")
	if d, err := time.ParseDuration(number); err == nil && d > 0 {
		return d
	}
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour}
	unit := time.Second
	if found[2] != "" {
		unit = units[strings.ToLower(found[2])[0]]
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n <= 0 || n > 1e6 {
		return 0
	}
	return time.Duration(n * float64(unit))
}
