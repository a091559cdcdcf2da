package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/tmux/host"
	"buddy/tools/fs"
)

// The error contains "nothing was written" only if that is certain.
func TestNothingWasWrittenOnlyWhereKnown(t *testing.T) {
	const kill = "; kill -9 $PPID\n" // the shell that runs the script
	for _, c := range []struct {
		name, program, script string
		change                change // change of the file a, after that of the file b
		want, not             string
	}{
		{"the move fails", "mv", "exit 1\n", change{to: "new", data: []byte("1\n")}, "nothing was written", "not known"},
		{"the answer of the move is lost", "mv", `/bin/mv "$@"` + kill, change{to: "new", data: []byte("1\n")}, `new" was written; read it; the other files are as they were`, "nothing was"},
		{"the answer of the removal is lost", "rm", `case $* in */a) /bin/rm "$@"` + kill + ";; esac\nexec /bin/rm \"$@\"\n", change{from: "a"}, `a" was removed; read it`, "nothing was"},
		{"the permissions can't be set", "chmod", "case $1 in 711) exit 1 ;; esac\nexec /bin/chmod \"$@\"\n", change{from: "a", to: "a", data: []byte("1\n"), rights: fs.Rights{Perm: 0o711}}, `a" was written, but its permissions may not be set`, "nothing was"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.put("a", "one\n", "b", "two\n")
			bin := t.TempDir()
			must(t, os.WriteFile(filepath.Join(bin, c.program), []byte("#!/bin/sh\n"+c.script), 0o755)) //nolint:gosec // is run
			h := host.Local([]string{"PATH=" + bin + ":" + os.Getenv("PATH")})
			defer h.Close() //nolint:errcheck // on this machine
			b.ws.files = fs.On(h, "web")
			first := change{from: b.path("b"), to: b.path("b"), data: []byte("two\n2\n"), old: snapshot{exists: true, data: []byte("two\n"), perm: 0o644}}
			all := []change{c.change}
			if c.program != "mv" { // the first change needs mv as well
				all = []change{first, c.change}
			} else {
				all = append(all, first)
			}
			for i := range all {
				for _, p := range []*string{&all[i].from, &all[i].to} {
					if *p != "" && !filepath.IsAbs(*p) {
						*p = b.path(*p)
					}
				}
			}
			_, err := b.ws.commit(t.Context(), all)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.not) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if got := b.content("b"); got != "two\n" {
				t.Errorf("b has %q", got)
			}
		})
	}
}
