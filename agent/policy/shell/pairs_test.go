package shell_test

import (
	"testing"

	"buddy/agent/policy/shell"
)

// TestOneThingMore checks pairs of lines that differ in one thing: the first only reads, the second does not.
func TestOneThingMore(t *testing.T) {
	for _, lines := range [][2]string{
		{"ls | xargs -0 echo rm", "ls | xargs -0 rm echo"},
		{"ls | xargs -n 1 echo rm", "ls | xargs -n 1 rm echo"},
		{"git remote -v", "git remote add x y"},
		{"sed -n p x", "sed -ni p x"},
		{"go env", "go env -w A=1"},
		{"tar tf x.tar", "tar xf x.tar"},
		{"git branch --list x", "git branch x"},
		{"find . -exec echo {} +", "find . -exec rm {} +"},
		{"find . -exec echo {} ';'", "find . -exec echo {} ';' -exec rm {} ';'"},
	} {
		for i, line := range lines {
			if rep := shell.Analyse(line, env); rep.ReadOnly != (i == 0) {
				t.Errorf("%s: read-only is %v: %s", line, rep.ReadOnly, rep.Reason)
			}
		}
	}
}
