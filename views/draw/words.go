package draw

import (
	"fmt"
	"strings"
)

// WaitingSign marks work that waits for a person. It is not the usual pause sign, which some terminals draw as a
// coloured picture that is too wide.
const WaitingSign = "‖"

// FirstLine returns the first nonblank line; … marks that there are more.
func FirstLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if line = strings.TrimSuffix(line, "\r"); more {
		line += " …"
	}
	return line
}

// Spinner returns the glyph of running work; it turns ten times a second.
func Spinner(nowMS int64) string {
	return [...]string{"◐", "◓", "◑", "◒"}[nowMS/100%4]
}

// Clock formats a duration as mm:ss or h:mm:ss.
func Clock(ms int64) string {
	s := max(0, ms/1000)
	if s < 3600 {
		return fmt.Sprintf("%02d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// RetryWait formats the time until a retry, in milliseconds, and the number of the attempt: "Retrying in 12 s (3 of
// 6)".
func RetryWait(ms int64, count string) string {
	s := (ms + 999) / 1000
	when := "now"
	if s > 0 {
		when = "in " + Seconds(1000*s)
	}
	return "Retrying " + when + " (" + count + ")"
}

// Seconds formats milliseconds as whole seconds, at least one: 12 s, 2 min 5 s.
func Seconds(ms int64) string {
	s := max((ms+500)/1000, 1)
	if s >= 100 {
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d s", s)
}

// Elapsed formats a running time in milliseconds: 12s, or 01:05 from one minute on.
func Elapsed(ms int64) string {
	if ms < 60_000 {
		return fmt.Sprintf("%ds", max(0, ms/1000))
	}
	return Clock(ms)
}

// Gauge returns a bar of n cells that is percent full.
func Gauge(percent, n int) string {
	full := max(0, min(n, (percent*n+50)/100))
	return strings.Repeat("▓", full) + strings.Repeat("░", n-full)
}

// Took formats milliseconds as 3.2s, 45s or 01:05.
func Took(ms int64) string {
	switch {
	case ms < 10_000:
		return fmt.Sprintf("%.1fs", float64(ms)/1000)
	case ms < 60_000:
		return fmt.Sprintf("%ds", ms/1000)
	}
	return Clock(ms)
}

// BeforePrompt returns the prefix of the prompt for a target: "(ssh root@web-02)" for "root@web-02 (ssh)", "(web)" for
// a target from the configuration.
func BeforePrompt(target string) string {
	if name, kind, ok := strings.Cut(strings.TrimSuffix(target, ")"), " ("); ok && strings.HasSuffix(target, ")") {
		return "(" + kind + " " + name + ")"
	}
	return "(" + target + ")"
}

// OnTarget returns " on TARGET", for work that is not on the session's own target.
func OnTarget(target string) string { return " on " + FirstLine(target) }
