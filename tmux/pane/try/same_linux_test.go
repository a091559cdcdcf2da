//go:build amd64 || arm64

package try

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// works are scripts that must leave the same workspace when they are tried and kept as when they run without a sandbox.
// before makes the workspace. changes are some of the lines of the summary.
var works = []struct {
	name, needs, before, line string
	changes                   []string
}{
	{"rm of folders", "", `mkdir -p a/b c d; echo 1 >a/f; echo 2 >a/b/g; echo 3 >c/h; echo 4 >d/i`, `rm -rf a c`, []string{`deleted "a"`, `deleted "a/b"`, `deleted "a/b/g"`, `deleted "c/h"`}},
	{"rm of everything", "", `mkdir -p a/b; echo 1 >a/f; echo 2 >.h; ln -s x l; mkdir empty`, `rm -rf -- * .h`, []string{`deleted ".h"`, `deleted "a/f"`, `deleted "empty"`, `deleted "l"`}},
	{"modes", "", `mkdir a b c; echo 1 >a/f; echo 2 >g; echo 3 >b/h; chmod 644 g`, `chmod 600 g; chmod 751 a; chmod 511 b; chmod 700 .; chmod 755 c; chmod 750 c; echo x >c/n`, []string{`mode changed "g"`, `mode changed "a"`, `mode changed "b"`, `created "c/n"`}},
	{"the workspace's own mode", "", `echo 1 >f`, `chmod 755 .; echo 2 >f`, []string{`mode changed "."`, `changed "f"`}},
	{"renames and links", "", `echo 1 >a; echo 2 >b; mkdir d; ln -s a l; ln -s d ld`, `mv a c; ln -sfn b l; rm ld; ln -s nowhere ld; mv b d/b; ln c c2; mkfifo p`, []string{`deleted "a"`, `created "c"`, `changed "l"`, `created "d/b"`, `created "p"`}},
	{"types", "", `echo 1 >file; mkdir -p folder/x; echo 2 >folder/x/y; ln -s t link; echo 3 >f2; mkdir e`, `rm -r file folder link f2 e; mkdir file; echo n >file/n; echo now >folder; echo l >link; ln -s e f2; ln -s f2 e`, []string{`type changed "file"`, `created "file/n"`, `type changed "folder"`, `deleted "folder/x/y"`, `type changed "link"`, `type changed "f2"`}},
	{"a folder made again", "", `mkdir -p a/b; echo 1 >a/f; echo 2 >a/same; echo 3 >a/b/g`, `rm -r a; mkdir a; echo 2 >a/same; echo 4 >a/f; mkdir a/n; echo 5 >a/n/m`, []string{`changed "a/f"`, `touched "a/same"`, `deleted "a/b"`, `deleted "a/b/g"`, `created "a/n/m"`}},
	{"a folder emptied", "", `mkdir -p a/b; echo 1 >a/f; echo 2 >a/b/g`, `rm -r a; mkdir a`, []string{`deleted "a/f"`, `deleted "a/b/g"`}},
	{"touched only", "", `echo 1 >a; touch -d 2001-01-01 a; echo 2 >b; echo 3 >c`, `touch -d 2002-02-02 a; exec 7<>b; chmod u+x c; chmod u-x c`, []string{`touched "a"`}},
	{"nothing", "", `echo 1 >a; mkdir b; ln -s a l`, `cat a; ls -la; echo >/dev/null`, nil},
	{
		"names", "", `echo 1 >$'a\nb'; echo 2 >$'\xff\xfe'; echo 3 >-rf; mkdir -- $'-d\n\xff'; echo 4 >./$'-d\n\xff/x'; echo 5 >'.wh..wh.x'`,
		`echo n >>$'a\nb'; echo n >>$'\xff\xfe'; echo n >>-rf; rm ./$'-d\n\xff/x'; echo n >$'\xfd'; echo 6 >'.wh..wh.x'`,
		[]string{`changed "a\nb"`, `changed "\xff\xfe"`, `changed "-rf"`, `deleted "-d\n\xff/x"`, `created "\xfd"`, `changed ".wh..wh.x"`},
	},
	{"hard links that are new", "", `mkdir d`, `echo 1 >d/a; ln d/a d/b; ln d/a c`, []string{`created "d/a"`, `created "d/b"`, `created "c"`}},
	{"read-only folders", "", `mkdir -p go/m@v1 k/l; echo 1 >go/m@v1/f; echo 2 >k/l/x; chmod -R a-w go`, `chmod -R u+w go && rm -r go; mkdir -p n/o; echo 3 >n/o/p; chmod 555 n/o n`, []string{`deleted "go/m@v1/f"`, `created "n/o/p"`}},
	{"sed, gzip and tar", "gzip tar", `mkdir t; echo foo >t/a; echo bar >t/b; tar --mtime=@1700000000 -cf t.tar t; echo text >z`, `sed -i s/foo/oof/ t/a; gzip -n z; rm -r t; tar xf t.tar --touch; mv t.tar t2.tar`, []string{`deleted "z"`, `created "z.gz"`, `created "t2.tar"`}},
	{"make", "make cc", `printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >h.c; printf 'h: h.c\n\tcc -O1 -o h h.c\n\tmkdir -p out\n\tcp h out/h\n' >Makefile`, `make -s h && ./out/h`, []string{`created "h"`, `created "out/h"`}},
	{"a migration of sqlite", "sqlite3", `sqlite3 x.db 'create table t(a); insert into t values (1), (2);'`, `sqlite3 x.db 'begin; alter table t add column b default 7; update t set a = a * 2; commit; pragma integrity_check; select * from t'`, []string{`changed "x.db"`}},
	{"git commit", "git", gitRepository, `export GIT_AUTHOR_DATE=@1700000003 GIT_COMMITTER_DATE=@1700000003; echo 9 >c && git add . && git commit -qm four && git log --format=%s && git status --short`, []string{`created "c"`, `changed ".git/refs/heads/side"`, `changed ".git/index"`}},
	{"git rebase", "git", gitRepository, `export GIT_COMMITTER_DATE=@1700000004; git rebase -q main && git log --format=%s && git status --short && git fsck`, []string{`changed ".git/refs/heads/side"`, `created "m"`}},
	{"git stash and gc", "git", gitRepository, `export GIT_AUTHOR_DATE=@1700000005 GIT_COMMITTER_DATE=@1700000005; echo 7 >a; git stash -q; git checkout -q main; git -c pack.threads=1 gc -q --prune=now; git fsck; git stash list`, []string{`changed ".git/HEAD"`, `touched "a"`, `deleted "b"`}},
}

const gitRepository = `export GIT_AUTHOR_DATE=@1700000000 GIT_COMMITTER_DATE=@1700000000
git init -q -b main . && git config user.name x && git config user.email x@x
echo 1 >a && git add . && git commit -qm one && git checkout -qb side && echo 2 >b && git add . && git commit -qm two
git checkout -q main && echo 3 >m && git add . && git commit -qm three && git checkout -q side`

// TestKeptIsTheSame: a command that is tried changes nothing; kept, it has the result of a run without a sandbox.
func TestKeptIsTheSame(t *testing.T) {
	newPlace(t, t.TempDir())
	for _, w := range works {
		t.Run(w.name, func(t *testing.T) {
			for _, program := range strings.Fields(w.needs) {
				if _, err := exec.LookPath(program); err != nil {
					t.Skip(err)
				}
			}
			unlock := func(dir string) {
				t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+rwX", dir).Run() })
			}
			base, other := t.TempDir(), t.TempDir()
			unlock(base)
			unlock(other)
			p := newPlace(t, base)
			p.sh(w.before)
			plain := &place{t: t, work: filepath.Join(other, "work")}
			if err := os.Mkdir(plain.work, 0o700); err != nil {
				t.Fatal(err)
			}
			plain.sh(w.before)
			want, err := (&exec.Cmd{Path: "/bin/bash", Args: []string{"bash", "-c", w.line}, Dir: plain.work, Env: os.Environ()}).Output()
			if err != nil {
				t.Fatalf("without a sandbox: %v\n%s", err, want)
			}
			r := p.try(w.line)
			if r.Code != 0 || r.Stopped != "" || len(r.Losses) > 0 {
				t.Fatalf("exit %d, stopped %q, losses %q\n%s", r.Code, r.Stopped, r.Losses, r.Output)
			}
			for _, c := range w.changes {
				if !strings.Contains(summary(r), c+"\n") {
					t.Errorf("the changes lack %s:\n%s", c, summary(r))
				}
			}
			if w.changes == nil && len(r.Changes) > 0 {
				t.Errorf("changes:\n%s", summary(r))
			}
			p.keep(r)
			if got, want := settled(t, p.work), settled(t, plain.work); got != want {
				t.Errorf("kept:\n%s\nwant\n%s", got, want)
			}
			if !strings.HasPrefix(w.name, "git") && string(r.Output) != string(want) && len(want) > 0 && w.name != "nothing" {
				t.Errorf("output %q, want %q", r.Output, want)
			}
			if out, err := exec.Command("find", p.work, "(", "-type", "c", "-o", "-type", "s", ")", "-print").Output(); err != nil || len(out) > 0 {
				t.Errorf("devices or sockets are left: %v %s", err, out)
			}
			if out, err := exec.Command("python3", "-c", `import os, sys
for d, _, fs in os.walk(sys.argv[1].encode()):
    for f in [d] + [os.path.join(d, f) for f in fs]:
        try: print(*[(f, x) for x in os.listxattr(f, follow_symlinks=False) if "overlay" in x], end="")
        except PermissionError: pass`, p.work).Output(); err == nil && len(out) > 0 {
				t.Errorf("attributes are left: %s", out)
			}
		})
	}
}

// settled is contents without what differs between two runs of git: times in the index and in logs.
func settled(t *testing.T, work string) string {
	t.Helper()
	var b strings.Builder
	for l := range strings.Lines(contents(t, work)) {
		if strings.HasPrefix(l, `".git/index"`) || strings.HasPrefix(l, `".git/ORIG_HEAD.lock"`) || strings.HasPrefix(l, `".git/logs/`) || strings.Contains(l, `.git/gc`) {
			l, _, _ = strings.Cut(l, " ")
			l += "\n"
		}
		b.WriteString(l)
	}
	if _, err := os.Stat(filepath.Join(work, ".git")); err == nil {
		cmd := exec.Command("git", "-C", work, "-c", "core.fsmonitor=false", "ls-files", "--stage")
		out, err := cmd.CombinedOutput()
		fmt.Fprintf(&b, "%v %s", err, out)
		out, err = exec.Command("git", "-C", work, "status", "--short").CombinedOutput()
		fmt.Fprintf(&b, "%v %s", err, out)
		out, err = exec.Command("git", "-C", work, "fsck", "--strict").CombinedOutput()
		fmt.Fprintf(&b, "%v %s", err, out)
	}
	return b.String()
}

// TestRenameOfAnOldFolder: the kernel refuses to rename a folder below an overlay, and the result says so. mv copies
// instead.
func TestRenameOfAnOldFolder(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.sh(`mkdir -p a/b c; echo 1 >a/b/f; echo 2 >c/g`)
	r := p.try(`perl -e 'rename("a", "a2") or die "rename: $!\n"'; mv c c2`)
	if text := strings.Join(r.Doubts(), "; "); !strings.Contains(text, "cross-device link") {
		t.Errorf("doubts: %s\n%s", text, r.Output)
	}
	if got, want := summary(r), "deleted \"c\"\ndeleted \"c/g\"\ncreated \"c2\"\ncreated \"c2/g\"\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if r := p.try("true"); len(r.Doubts()) > 0 {
		t.Errorf("doubts: %q", r.Doubts())
	}
}

// TestPathsOfTheWorkspace: no character of its path matters.
func TestPathsOfTheWorkspace(t *testing.T) {
	for _, name := range []string{`a,b=c:d\e`, "new\nline \xff", `-rf "q" $x`} {
		base := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(base, 0o700); err != nil {
			t.Fatal(err)
		}
		p := newPlace(t, base)
		p.sh("echo 1 >f; mkdir d")
		r := p.try("pwd; echo 2 >f; echo 3 >d/n")
		if want := p.work + "\n"; string(r.Output) != want || r.Code != 0 {
			t.Errorf("output %q, want %q", r.Output, want)
		}
		p.keep(r)
		if b, err := os.ReadFile(filepath.Join(p.work, "f")); err != nil || string(b) != "2\n" {
			t.Errorf("%q: f is %q, %v", name, b, err)
		}
	}
}

// TestOtherPlaces: of other writable places caches and the temporary folder take changes, which are discarded; others
// are read-only.
func TestOtherPlaces(t *testing.T) {
	base := t.TempDir()
	p := newPlace(t, base)
	more, also := filepath.Join(base, "more"), filepath.Join(base, "also")
	for _, dir := range []string{more, also, p.Fence.Cache} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("as it was\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(p.Fence.Temp, "t"), []byte("earlier\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Fence.Write, p.Fence.Work = []string{more}, append(p.Fence.Work, also)
	p.Fence.Env = append(p.Fence.Env, "npm_config_cache="+base+"/nothing") // the fence copies packages to its caches
	before := contents(t, more) + contents(t, also) + contents(t, p.Fence.Cache) + contents(t, p.Fence.Temp)
	r := p.try(fmt.Sprintf(`cat %s/f %s/f /tmp/t; echo x >%[1]s/f; echo x >%[2]s/n; echo x >%s/f && echo x >/tmp/t && cat /tmp/t && cat %[3]s/f`, more, also, p.Fence.Cache))
	text := string(r.Output)
	if !strings.HasPrefix(text, "as it was\nas it was\nearlier\n") || !strings.HasSuffix(text, "x\nx\n") || strings.Count(text, "Read-only file system") != 2 {
		t.Errorf("%s", text)
	}
	if len(r.Changes) > 0 {
		t.Errorf("changes: %s", summary(r))
	}
	if after := contents(t, more) + contents(t, also) + contents(t, p.Fence.Cache) + contents(t, p.Fence.Temp); after != before {
		t.Errorf("they became\n%s\nfrom\n%s", after, before)
	}
	// The control: the same folder takes changes if it is the workspace.
	p.Fence.Work, p.Fence.Write = []string{also}, []string{more}
	if r, err := Run(context.Background(), p.Config, Command{Shell: "/bin/bash", Line: "echo x >n", Dir: also}); err != nil || summary(r) != "created \"n\"\n" {
		t.Errorf("%v %+v", err, r)
	} else if err := r.Discard(); err != nil {
		t.Error(err)
	}
}
