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

// ErrorKind classifies how a request failed.
type ErrorKind uint8

// The kinds of errors.
const (
	StatusError   ErrorKind = iota + 1 // the server answered with an error status
	ReportedError                      // the answer started well, then held an error object
	ConnectError                       // no connection, or it broke before the answer started
	TimeoutError                       // no data for too long
	CutError                           // the answer ended before it was complete
	FormatError                        // the answer violates the protocol
	StallError                         // the answer stopped in the middle; see Recovery
	SetupError                         // sending again does not help: a certificate, a redirect
	SlowError                          // a server on this machine or network has not answered yet, but may still do so
	ContextError                       // the conversation is longer than the model takes; a shorter one may be sent
	EmptyError                         // the answer is complete but has no content
)

// Error describes a failed request. Adapters return no other error, except the cause of a cancelled context; use
// errors.As. No field ever holds an API key.
type Error struct {
	Kind       ErrorKind
	Endpoint   string        // the URL without credentials
	Status     int           // HTTP status, or the status equivalent to a reported error; 0 = none
	What       string        // one line
	Said       string        // the server's message, one line; "" if it sent none
	Body       string        // the start of the answer, on one line, at most 2000 bytes
	Tries      int           // number of times that the request was sent; 0 means once
	RetryAfter time.Duration // the wait that the server asked for; 0 = none
	Hint       string        // what the person can do
	Recovery   Recovery      // StallError: what to do next
	Window     int           // ContextError: the window in tokens that the server reported; 0 = not reported
	Silence    time.Duration // the time without data that caused the error; 0 for other causes
	Err        error         // the cause; may be nil
}

// Recovery selects what to do if an answer stalls.
type Recovery string

// The recoveries. The zero value means RecoverRetry.
const (
	RecoverRetry    Recovery = "retry"    // the same model is asked again a few times, then the fallback
	RecoverFallback Recovery = "fallback" // the fallback is asked at once; without one the request fails
	RecoverAbort    Recovery = "abort"    // the request fails
	RecoverWait     Recovery = "wait"     // an answer never stalls
)

// Error returns one sentence: the server, what happened, its message, what to do. It omits the raw answer, which is
// often JSON; see Raw.
func (e *Error) Error() string {
	if e.Hint != "" {
		return e.Cause() + "; " + e.Hint
	}
	return e.Cause()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed if it is sent again soon.
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

// Overloaded reports whether the server was overloaded or the account exceeded its rate limit: the same request is
// likely to succeed later or with another model.
func (e *Error) Overloaded() bool {
	if e.Kind != StatusError && e.Kind != ReportedError {
		return false
	}
	return e.Status == 429 || e.Status == 503 || e.Status == 529
}

// Passes reports whether the same request may succeed without a change, but perhaps much later: when the server, the
// network or the account's quota is available again.
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

// Replaceable reports whether another model may answer this request instead.
func (e *Error) Replaceable() bool {
	return e.Overloaded() || e.Kind == StallError && e.Recovery != RecoverAbort
}

// Replaced returns, in two words, why another model answers the request, or "" if none may.
func (e *Error) Replaced() string {
	switch {
	case !e.Replaceable():
		return ""
	case e.Kind == StallError:
		return "Stream stalled"
	}
	return "Model overloaded"
}

// overRate finds the limit per minute or day, and the size of the request, in a message such as "Request too large for
// gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 36278" (OpenAI,
// github.com/Aider-AI/aider/issues/1880). In "Limit 6000, Used 5034, Requested 1443" the request is smaller than the
// limit, so it succeeds later (github.com/elizaOS/eliza/issues/4040 has messages of both kinds from Groq).
var overRate = regexp.MustCompile(`(?i)\blimit:? ([\d,]{1,15})\b.{0,80}?\brequested:? ([\d,]{1,15})`)

// OverRate reports whether the server's message means that the request has more tokens than the account may ever send
// in one request, so that waiting does not help.
func OverRate(said string) bool {
	found := overRate.FindStringSubmatch(said)
	if found == nil {
		return false
	}
	number := func(s string) int {
		n, _ := strconv.Atoi(strings.ReplaceAll(s, ",", "")) // the pattern matches only numbers
		return n
	}
	return number(found[2]) > number(found[1])
}

// Limits of text from outside, in bytes.
const (
	excerptLimit = 200  // shown in an error
	bodyLimit    = 2000 // kept for a person who asks for it
)

// Excerpt returns the start of a text from outside, safe to show on one line: white space becomes single spaces,
// unprintable characters become U+FFFD. It has at most 200 bytes and no partial code point; "…" marks a cut.
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

// askedWait matches waits in messages of servers: "Please try again in 2.5s", "try again in 1m30.5s", "Please retry in
// 36.5s", "retry after 20 seconds".
var askedWait = regexp.MustCompile(`(?i)(?:try again|retry) (?:in|after) (\d[\d.hms]*)\s*(seconds?|minutes?|hours?)?`)

// AskedWait returns how long a server's message asks the client to wait before the next request, or 0 if it does not
// ask.
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
