package pane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"buddy/tmux/pane/confine"
	"buddy/tmux/tmuxtest"
)

// free is a shell whose commands can be confined.
type free struct {
	*Shell
	t    *testing.T
	dir  string // to work in
	free string // a folder that it may not read
	n    int
}

func newFree(t *testing.T, name string) *free {
	t.Helper()
	if err := confine.Possible(); err != nil {
		t.Skip(err)
	}
	base := tmuxtest.Dir(t)
	f := &free{t: t, dir: filepath.Join(base, "work"), free: filepath.Join(base, "outside")}
	state := filepath.Join(base, "state")
	if err := errors.Join(os.Mkdir(state, 0o700), os.Mkdir(f.dir, 0o700), os.Mkdir(filepath.Join(f.dir, "sub"), 0o700), os.Mkdir(f.free, 0o700), makePrivate(filepath.Join(state, "nowhere"))); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.Shell, err = NewShell(state, nil, name); err != nil {
		t.Skip(err)
	}
	f.Greet(Greeting{Cwd: f.dir, Env: append(tmuxtest.Env(t, base), "OUT="+f.free), Reach: confine.Reach{Read: []string{f.dir}, Withheld: []string{"TOKEN"}}})
	return f
}

func within(confined bool) Sandboxed {
	if confined {
		return ReadOnly
	}
	return Unheld
}

// start starts a command and returns its folder too.
func (f *free) start(command string, confined bool) (*Command, string) {
	f.t.Helper()
	f.n++
	dir := filepath.Join(filepath.Dir(f.dir), fmt.Sprint("c", f.n))
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "cmd"), []byte(command), 0o600)); err != nil {
		f.t.Fatal(err)
	}
	c, err := f.Start(dir, Capture, within(confined))
	if err != nil {
		f.t.Fatalf("%s: %v", command, err)
	}
	return c, dir
}

func (f *free) run(command string, confined bool) (Exit, string) {
	f.t.Helper()
	c, dir := f.start(command, confined)
	e := c.Exit()
	if e.Confined != confined {
		f.t.Errorf("%s: confined %v, want %v", command, e.Confined, confined)
	}
	out, _ := os.ReadFile(filepath.Join(dir, "out"))
	errs, _ := os.ReadFile(filepath.Join(dir, "err"))
	return e, string(out) + string(errs)
}

func (f *free) want(command string, confined bool, want string) {
	f.t.Helper()
	if e, got := f.run(command, confined); got != want || e.Fault != "" {
		f.t.Errorf("%s (confined %v) = %q (exit %d, %q), want %q", command, confined, got, e.Code, e.Fault, want)
	}
}

// TestStateHasNoVariablesOfBash: each shell has its own, whatever commands do, and the command gets its options back.
func TestStateHasNoVariablesOfBash(t *testing.T) {
	for _, list := range []string{":", "enable -n compgen"} { // some builds of bash lack it
		f := newFree(t, "bash")
		f.want("shopt -s nocasematch; random=1 Seconds=2 bashful=3; "+list, false, "")
		f.want(`[[ A == a ]] && echo "$random $Seconds $bashful"; shopt -q extglob || echo plain; `+list, false, "1 2 3\nplain\n")
		text, err := os.ReadFile(newestState(filepath.Join(filepath.Dir(f.dir), "state"), kindBash))
		if err != nil {
			t.Fatal(err)
		}
		if own := regexp.MustCompile(`(?m)^declare [^ ]+ (RANDOM|SECONDS|EUID|BASHOPTS|BASHPID|__buddy.*)\b`).FindAll(text, -1); own != nil {
			t.Errorf("%s: the state has %q", list, own)
		}
	}
}

// TestStateOfConfined: variables are passed in, and only the folder is carried over.
func TestStateOfConfined(t *testing.T) {
	for _, name := range []string{"bash", "dash"} {
		t.Run(name, func(t *testing.T) {
			f := newFree(t, name)
			f.want("pwd", true, f.dir+"\n")
			f.want("cd sub", true, "")
			f.want("pwd", false, f.dir+"/sub\n")
			f.want("cd ..; export A='a\nb \"q\" $HOME `x` '\\''s'\\''' TOKEN=hush; PATH=/evil:$PATH; export PATH; alias ls='echo evil'", false, "")
			f.want(`echo "$A[$TOKEN]"; case $PATH in /evil*) echo evil;; esac; ls`, true, "a\nb \"q\" $HOME `x` 's'[]\nsub\n")
			f.want("A=changed; export A NEW=1; umask 0; set -f; cd sub; ls() { echo evil; }; trap 'echo evil' EXIT", true, "evil\n")
			f.want(`echo "$A" | head -n 1; echo "[$NEW]"; pwd; umask`, false, "a\n[]\n"+f.dir+"/sub\n0022\n")
			f.want("exit 3", true, "")
			if e, _ := f.run("exit 3", true); e.Code != 3 {
				t.Errorf("exit 3 = %d", e.Code)
			}
			f.want("cd ..; exec pwd", true, f.dir+"\n")
			f.want("pwd", true, f.dir+"/sub\n") // shadowed commands do not affect it
		})
	}
}

// TestFolderOfAShellBeside: a shell that starts with the state of another one knows its folder, whether or not a
// command has changed it or saved a state.
func TestFolderOfAShellBeside(t *testing.T) {
	for _, tt := range []struct {
		name, command string
		confined      bool
		folder        string
	}{
		{"a command that stays", "true", false, ""},
		{"a command that moves", "cd sub", false, "/sub"},
		{"a confined one that stays", "true", true, ""},
		{"a confined one that moves", "cd sub", true, "/sub"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFree(t, "bash")
			beside := newFree(t, "bash")
			f.want(tt.command, tt.confined, "")
			var err error
			if err = CopyState(f.Shell.dir, beside.Shell.dir); err == nil {
				beside.Shell, err = NewShell(beside.Shell.dir, nil, "bash")
			}
			if err != nil {
				t.Fatal(err)
			}
			beside.Greet(Greeting{Cwd: f.dir, Env: f.env, Reach: f.hold.reach})
			beside.want("pwd", true, f.dir+tt.folder+"\n")
			beside.want("pwd", false, f.dir+tt.folder+"\n")
		})
	}
}

// TestPlainVariablesOfConfined: unexported variables reach only the command itself.
func TestPlainVariablesOfConfined(t *testing.T) {
	f := newFree(t, "bash")
	f.want("X=5 Y='a b'; declare -i N=7; arr=(1 2); export E=e", false, "")
	f.want(`echo "$X $Y $N $E"; env | grep -E '^(X|Y|N|E)='; printenv X`, true, "5 a b 7 e\nE=e\n")
}

// TestTwoSteps: a free line cannot prepare an action for the next approved one. Each line works when it is not
// confined.
func TestTwoSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, first := range []string{
		`ls() { touch $OUT/pwned; }`,
		`alias ls='touch $OUT/pwned'`,
		`export LD_PRELOAD=/none; PATH=$PWD/sub:$PATH; export PATH`,
		`export BASH_ENV=$PWD/sub/ls; touch() { :; }; bash() { :; }; ls() { command touch $OUT/pwned; }`,
		`printf 'touch $OUT/pwned\n' >>"$OUT/../state/run"`,
		`for i in 0 1; do printf "ls() { /usr/bin/touch $OUT/pwned; }\n#complete\n" >"$OUT/../state/state.$i"; done; kill -9 $$`,
		`(sleep 0.1; command touch $OUT/pwned) & disown`,
		`setsid sh -c 'sleep 0.1; touch $OUT/pwned' >/dev/null 2>&1 &`,
		`hash -p $PWD/sub/ls ls; ls() { $PWD/sub/ls; }`,
		`cp sub/ls ./ls; ls() { ./ls; }`,
		`set -o functrace; trap 'command touch $OUT/pwned' EXIT`,
		`shopt -s expand_aliases; alias ls='touch $OUT/pwned #'`,
		`printf -v PATH %s "$PWD/sub:$PATH"`,
	} {
		for _, confined := range []bool{false, true} {
			f := newFree(t, "bash")
			if err := os.WriteFile(filepath.Join(f.dir, "sub/ls"), []byte("#!/bin/sh\n/usr/bin/touch $OUT/pwned\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			_, _ = f.run(first, confined)
			_, _ = f.run("ls; sleep 0.3", false)
			_, err := os.Stat(filepath.Join(f.free, "pwned"))
			if worked := err == nil; worked == confined {
				t.Errorf("%s\nconfined %v: the next command did it: %v", first, confined, worked)
			}
		}
	}
}

// TestFolderOfConfined: only a usable folder is accepted.
func TestFolderOfConfined(t *testing.T) {
	f := newFree(t, "bash")
	stays := func(command string) {
		t.Helper()
		if e, _ := f.run(command, true); !strings.Contains(e.Fault, "stays") {
			t.Errorf("%s: said %q", command, e.Fault)
		}
		f.want("pwd", true, f.dir+"\n")
	}
	stays("cd /")
	stays("cd $OUT")
	stays("printf /nowhere >&9")
	stays("printf 'sub\n' >&9; exec 9>&-")
	stays("head -c 99999 /dev/zero | tr '\\0' / >&9")
	stays("printf '%s\n' $PWD/sub >&9")
	f.want("cd /usr", true, "")
	f.want("pwd", false, "/usr\n")
	f.want("cd "+f.dir+"/sub", false, "")
	if err := os.Remove(f.dir + "/sub"); err != nil {
		t.Fatal(err)
	}
	if _, got := f.run("pwd", true); !strings.Contains(got, "is gone") {
		t.Errorf("in a folder that is gone: %q", got)
	}
}

func TestTemporaryFolderOfConfined(t *testing.T) {
	f := newFree(t, "bash")
	f.want(`echo x >$TMPDIR/x; mkdir $TMPDIR/d; cat $TMPDIR/x`, true, "x\n")
	f.want(`ls -A $TMPDIR`, true, "")
}

func TestCancelConfined(t *testing.T) {
	f := newFree(t, "bash")
	c, _ := f.start("sleep 1000 & setsid sleep 1000 & sleep 1000", true)
	time.Sleep(50 * time.Millisecond)
	c.Cancel()
	if e := c.Exit(); !e.Cancelled || e.Duration > 30*time.Second {
		t.Errorf("ended as %+v", e)
	}
	c, _ = f.start("sleep 1000", true)
	for ended := false; !ended; { // Ctrl-C in the pane; the shell loses one that arrives while it starts the program
		c.interrupt()
		select {
		case <-c.Done():
			ended = true
		case <-time.After(100 * time.Millisecond):
		}
	}
	if e := c.Exit(); e.Code != 130 && e.Signal == 0 {
		t.Errorf("ended as %+v", e)
	}
}

// TestNeverUnconfined: a command that must be confined and can't be does not run.
func TestNeverUnconfined(t *testing.T) {
	f := newFree(t, "bash")
	f.Greet(Greeting{Reach: confine.Reach{Read: []string{filepath.Dir(f.dir)}}}) // contains the state
	dir := filepath.Join(filepath.Dir(f.dir), "c")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "cmd"), []byte("touch $OUT/ran"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Start(dir, Capture, ReadOnly); !errors.Is(err, confine.ErrImpossible) {
		t.Errorf("started: %v", err)
	}
	if _, err := f.Start(dir, Terminal, ReadOnly); err == nil {
		t.Error("a terminal was given")
	}
	if _, err := os.Stat(f.free + "/ran"); err == nil {
		t.Error("it ran")
	}
	f.want("echo on", false, "on\n")
}

func BenchmarkConfined(b *testing.B) {
	if err := confine.Possible(); err != nil {
		b.Skip(err)
	}
	base := b.TempDir()
	s, err := NewShell(base, nil, "bash")
	if err != nil {
		b.Skip(err)
	}
	s.Greet(Greeting{Cwd: "/usr", Env: os.Environ()})
	dir := filepath.Join(base, "c")
	for _, confined := range []bool{false, true} {
		b.Run(fmt.Sprintf("confined=%v", confined), func(b *testing.B) {
			for b.Loop() {
				if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "cmd"), []byte(":"), 0o600)); err != nil {
					b.Fatal(err)
				}
				c, err := s.Start(dir, Capture, within(confined))
				if err != nil {
					b.Fatal(err)
				}
				if e := c.Exit(); e.Code != 0 || e.Fault != "" {
					b.Fatal(e)
				}
			}
		})
	}
}

// TestConfinedSideBySide: the end of one command does not end another that starts at that moment.
func TestConfinedSideBySide(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			f := newFree(t, "bash")
			for range 15 {
				if e, _ := f.run("true", true); e.Code != 0 {
					t.Errorf("exit %d", e.Code)
				}
			}
		})
	}
}
