package config

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatRunsIsWhatWasChecked: a file that changes after the check runs in its checked form, however a command names
// it. It finds the files next to it.
func TestWhatRunsIsWhatWasChecked(t *testing.T) {
	const good = `#!/bin/sh` + "\n" + `. "$(dirname "$0")/lib.txt"; echo "$said $(basename "$0") $*"` + "\n"
	const evil = "#!/bin/sh\necho evil\n"
	for line, want := range map[string]string{
		`hooks/x.sh a "b c"`:                                "good x.sh a b c",
		`./hooks/x.sh`:                                      "good x.sh",
		`"$CLAUDE_PROJECT_DIR"/hooks/x.sh`:                  "good x.sh",
		`${BUDDY_PROJECT_DIR:-.}/hooks/x.sh`:                "good x.sh",
		`sh hooks/x.sh && echo "in $(basename "$PWD")"`:     "good x.sh \nin project",
		`sh -c 'hooks/x.sh a'`:                              "good x.sh a",
		`cd hooks && ./x.sh; cd .. && bash -c "hooks/x.sh"`: "good x.sh \ngood x.sh",
		`D=hooks; sh $D/x.sh`:                               "good x.sh",
		`X=hooks/x.sh; sh "$X"`:                             "good x.sh",
		`for f in hooks/*.sh; do sh "$f"; done`:             "good x.sh",
		`sh bare`:                                           "good bare",
		`echo bare`:                                         "bare",
		`cat < hooks/x.sh | sed -n 1p`:                      "#!/bin/sh",
		`echo $(hooks/x.sh a)`:                              "good x.sh a",
		`env A=1 hooks/x.sh`:                                "good x.sh",
		`if true; then hooks/x.sh; fi >> log`:               "",
	} {
		t.Run(hex.EncodeToString([]byte(line))[:8], func(t *testing.T) { // a folder gets that name
			store := TrustStore{path: filepath.Join(t.TempDir(), "trust.json")}
			dir, into := filepath.Join(t.TempDir(), "project"), t.TempDir()
			write := func(text string, names ...string) {
				for _, name := range names {
					if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(good, "hooks/x.sh", "bare")
			write("said=good\n", "hooks/lib.txt", "lib.txt")
			p := Part{Kind: "hook", Name: "x", Definition: line, Files: FilesNamed(dir, line)}
			if err := store.TrustParts(dir, p); err != nil {
				t.Fatal(err)
			}
			c, err := store.CopyPart(dir, p, []string{line}, into)
			if err != nil || c == nil {
				t.Fatalf("%v, %v", c, err)
			}
			write(evil, "hooks/x.sh", "bare")
			run := func(line string) string {
				cmd := exec.Command("sh", "-c", line)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "CLAUDE_PROJECT_DIR="+dir, "BUDDY_PROJECT_DIR="+dir, "PWD="+dir)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("%s: %v", line, err)
				}
				return strings.TrimSpace(string(out))
			}
			now, err := c.Line(line)
			if err != nil {
				t.Fatal(err)
			}
			if got := run(now); strings.TrimSpace(got) != want {
				t.Errorf("%s\nsays %q, want %q", now, got, want)
			}
			if got := run(line); strings.Contains(want, "good") && !strings.Contains(got, "evil") { // the control
				t.Errorf("as it is now it says %q", got)
			}
			changed, err := store.CopyPart(dir, p, []string{line}, t.TempDir())
			if err != nil || changed != nil && len(p.Files) > 0 {
				t.Errorf("after the change there are copies: %v, %v", changed, err)
			}
		})
	}
}

// TestWhatCanNotBeCopiedDoesNotRun: a file never runs if a command names it in a way that no copy can replace.
func TestWhatCanNotBeCopiedDoesNotRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/x.sh", nil, 0o700); err != nil {
		t.Fatal(err)
	}
	store := TrustStore{path: filepath.Join(t.TempDir(), "trust.json")}
	for _, line := range []string{"sh <<E\n./x.sh\nE", `sh -c "$(echo ./x.sh`, `sh -c 'a=1; ./x.sh "$a`} {
		p := Part{Kind: "hook", Name: "x", Definition: line, Files: FilesNamed(dir, line)}
		if err := store.TrustParts(dir, p); err != nil {
			t.Fatal(err)
		}
		c, err := store.CopyPart(dir, p, []string{line}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if now, err := c.Line(line); err == nil || !strings.Contains(err.Error(), "write the path of x.sh as a separate word") {
			t.Errorf("%q runs as %q, %v", line, now, err)
		}
	}
}
