package fs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"buddy/tmux/host"
)

// writerOf is the environment variable that makes the test binary write a file in place until it is killed.
const writerOf = "BUDDY_TEST_WRITES_IN_PLACE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerOf); dir != "" {
		writeUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// contentOf returns one of the two contents that the file alternates between: they differ in length and in each byte.
func contentOf(i int) []byte { return bytes.Repeat([]byte{'a' + byte(i%2)}, 8<<20+(i%2)<<20) }

func writeUntilKilled(dir string) {
	path := filepath.Join(dir, "f")
	for i := 1; ; i++ {
		if err := writeOnce(Recovery(filepath.Join(dir, "recovery")), path, contentOf(i)); err != nil {
			panic(err)
		}
	}
}

// writeOnce writes a file like the file tools.
func writeOnce(r Recovery, path string, data []byte) error {
	s, err := stage(path, data, Rights{})
	if err != nil {
		return err
	}
	defer Release(s)
	var kept *Kept
	_, err = s.Commit(func() (err error) {
		kept, err = r.Keep(context.Background(), Local, path, data)
		_, _ = os.Stdout.WriteString("begins\n")
		return err
	})
	if kept != nil {
		err = kept.End(err)
	}
	return err
}

// TestKilledWhileWritingInPlace: whenever a process is killed during an in-place write, the next start finds or
// restores a complete file with one of both contents.
func TestKilledWhileWritingInPlace(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "buddy-test-") // in memory most of the time goes to writing, not to waiting for the disk
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path, r := filepath.Join(dir, "f"), Recovery(filepath.Join(dir, "recovery"))
	if err := os.WriteFile(path, contentOf(0), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, filepath.Join(dir, "g")); err != nil {
		t.Fatal(err)
	}
	restored, spun := 0, 0
	for round := range 25 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writerOf+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		for range 1 + rand.IntN(3) {
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		for n := rand.IntN(6_000_000); n > 0; n-- { // a random delay before the kill
			spun++
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		half, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		reported := r.Recover(t.Context(), Local)
		now, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(now, contentOf(0)) && !bytes.Equal(now, contentOf(1)) {
			t.Fatalf("round %d: %d bytes, %v, %+v", round, len(now), err, reported)
		}
		if changed := !bytes.Equal(half, now); changed != (len(reported) == 1) || len(reported) > 0 && reported[0] != (Interrupted{Path: path}) {
			t.Fatalf("round %d: put back %v, told %+v", round, changed, reported)
		}
		restored += len(reported)
		if left, _ := os.ReadDir(string(r)); len(left) > 0 {
			t.Fatalf("round %d: left %v", round, left)
		}
	}
	t.Logf("half written and put back: %d of 25 (%d)", restored, spun)
}

// TestKilledOnTarget: when a target kills an in-place write, the file is reported as half written, and the next start
// restores its old bytes.
func TestKilledOnTarget(t *testing.T) {
	dir := t.TempDir()
	path, r := filepath.Join(dir, "f"), Recovery(filepath.Join(dir, "recovery"))
	const before, after = "the old text\n", "new bytes\n"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, filepath.Join(dir, "g")); err != nil {
		t.Fatal(err)
	}
	real, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	killer := "#!/bin/sh\nif [ \"$(readlink /proc/$$/fd/1)\" = '" + path + "' ]; then head -c 5; kill -9 $PPID; exit; fi\nexec " + real + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "cat"), []byte(killer), 0o700); err != nil {
		t.Fatal(err)
	}
	searched := os.Getenv("PATH")
	t.Setenv("PATH", bin+":"+searched)
	write := func() error {
		h := host.Local(nil)
		defer Release(h)
		files := On(h, "there")
		s, err := files.Stage(t.Context(), path, []byte(after), Rights{})
		if err != nil {
			t.Fatal(err)
		}
		defer Release(s)
		var kept *Kept
		_, err = s.Commit(func() (err error) { kept, err = r.Keep(t.Context(), files, path, []byte(after)); return err })
		return kept.End(err)
	}
	_, half := errors.AsType[*TornError](write())
	if got, err := os.ReadFile(path); err != nil || string(got) != after[:5] || !half {
		t.Fatalf("%q, %v, half %v", got, err, half)
	}
	t.Setenv("PATH", searched)
	h := host.Local(nil)
	defer Release(h)
	if reported := r.Recover(t.Context(), Local); len(reported) > 0 {
		t.Errorf("a file of another target is put back: %+v", reported)
	}
	if reported := r.Recover(t.Context(), On(h, "there")); len(reported) != 1 || reported[0] != (Interrupted{Path: path}) {
		t.Errorf("told %+v", reported)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "g")); err != nil || string(got) != before {
		t.Errorf("%q, %v", got, err)
	}
	if err := write(); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "g")); err != nil || string(got) != after {
		t.Errorf("where nothing kills: %q, %v", got, err)
	}
}

// TestRecover: a half-written file gets its old bytes back; a file that was changed since stays and is reported once.
func TestRecover(t *testing.T) {
	const before, after = "the old text\n", "a new text that is longer\n"
	for name, tt := range map[string]struct {
		now      string // "" for no file
		want     string
		reported int
		restored bool
	}{
		"not begun":           {now: before, want: before},
		"complete":            {now: after, want: after},
		"first bytes":         {now: after[:5] + before[5:], want: before, reported: 1, restored: true},
		"longer already":      {now: after[:20], want: before, reported: 1, restored: true},
		"changed since":       {now: "mine\n", want: "mine\n", reported: 1},
		"begun and changed":   {now: after[:5] + before[5:] + "mine\n", want: after[:5] + before[5:] + "mine\n", reported: 1},
		"removed by somebody": {},
	} {
		dir := t.TempDir()
		path, r := filepath.Join(dir, "f"), Recovery(filepath.Join(dir, "recovery"))
		write := func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(before)
		kept, err := r.Keep(t.Context(), Local, path, []byte(after))
		if err != nil {
			t.Fatal(err)
		}
		if reported := r.Recover(t.Context(), Local); len(reported) > 0 { // its process is alive
			t.Errorf("%s: told %+v while it was written", name, reported)
		}
		if write(tt.now); tt.now == "" {
			_ = os.Remove(path)
		}
		_ = kept.lock.Close() // its process has ended
		reported := r.Recover(t.Context(), Local)
		got, _ := os.ReadFile(path)
		if string(got) != tt.want || len(reported) != tt.reported || tt.reported > 0 && (reported[0].Copy == "") != tt.restored {
			t.Errorf("%s: %q, told %+v; want %q", name, got, reported, tt.want)
		}
		if len(reported) > 0 && !tt.restored {
			if old, err := os.ReadFile(reported[0].Copy); err != nil || string(old) != before {
				t.Errorf("%s: the copy has %q, %v", name, old, err)
			}
		}
		if again := r.Recover(t.Context(), Local); len(again) > 0 {
			t.Errorf("%s: told again %+v", name, again)
		}
	}
}
