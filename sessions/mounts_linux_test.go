package sessions

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/agent/event"
)

// On a disk that is really full the session becomes read-only and its contents stay valid; once there is room it
// accepts events again.
func TestRealDiskFull(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to mount a small file system")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no mounting here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := Store{dir: filepath.Join(dir, ".buddyx", "sessions"), state: t.TempDir()}
	ballast := filepath.Join(dir, "ballast")
	writeFile(t, ballast, make([]byte, 64<<10))
	j := create(t, s)
	id := j.Info().Header.ID
	var err error
	n := uint64(0)
	for err == nil {
		n++
		err = j.Append(event.Envelope{Seq: n, Session: id, Payload: event.Notice{Text: strings.Repeat("x", int(1000+n*37%5000))}})
	}
	if !errors.Is(err, syscall.ENOSPC) || !errors.Is(j.ReadOnly(), syscall.ENOSPC) || n < 10 {
		t.Fatalf("after %d events: %v, read-only %v", n, err, j.ReadOnly())
	}
	wantError(t, err, s.file(id), "no space left")
	if got := len(load(t, j).Events); got != int(n-1) {
		t.Errorf("%d events to read, want %d", got, n-1)
	}
	for what, err := range map[string]error{
		"draft": s.Draft(id).Save(strings.Repeat("x", 100_000)),
		"rename": func() error {
			closeJournal(t, j)
			return s.Rename(id, strings.Repeat("title ", 10))
		}(),
	} {
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if all, err := s.List(); err != nil || len(all) != 1 {
		t.Errorf("list: %+v, %v", all, err)
	}
	if _, err := s.Create(Header{}); err == nil {
		if _, _, err := s.Fork(id, 0); err == nil {
			t.Error("a fork found room")
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	j = open(t, s, id)
	if len(j.Info().Warnings) > 0 || j.ReadOnly() != nil {
		t.Fatalf("with room again: %q, %v", j.Info().Warnings, j.ReadOnly())
	}
	appendAll(t, j, []event.Envelope{{Seq: event.NextSeq(j.Info().LastSeq), Session: id, Payload: event.Notice{Text: "goes on"}}})
	if p := load(t, j); len(p.Warnings) > 0 || len(p.Events) < int(n) {
		t.Errorf("%d events, %q", len(p.Events), p.Warnings)
	}
}

// In a read-only folder sessions can be viewed, and everything else fails with the reason.
func TestReadOnlyFolder(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to mount a folder read-only")
	}
	dir := t.TempDir()
	s := Store{dir: filepath.Join(dir, "sessions"), state: t.TempDir()}
	id := stored(t, s, 2)
	for _, args := range [][]string{{"--bind", dir, dir}, {"-o", "remount,ro,bind", dir}} {
		if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
			t.Skipf("no mounting here: %v: %s", err, out)
		}
		if args[0] == "--bind" {
			t.Cleanup(func() {
				if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
		}
	}
	j := open(t, s, id)
	if !errors.Is(j.ReadOnly(), syscall.EROFS) || len(load(t, j).Events) != 39 {
		t.Errorf("read-only: %v", j.ReadOnly())
	}
	if all, err := s.List(); err != nil || len(all) != 1 {
		t.Errorf("list: %+v, %v", all, err)
	}
	if hits := search(t, s, "prompt 2"); len(hits) != 1 {
		t.Errorf("hits %+v", hits)
	}
	export(t, s, id, Markdown)
	_, removed := s.Remove(id)
	_, _, forked := s.Fork(id, 0)
	_, imported := s.Import(strings.NewReader(export(t, s, id, JSON)))
	_, collected := s.CollectDaily(time.Now(), 1<<30)
	for what, err := range map[string]error{
		"rename": s.Rename(id, "x"), "remove": removed, "fork": forked, "import": imported, "draft": s.Draft(id).Save("x"), "collect": collected,
	} {
		if !errors.Is(err, syscall.EROFS) {
			t.Error(fmt.Errorf("%s: %w", what, err))
		}
	}
}

// An unreadable file is not mistaken for an empty one, and is read as soon as that is possible.
func TestListNamesUnreadableFiles(t *testing.T) {
	s := newStore(t)
	id := stored(t, s, 1)
	age(t, s, id, time.Hour)
	path, want := s.file(id), "it can't be read: permission denied"
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	readable := func() error { return os.Chmod(path, 0o600) }
	if os.Getuid() == 0 { // root can read it nevertheless: use a file whose first bytes cause an error
		want = "it can't be read: input/output error"
		if out, err := exec.Command("mount", "--bind", fmt.Sprintf("/proc/%d/mem", os.Getpid()), path).CombinedOutput(); err != nil {
			t.Skipf("no mounting here: %v: %s", err, out)
		}
		readable = func() error { return syscall.Unmount(path, syscall.MNT_DETACH) }
	}
	for range 2 {
		all, err := s.List()
		if err != nil || len(all) != 1 {
			t.Errorf("List = %+v, %v", all, err)
			break
		}
		wantProblem(t, all[0], want)
	}
	if err := readable(); err != nil {
		t.Fatal(err)
	}
	if e := entry(t, s, id); e.Problem != "" || e.Title != "prompt 1: list the files" {
		t.Errorf("readable again: %+v", e)
	}
}
