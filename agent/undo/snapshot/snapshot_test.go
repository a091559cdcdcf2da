package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	files "buddy/tools/fs"
)

// newTree returns a tree over a folder that make fills.
func newTree(t testing.TB, make string) (*Tree, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run(t, root, make)
	t.Cleanup(func() { run(t, root, "chmod -R u+rwX .") }) // an ordinary user can't remove read-only folders
	state := t.TempDir()
	return Open(Options{Store: filepath.Join(state, "store"), State: filepath.Join(state, "session"), Roots: []string{root}, Recovery: files.Recovery(filepath.Join(state, "recovery"))}), root
}

func run(t testing.TB, dir, command string) {
	t.Helper()
	cmd := exec.Command("bash", "-ec", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

func scanned(t testing.TB, tree *Tree) Scanned {
	t.Helper()
	done, err := tree.Scan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// listing describes all of a folder but .git: kinds, permissions, contents and links.
func listing(t testing.TB, root string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, fs.ErrPermission) {
				return err
			}
			text = string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			if text, err = os.Readlink(path); err != nil {
				return err
			}
		}
		fmt.Fprintf(&out, "%s %q %q\n", info.Mode(), strings.TrimPrefix(path, root), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func restored(t testing.TB, tree *Tree, changes []Change, force bool) Restored {
	t.Helper()
	back, err := tree.Restore(t.Context(), changes, force, func(changes []Change) error {
		_, err := tree.Write(changes)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// Whatever a command does to files, links and folders is undone and done again, also from a list that was stored.
func TestChangesOfCommandsAreUndoneAndRedone(t *testing.T) {
	for name, c := range map[string]struct{ before, command string }{
		"sed over many files":        {"for i in $(seq 50); do echo a $i > f$i; done", "sed -i s/a/b/ f*"},
		"rm of a folder":             {"mkdir -p d/e/empty; echo 1 > d/e/x; ln -s e/x d/l", "rm -rf d"},
		"rm of everything":           {"mkdir -p a/b .hidden; echo 1 > a/b/c; echo 2 > .hidden/x; echo 3 > y", "rm -rf ..?* .[!.]* *"},
		"permissions":                {"echo 1 > a; chmod 644 a; mkdir d; echo 2 > d/x", "chmod 755 a; chmod 750 d; chmod 700 ."},
		"a folder that is read-only": {"mkdir d; echo 1 > d/x", "echo 2 > d/x; chmod 555 d"},
		"rename":                     {"mkdir d; echo 1 > d/x; echo 2 > d/y", "mv d e; mv e/x e/z"},
		"links":                      {"echo 1 > a; ln -s a l; ln -s gone m", "ln -sfn b l; rm m; ln -s a n"},
		"file to folder to link":     {"echo 1 > a; mkdir b; echo 2 > b/x; ln -s a c", "rm a; mkdir a; echo 3 > a/y; rm -r b; ln -s a b; rm c; echo 4 > c"},
		"strange names":              {"echo 1 > $'new\\nline'; echo 2 > $'bad\\xff'; echo 3 > ./-rf; echo 4 > 'a b'", "for f in ./*; do echo changed > \"$f\"; done; rm ./-rf; mv $'bad\\xff' $'worse\\xfe'"},
		"line ends and UTF-16":       {"printf 'a\\r\\nb\\r\\n' > crlf; printf '\\xff\\xfea\\0' > utf16; echo '* text=auto eol=lf' > .gitattributes", "printf 'x\\r\\n' >> crlf; printf 'b\\0' >> utf16"},
		"two files appended":         {"echo 1 > a; echo 2 > b", "echo more | tee -a a b"},
		"new files and folders":      {"echo 1 > a", "mkdir -p n/m; echo 2 > n/m/x; echo 3 > b"},
		"order of names":             {"mkdir a; echo 1 > a/x; echo 2 > a-b; echo 3 > a.txt; echo 4 > a0", "echo 5 > a/x; echo 6 > a-b; rm a.txt; echo 7 > a/new"},
		"a nested repository": {
			"git init -q n; echo 1 > n/x; git -C n add x; git -C n commit -qm x",
			"echo 2 > n/x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, root := newTree(t, c.before)
			was := listing(t, root)
			scanned(t, tree)
			run(t, root, c.command)
			is := listing(t, root)
			if was == is {
				t.Fatal("the command changed nothing")
			}
			done := scanned(t, tree)
			list, err := tree.Write(done.Changes)
			if err != nil {
				t.Fatal(err)
			}
			if done.Changes, err = Read(list); err != nil {
				t.Fatal(err)
			}
			back := restored(t, tree, done.Changes, false)
			if len(back.Changed) > 0 || len(back.Left) > 0 {
				t.Errorf("changed since: %q, left: %q", back.Changed, back.Left)
			}
			if now := listing(t, root); now != was {
				t.Errorf("undone:\n%s\nwant:\n%s", now, was)
			}
			restored(t, tree, back.Changes, false)
			if now := listing(t, root); now != is {
				t.Errorf("redone:\n%s\nwant:\n%s", now, is)
			}
		})
	}
}

// A scan reports only what has changed: not what was touched, and nothing at the first scan or after a restart.
func TestScanReportsChangesOnly(t *testing.T) {
	tree, root := newTree(t, "mkdir d; echo 1 > a; echo 2 > d/b; mkfifo p")
	if done := scanned(t, tree); len(done.Changes) > 0 || done.Files != 4 || done.Bytes != 4 {
		t.Errorf("first: %+v", done)
	}
	run(t, root, "touch a d/b d; chmod 600 a; chmod 644 a")
	if done := scanned(t, tree); len(done.Changes) > 0 {
		t.Errorf("touched: %+v", done.Changes)
	}
	run(t, root, "echo 3 > a")
	again := Open(tree.o)
	if done := scanned(t, again); len(done.Changes) != 1 || done.Changes[0].Path != filepath.Join(root, "a") {
		t.Errorf("changed, in the next process: %+v", done.Changes)
	}
	if err := again.Sweep(); err != nil {
		t.Fatal(err)
	}
	o := tree.o
	o.State = t.TempDir()
	run(t, root, "echo 4 > a")
	next := Open(o)
	if done := scanned(t, next); len(done.Changes) > 0 {
		t.Errorf("the next session: %+v", done.Changes)
	}
	run(t, root, "echo 5 > a")
	if done := scanned(t, next); len(done.Changes) != 1 {
		t.Errorf("the next session, changed: %+v", done.Changes)
	}
}

// A change in the same moment as the scan, of the same size, is seen by the next scan.
func TestChangeInTheMomentOfTheScan(t *testing.T) {
	tree, root := newTree(t, "echo 1 > a")
	at := time.Now()
	for i := range 20 {
		path := filepath.Join(root, "a")
		if err := errors.Join(os.WriteFile(path, fmt.Appendf(nil, "%d\n", i%10), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		done := scanned(t, tree)
		if i > 0 && len(done.Changes) != 1 {
			t.Errorf("change %d was not seen", i)
		}
	}
}

// What .gitignore files exclude is neither recorded nor removed, also when the rule comes or goes with the command.
func TestIgnoredFilesAreLeftAlone(t *testing.T) {
	tree, root := newTree(t, "printf 'out/\\n' > .gitignore; mkdir out; echo 1 > out/x; mkdir src; echo 2 > src/a; mkdir .git .buddyx; echo x > .buddyx/s")
	time.Sleep(2 * tick) // out is older than the scan
	scanned(t, tree)
	run(t, root, "rm .gitignore; echo 3 > src/a")
	done := scanned(t, tree)
	if len(done.Changes) != 2 {
		t.Errorf("a rule goes: %+v", done.Changes)
	}
	restored(t, tree, done.Changes, false)
	if text, err := os.ReadFile(filepath.Join(root, "out/x")); string(text) != "1\n" {
		t.Errorf("out/x is %q (%v)", text, err)
	}
	scanned(t, tree)
	run(t, root, "echo src/ >> .gitignore")
	if done := scanned(t, tree); len(done.Changes) != 1 {
		t.Errorf("a rule comes: %+v", done.Changes)
	}
	run(t, root, "mkdir -p made/out; echo 1 > made/out/y; echo 2 > made/z")
	done = scanned(t, tree)
	back := restored(t, tree, done.Changes, false)
	if _, err := os.Stat(filepath.Join(root, "made/out/y")); err != nil || len(back.Changed) > 0 || !slices.Equal(back.Left, []string{filepath.Join(root, "made")}) {
		t.Errorf("ignored file in a new folder: %v, %+v", err, back)
	}
}

// What a command moves in from outside is not removed by an undo, because it exists nowhere else.
func TestMovedInFromOutsideStays(t *testing.T) {
	tree, root := newTree(t, "mkdir d; echo 1 > d/a")
	outside := filepath.Join(filepath.Dir(root), "outside")
	run(t, root, fmt.Sprintf("mkdir -p %[1]q; echo precious > %[1]q/x", outside))
	time.Sleep(2 * tick) // older than the scan
	scanned(t, tree)
	run(t, root, fmt.Sprintf("mv %q/x d/x; echo 2 > d/a", outside))
	done := scanned(t, tree)
	restored(t, tree, done.Changes, false)
	if got := listing(t, filepath.Join(root, "d")); !strings.Contains(got, `"/x" "precious\n"`) || !strings.Contains(got, `"/a" "1\n"`) {
		t.Errorf("after the undo:\n%s", got)
	}
}

// A path that somebody has changed since stops the whole undo, unless it is forced; redo brings that back.
func TestChangedSince(t *testing.T) {
	for name, since := range map[string]string{
		"content":            "echo mine > a",
		"permissions":        "chmod 700 a",
		"a new file again":   "rm a; echo mine > a",
		"a link":             "ln -sfn b a",
		"a folder":           "rm a; mkdir a; echo mine > a/x",
		"in a new folder":    "echo mine > new/mine",
		"its folder a link":  "mv d d2; ln -s d2 d",
		"a removed one back": "mkdir gone; echo mine > gone/x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, root := newTree(t, "echo 1 > a; echo 1 > b; mkdir gone d; echo 1 > gone/x; echo 1 > d/x")
			scanned(t, tree)
			run(t, root, "echo 2 > a; echo 2 > b; rm -r gone; mkdir new; echo 2 > new/x; echo 2 > d/x")
			done := scanned(t, tree)
			run(t, root, since)
			is := listing(t, root)
			back := restored(t, tree, done.Changes, false)
			if len(back.Changed) == 0 {
				t.Error("nothing counts as changed since")
			}
			if now := listing(t, root); now != is {
				t.Errorf("it was changed:\n%s\nwant:\n%s", now, is)
			}
			if name == "its folder a link" {
				return
			}
			back = restored(t, tree, done.Changes, true)
			if text, err := os.ReadFile(filepath.Join(root, "b")); string(text) != "1\n" {
				t.Errorf("forced: b is %q (%v)", text, err)
			}
			restored(t, tree, back.Changes, false)
			if now := listing(t, root); now != is {
				t.Errorf("redone:\n%s\nwant:\n%s", now, is)
			}
		})
	}
}

// Large files are seen but not kept, and an undo neither restores nor removes them.
func TestLimits(t *testing.T) {
	tree, root := newTree(t, "head -c 2000 /dev/zero > big; head -c 900 /dev/zero > middle; echo 1 > small")
	tree.o.Limits = Limits{File: 1000, Folder: 500, Total: DefaultTotal}
	if done := scanned(t, tree); done.Missing != 2 || done.Bytes != 2 {
		t.Errorf("first: %+v", done)
	}
	run(t, root, "echo x >> big; echo x >> middle; echo 2 > small; head -c 3000 /dev/zero > new")
	done := scanned(t, tree)
	if len(done.Changes) != 4 {
		t.Errorf("%+v", done.Changes)
	}
	back := restored(t, tree, done.Changes, false)
	for i, path := range back.Left {
		back.Left[i] = tree.Name(path)
	}
	if slices.Sort(back.Left); !slices.Equal(back.Left, []string{"big", "middle", "new"}) || len(back.Changes) != 1 {
		t.Errorf("%+v", back)
	}
	tree.o.Limits.Folder = DefaultFolder
	if done := scanned(t, tree); done.Missing != 2 || done.Bytes != 904 || len(done.Changes) != 1 {
		t.Errorf("with more room: %+v", done)
	}
}

// Copying ends with the context: what was not copied is missing, and the next scan copies it.
func TestCopyingEndsWithItsContext(t *testing.T) {
	tree, _ := newTree(t, "echo 1 > a; echo 2 > b")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if done, err := tree.Scan(ctx); err != nil || done.Missing != 2 {
		t.Errorf("%+v, %v", done, err)
	}
	if done := scanned(t, tree); done.Bytes != 4 || len(done.Changes) > 0 {
		t.Errorf("next: %+v", done)
	}
}

// A store over its limit loses the oldest contents that neither the present files nor the session need.
func TestSweep(t *testing.T) {
	tree, root := newTree(t, "echo oldest > a")
	scanned(t, tree)
	run(t, root, "echo older > a")
	scanned(t, tree) // its list is not written
	run(t, root, "echo old > a")
	done := scanned(t, tree)
	if _, err := tree.Write(done.Changes); err != nil {
		t.Fatal(err)
	}
	tree.o.Limits.Total = 1
	if err := tree.Sweep(); err != nil {
		t.Fatal(err)
	}
	for text, kept := range map[string]bool{"oldest\n": false, "older\n": true, "old\n": true} {
		if _, err := tree.Content(State{Kind: File, Sum: sumOf([]byte(text))}); (err == nil) != kept {
			t.Errorf("%q kept: %v, want %v", text, err == nil, kept)
		}
	}
}

// A file that this user can't read any more stays, and the others are restored. Root can read it.
func TestUnreadableFileStays(t *testing.T) {
	tree, root := newTree(t, "echo 1 > a; chmod 600 a; echo 1 > b")
	scanned(t, tree)
	run(t, root, "echo 2 > b; chmod 000 a")
	back := restored(t, tree, scanned(t, tree).Changes, false)
	if left := os.Getuid() != 0; len(back.Changed) > 0 || (len(back.Left) == 1) != left {
		t.Errorf("changed %q, left %q", back.Changed, back.Left)
	}
	if text, err := os.ReadFile(filepath.Join(root, "b")); string(text) != "1\n" {
		t.Errorf("b has %q, %v", text, err)
	}
}

// While another session uses the store, no content is removed; the last session removes them.
func TestSweepWhileAnotherSessionRuns(t *testing.T) {
	tree, root := newTree(t, "echo old > a")
	o := tree.o
	o.State, o.Limits.Total = t.TempDir(), 1
	other := Open(o)
	tree.o.Limits.Total = 1
	scanned(t, tree)
	scanned(t, other)
	run(t, root, "echo new > a")
	scanned(t, tree)
	scanned(t, other)
	for _, one := range []struct {
		*Tree
		kept bool
	}{{tree, true}, {other, false}} {
		if err := one.Sweep(); err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Content(State{Kind: File, Sum: sumOf([]byte("old\n"))}); (err == nil) != one.kept {
			t.Errorf("kept: %v, want %v", err == nil, one.kept)
		}
	}
}

// A store that can't be written, a damaged copy and a failing announcement change nothing.
func TestFailures(t *testing.T) {
	tree, root := newTree(t, "echo 1 > a; echo 1 > b")
	scanned(t, tree)
	run(t, root, "echo 2 > a; echo 2 > b")
	done, is := scanned(t, tree), listing(t, root)
	failed := errors.New("disk full")
	if _, err := tree.Restore(t.Context(), done.Changes, false, func([]Change) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("announcement: %v", err)
	}
	if err := os.WriteFile(tree.object(sumOf([]byte("1\n"))), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Restore(t.Context(), done.Changes, false, func([]Change) error { return nil }); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("damaged copy: %v", err)
	}
	if now := listing(t, root); now != is {
		t.Errorf("changed:\n%s\nwant:\n%s", now, is)
	}
	for _, damaged := range []string{"x", magic + "\x05/tmp"} {
		for _, file := range []string{tree.index(), tree.base()} {
			if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if done := scanned(t, tree); len(done.Changes) > 0 || done.Files != 3 {
			t.Errorf("damaged index %q: %+v", damaged, done)
		}
	}
	run(t, root, "echo 3 > a")
	if err := os.MkdirAll(filepath.Dir(tree.object(sumOf([]byte("3\n")))), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tree.object(sumOf([]byte("3\n"))), nil, 0o600); err != nil { // after a power failure
		t.Fatal(err)
	}
	after := scanned(t, tree).Changes[0].After
	if data, err := tree.Content(after); string(data) != "3\n" {
		t.Errorf("an empty copy: %q, %v", data, err)
	}
}

// Files of this program in a folder are no files of the person; a folder with too many files is given up, and the next
// session does not look at it again.
func TestOwnFilesAndTooManyFiles(t *testing.T) {
	tree, root := newTree(t, "mkdir own; echo 1 > own/x; echo 1 > a")
	tree.o.Own = []string{filepath.Join(root, "own")}
	if done := scanned(t, tree); done.Files != 2 {
		t.Errorf("%+v", done)
	}
	run(t, root, "seq 100001 | xargs touch")
	if _, err := tree.Scan(t.Context()); !errors.Is(err, ErrTooLarge) || errors.Is(err, ErrStillLarge) {
		t.Errorf("%v", err)
	}
	if _, err := Open(tree.o).Scan(t.Context()); !errors.Is(err, ErrStillLarge) {
		t.Errorf("in the next session: %v", err)
	}
}

// The promise that a deletion can be undone holds for everything below a path, or is not made.
func TestRestores(t *testing.T) {
	tree, root := newTree(t, `mkdir -p plain/sub ignored/out big repo/.git pipe link; echo 1 > plain/sub/x; ln -s x plain/l
		echo 'out/' > .gitignore; echo 1 > ignored/a; echo 2 > ignored/out/b; head -c 2000 /dev/zero > big/f; echo 1 > repo/.git/HEAD; echo 1 > repo/x; mkfifo pipe/p`)
	tree.o.Limits.File = 1000
	scanned(t, tree)
	for path, want := range map[string]bool{
		"plain": true, "plain/sub/x": true, "link": true, "ignored": false, "ignored/a": true, "ignored/out": false, "big": false, "big/f": false,
		"repo": false, "repo/x": true, "pipe": false, "none": false, ".": false, "../": false,
	} {
		if got := tree.Restores(filepath.Join(root, path)); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	run(t, root, "echo 2 > plain/new")
	if tree.Restores(filepath.Join(root, "plain")) {
		t.Error("a file that is not recorded yet counts as restored")
	}
}
