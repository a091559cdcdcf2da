package inside

import (
	"slices"
	"strings"
)

// The variables with a program's proxy, and with the hosts that bypass the proxy.
var (
	through = []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"}
	past    = []string{"no_proxy", "NO_PROXY"}
)

// Through returns an environment that makes programs use the proxy at HOST:PORT, or NAME:PASSWORD@HOST:PORT, and no
// other.
func Through(env []string, address string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { // for a shell the first of two definitions counts
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(through, name) || slices.Contains(past, name)
	})
	for _, name := range through {
		env = append(env, name+"=http://"+address)
	}
	for _, name := range past {
		env = append(env, name+"=localhost,127.0.0.1,::1")
	}
	return env
}
