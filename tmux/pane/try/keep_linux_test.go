//go:build amd64 || arm64

package try

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/tmux/pane/try/enter"
)

// TestConflicts: if others changed what a command did, nothing is kept, and the error names the paths. Other changes
// prevent nothing.
func TestConflicts(t *testing.T) {
	const before = `mkdir -p d/e r x; echo 1 >a; echo 2 >b; echo 3 >d/f; echo 4 >d/e/g; echo 5 >r/o; echo 6 >x/y; echo 7 >same`
	const line = `echo n >>a; rm b; rm -r d; echo n >new; rm -r r; mkdir r; echo n >r/n; chmod 700 x; mkdir nd; echo n >nd/n`
	for _, c := range []struct {
		name, meanwhile string
		paths           []string
	}{
		{"nothing", "true", nil},
		{"another file", "echo x >same; echo x >other; mkdir od; echo x >x/z", nil},
		{"changed", "echo x >a", []string{"a"}},
		{"changed with the old times", "touch -r a /tmp/$$; echo x >a; touch -r /tmp/$$ a; rm /tmp/$$", []string{"a"}},
		{"replaced", "cp a a2; mv a2 a", []string{"a"}},
		{"removed", "rm a", []string{"a"}},
		{"a file that goes", "echo x >b", []string{"b"}},
		{"already gone", "rm b", []string{"b"}},
		{"a file in a folder that goes", "echo x >d/e/g", []string{"d/e/g"}},
		{"a new file in a folder that goes", "echo x >d/e/new", []string{"d/e", "d/e/new"}},
		{"a file in a replaced folder", "echo x >r/o", []string{"r/o"}},
		{"a path that is new", "echo x >new", []string{"new"}},
		{"a folder that is new", "mkdir nd", []string{"nd"}},
		{"permissions", "chmod 711 x", []string{"x"}},
		{"a folder became a link", "mv x x2; ln -s x2 x", []string{"x"}},
		{"two", "echo x >a; echo x >new", []string{"a", "new"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, t.TempDir())
			p.sh(before)
			r := p.try(line)
			p.sh(c.meanwhile)
			want := contents(t, p.work)
			err := r.Keep()
			if c.paths == nil {
				if err != nil || contents(t, p.work) == want {
					t.Errorf("not kept: %v", err)
				}
				return
			}
			conflict, ok := errors.AsType[*ConflictError](err)
			if !ok {
				t.Fatalf("error %v", err)
			}
			if slices.Sort(conflict.Paths); !slices.Equal(conflict.Paths, c.paths) {
				t.Errorf("paths %q, want %q", conflict.Paths, c.paths)
			}
			if got := contents(t, p.work); got != want {
				t.Errorf("kept in part:\n%s\nwant\n%s", got, want)
			}
			if kept, err := Resume(r.Layer); kept || err != nil {
				t.Errorf("kept: %v, %v", kept, err)
			}
		})
	}
}

// TestConflictWhileItRuns: a change by others while the command runs is a conflict too.
func TestConflictWhileItRuns(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.sh("echo 1 >a; echo 2 >b")
	done := make(chan *Result)
	go func() {
		r, err := Run(context.Background(), p.Config, Command{Shell: "/bin/bash", Line: "echo >started; sleep 3; echo n >>a; rm b", Dir: p.work})
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	for started := []string(nil); len(started) == 0; time.Sleep(5 * time.Millisecond) { // a real process
		started, _ = filepath.Glob(filepath.Join(p.Layers, "*", "*", enter.Upper, "started"))
	}
	p.sh("echo 3 >b")
	r := <-done
	if conflict, ok := errors.AsType[*ConflictError](r.Keep()); !ok || !slices.Equal(conflict.Paths, []string{"b"}) {
		t.Errorf("%v", conflict)
	}
	if err := r.Discard(); err != nil {
		t.Error(err)
	}
}

// TestParentBecameALink: nothing is written through a link that replaced a folder.
func TestParentBecameALink(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.sh("mkdir -p d/e ../out/e; echo 1 >d/e/f; echo 1 >../out/e/f")
	r := p.try("echo 2 >d/e/f; echo 3 >d/e/n")
	p.sh("mv d d2; ln -s ../out d")
	want := contents(t, filepath.Dir(p.work)+"/out")
	if conflict, ok := errors.AsType[*ConflictError](r.Keep()); !ok || len(conflict.Paths) != 2 {
		t.Errorf("%v", conflict)
	}
	if got := contents(t, filepath.Dir(p.work)+"/out"); got != want {
		t.Errorf("outside: %s", got)
	}
}

// TestGoingBack: an error in the middle leaves the workspace as it was.
func TestGoingBack(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.sh(`mkdir -p d/e g; echo 1 >a; echo 2 >d/f; echo 3 >z; echo 4 >g/h; chmod 555 d/e`)
	r := p.try(`echo n >>a; rm -r d; echo n >b; chmod 700 g; rm g/h; echo n >>z`)
	k, err := newKeeper(r.Layer, state{Work: []byte(r.work), Moves: r.moves})
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	want := contents(t, p.work)
	if err := k.save(); err != nil {
		t.Fatal(err)
	}
	last := &k.Moves[len(k.Moves)-1]
	last.Path = []byte("nowhere/at/all")
	if err := k.finish(); err == nil || errors.Is(err, ErrHalf) {
		t.Errorf("error %v", err)
	}
	if got := contents(t, p.work); got != want {
		t.Errorf("it became\n%s\nfrom\n%s", got, want)
	}
}

// TestHardLinks: a file with other hard links is named, and its other names keep the old content.
func TestHardLinks(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.sh("echo 1 >a; ln a b; ln a c; echo 2 >alone; echo 3 >gone; ln gone gone2")
	r := p.try("echo n >>a; echo n >>alone; rm gone")
	if len(r.Losses) != 1 || r.Losses[0].Path != "a" || !strings.Contains(r.Losses[0].Why, "2 other hard links") {
		t.Errorf("losses %q", r.Losses)
	}
	p.keep(r)
	for name, want := range map[string]string{"a": "1\nn\n", "b": "1\n", "gone2": "3\n"} {
		if b, err := os.ReadFile(filepath.Join(p.work, name)); err != nil || string(b) != want {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
}

// TestSocketsAndOwners: sockets are named and not kept; a changed owner is named.
func TestSocketsAndOwners(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.sh("echo 1 >a; mkdir d; echo 2 >d/b")
	want := []string{"d/s", "n/s", "s"}
	if os.Getuid() == 0 {
		p.sh("chown 65534:65534 a")
		want = append([]string{"a"}, want...)
	}
	r := p.try(`sed -i s/1/2/ a; mkdir n; echo 3 >n/f
perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => $_, Listen => 1) or die "$_: $!" for "s", "d/s", "n/s"'; ls n`)
	var lost []string
	for _, l := range r.Losses {
		lost = append(lost, l.Path)
	}
	if !slices.Equal(lost, want) || !strings.HasSuffix(string(r.Output), "f\ns\n") {
		t.Errorf("losses %q, want %q\n%s", r.Losses, want, r.Output)
	}
	p.keep(r)
	if all := contents(t, p.work); strings.Contains(all, `s"`) || !strings.Contains(all, `"n/f"`) {
		t.Errorf("%s", all)
	}
}

// TestGitIndex: "git status" of an editor is no conflict with a commit, other staged files are.
func TestGitIndex(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile string
		conflict  bool
	}{
		"status":       {"touch -d 2001-01-01 a b; git status --short >/dev/null", false},
		"other staged": {"echo x >other; git add other", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, t.TempDir())
			p.sh(gitRepository)
			r := p.try("echo 9 >c && git add c && git commit -qm four")
			if r.Code != 0 {
				t.Fatalf("%s", r.Output)
			}
			index := filepath.Join(p.work, gitIndex)
			before, err := os.ReadFile(index)
			if err != nil {
				t.Fatal(err)
			}
			p.sh(c.meanwhile)
			if after, err := os.ReadFile(index); err != nil || string(after) == string(before) {
				t.Fatalf("the index is the same: it proves nothing, %v", err)
			}
			if _, conflict := errors.AsType[*ConflictError](r.Keep()); conflict != c.conflict {
				t.Errorf("conflict: %v", conflict)
			}
			if out, err := exec.Command("git", "-C", p.work, "status", "--short").Output(); err != nil || !c.conflict && len(out) > 0 {
				t.Errorf("%v %s", err, out)
			}
		})
	}
	p := newPlace(t, t.TempDir())
	p.sh(gitRepository)
	if r := p.try("touch a b; git status"); len(r.Changes) != 2 {
		t.Errorf("a status changes %s", summary(r))
	}
}

// keepIn names the variable with a folder, in which TestKeepIsKilled tries and keeps a command in a process of its own.
const keepIn = "TRY_TEST_KEEP"

const (
	killedBefore = `mkdir -p d1/x d2 d3; for i in $(seq 300); do echo foo >f$i; echo foo >d1/x/g$i; done; echo 1 >d2/y; echo 2 >d3/z; chmod 755 d3`
	killedLine   = `sed -i s/foo/bar/ f* d1/x/*; rm -r d2; mkdir n1; for i in $(seq 100); do echo n >n$i.txt; echo n >n1/$i; done; rm f1 f2 f3; chmod 700 d3; echo 3 >d3/z`
)

// TestKeepIsKilled: a process that keeps a result is killed at any moment. Afterwards the workspace is as it was, or
// Resume completes it.
func TestKeepIsKilled(t *testing.T) {
	if base := os.Getenv(keepIn); base != "" {
		keepAndSay(t, base)
		return
	}
	if testing.Short() {
		t.Skip("takes seconds")
	}
	template := newPlace(t, t.TempDir())
	template.sh(killedBefore)
	before := contents(t, template.work)
	template.sh(killedLine)
	after := contents(t, template.work)
	half, unstarted, complete := 0, 0, 0
	kills := 6
	if os.Getenv(allLines) != "" {
		kills = 30
	}
	for n := range kills {
		p := newPlace(t, t.TempDir())
		p.sh(killedBefore)
		cmd := exec.Command(os.Args[0], "-test.run=^TestKeepIsKilled$", "-test.v")
		cmd.Env = append(os.Environ(), keepIn+"="+filepath.Dir(p.work))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		layer := ""
		for lines := bufio.NewScanner(out); layer == "" && lines.Scan(); {
			layer, _ = strings.CutPrefix(lines.Text(), "keeping ")
			if layer == lines.Text() {
				layer = ""
			}
		}
		// Every other kill waits until keeping has begun, which may be after a long write to the disk.
		for n%2 == 1 {
			_, err1 := os.Lstat(filepath.Join(layer, stateFile))
			_, err2 := os.Lstat(filepath.Join(layer, keptFile))
			if err1 == nil || err2 == nil {
				break
			}
		}
		time.Sleep(time.Duration(rand.IntN(6000)) * time.Microsecond) //nolint:gosec // any moment will do
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		killed := contents(t, p.work)
		kept, err := Resume(layer)
		got := contents(t, p.work)
		switch {
		case err != nil:
			t.Errorf("kill %d: %v", n, err)
		case kept && got != after:
			t.Errorf("kill %d: kept:\n%s\nwant\n%s", n, got, after)
		case !kept && got != before:
			t.Errorf("kill %d: not kept:\n%s\nwant\n%s", n, got, before)
		}
		switch killed {
		case before:
			unstarted++
		case after:
			complete++
		default:
			half++
		}
		if again, err := Resume(layer); again != kept || err != nil {
			t.Errorf("kill %d: a second time: %v, %v", n, again, err)
		}
		if err := Discard(layer); err != nil {
			t.Error(err)
		}
	}
	t.Logf("of %d kills, %d before, %d in the middle, %d afterwards", kills, unstarted, half, complete)
	if half == 0 && kills > 6 {
		t.Error("no kill was in the middle")
	}
}

// keepAndSay tries and keeps a command, and prints the layer before it keeps.
func keepAndSay(t *testing.T, base string) {
	p := &place{t: t, work: filepath.Join(base, "work")}
	p.Layers = filepath.Join(base, "layers")
	p.Fence.Work, p.Fence.Env, p.Fence.Temp = []string{p.work}, os.Environ(), filepath.Join(base, "temp")
	r, err := Run(context.Background(), p.Config, Command{Shell: "/bin/bash", Line: killedLine, Dir: p.work})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("keeping " + r.Layer)
	if err := r.Keep(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
}

// TestHalfKeptIsNotDiscarded: a layer that is kept in part stays until Resume.
func TestHalfKeptIsNotDiscarded(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.sh("echo 1 >a; echo 1 >b")
	r := p.try("echo 2 >a; echo 2 >b")
	k, err := newKeeper(r.Layer, state{Work: []byte(r.work), Moves: r.moves})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(k.save(), k.apply(0)); err != nil {
		t.Fatal(err)
	}
	k.close()
	if err := r.Discard(); err == nil {
		t.Error("discarded")
	}
	if kept, err := Resume(r.Layer); !kept || err != nil {
		t.Errorf("%v, %v", kept, err)
	}
	if all := contents(t, p.work); strings.Contains(all, "1") || strings.Count(all, `"2\n"`) != 2 {
		t.Errorf("%s", all)
	}
}

// TestResumeGoesBack: if somebody writes between a kill and Resume, that is not overwritten.
func TestResumeGoesBack(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.sh("echo 1 >a; echo 1 >b")
	r := p.try("echo 2 >a; echo 2 >b")
	k, err := newKeeper(r.Layer, state{Work: []byte(r.work), Moves: r.moves})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(k.save(), k.apply(0)); err != nil {
		t.Fatal(err)
	}
	k.close()
	p.sh("echo 3 >b2; mv b2 b")
	kept, err := Resume(r.Layer)
	if conflict, ok := errors.AsType[*ConflictError](err); kept || !ok || !slices.Equal(conflict.Paths, []string{"b"}) {
		t.Errorf("%v, %v", kept, err)
	}
	if all := contents(t, p.work); !strings.Contains(all, `"a" -rw-r--r-- "1\n"`) || !strings.Contains(all, `"b" -rw-r--r-- "3\n"`) {
		t.Errorf("%s", all)
	}
}

// TestIndexEntries: an index is compared without the times of files, and one that can't be read is never the same.
func TestIndexEntries(t *testing.T) {
	p := &place{t: t, work: t.TempDir()}
	p.sh(gitRepository + `; git update-index --index-version 3 2>/dev/null; touch nn; git add -N nn`)
	index, err := os.ReadFile(filepath.Join(p.work, gitIndex))
	if err != nil {
		t.Fatal(err)
	}
	entries, ok := indexEntries(index)
	if !ok || len(entries) != 3 || !strings.HasSuffix(entries[0], "a") || !strings.HasSuffix(entries[2], "nn") {
		t.Errorf("%v %q", ok, entries)
	}
	for n := range len(index) {
		if _, ok := indexEntries(index[:n]); ok {
			t.Errorf("the first %d bytes are an index", n)
		}
		wrong := slices.Clone(index)
		if wrong[n] ^= 1; n < len(index) {
			if _, ok := indexEntries(wrong); ok {
				t.Errorf("with a wrong byte %d it is an index", n)
			}
		}
	}
}
