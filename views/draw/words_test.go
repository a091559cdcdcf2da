package draw

import (
	"testing"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1.0k", 9_949: "9.9k", 12_345: "12k", 999_999: "999k", 1_500_000: "1.5M"} {
		if got := Count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestBeforePrompt(t *testing.T) {
	for target, want := range map[string]string{
		"root@web-02 (ssh)": "(ssh root@web-02)", "web (container)": "(container web)", "web": "(web)", "a (b": "(a (b)", "x)": "(x))",
	} {
		if got := BeforePrompt(target); got != want {
			t.Errorf("before the prompt of %q: %q, want %q", target, got, want)
		}
	}
}
