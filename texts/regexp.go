package texts

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the compiled pattern. It compiles it at its first call: at the start of the
// program a hundred of them would take milliseconds. It panics then if the pattern is not one.
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
