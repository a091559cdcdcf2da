package shell

import (
	"os"
	"strings"
	"testing"
)

// TestEveryKindHasItsCommand: testdata has a command for each row of the table, and the row decides about it. Reads would
// let a command run without approval.
func TestEveryKindHasItsCommand(t *testing.T) {
	data, err := os.ReadFile("../testdata/kinds.txt")
	if err != nil {
		t.Fatal(err)
	}
	covered := make(map[string]bool)
	for line := range strings.Lines(string(data)) {
		command, _, _ := strings.Cut(line, " → ")
		for _, c := range Analyse(command, Env{Cwd: "/w"}).Commands {
			for key, p := range purposes {
				name, said, _ := strings.Cut(key, " ")
				if c.Name() == name && c.Kind == p.kind && c.Does() == p.does && c.Effect == p.effect && strings.HasPrefix(c.Reason, strings.TrimSpace(name+" "+said)) {
					covered[key] = true
				}
			}
		}
	}
	for key, p := range purposes {
		if !covered[key] {
			t.Errorf("no command for %q", key)
		}
		if p.effect == Reads {
			t.Errorf("%q would need no approval", key)
		}
	}
}
