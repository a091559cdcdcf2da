package shell

import (
	"strings"
	"testing"
	"time"
)

// The literal core stays small enough for a person to review.
func TestCoreIsSmall(t *testing.T) {
	programs := make(map[string]bool)
	for name := range coreTools() {
		name, _, _ = strings.Cut(name, " ")
		programs[name] = true
	}
	if n := len(programs); n > 40 {
		t.Errorf("%d programs", n)
	}
}

// A program over a limit needs approval, and is judged quickly (1 MB within 50 ms).
func TestBounded(t *testing.T) {
	for _, part := range []string{"$(", "${", "((", "$((", "`", "(", "{ ", "if ", "<<E\n", "${a[", "$[", "a=", "{a,", "{1..9}", "*", "?", "[", "\\", "\"", "a|", "ls;", "ls ", "~", "sed -n ", "x=1;", "env "} {
		for _, n := range []int{(maxText - 10) / len(part), 1 << 20 / len(part)} {
			start := time.Now()
			Analyse(strings.Repeat(part, n), Env{Cwd: "/w"})
			if took := time.Since(start); took > 10*time.Second { // far above the usual time on a busy machine
				t.Errorf("%q %d times took %v", part, n, took)
			}
		}
	}
	if Analyse(strings.Repeat("ls;", maxText), Env{}).ReadOnly {
		t.Error("a program that is too long is read-only")
	}
}
