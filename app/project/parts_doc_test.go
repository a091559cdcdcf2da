package project

import (
	"os"
	"strings"
	"testing"

	"buddy/app/apptest"
	"buddy/config"
)

// The examples of docs/extensions.md, "Trust", are right: two parts with these names, files and notice.
func TestTrustExampleOfTheManual(t *testing.T) {
	page, err := os.ReadFile("../../docs/extensions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Trust\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := strings.Split(section, "```")
	if len(blocks) != 7 {
		t.Fatalf("%d pieces, want three examples", len(blocks))
	}
	example := func(n int) string { _, text, _ := strings.Cut(blocks[n], "\n"); return text }
	apptest.Project(t, map[string]string{".buddy/hooks.json": example(1), ".mcp.json": example(3), "hooks/guard.sh": "", "tools/notes.js": ""})
	checks, problems, err := CheckParts(".", config.Config{})
	if err != nil || len(problems) > 0 || len(checks) != 2 {
		t.Fatalf("%+v, %+v, %v", checks, problems, err)
	}
	for i, want := range []string{"mcp:notes tools/notes.js", "hook:PreToolUse:Bash hooks/guard.sh"} {
		if got := checks[i].String() + " " + strings.Join(checks[i].Files, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s := new(Source)
	if got := noticesOf(s) + "\n"; got != example(5) {
		t.Errorf("the notice is %q, the page says %q", got, example(5))
	}
}
