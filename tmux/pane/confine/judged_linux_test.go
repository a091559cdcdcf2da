//go:build linux && (amd64 || arm64)

package confine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"buddy/tmux/pane/canarytest"
)

// corpora names the variable with more files of lines, separated by colons, for TestNamesNeedNoTable.
const corpora = "CONFINE_TEST_CORPORA"

// The lines that the policy leaves to the kernel (agent/policy/shell/testdata/kernel.txt), and an hour of reading
// (reading.txt), change and send nothing in a hostile repository, and print no secret of the workspace, as root and as
// an ordinary user: only the kernel restricts here.
func TestNamesNeedNoTable(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if err := Possible(); err != nil {
		t.Skip(err)
	}
	if os.Getenv(asUser) != "" {
		testJudged(t)
		return
	}
	const policy = "../../../agent/policy/shell/testdata/"
	files := append([]string{policy + "kernel.txt", policy + "reading.txt"}, filepath.SplitList(os.Getenv(corpora))...)
	var lines []string
	for _, file := range files {
		lines = append(lines, judged(t, file)...)
	}
	dir, err := os.MkdirTemp("/tmp", "judged") // an ordinary user may read there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "lines")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(file, []byte(strings.Join(lines, "\x00")), 0o644)); err != nil {
		t.Fatal(err)
	}
	asEachUser(t, "lines tried", judgedLines+"="+file)
}

// judgedLines names the variable with the file of lines for testJudged.
const judgedLines = "CONFINE_TEST_LINES"

func testJudged(t *testing.T) {
	text, err := os.ReadFile(os.Getenv(judgedLines))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\x00")
	w := canarytest.New(t, canarytest.Options{Dir: "/tmp", Script: script + `
echo c4n4ry >.env; mkdir -p keys; echo c4n4ry >keys/id_rsa; echo c4n4ry >credentials.json; ln .env notes; mkdir -p d; echo b >x; echo a >y; echo a >a
printf 'touch "$OUT/new"; touch new; cat .env\n' >evil; chmod +x evil
`, SeesWorkspace: true})
	box, err := New(Config{Reach: Reach{Read: []string{w.Workspace}}, Env: w.Env, Temp: w.Temp})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	third, everything := 0, os.Getenv(allLines) != ""
	if os.Getenv(asUser) == "nobody" {
		third = 1
	}
	before := listed(t, w.Workspace)
	tried := 0
	for i, l := range lines {
		if !everything && i%3 != third { // to save time
			continue
		}
		tried++
		text := "timeout -k 1 3 bash -c '" + strings.ReplaceAll(l, "'", `'\''`) + "' </dev/null"
		got := w.Run(canarytest.Line{Text: text}, 0, append(Environ(w.Env, w.Env, nil, w.Temp), "OUT="+filepath.Dir(w.Workspace)), box.Start, func(cmd *exec.Cmd) {
			if err := box.Sweep(cmd.Process.Pid); err != nil {
				t.Errorf("%s: %v", l, err)
			}
		})
		// A program text that is only printed did not run.
		if got = slices.DeleteFunc(got, func(c string) bool { return c == "endless" || c == "ran" }); len(got) > 0 {
			t.Errorf("%s: changes %q, says %.300q", l, got, w.Said())
		}
		if after := listed(t, w.Workspace); !slices.Equal(before, after) {
			t.Errorf("%s: changes the workspace", l)
			before = after
		}
	}
	if t.Logf("%d lines tried", tried); tried < 200 {
		t.Error("want 200 at least")
	}
	// The canaries work: without the sandbox the same world shows changes.
	for text, canary := range map[string]string{"cat .env": "secret", "echo x >$OUT/new": "file"} {
		if got := w.Plain(canarytest.Line{Text: text}, 0); !slices.Contains(got, canary) {
			t.Errorf("%s without the sandbox: %q", text, got)
		}
	}
	before = listed(t, w.Workspace)
	if got := w.Plain(canarytest.Line{Text: "echo x >made"}, 0); !slices.Contains(got, "file") && slices.Equal(before, listed(t, w.Workspace)) {
		t.Errorf("echo x >made without the sandbox: %q", got)
	}
}

// forkBomb matches lines that start themselves endlessly.
var forkBomb = regexp.MustCompile(`\(\) *\{[^}]*&|fork`)

// judged returns the lines of a policy corpus.
func judged(t *testing.T, file string) (lines []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.SplitSeq(string(data), "\n") {
		if l == "" || strings.HasPrefix(l, "# ") {
			continue
		}
		if fields := strings.Split(l, "\t"); filepath.Base(file) == "mended.txt" {
			l = fields[0]
		} else {
			l = fields[len(fields)-1]
		}
		if s, ok := strings.CutSuffix(l, " ## escaped"); ok {
			if l, err = strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`); err != nil {
				t.Fatal(err)
			}
		}
		if !forkBomb.MatchString(l) { // the sandbox documents that it does not bound their number
			lines = append(lines, strings.ReplaceAll(l, "\x00", ""))
		}
	}
	return lines
}

// listed returns the names, rights, sizes and times of all files below a folder.
func listed(t *testing.T, dir string) (all []string) {
	t.Helper()
	out, err := exec.Command("find", dir, "-printf", "%p %m %s %T@\n").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(out), "\n")
}
