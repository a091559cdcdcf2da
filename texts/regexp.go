package texts

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles a regular expression at its first call, and returns it: compiled at the start
// of the program, a hundred of them would take milliseconds. A pattern that is not valid panics at that call. Any
// goroutine may call the function.
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
