package shell

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"buddy/texts"
)

// refused is the pattern of refusal, and a part of that of fenced.
const refused = `(?i)permission denied|operation not permitted|read-only file system|inappropriate ioctl|function not implemented|EACCES|EPERM`

// refusal matches the messages of programs when the kernel refuses something.
var refusal = texts.Regexp(refused)

const (
	refusals   = 3   // quoted lines of a result
	refusalMax = 160 // bytes of each
)

// networkless matches the messages of programs about the network that the read-only sandbox does not have.
const networkless = `(?i)resolve host|name resolution|name or service not known|no such host|getaddrinfo|network is unreachable|failed to connect|dial tcp`

// stops matches the messages of programs in the read-only sandbox when it stopped them.
var stops = texts.Regexp(refused + "|" + networkless)

// attempts lists what the messages say that a program tried, with the name of it in the last group that matches.
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

// attempted returns what a message says that a program tried, "" if it does not say it.
func attempted(message string) string {
	for _, a := range attempts {
		if m := a.message().FindStringSubmatch(message); m != nil {
			return strings.TrimSpace(a.what + " " + strings.Join(m[1:], ""))
		}
	}
	return ""
}

// explainConfined explains the read-only sandbox after a command in it failed or printed a
// refusal; else it returns "". The exit code alone proves nothing.
func explainConfined(output string, code int) string {
	said := quoted(output, stops())
	if code == 0 {
		said = quoted(output, refusal())
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
	case len(said) > 0 && len(tried) > 0:
		return "the read-only sandbox stopped it: it tried to " + strings.Join(tried, ", ") + ": " + strings.Join(said, ", ") + ". " + limits + again
	case len(said) > 0:
		return "it ran in the read-only sandbox, which has refused something: " + strings.Join(said, ", ") + ". " + limits + again
	case code != 0:
		return "it ran in the read-only sandbox: no writing, no network, no services, nothing of the home folder. If that is why it failed: " + again
	}
	return ""
}

// stopped reports whether the read-only sandbox is why a command failed that could work in the fence: a message is of a write or a
// connection, or of what is not known. The fence lets a command read no more. One that ended with 0 has done what it is
// for: what it was refused is mostly a folder that it can't list, and a second run would mark the workspace as changed.
func stopped(output string, code int) bool {
	for l := range strings.Lines(output) {
		if l = strings.TrimSpace(l); code != 0 && stops().MatchString(l) && !strings.HasPrefix(attempted(l), "read ") {
			return true
		}
	}
	return false
}

const limits = "There a command writes only to $TMPDIR, has no network, no terminal and no services, and reads the workspace and the system, not the home folder, nor files whose names say that they hold secrets. "

// fenced matches the messages of programs about what the workspace fence refuses, or has not.
var fenced = texts.Regexp(refused + `|(?i)resolve host|name resolution|name or service not known|no such host|getaddrinfo|network is unreachable|connection refused|` +
	`offline mode|ENOTCACHED|GOPROXY=off|no route to host|cannot connect to|failed to connect|cross-device link|device or resource busy`)

// explainFenced explains the workspace fence after a command in it failed; else it returns "".
func explainFenced(output string, code int) string {
	if code == 0 {
		return ""
	}
	said := quoted(output, fenced())
	if len(said) == 0 {
		return "it ran in the sandbox: writing in the workspace only, no services, nothing of the home folder but settings and toolchains. If that is why it failed: " + beyond
	}
	return "it ran in the sandbox, which may be the reason for " + strings.Join(said, ", ") +
		". There a command writes only in the workspace, /tmp and caches of its own, finds the home folder empty but for settings and toolchains, and reaches no process outside: " +
		"no Docker, tmux or ssh agent, and of the network only hosts that the settings or the user allow, by default a loopback of this one command. If it needs more: " + beyond
}

const beyond = `the same call with "outside": true and why asks the user and runs without the sandbox`

// quoted returns the first lines of the output that match, cut and in quotes.
func quoted(output string, match *regexp.Regexp) (said []string) {
	for l := range strings.Lines(output) {
		if l = strings.TrimSpace(l); match.MatchString(l) && len(said) < refusals {
			said = append(said, fmt.Sprintf("%q", strings.ToValidUTF8(l[:min(len(l), refusalMax)], "")))
		}
	}
	return said
}

const again = `The same call with "outside": true and why asks the user and runs without it`
