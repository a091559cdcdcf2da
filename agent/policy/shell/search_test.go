package shell_test

import (
	"strings"
	"testing"

	"buddy/agent/policy/shell"
)

// A search of a folder with a secret file needs approval if it would read that file.
func TestSearchesOfFoldersWithSecrets(t *testing.T) {
	e := plainEnv()
	e.Resolve = func(path string) string { return strings.ReplaceAll(path, "/./", "/") }
	e.Holds = func(dir string, s shell.Search) (string, bool) {
		switch {
		case strings.HasPrefix(dir, "/w/huge"):
			return "", false
		case strings.HasPrefix(dir, "/w/src"), !s.Hidden:
			return "", true
		}
		return ".env", true
	}
	for _, l := range []string{
		"grep -rn parseConfig .", "grep -rn parseConfig", "grep -R parseConfig src .", "grep -rn 'http.Handle' . | grep -v _test", "cd src/.. && grep -rn parseConfig .", "rg -uu parseConfig",
		"rg --hidden parseConfig", "git grep parseConfig", "git grep parseConfig -- .", "grep -rn parseConfig ./*", "grep -rn parseConfig huge", "rg parseConfig huge", "egrep -r parseConfig .",
		"ls | head; grep -rno parseConfig .", "git diff --no-index src .", "git diff --no-index /dev/null .", "rg parseConfig -g '.env*'", "rg parseConfig -g '*.yaml'", "git grep parseConfig HEAD",
	} {
		r := shell.Analyse(l, e)
		if r.ReadOnly || !strings.Contains(r.Reason, "secrets") {
			t.Errorf("Analyse(%q) = read-only %v (%s)", l, r.ReadOnly, r.Reason)
		}
	}
	for _, l := range []string{
		"grep -rn parseConfig src", "rg parseConfig", "grep -rl parseConfig .", "grep -rc parseConfig .", "grep -rn parseConfig --include='*.go' .", "grep parseConfig main.go", "rg parseConfig -t go -uu",
		"git diff .", "git diff --no-index src src/a", "rg parseConfig -g '!.env*'", "rg parseConfig -g '*.go'", "rg -I parseConfig",
		"cat main.go | grep parseConfig", "git grep -l parseConfig",
	} {
		if r := shell.Analyse(l, e); !r.ReadOnly {
			t.Errorf("Analyse(%q) asks: %s", l, r.Reason)
		}
	}
}
