package tmux_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tmux/pane/confine"
)

// step is one command of a case with the expected result. Empty stderr is not compared.
type step struct {
	cmd    string
	code   int
	stdout string
	stderr string // must be contained
}

type matrixCase struct {
	name  string
	steps []step
}

// matrix holds what each command must pass on to the next.
var matrix = []matrixCase{
	{"simple", []step{{"echo hi", 0, "hi\n", ""}}},
	{"no final newline", []step{{"printf hi", 0, "hi", ""}, {"echo next", 0, "next\n", ""}}},
	{"stderr split", []step{{"echo a; echo b >&2; echo c", 0, "a\nc\n", "b\n"}}},
	{"false", []step{{"false", 1, "", ""}}},
	{"exit 7", []step{{"echo x; exit 7", 7, "x\n", ""}, {"echo on", 0, "on\n", ""}}},
	{"cd to a hard name", []step{
		{"mkdir -p 'we ird\"$x`\\' && cd 'we ird\"$x`\\'", 0, "", ""},
		{"basename \"$PWD\"; [ \"$PWD\" = \"$(pwd -P)\" ] && cd - >/dev/null && ls -d we*", 0, "we ird\"$x`\\\nwe ird\"$x`\\\n", ""},
	}},
	{"cwd removed", []step{
		{"mkdir gone && cd gone && rmdir ../gone", 0, "", ""},
		{"ls -A; cd ..; [ \"$PWD\" != / ]", 0, "", "gone"},
	}},
	{"export hard values", []step{
		{"export V='a\nb $HOME \"q\" '\\''s'\\'' `id` \\'", 0, "", ""},
		{"printf %s \"$V\"", 0, "a\nb $HOME \"q\" 's' `id` \\", ""},
		{"sh -c 'printf %s \"$V\"'", 0, "a\nb $HOME \"q\" 's' `id` \\", ""},
		{"unset V HOME", 0, "", ""},
		{"echo \"${V-unset} ${HOME-unset}\"; env | grep -c ^HOME=", 1, "unset unset\n0\n", ""},
	}},
	{"export then exit 3", []step{{"export V=kept; exit 3", 3, "", ""}, {"echo $V", 0, "kept\n", ""}}},
	{"functions, arrays, plain variables", []step{
		{"f() { echo \"f: $1\"; }; a=(1 'two three' [5]=x); p='pl ain'; declare -A m=([k]=v); declare -ir n=4", 0, "", ""},
		{"f hello; echo \"${a[1]} ${#a[@]} ${a[5]} $p ${m[k]} $((n+1))\"; sh -c 'echo \"${p-not exported}\"'", 0, "f: hello\ntwo three 3 x pl ain v 5\nnot exported\n", ""},
		{"p=changed; unset -f f; unset a", 0, "", ""},
		{"echo \"$p ${a-none}\"; f", 127, "changed none\n", "f: command not found"},
		{"g() { echo g; }; export -f g", 0, "", ""},
		{"bash -c g", 0, "g\n", ""},
	}},
	{"aliases, shopt, umask", []step{
		{"alias greet='echo hello'; shopt -s nullglob extglob; umask 027", 0, "", ""},
		{"greet you; echo *.nothing; shopt -q extglob && umask", 0, "hello you\n\n0027\n", ""},
	}},
	{"set -e is not sticky", []step{
		{"mkdir -p sub; cd sub; set -e; false; echo no", 1, "", ""},
		{"false; basename \"$PWD\"", 0, "sub\n", ""},
	}},
	{"set -u, -x, -f, -C and IFS", []step{
		{"set -uxfC; IFS=:; export x=1", 0, "", "x=1"},
		{"echo $x ${nothing-ok}; unset IFS", 0, "1 ok\n", ""},
		{"echo later", 0, "later\n", ""},
	}},
	{"quoted heredoc", []step{{"cat <<'EOF'\n$HOME `id`\n  two\nEOF\necho after", 0, "$HOME `id`\n  two\nafter\n", ""}}},
	{"heredoc without its end", []step{{"cat <<EOF\ntext", 0, "text\n", "warning"}, {"echo on", 0, "on\n", ""}}},
	{"syntax error", []step{{"echo before\nif then fi", 2, "before\n", "line 2: syntax error"}, {"echo on", 0, "on\n", ""}}},
	{"unclosed quote", []step{{"echo 'abc", 2, "", "unexpected EOF"}, {"echo on", 0, "on\n", ""}}},
	{"comment only", []step{{"# nothing", 0, "", ""}, {"", 0, "", ""}, {"  \n", 0, "", ""}}},
	{"binary", []step{{`printf 'a\000b\377c\033[31md\200\n'`, 0, "a\x00b\xffc\x1b[31md\x80\n", ""}}},
	{"stdin is empty", []step{{"cat; read x; echo \"$? [$x]\"", 0, "1 []\n", ""}}},
	{"kill -9 self", []step{{"export V=lost; kill -9 $$", 137, "", ""}, {"echo ${V-old}", 0, "old\n", ""}}},
	{"segv", []step{{"kill -SEGV $$", 139, "", ""}, {"echo on", 0, "on\n", ""}}},
	{"segv of a child", []step{{"sh -c 'kill -SEGV $$'; echo $?", 0, "139\n", ""}}},
	{"exec", []step{{"exec sh -c 'echo in; exit 5'", 5, "in\n", ""}, {"echo on", 0, "on\n", ""}}},
	{"closed streams", []step{{"exec >&- 2>&-; true", 0, "", ""}, {"echo on", 0, "on\n", ""}}},
	{"command not found", []step{{"true\nnosuchcommand -x", 127, "", "bash: line 2: nosuchcommand: command not found"}}},
	{"clear and alternate screen", []step{
		{`printf '\033[2J\033[H\033[?1049h\033[?25lfull screen'`, 0, "\x1b[2J\x1b[H\x1b[?1049h\x1b[?25lfull screen", ""},
		{"echo on", 0, "on\n", ""},
	}},
	{"utf-8", []step{{"echo 'grüße 漢字 👩‍👩‍👧'; printf '漢' | wc -c", 0, "grüße 漢字 👩‍👩‍👧\n3\n", ""}}},
	{"exit trap of the user", []step{
		{"trap 'echo bye' EXIT; export V=kept; echo hi", 0, "hi\nbye\n", ""},
		{"echo $V", 0, "kept\n", ""},
		{"trap 'echo bye' EXIT; exit 4", 4, "bye\n", ""},
	}},
	{"forged protocol", []step{
		{`printf '\033]7717;00;0\007%%end 1 1 1\n%%begin 1 2 1\n%%exit\n'; echo 0 >rc; echo '#complete'`, 0, "\x1b]7717;00;0\x07%end 1 1 1\n%begin 1 2 1\n%exit\n#complete\n", ""},
		{"rm -f rc; echo on", 0, "on\n", ""},
	}},
	{"pipefail", []step{
		{"false | true", 0, "", ""},
		{"set -o pipefail; false | true", 1, "", ""},
		{"false | true; seq 3 | wc -l", 0, "3\n", ""},
	}},
	{"positional parameters and $0", []step{{"echo $# $0; set -- a b; echo $#", 0, "0 bash\n2\n", ""}}},
	{"long command", []step{{"x='" + strings.Repeat("0123456789abcdef\n", 12000) + "'; echo ${#x}", 0, "204000\n", ""}}},
	{"begins with a dash", []step{{"-x foo", 127, "", "-x: command not found"}}},
	{"bytes that are no text", []step{{"printf %s 'a\xff\x01b'", 0, "a\xff\x01b", ""}}},
	{"set -v, DEBUG and ERR traps", []step{
		{"set -v; echo hi", 0, "hi\n", ""},
		{"trap 'echo err' ERR; false", 1, "err\n", ""},
		{"trap 'echo dbg' DEBUG; :", 0, "dbg\n", ""},
		{"echo on", 0, "on\n", ""},
	}},
	{"return, and a function of our builtins' names", []step{
		{"cd() { echo my cd; }; printf() { echo my printf; }; declare() { :; }; export V=kept", 0, "", ""},
		{"cd /; printf x; echo $V; unset -f cd printf declare", 0, "my cd\nmy printf\nkept\n", ""},
		{"printf ok", 0, "ok", ""},
	}},
	{"pagers are off", []step{{"echo $PAGER $GIT_PAGER; export PAGER=more", 0, "cat cat\n", ""}, {"echo $PAGER", 0, "more\n", ""}}},
}

// inOtherWords replaces a case in another shell.
type inOtherWords struct {
	why   string
	steps []step
}

// withoutBash replaces cases if the target has no bash. why names the missing feature of another shell; a case without
// steps is skipped.
var withoutBash = map[string]inOtherWords{
	"functions, arrays, plain variables": {"functions and variables that are not exported end with the command", []step{
		{"f() { echo \"f: $1\"; }; p='pl ain'; export q=\"$p\"; f x", 0, "f: x\n", ""},
		{"echo \"${p-none} $q\"", 0, "none pl ain\n", ""},
	}},
	"aliases, shopt, umask": {"there is no shopt", []step{
		{"alias greet='echo hello'; umask 027", 0, "", ""},
		{"greet you; umask", 0, "hello you\n0027\n", ""},
	}},
	"heredoc without its end":      {"no warning", []step{{"cat <<EOF\ntext", 0, "text", ""}, {"echo on", 0, "on\n", ""}}},
	"syntax error":                 {"other words", []step{{"echo before\nif then fi", 2, "before\n", "yntax error"}, {"echo on", 0, "on\n", ""}}},
	"unclosed quote":               {"other words", []step{{"echo 'abc", 2, "", "nterminated quoted string"}, {"echo on", 0, "on\n", ""}}},
	"command not found":            {"other words", []step{{"true\nnosuchcommand -x", 127, "", "nosuchcommand: not found"}}},
	"begins with a dash":           {"other words", []step{{"-x foo", 127, "", "-x: not found"}}},
	"positional parameters and $0": {"other names", []step{{"echo $#; set -- a b; echo $#", 0, "0\n2\n", ""}}},
	"pipefail":                     {"dash has none", []step{{"false | true", 0, "", ""}, {"seq 3 | wc -l", 0, "3\n", ""}}},
	"set -v, DEBUG and ERR traps":  {"an ERR trap sees our own commands after the end", nil},
	"return, and a function of our builtins' names": {"functions end with the command", []step{
		{"cd() { echo my cd; }; cd x; unset -f cd; export V=kept", 0, "my cd\n", ""},
		{"echo $V", 0, "kept\n", ""},
	}},
}

// TestMatrix runs every case on one session after the other, so that no case may harm the next.
func TestMatrix(t *testing.T) {
	all(t, false, func(t *testing.T, at testTarget, r *rig) { testMatrix(t, at, r) })
}

// programs creates a folder with the programs of /usr/bin and /bin, with or without bash, and with the chosen sh.
func programs(t *testing.T, bin, sh string, bash bool) {
	t.Helper()
	shell, err := exec.LookPath(sh)
	if err != nil {
		t.Skipf("%s is not installed", sh)
	}
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/usr/bin", "/bin"} {
		all, _ := os.ReadDir(dir)
		for _, f := range all {
			if name := f.Name(); name != "sh" && (bash || name != "bash") {
				_ = os.Symlink(filepath.Join(dir, name), filepath.Join(bin, name)) // it may exist
			}
		}
	}
	if err := os.Symlink(shell, filepath.Join(bin, "sh")); err != nil {
		t.Fatal(err)
	}
}

func testMatrix(t *testing.T, at testTarget, r *rig) {
	for _, c := range matrix {
		t.Run(c.name, func(t *testing.T) {
			r.t = t
			other, differs := withoutBash[c.name]
			if at.zsh {
				other, differs = withZsh[c.name]
			}
			if differs && (at.ash || at.zsh) {
				if c.steps = other.steps; c.steps == nil {
					t.Skip("not without bash: " + other.why)
				}
			}
			r.run("unset -f f g; unset V a p m; unalias -a; shopt -u nullglob 2>/dev/null; umask 022; export PAGER=cat HOME=/tmp; rm -rf '" + r.dir + "/w'; mkdir '" + r.dir + "/w'; cd '" + r.dir + "/w'")
			for _, s := range c.steps {
				res := r.run(s.cmd)
				if res.ExitCode != s.code || string(res.Stdout.Head) != s.stdout || !strings.Contains(string(res.Stderr.Head), s.stderr) {
					t.Fatalf("%.200s\n= exit %d, stdout %q, stderr %q\nwant %d, %q, %q", s.cmd, res.ExitCode, res.Stdout.Head, res.Stderr.Head, s.code, s.stdout, s.stderr)
				}
				if s.stderr == "" && strings.Contains(string(res.Stderr.Head), "__buddy") {
					t.Errorf("%.200s: our own script shows in stderr: %q", s.cmd, res.Stderr.Head)
				}
			}
		})
	}
}

// both runs a test on every target, in a pane or not.
func both(t *testing.T, test func(t *testing.T, r *rig)) {
	all(t, false, func(t *testing.T, _ testTarget, r *rig) { test(t, r) })
}

// TestFree: no earlier command can change the meaning of a command that runs without approval;
// it sees the directory, and leaves the directory.
func TestFree(t *testing.T) { both(t, testFree) }

func testFree(t *testing.T, r *rig) {
	r.run("alias ls='echo evil'; cat() { echo evil; }; export PATH=/evil:$PATH X=5; cd /tmp")
	free := func(command, want string) {
		t.Helper()
		res := r.wait(r.start(tmux.Spec{Command: command, Free: true}))
		if got := string(res.Stdout.Head); got != want || res.ExitCode != 0 {
			t.Errorf("free: %s = %q, exit %d, stderr %q, want %q", command, got, res.ExitCode, res.Stderr.Head, want)
		}
	}
	free("ls -d /; cat /dev/null; pwd; case $PATH in /evil:*) echo evil;; esac", "/\n/tmp\n")
	free("cd /", "")
	free("pwd", "/\n")
	r.want("pwd; echo $X; alias ls >/dev/null && echo alias; case $PATH in /evil:*) echo path;; esac", "/\n5\nalias\npath\n")
	free("pwd; ls -d /", "/\n/\n")
}

// TestConfined: a confined command is restricted by the kernel in a pane and without one, and shows its output like any
// other; if that is impossible, it does not run.
func TestConfined(t *testing.T) {
	if err := confine.Possible(); err != nil {
		t.Skip(err)
	}
	all(t, false, func(t *testing.T, at testTarget, r *rig) {
		spec := tmux.Spec{Dir: filepath.Join(t.TempDir(), "c"), Free: true, Confined: true, Command: "grep Seccomp: /proc/self/status; touch confined || echo no; tty"}
		run, err := r.Start(t.Context(), spec)
		if at.script {
			if err == nil || !strings.Contains(err.Error(), confine.ErrImpossible.Error()) {
				t.Errorf("on a target: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		res := r.wait(run)
		if got, want := string(res.Stdout.Head), "Seccomp:\t2\nno\nnot a tty\n"; got != want || !res.Confined {
			t.Errorf("= %q, confined %v, %q; want %q", got, res.Confined, res.Stderr.Head, want)
		}
		r.want("touch confined; echo $?", "0\n")
	})
}

func TestMergeKeepsOrder(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		res := r.wait(r.start(tmux.Spec{Mode: tmux.Merge, Command: "for i in 1 2 3; do echo o$i; echo e$i >&2; done; cat"}))
		if got, want := string(res.Stdout.Head), "o1\ne1\no2\ne2\no3\ne3\n"; got != want || res.Stderr.Total != 0 {
			t.Errorf("merged output = %q (stderr %d bytes), want %q", got, res.Stderr.Total, want)
		}
	})
}

// TestBackgroundJob: a job that holds stdout does not delay the command, its late output is
// recorded, and the next command runs meanwhile.
func TestBackgroundJob(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		run := r.start(tmux.Spec{Command: "( while [ ! -e go ]; do sleep 0.02; done; echo late ) & echo now"})
		res := r.wait(run)
		if string(res.Stdout.Head) != "now\n" || res.Duration > 30*time.Second {
			t.Errorf("stdout %q after %v, want now at once", res.Stdout.Head, res.Duration)
		}
		r.want("echo next", "next\n")
		r.want("touch go", "")
		wantFile(t, res.Stdout.Path, "now\nlate\n")
	})
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for {
		b, err := os.ReadFile(path)
		if err == nil && string(b) == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s = %q, %v; want %q", path, b, err, want)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// recordedWell checks the file of a stream: it has the whole stream, or, if that is longer than the limit, both ends
// and a line with the number of missing bytes between them.
func recordedWell(t *testing.T, c tmux.Captured, whole []byte, cut bool) {
	t.Helper()
	b, err := os.ReadFile(c.Path)
	first, last, _ := bytes.Cut(b, fmt.Appendf(nil, "\n[buddy did not record %d bytes of this output here]\n", c.Gap))
	switch {
	case err != nil || c.Total != int64(len(whole)) || c.Size() != int64(len(b)) || cut != (c.Gap > 0):
		t.Errorf("%d bytes, %d of them not recorded, the file has %d (%v)", c.Total, c.Gap, len(b), err)
	case !cut && !bytes.Equal(b, whole):
		t.Errorf("the file has %d bytes that are not those of the output", len(b))
	case cut && (len(first)+int(c.Gap)+len(last) != len(whole) || !bytes.HasPrefix(whole, first) || !bytes.HasSuffix(whole, last)):
		t.Errorf("the file has %d bytes of the beginning and %d of the end of %d, without %d", len(first), len(last), len(whole), c.Gap)
	}
	var read []byte
	if c.Read(func(p []byte) { read = append(read, p...) }); !bytes.Equal(read, b) {
		t.Errorf("Read passes on %d bytes of %d", len(read), len(b))
	}
}

// TestLargeOutput: 20 MB are complete; from a target the first 4 MiB and the last 64 KiB are.
func TestLargeOutput(t *testing.T) {
	all(t, false, func(t *testing.T, at testTarget, r *rig) {
		const size = 20_000_000
		res := r.run("head -c 2000000 /dev/zero | tr '\\0' x; echo end >&2; exit 3")
		b, err := os.ReadFile(res.Stdout.Path)
		if err != nil || len(b) != 2000000 || bytes.Trim(b, "x") == nil && len(b) == 0 || res.ExitCode != 3 {
			t.Errorf("2 MB: file has %d bytes (%v), exit %d", len(b), err, res.ExitCode)
		}
		res = r.run("yes 0123456789012345678901234567890123456 | head -c " + itoa(size) + "; echo last; exit 9")
		if res.ExitCode != 9 || res.Stdout.Total != int64(size+5) {
			t.Fatalf("large: exit %d, %d bytes", res.ExitCode, res.Stdout.Total)
		}
		line := []byte("0123456789012345678901234567890123456\n")
		whole := bytes.Repeat(line, size/len(line)+1)[:size]
		whole = append(whole, "last\n"...)
		recordedWell(t, res.Stdout, whole, at.script)
		if !bytes.Equal(res.Stdout.Head, whole[:64<<10]) || !bytes.Equal(res.Stdout.Tail, whole[len(whole)-64<<10:]) {
			t.Errorf("large: Head (%d bytes) or Tail (%d bytes) is wrong", len(res.Stdout.Head), len(res.Stdout.Tail))
		}
	})
}

// TestEdges: Head and Tail of every size join without gap or overlap.
func TestEdges(t *testing.T) {
	t.Parallel()
	r := newPlainRig(t)
	for _, n := range []int{1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 100000, 128 << 10, 128<<10 + 1, 4 << 20, 4<<20 + 1} {
		res := r.run("seq 1000000 | head -c " + itoa(n))
		c := res.Stdout
		if c.Total != int64(n) || len(c.Head) != min(n, 64<<10) || len(c.Tail) != min(max(n-64<<10, 0), 64<<10) {
			t.Errorf("%d bytes: total %d, head %d, tail %d", n, c.Total, len(c.Head), len(c.Tail))
		}
		b, err := os.ReadFile(c.Path)
		if err != nil || !bytes.HasPrefix(b, c.Head) || !bytes.HasSuffix(b, c.Tail) {
			t.Errorf("%d bytes: the ends are not the file's (%v)", n, err)
		}
	}
}

// TestLimitOfOutput: for output above the limit the file has the start, the end and a line about the missing part;
// output only a little longer is complete.
func TestLimitOfOutput(t *testing.T) {
	t.Parallel()
	r := newPlainRig(t)
	const limit = 1 << 20
	r.opt.Whole = limit
	r.Session = tmux.NewPlain(r.opt)
	r.closeAtEnd()
	for _, n := range []int{limit, limit + 1, limit + 64<<10, limit + 64<<10 + 1, 3 * limit} {
		res := r.run("seq 1000000 | head -c " + itoa(n) + "; seq 1000000 | head -c " + itoa(n) + " >&2")
		var whole bytes.Buffer
		for i := 1; whole.Len() < n; i++ {
			fmt.Fprintln(&whole, i)
		}
		whole.Truncate(n)
		for _, c := range []tmux.Captured{res.Stdout, res.Stderr} {
			recordedWell(t, c, whole.Bytes(), n > limit+64<<10)
			if !bytes.Equal(c.Head, whole.Bytes()[:64<<10]) || !bytes.Equal(c.Tail, whole.Bytes()[n-64<<10:]) {
				t.Errorf("%d bytes: head %d, tail %d", n, len(c.Head), len(c.Tail))
			}
		}
	}
}

// TestPrivateFiles: 0700, 0600, and no environment in the command's directory.
func TestPrivateFiles(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		r.want("export SECRET_VALUE=hunter2; umask 0; seq 1000000 >&2", "")
		r.want("true", "")
		err := filepath.Walk(r.dir, func(path string, info os.FileInfo, err error) error {
			if errors.Is(err, fs.ErrNotExist) { // the files of a finished command are removed meanwhile
				return nil
			}
			if err != nil {
				return err
			}
			if info.Mode().IsRegular() || info.IsDir() && path != r.dir {
				if info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s has mode %o", path, info.Mode().Perm())
				}
			}
			if info.Mode().IsRegular() && strings.HasPrefix(path, filepath.Join(r.dir, "cmds")) {
				b, err := os.ReadFile(path)
				if errors.Is(err, fs.ErrNotExist) {
					return nil
				}
				if err != nil || info.Name() != "cmd" && bytes.Contains(b, []byte("hunter2")) {
					t.Errorf("%s has the environment (%v)", path, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
