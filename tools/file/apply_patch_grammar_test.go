package file

import (
	"regexp"
	"strings"
	"testing"

	"buddy/tools/patch"
)

// grammarOf converts a grammar without recursive rules to a regular expression.
func grammarOf(t *testing.T, grammar string) *regexp.Regexp {
	t.Helper()
	var names []string
	bodies := make(map[string]string)
	for line := range strings.Lines(grammar) {
		name, body, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case strings.HasPrefix(body, "/"):
			body = strings.Trim(body, "/")
		case strings.HasPrefix(body, `"`):
			body = strings.ReplaceAll(regexp.QuoteMeta(strings.Trim(body, `"`)), `\\n`, `\n`)
		default:
			body = regexp.MustCompile(`\w+`).ReplaceAllString(body, "<$0>")
			body = strings.ReplaceAll(body, " ", "")
		}
		names, bodies[name] = append(names, name), "(?:"+body+")"
	}
	whole := bodies["start"]
	for range names {
		for _, n := range names {
			whole = strings.ReplaceAll(whole, "<"+n+">", bodies[n])
		}
	}
	if strings.Contains(whole, "<") {
		t.Fatalf("a rule that is not there in %s", whole)
	}
	return regexp.MustCompile(`^` + whole + `$`)
}

// The grammar and the parser agree: the grammar generates patches only, and accepts all of these patches.
func TestTheGrammarIsThatOfPatches(t *testing.T) {
	grammar := grammarOf(t, applyPatchGrammar)
	for text, want := range map[string]bool{
		"*** Begin Patch\n*** Add File: a b.go\n+x\n+\n*** End Patch":                                                        true,
		"*** Begin Patch\n*** Update File: a\n@@ func x()\n a\n-b\n+c\n*** End of File\n*** Delete File: z\n*** End Patch\n": true,
		"*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch":                                                 true,
		"*** Begin Patch\n*** Update File: a\n*** Move to: b\n-x\n+y\n*** Add File: n\n++\n*** End Patch":                    true,
		"*** Begin Patch\n*** Update File: a\n@@ class\n@@ def\n-x\n+y\n@@\n \n+z\n*** Update File: b\n-a\n*** End Patch":    true,
		"*** Begin Patch\n*** End Patch":                                      false,
		"*** Begin Patch\n*** Update File: a\n*** End Patch":                  false,
		"*** Begin Patch\n*** Update File: a\nplain\n*** End Patch":           false,
		"*** Begin Patch\n*** Add File: a\n x\n*** End Patch":                 false,
		"--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n":                                 false,
		"*** Begin Patch\n*** Delete File: a\n":                               false,
		"Here it is:\n*** Begin Patch\n*** Delete File: a\n*** End Patch":     false,
		"*** Begin Patch\n*** Delete File: a\n*** End Patch\nThis deletes it": false,
	} {
		if got := grammar.MatchString(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if _, err := patch.Parse(text); want && err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	def := NewApplyPatch(nil).Definition()
	if n := len(def.Description) + len(def.Free.Grammar); n > 1_000 {
		t.Errorf("as free text the tool has %d bytes", n)
	}
}
