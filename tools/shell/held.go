package shell

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"buddy/texts"
)

// refused is a pattern for error messages about something that the kernel refused. Longer patterns contain it.
const refused = `(?i)permission denied|operation not permitted|read-only file system|inappropriate ioctl|function not implemented|EACCES|EPERM`

var refusal = texts.Regexp(refused)

const (
	refusals   = 3   // quoted lines of a result
	refusalMax = 160 // bytes of each
)

// networkless matches error messages about the missing network of the read-only sandbox.
const networkless = `(?i)resolve host|name resolution|name or service not known|no such host|getaddrinfo|network is unreachable|failed to connect|dial tcp`

// stops matches the error messages of programs that the read-only sandbox stopped.
var stops = texts.Regexp(refused + "|" + networkless)

// attempts lists actions, each with a pattern for the error messages about it. A pattern's group matches the object of
// the action, such as a file or a host.
var attempts = []struct {
	what    string
	message func() *regexp.Regexp
}{
	{"connect to", texts.Regexp(`(?i)(?:resolve host(?:name)?:? |connect to |lookup |getaddrinfo \w+ |dial tcp )['"]?([\w.:\[\]-]+)`)},
	{"connect to the network", texts.Regexp(networkless + `|(?i)socket`)},
	{"write", texts.Regexp(`(?i)(?:touch|create|creat|remove|unlink|rename|move|mkdir|directory|make|write|writing|temporary file|output file|update|lock)[^'"‘:]*['"‘]([^'"’]+)`)},
	{"write", texts.Regexp(`(?i)(?:creat|touch|remove|writ|temporary file|output file|lock)[^:]*?([^\s:'"]*[./][^\s:'"]*): `)},
	{"read", texts.Regexp(`(?i)^(?:/bin/)?[\w.+-]+: (?:line \d+: |cannot open |can't open )?['"‘]?([^:'"’]+)['"’]?(?: for reading)?: permission denied`)},
}

// attempted returns the action that an error message names, "" if it names none.
func attempted(message string) string {
	for _, a := range attempts {
		if m := a.message().FindStringSubmatch(message); m != nil {
			return strings.TrimSpace(a.what + " " + strings.Join(m[1:], ""))
		}
	}
	return ""
}

// explainConfined explains the read-only sandbox if a command in it failed, or printed that something was refused; else
// it returns "". A command can print that and still end with 0.
func explainConfined(output string, code int) string {
	lines := quoted(output, stops())
	if code == 0 {
		lines = quoted(output, refusal())
	}
	var tried []string
	for l := range strings.Lines(output) {
		if l = strings.TrimSpace(l); stops().MatchString(l) && len(tried) < refusals {
			if what := attempted(strings.ToValidUTF8(l[:min(len(l), refusalMax)], "")); what != "" && !slices.Contains(tried, what) {
				tried = append(tried, what)
			}
		}
	}
	switch {
	case len(lines) > 0 && len(tried) > 0:
		return "the read-only sandbox stopped it: it tried to " + strings.Join(tried, ", ") + ": " + strings.Join(lines, ", ") + ". " + limits + again
	case len(lines) > 0:
		return "it ran in the read-only sandbox, which has refused something: " + strings.Join(lines, ", ") + ". " + limits + again
	case code != 0:
		return "it ran in the read-only sandbox: no writing, no network, no services, nothing of the home folder. If that is why it failed: " + again
	}
	return ""
}

// stopped reports whether a command failed because of the read-only sandbox and might succeed in the workspace sandbox.
// It does if a message is about a write, a connection or an unknown action. A refused read does not count, because the
// workspace sandbox allows no more reads. Nor does a command that ended with 0: usually only the listing of a folder
// was refused, and a second run would mark the workspace as changed.
func stopped(output string, code int) bool {
	for l := range strings.Lines(output) {
		if l = strings.TrimSpace(l); code != 0 && stops().MatchString(l) && !strings.HasPrefix(attempted(l), "read ") {
			return true
		}
	}
	return false
}

const limits = "There a command writes only to $TMPDIR, has no network, no terminal and no services, and reads the workspace and the system, not the home folder, nor files whose names say that they hold secrets. "

// fenced matches error messages about things that the workspace sandbox refuses or lacks.
var fenced = texts.Regexp(refused + `|(?i)resolve host|name resolution|name or service not known|no such host|getaddrinfo|network is unreachable|connection refused|` +
	`offline mode|ENOTCACHED|GOPROXY=off|no route to host|cannot connect to|failed to connect|cross-device link|device or resource busy`)

// explainFenced explains the workspace sandbox after a command in it failed; else it returns "".
func explainFenced(output string, code int) string {
	if code == 0 {
		return ""
	}
	lines := quoted(output, fenced())
	if len(lines) == 0 {
		return "it ran in the sandbox: writing in the workspace only, no services, nothing of the home folder but settings and toolchains. If that is why it failed: " + beyond
	}
	return "it ran in the sandbox, which may be the reason for " + strings.Join(lines, ", ") +
		". There a command writes only in the workspace, /tmp and caches of its own, finds the home folder empty but for settings and toolchains, and reaches no process outside: " +
		"no Docker, tmux or ssh agent, and of the network only hosts that the settings or the user allow, by default a loopback of this one command. If it needs more: " + beyond
}

const beyond = `the same call with "outside": true and why asks the user and runs without the sandbox`

// quoted returns the first lines of the output that match, cut and in quotes.
func quoted(output string, match *regexp.Regexp) (lines []string) {
	for l := range strings.Lines(output) {
		if l = strings.TrimSpace(l); match.MatchString(l) && len(lines) < refusals {
			lines = append(lines, fmt.Sprintf("%q", strings.ToValidUTF8(l[:min(len(l), refusalMax)], "")))
		}
	}
	return lines
}

const again = `The same call with "outside": true and why asks the user and runs without it`
