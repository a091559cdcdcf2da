//go:build linux && (amd64 || arm64)

package confine

import (
	"bytes"
	_ "embed"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/tmux/pane/canarytest"
)

//go:embed testdata/hostile.txt
var hostileText string

// allLines names the variable that runs every line with both versions, as both users. Without it every third line runs,
// with one version, and a sixth as the ordinary user as well, to save time.
const allLines = "CONFINE_TEST_ALL"

// asUser names the variable with which a test starts itself as a user. Its environment holds the secret as well, which
// the parent of a confined command must not reveal.
const asUser = "CONFINE_TEST_USER"

// TestHostile runs every line of hostile.txt unrestricted, which must change its canary, and confined, which must
// change none: as root and as an ordinary user, with this kernel's features and with the oldest Landlock. Only the
// kernel restricts here.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if err := Possible(); err != nil {
		t.Skip(err)
	}
	if user := os.Getenv(asUser); user != "" {
		testHostile(t, user)
		return
	}
	asEachUser(t, "lines counted")
}

// asEachUser runs a test again as a separate program, as this user and, if that is root, as an ordinary one. Its output
// must contain a text, or it did not run to its end. env holds more variables for it.
func asEachUser(t *testing.T, says string, env ...string) {
	users := map[string]*syscall.Credential{"self": nil}
	if os.Getuid() == 0 {
		users["nobody"] = &syscall.Credential{Uid: canarytest.Nobody, Gid: canarytest.Nobody}
	}
	test := t.Name()
	for name, who := range users {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(canarytest.CopyProgram(t), "-test.run=^"+test+"$", "-test.v")
			cmd.Dir = "/"
			cmd.Env = append([]string{asUser + "=" + name, "SECRET=" + canarytest.SecretWord, "PATH=" + canarytest.Path, allLines + "=" + os.Getenv(allLines)}, env...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte(says)) {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

func testHostile(t *testing.T, user string) {
	everything := os.Getenv(allLines) != ""
	w := canarytest.New(t, canarytest.Options{Dir: "/tmp", Script: script, SeesWorkspace: true})
	boxes := map[string]*Box{}
	for name, abi := range map[string]int{"kernel": 0, "oldest": 1} {
		box, err := New(Config{Reach: Reach{Read: []string{w.Workspace}}, Env: w.Env, Temp: w.Temp, ABI: abi})
		if err != nil {
			t.Fatal(err)
		}
		defer box.Close()
		boxes[name] = box
	}
	mechanisms(t, w, boxes)
	counted := map[string]int{}
	for i, h := range canarytest.Lines(t, hostileText) {
		if !everything && (i%3 != 0 || user == "nobody" && i%12 > 3) || !w.Has(h) {
			continue
		}
		if got := plain(w, h); !slices.Contains(got, h.Canary) {
			if !h.Maybe() {
				t.Errorf("%s: %s\nas it is changes %q: it proves nothing", h.Canary, h.Text, got)
			}
			continue
		}
		counted[h.Canary]++
		for name, box := range boxes {
			if !everything && (name == "oldest") == (i%6 < 3) {
				continue
			}
			if got := confined(t, w, box, h); len(got) > 0 {
				t.Errorf("%s: %s\nconfined (%s, %s) changes %q", h.Canary, h.Text, user, name, got)
			}
		}
	}
	if left := w.Remaining(); len(left) > 0 {
		t.Errorf("processes were left: %v", left)
	}
	all := 0
	for _, n := range counted {
		all += n
	}
	t.Logf("%d lines counted: %v", all, counted)
	want := 300 // with few programs and without root
	if !everything {
		want = 75
	}
	if all < want {
		t.Errorf("only %d lines could be tried on this machine, want %d", all, want)
	}
}

// script creates the folders: a repository with traps, and one with secrets.
const script = `
set -e
mkdir -p "$OUT/d" "$OUT/e" "$OUT/names" "$WS" "$HOME" "$TMPDIR" "$VDIR"
echo c4n4ry >"$VDIR/secret"
echo keep >"$OUT/f"; echo g >"$OUT/d/g"; echo c4n4ry >"$OUT/secret"; : >"$OUT/names/c4n4ry.txt"
chmod 600 "$OUT/f" "$OUT/secret"
ln -s f "$OUT/l"
echo c4n4ry >"$HOME/secret"
mkdir -p "$HOME/.config/go/telemetry"; echo off >"$HOME/.config/go/telemetry/mode"
printf '[user]\n\tname = x\n\temail = x@x\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n' >"$HOME/.gitconfig"
cd "$WS"
git init -q --template= .
echo 1 >f1; echo ext >f.ext; echo flt >f.flt
printf '#!/bin/sh\necho r4n\n' >x.sh; chmod +x x.sh
printf 'all:\n\ttouch "$(OUT)/new"\n' >Makefile
printf '*.ext diff=evil\n*.flt filter=evil\n' >.gitattributes
git add -A; git commit -qm one
git checkout -q -b side; echo s >side; git add side; git commit -qm side; git checkout -q main
echo 2 >f1; echo more >>f.ext; git commit -qam two; echo 3 >f1; echo more >>f.ext; echo n >f2
ln -s "$OUT/secret" link
git config core.fsmonitor 'touch "$OUT/new"; false'
git config diff.evil.textconv 'touch "$OUT/new"; cat'
git config filter.evil.clean 'touch "$OUT/new"; cat'
git config filter.evil.smudge 'touch "$OUT/new"; cat'
git config alias.st '!touch "$OUT/new"'
git init -q --template= --bare bare
git -C bare config core.fsmonitor 'touch "$OUT/new"; false'
git -C bare config core.bare false; git -C bare config core.worktree ..
`

// plain runs a line unrestricted, for as long as its background processes may take on a busy machine.
func plain(w *canarytest.World, h canarytest.Line) []string {
	got := w.Plain(h, time.Minute)
	_ = empty(w.Temp)
	return got
}

// confined runs a line in a box.
func confined(t *testing.T, w *canarytest.World, box *Box, h canarytest.Line) []string {
	return w.Run(h, 0, Environ(w.Env, w.Env, nil, w.Temp), box.Start, func(cmd *exec.Cmd) {
		if err := box.Sweep(cmd.Process.Pid); err != nil {
			t.Errorf("%s: %v", h.Text, err)
		}
	})
}

// mechanisms checks that the kernel restricts, and by which means.
func mechanisms(t *testing.T, w *canarytest.World, boxes map[string]*Box) {
	for name, box := range boxes {
		confined(t, w, box, canarytest.Line{Text: "cat /proc/self/status; cat /proc/self/limits /proc/self/oom_score_adj"})
		said := w.Said()
		for _, want := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n", "CapEff:\t0000000000000000\n", "CapPrm:\t0000000000000000\n", "CapAmb:\t0000000000000000\n", "\n1000\n"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: a confined process does not have %q:\n%s", name, want, said)
			}
		}
	}
}
