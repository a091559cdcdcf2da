package draw

import (
	"testing"
)

func TestBeforePrompt(t *testing.T) {
	for target, want := range map[string]string{
		"root@web-02 (ssh)": "(ssh root@web-02)", "web (container)": "(container web)", "web": "(web)", "a (b": "(a (b)", "x)": "(x))",
	} {
		if got := BeforePrompt(target); got != want {
			t.Errorf("before the prompt of %q: %q, want %q", target, got, want)
		}
	}
}
