package shell

import (
	"fmt"
	"regexp"
	"strings"
)

// refusal matches the messages of programs when the kernel refuses something.
var refusal = regexp.MustCompile(`(?i)permission denied|operation not permitted|read-only file system|inappropriate ioctl|function not implemented|EACCES|EPERM`)

const (
	refusals   = 3   // quoted lines of a result
	refusalMax = 160 // bytes of each
)

// explainConfined explains the read-only sandbox after a command in it failed or printed a
// refusal; else it returns "". The exit code alone proves nothing.
func explainConfined(output string, code int) string {
	var said []string
	for l := range strings.Lines(output) {
		if l = strings.TrimSpace(l); refusal.MatchString(l) && len(said) < refusals {
			said = append(said, fmt.Sprintf("%q", strings.ToValidUTF8(l[:min(len(l), refusalMax)], "")))
		}
	}
	switch {
	case len(said) > 0:
		return "it ran in the read-only sandbox, which has refused something: " + strings.Join(said, ", ") +
			". There a command writes only to $TMPDIR, has no network, no terminal and no services, and reads the workspace and the system, not the home folder, nor files whose names say that they hold secrets. " + again
	case code != 0:
		return "it ran in the read-only sandbox: no writing, no network, no services, nothing of the home folder. If that is why it failed: " + again
	}
	return ""
}

const again = `The same call with "outside": true asks the user and runs without it`
