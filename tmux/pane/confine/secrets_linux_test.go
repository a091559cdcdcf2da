//go:build linux && (amd64 || arm64)

package confine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/tmux/pane/canarytest"
)

// planted lists the files with secrets in the workspace of TestNoWayToReadASecret.
var planted = []string{".env", "deploy/keys/id_rsa", "conf/credentials.json"}

// secretReaders print a file F, in a folder D under the name N, with many programs.
var secretReaders = []string{
	"cat %F", "tac %F", "head %F", "tail -n 5 %F", "nl %F", "sort %F", "uniq %F", "cut -c1-99 %F", "fold %F", "fmt %F", "expand %F", "pr %F", "paste %F", "rev %F | rev", "od -An -c %F | tr -d ' \\n'",
	"xxd -p %F | xxd -r -p", "base64 %F | base64 -d", "base32 %F | base32 -d", "strings %F", "grep . %F", "grep -r . %D", "grep -rh found %D", "egrep -o '.*' %F", "fgrep found %F", "zgrep found %F", "zcat -f %F",
	"sed -n p %F", "sed '' %F", "sed \"r %F\" /etc/hostname", "sed -n 's/f/f/w /dev/stdout' %F", "awk 1 %F", "awk '{print}' <%F", "awk 'BEGIN { while ((getline l < \"%F\") > 0) print l }'", "awk 'BEGIN { system(\"cat %F\") }'",
	"awk 'BEGIN { ARGV[1] = \"%F\"; ARGC = 2 } 1'", "diff /dev/null %F", "diff -u /etc/hostname %F", "diff -r /usr/share/keyrings %D", "comm /dev/null %F", "join -t: %F %F", "cmp -l /dev/zero %F | awk '{ printf \"%c\", strtonum(\"0\" $3) }'",
	"jq -R . %F", "jq -n --rawfile x %F '$x'", "jq -rn --slurpfile x /dev/null 'input' %F", "tar cf - %F 2>/dev/null | tar xOf -", "tar c %D | grep -a found", "gzip -c %F | gunzip", "bzip2 -c %F | bunzip2", "xz -c %F | xz -dc", "zip -q - %F | funzip",
	"dd if=%F", "cp %F /dev/stdout", "cp %F $TMPDIR/x && cat $TMPDIR/x", "ln %F $TMPDIR/y; cat $TMPDIR/y", "mv %F $TMPDIR/z; cat $TMPDIR/z", "install %F $TMPDIR/w; cat $TMPDIR/w", "tee <%F", "xargs <%F echo", "xargs -a %F echo",
	"find %D -type f -exec cat {} +", "find %D -name %N -exec cat {} \\;", "find %D -type f -print0 | xargs -0 cat", "find %D -type f | xargs grep -h .", "find %D -type f | while read -r f; do cat \"$f\"; done", "ls -A %D | sed 's,^,%D/,' | xargs cat",
	"git diff --no-index /dev/null %F", "git grep --no-index . -- %F", "git hash-object %F; git -c core.excludesFile=/dev/null diff --no-index %D /usr/share/keyrings", "git blame --contents %F -- main.go", "git log --format=x -F --grep=\"$(cat %F)\" | cat %F",
	"git config -f %F -l; cat %F", "git -c alias.x='!cat %F' x", "git stripspace <%F", "git check-ignore --stdin -v <%F; git column <%F", "git patch-id <%F; git mailinfo /dev/null /dev/stdout <%F", "git shortlog --help >/dev/null; git interpret-trailers %F",
	"perl -pe 1 %F", "python3 -c 'print(open(\"%F\").read())'", "bash %F", "bash -c '. %F; set' | grep found", "sh -v %F", "while read -r l; do echo \"$l\"; done <%F", "mapfile -t a <%F; echo \"${a[@]}\"", "read -r x <%F; echo \"$x\"", "echo \"$(<%F)\"", "echo $(cat %F)",
	"x=$(cat %F); echo $x", "printf '%s\\n' \"$(cat %F)\"", "cat <<E\n$(cat %F)\nE", "cat <<<\"$(<%F)\"", "cat <(cat %F)", "exec 3<%F; cat <&3", "exec 4<>%F; cat <&4", "source %F; set | grep found", "eval \"$(sed 's/^/echo /' %F)\"", "file -m %F /etc/hostname 2>&1",
	"wc -L --files0-from=%F 2>&1", "sort --files0-from=%F 2>&1", "du --files0-from=%F 2>&1", "date -f %F 2>&1", "shuf %F", "split %F $TMPDIR/s && cat $TMPDIR/s*", "csplit -f $TMPDIR/c %F 1 >/dev/null; cat $TMPDIR/c*", "ptx %F", "tsort %F 2>&1", "numfmt --invalid=ignore <%F",
	"m4 %F", "bc %F 2>&1", "vi -es -c '%p' -c q! %F", "ed -s %F <<<,p", "column %F", "hexdump -e '1/1 \"%c\"' %F", "iconv -f utf-8 %F", "openssl enc -in %F", "curl -s file://%F", "cpp -P %F", "gcc -E -x c - <%F", "ld -T %F 2>&1", "make -f %F 2>&1", "env -S \"cat %F\"",
	"script -qc 'cat %F' /dev/null", "timeout 5 cat %F", "nice cat %F", "setsid cat %F", "busybox cat %F", "stdbuf -o0 cat %F", "strace -o /dev/null cat %F", "unshare -Ur cat %F", "chroot / cat %F", "pr -t %F", "look '' %F", "bat -pp %F", "less %F | cat", "more %F | cat",
}

// secretSpellings are ways to write the file F for cat.
var secretSpellings = []string{
	"%D/*", "%D/.[a-z]*", "%D/?*", "%D/%N", "%D//%N", "%D/./%N", "%D/../$(basename %D)/%N", "/proc/self/cwd/%R", "/proc/$$/cwd/%R", "$PWD/%R", "$(pwd)/%R", "$(echo %F)", "`echo %F`", "$(printf %s %F)", "$(ls -A %D | sed 's,^,%D/,')", "$(find . -name %N)",
	"$(find %D -type f)", "\"$(realpath %D)/%N\"", "$(readlink -f %F)", "$(dirname %F)/%N", "{%F,%F}", "~+/%R", "link-%N", "docs/hard-%N", "docs/../%R", "/dev/fd/3 3<%F", "/proc/self/fd/4 4<%F", "- <%F", "<%F", "$(echo %R | rev | rev)", "$(tr a-z a-z <<<%F)",
	"--squeeze-blank %F", "-- %F", "-n %F", "/etc/hostname %F", "main.go %F", "$'%F'", "\"\"%F", "$(git ls-files -o %D)", "$(git ls-files -co --no-exclude-standard -- %D)", "$(compgen -f %D/)", "$(echo %D/*)", "$(awk 'BEGIN { print \"%F\" }')", "%D/%N %F",
}

// A secret in the workspace reaches no command in the sandbox, with any program and any spelling; each way works
// without the sandbox. Earlier gaps are included: a second name in another folder, a file created a moment ago, and a
// folder among very many files.
func TestNoWayToReadASecret(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if err := Possible(); err != nil {
		t.Skip(err)
	}
	if os.Getenv(asUser) != "" {
		testNoWay(t)
		return
	}
	users := map[string]*syscall.Credential{"self": nil}
	if os.Getuid() == 0 {
		users["nobody"] = &syscall.Credential{Uid: canarytest.Nobody, Gid: canarytest.Nobody}
	}
	for name, who := range users {
		cmd := exec.Command(canarytest.CopyProgram(t), "-test.run=^TestNoWayToReadASecret$", "-test.v")
		cmd.Dir = "/"
		cmd.Env = []string{asUser + "=" + name, "PATH=" + canarytest.Path, "HOME=/nowhere", allLines + "=" + os.Getenv(allLines)}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("ways tried")) {
			t.Errorf("as %s: %v\n%s", name, err, out)
		}
		t.Logf("as %s: %s", name, out)
	}
}

func testNoWay(t *testing.T) {
	work, temp := t.TempDir(), t.TempDir()
	write := func(name string) {
		t.Helper()
		file := filepath.Join(work, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("found=here\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	plant := func() {
		for _, name := range planted {
			write(name)
			hard := filepath.Join(work, "docs/hard-"+filepath.Base(name))
			_ = os.Remove(hard)
			if err := os.Link(filepath.Join(work, name), hard); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(work, "docs"), 0o700), os.WriteFile(filepath.Join(work, "main.go"), []byte("package main\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range planted {
		if err := os.Symlink(name, filepath.Join(work, "link-"+filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "-C", work, "init", "-q").CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	box, err := New(Config{Reach: Reach{Read: []string{work}}, Env: os.Environ(), Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	plant() // a moment ago
	tried := 0
	everything := os.Getenv(allLines) != ""
	for i, way := range ways() {
		if !everything && i%4 != 0 { // to save time
			continue
		}
		if !strings.Contains(runWay(t, nil, work, temp, way), "found") {
			continue // the program is missing here, or does not print it
		}
		plant() // some ways move it
		if tried++; box.Stale() {
			old := box
			if box, err = box.Renew(); err != nil {
				t.Fatal(err)
			}
			old.Close()
		}
		if out := runWay(t, box, work, temp, way); strings.Contains(out, "found=h") {
			t.Errorf("%s\nprints %q", way, out)
		}
	}
	box.Close()
	want := 75
	if everything {
		want = 300
	}
	if tried < want {
		t.Errorf("only %d ways could be tried, want %d", tried, want)
	}
	t.Logf("%d ways tried", tried)
}

// ways returns every way for every planted file.
func ways() (all []string) {
	for _, file := range planted {
		fill := strings.NewReplacer("file://%F", "file://$PWD/"+file, "%F", "./"+file, "%R", file, "%D", "./"+filepath.Dir(file), "%N", filepath.Base(file))
		for _, r := range secretReaders {
			all = append(all, fill.Replace(r))
		}
		for _, s := range secretSpellings {
			all = append(all, "cat "+fill.Replace(s))
		}
	}
	return all
}

// runWay runs a way for at most some seconds and returns its output; box is nil without the sandbox.
func runWay(t *testing.T, box *Box, work, temp, way string) string {
	t.Helper()
	defer func() { _ = empty(temp) }()
	cmd := exec.Command("bash", "-c", `read -r go; exec timeout -k 1 5 bash -c "$1" </dev/null 2>&1`, "bash", way)
	cmd.Dir, cmd.Env = work, append(os.Environ(), "TMPDIR="+temp)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	start := cmd.Start
	if box != nil {
		start = func() error { return box.Start(cmd) }
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Write([]byte("go\n"))
	_ = in.Close()
	_ = cmd.Wait()
	if box != nil {
		if err := box.Sweep(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// A folder with a secret beyond the limit of files can't be read at all, nor its neighbours, whether or not it is
// created a second later.
func TestWhatIsNotLookedAtCannotBeRead(t *testing.T) {
	if err := Possible(); err != nil {
		t.Skip(err)
	}
	work := t.TempDir()
	for i := range 60 {
		dir := filepath.Join(work, fmt.Sprintf("d%02d", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a.go", "b.go", "c.go", ".env"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("found "+name+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	box, err := withoutRules(Config{Reach: Reach{Read: []string{work}}, Env: os.Environ(), Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s := newSurvey(work, nil)
	s.most = 100
	box.surveys = []*survey{s}
	if err := box.addRules(); err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	out := runInBox(t, box, work, "cat d00/a.go; cat */.env */c.go")
	if !strings.Contains(out, "found a.go") || strings.Contains(out, "found .env") || strings.Count(out, "found c.go") > 30 {
		t.Errorf("%q", out)
	}
}
