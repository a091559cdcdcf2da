package plain

import (
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
)

// Line by line the question shows what would be remembered and where; only a number or a name of a scope that
// is offered chooses one.
func TestWhereAReasonIsRemembered(t *testing.T) {
	m := action.Memory{Scopes: []string{"folder", "team"}, Begins: "Not `npm install`: ", Only: "root@web-02"}
	const want = "Remember this for later sessions? Not `npm install`: use pnpm. (on root@web-02 only)\n  Enter  no, don't save it\n  1  in this folder\n  2  for the team, in .buddy/memory.md"
	if got := RememberText(m, " use\npnpm.\n"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := RememberText(m, " . "); got != "" {
		t.Errorf("without a reason it asks %q", got)
	}
	if got := RememberText(action.Memory{Begins: "x"}, "use pnpm"); got != "" {
		t.Errorf("without a scope it asks %q", got)
	}
	if got := RememberText(m, strings.Repeat("x", 1000)); len(got) > 400 {
		t.Errorf("a long reason makes %d bytes", len(got))
	}
	const none = event.RememberNothing
	for line, want := range map[string]string{
		"": none, "1": "folder", " 2 \n": "team", "3": none, "0": none, "-1": none, "Team": "team", "person": none, "yes": none, "../x": none,
	} {
		if got := RememberChoice(m, line); got != want {
			t.Errorf("%q chooses %q, want %q", line, got, want)
		}
	}
}
