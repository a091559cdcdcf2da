package texts

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles a regular expression on its first call and returns it. Compiling all of them
// at the program's start would take milliseconds. An invalid pattern panics on that call. Any goroutine may call the
// function.
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
