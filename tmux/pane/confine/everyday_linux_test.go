//go:build linux && (amd64 || arm64)

package confine

import (
	"bytes"
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

//go:embed testdata/everyday.txt
var everydayText string

// project creates the files that lines of everyday.txt use.
const project = `
set -e
git init -q --template= .
git config user.name ann; git config user.email ann@example.com
mkdir src src2 e
printf 'one\ntwo\nthree\n' >a.txt; printf 'one\nfour\n' >b.txt; printf '3\n1\n2\n' >nums; printf 'x 2\ny 1\n' >table; echo 'a b' >pairs; echo one >one
printf 'a,b\n1,2\n' >data.csv; echo '{"a":1,"b":["x","y"]}' >data.json; echo '# Readme' >README.md
printf 'module example.com/x\n\ngo 1.20\n' >go.mod; printf 'package main\n\nfunc main() {}\n' >main.go
printf 'package src\n\nfunc X() {}\n' >src/x.go; cp src/x.go src2/x.go; printf 'int main(void){return 0;}\n' >hello.c
printf 'all:\n\techo hi\n' >Makefile; printf '#!/bin/sh\n' >run.sh; ln -s a.txt link; gzip -k -n a.txt; tar -cf t.tar a.txt
printf -- '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+uno\n' >p.diff
git add -A; git commit -qm first; git tag v1; echo four >>a.txt; git commit -qam second; echo five >>a.txt; echo new >untracked
`

// TestEveryday runs lines of everyday.txt unrestricted and confined: the output and the exit code are the same. It runs
// a third of them, or all, see allLines.
func TestEveryday(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if err := Possible(); err != nil {
		t.Skip(err)
	}
	work, temp := t.TempDir(), t.TempDir()
	// The environment that a session gives its first command.
	env := append(os.Environ(), "PAGER=cat", "GIT_PAGER=cat", "TERM=dumb")
	// Otherwise go stores the project's version in its cache, and warns if it can't.
	env = append(env, "GOFLAGS=-buildvcs=false")
	prepare := exec.Command("bash", "-c", project)
	prepare.Dir = work
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	box, err := New(Config{Reach: Reach{Read: []string{work}}, Env: env, Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	say := func(line string, env []string, start func(*exec.Cmd) error, clean func(pid int) error) (string, int) {
		var out, errs bytes.Buffer
		cmd := exec.Command("bash", "-c", line)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = work, env, &out, &errs
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := start(cmd); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		err := cmd.Wait()
		if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			t.Errorf("%s: %v", line, err)
		}
		if err := clean(cmd.Process.Pid); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		return out.String() + "\n" + errs.String(), cmd.ProcessState.ExitCode()
	}
	plain := func(line string) (string, int) {
		return say(line, env, (*exec.Cmd).Start, func(int) error { return nil })
	}
	counted, everything := 0, os.Getenv(allLines) != ""
	for line := range strings.Lines(everydayText) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if counted++; !everything && counted%3 != 0 {
			continue
		}
		want, code := plain(line)
		if code == 127 || strings.Contains(want, "command not found") {
			counted-- // not installed
			continue
		}
		var got string
		var exit int
		for range 2 { // output that changes by itself may have
			got, exit = say(line, Environ(env, env, nil, temp), box.Start, box.Sweep)
			if got == want && exit == code {
				break
			}
			want, code = plain(line)
		}
		if got != want || exit != code {
			t.Errorf("%s\nas it is: exit %d %q\nconfined: exit %d %q", line, code, want, exit, got)
		}
	}
	t.Logf("%d lines", counted)
	if counted < 300 {
		t.Errorf("only %d lines could be tried on this machine, want 300", counted)
	}
}
