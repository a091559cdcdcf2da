package texts

import (
	"slices"
	"strings"
)

// Lookup returns a function that looks up variables in env like [os.Getenv]. Of duplicates the last counts.
func Lookup(env []string) func(name string) string {
	return func(name string) string {
		for _, kv := range slices.Backward(env) {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v
			}
		}
		return ""
	}
}
