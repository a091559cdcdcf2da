package policy

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"buddy/agent/action"
)

var update = flag.Bool("update", false, "write testdata/kinds.txt from the commands in it")

// TestKindsOfCommands checks the kind, effect, risk and sentence in the dialog of one command per row of the table, and
// that none of them runs without approval. The last lines are false friends.
func TestKindsOfCommands(t *testing.T) {
	const file = "testdata/kinds.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Workspace: "/w", Confined: true}
	var all strings.Builder
	for line := range strings.Lines(string(data)) {
		command, _, _ := strings.Cut(strings.TrimSpace(line), " → ")
		e := p.Explain(action.ModeAsk, "local", command, "/w")
		kinds, effects := "", ""
		for _, c := range e.Report.Commands {
			kinds, effects = kinds+" + "+string(c.Kind), effects+" + "+string(c.Effect)
			if c.Kind != "" && (c.ReadOnly || e.Verdict.Decision != action.Ask) {
				t.Errorf("%s needs no approval", command)
			}
		}
		if e.Verdict.Decision == action.Allow {
			e.Context.Risk = "none"
		}
		fmt.Fprintf(&all, "%s → %s → %s → %s → %s %s\n", command, strings.TrimPrefix(kinds, " + "), strings.TrimPrefix(effects, " + "), e.Context.Risk, e.Context.Effect.Sentence(), strings.Join(e.Context.Consequences, "; "))
	}
	if *update {
		if err := os.WriteFile(file, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := strings.Split(all.String(), "\n"); all.String() != string(data) {
		for i, want := range strings.Split(string(data), "\n") {
			if i >= len(got) || got[i] != want {
				t.Errorf("%s\nwant %s", got[min(i, len(got)-1)], want)
			}
		}
	}
}

// Keys and clicks do something else on another screen, so they are never allowed in advance or tried.
func TestGUIAutomationIsAskedEachTime(t *testing.T) {
	p := Policy{Workspace: "/w", Confined: true, Fence: func() error { return nil }, Tries: func() error { return nil }}
	for command, want := range map[string]bool{"xdotool key Return": false, "osascript -e beep": false, "bandit -r .": true} {
		c := p.Explain(action.ModeAsk, "local", command, "/w").Context
		if (c.Similar != "") != want || c.Try.Offered != want {
			t.Errorf("%s: similar %q, try %+v", command, c.Similar, c.Try)
		}
	}
}
