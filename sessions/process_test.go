package sessions

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"buddy/agent/event"
)

const childVar = "BUDDY_SESSIONS_CHILD"

// TestMain lets the test binary be the second process of a test.
func TestMain(m *testing.M) {
	if role := os.Getenv(childVar); role != "" {
		s := Store{dir: os.Getenv("STORE_DIR"), state: os.Getenv("STORE_STATE")}
		if err := children[role](s, os.Getenv("STORE_ID")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var children = map[string]func(s Store, id string) error{
	"hold":  holdOpen,
	"flood": flood,
	"full":  fillDisk,
	"user":  asUser,
	"move":  move,
}

// child starts this binary in a role; its standard input stays open until wait.
func child(t *testing.T, s Store, id, role string) (cmd *exec.Cmd, out *bufio.Scanner, wait func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+role, "STORE_DIR="+s.dir, "STORE_STATE="+s.state, "STORE_ID="+id)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	return cmd, bufio.NewScanner(stdout), func() {
		t.Helper()
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Errorf("child %s: %v", role, err)
		}
	}
}

// holdOpen opens the session, reports that and holds it until its input ends.
func holdOpen(s Store, id string) error {
	j, err := s.Open(id)
	if err != nil {
		return err
	}
	fmt.Println("open:", j.ReadOnly())
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, j.Close())
}

// flood appends until it is killed and prints each number that Append returned for.
func flood(s Store, id string) error {
	j, err := s.Open(id)
	if err != nil {
		return err
	}
	for seq := event.NextSeq(j.Info().LastSeq); ; seq++ {
		text := strings.Repeat("x", int(seq%5000))
		if err := j.Append(event.Envelope{Seq: seq, Session: id, Payload: event.Notice{Text: text}}); err != nil {
			return err
		}
		fmt.Println(seq)
	}
}

// Only one process writes; the others get its pid.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	want := stream(id, 1)
	appendAll(t, j, want)

	_, out, wait := child(t, s, id, "hold")
	out.Scan()
	if pid := strconv.Itoa(os.Getpid()); !strings.Contains(out.Text(), "process "+pid+": "+ErrLocked.Error()) {
		t.Errorf("the other process got %q, want ErrLocked with %s", out.Text(), pid)
	}
	wait()
	v, err := s.View(id) // readers block no writer, and no writer blocks them
	if err != nil || len(load(t, v).Events) != len(want) || v.Append(exchange(id, 1000, 2)[0]) == nil {
		t.Errorf("View: %v", err)
	}
	closeJournal(t, v)
	appendAll(t, j, exchange(id, 1000, 2)[:1]) // closing it did not release our lock
	closeJournal(t, j)

	cmd, out, wait := child(t, s, id, "hold")
	out.Scan()
	if out.Text() != "open: <nil>" {
		t.Errorf("after Close the other process got %q", out.Text())
	}
	j = open(t, s, id)
	err = j.Append(exchange(id, 2000, 3)[0])
	if !errors.Is(err, ErrLocked) || !errors.Is(j.ReadOnly(), ErrLocked) {
		t.Errorf("Append = %v, want ErrLocked", err)
	}
	wantError(t, err, "process "+strconv.Itoa(cmd.Process.Pid))
	if got := len(load(t, j).Events); got != len(want)+1 {
		t.Errorf("%d envelopes to read, want %d", got, len(want)+1)
	}
	if owned, err := Owned(s, id); !owned || err != nil {
		t.Errorf("while another process has it: owned %v, %v", owned, err)
	}
	wait()
	if owned, err := Owned(s, id); owned || err != nil {
		t.Errorf("after it ended: owned %v, %v", owned, err)
	}
	if j = open(t, s, id); j.ReadOnly() != nil {
		t.Errorf("after the other process ended: %v", j.ReadOnly())
	}
}

// Everything that Append confirmed survives kill -9 at any moment.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	closeJournal(t, j)
	for round := range 10 {
		last := killFlood(t, s, id, 50+37*round)
		if owned, err := Owned(s, id); owned || err != nil {
			t.Fatalf("round %d: owned by who was killed: %v, %v", round, owned, err)
		}
		j = open(t, s, id)
		if j.ReadOnly() != nil {
			t.Fatalf("round %d: %v", round, j.ReadOnly())
		}
		p := load(t, j)
		if j.Info().LastSeq < last || len(p.Warnings) > 0 {
			t.Fatalf("round %d: last is %d (want at least %d), warnings %q", round, j.Info().LastSeq, last, p.Warnings)
		}
		wantFlood(t, p.Events)
		closeJournal(t, j)
	}
}

// A process that was just forked for a command still shares our files; Close must unlock the session nevertheless.
func TestCloseWhileShared(t *testing.T) {
	s := newStore(t)
	j := create(t, s)
	fd, err := syscall.Dup(int(j.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd) //nolint:errcheck // only holds it
	closeJournal(t, j)
	if j = open(t, s, j.Info().Header.ID); j.ReadOnly() != nil {
		t.Errorf("opened again: %v", j.ReadOnly())
	}
}

// killFlood kills a flooding child after n envelopes and returns the last number that it printed.
func killFlood(t *testing.T, s Store, id string, n int) (last uint64) {
	t.Helper()
	cmd, out, _ := child(t, s, id, "flood")
	for i := 0; out.Scan(); i++ {
		if i == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		if seq, err := strconv.ParseUint(out.Text(), 10, 64); err == nil && seq > last {
			last = seq // a truncated number is not above the last one
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child was not killed")
	}
	return last
}

// wantFlood fails unless envs are complete.
func wantFlood(t *testing.T, envs []event.Envelope) {
	t.Helper()
	for i, env := range envs {
		if n, ok := env.Payload.(event.Notice); !ok || len(n.Text) != int(env.Seq%5000) {
			t.Fatalf("envelope %d is damaged", i)
		}
		if i > 0 && env.Seq != envs[i-1].Seq+1 && env.Seq != event.NextSeq(envs[i-1].Seq) {
			t.Fatalf("%d follows %d", env.Seq, envs[i-1].Seq)
		}
	}
}

// fillDisk appends until the file can't grow any more.
func fillDisk(s Store, id string) error {
	signal.Ignore(syscall.SIGXFSZ)
	const limit = 20_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	j, err := s.Open(id)
	if err != nil {
		return err
	}
	for seq := uint64(1); ; seq++ {
		if err = j.Append(event.Envelope{Seq: seq, Session: id, Payload: event.Notice{Text: strings.Repeat("x", 777)}}); err != nil {
			fmt.Println(seq - 1)
			fmt.Println(err)
			break
		}
	}
	if !errors.Is(err, syscall.EFBIG) || !errors.Is(j.ReadOnly(), syscall.EFBIG) {
		return fmt.Errorf("got %v and %v, want EFBIG", err, j.ReadOnly())
	}
	if err := j.Append(event.Envelope{Seq: 1_000_000, Payload: event.Notice{}}); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("a small event after that got %v, want EFBIG", err)
	}
	if p, err := j.Load(); err != nil || len(p.Warnings) > 0 {
		return fmt.Errorf("load: %v %q", err, p.Warnings)
	}
	return j.Close()
}

// The removal of a file in use is reported, the file is written again with all its contents, and it can be continued.
func TestRemovedWhileInUse(t *testing.T) {
	for name, remove := range map[string]func(s Store, path string) error{
		"the file":   func(_ Store, path string) error { return os.Remove(path) },
		"the folder": func(s Store, _ string) error { return os.RemoveAll(s.dir) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			j := create(t, s)
			id := j.Info().Header.ID
			want := stream(id, 1)
			appendAll(t, j, want)
			if err := remove(s, j.path); err != nil {
				t.Fatal(err)
			}
			next := exchange(id, 1000, 2)[0]
			err := j.Append(next)
			wantError(t, err, j.path+" is read-only: the file was removed while it was in use; the whole session was saved again")
			if again := j.Append(next); again == nil || j.ReadOnly() == nil {
				t.Error("it is written to")
			}
			closeJournal(t, j)
			j = open(t, s, id)
			if got := load(t, j); len(got.Events) != len(want) || len(got.Warnings) > 0 || j.ReadOnly() != nil {
				t.Errorf("%d events, %q, %v; want %d", len(got.Events), got.Warnings, j.ReadOnly(), len(want))
			}
			appendAll(t, j, []event.Envelope{next})
			// If another file has its name, that file stays unchanged.
			if err := errors.Join(os.Remove(j.path), os.WriteFile(j.path, []byte("mine"), 0o600)); err != nil {
				t.Fatal(err)
			}
			wantError(t, j.Append(exchange(id, 2000, 3)[0]), "can't be saved again")
			if text, err := os.ReadFile(j.path); err != nil || string(text) != "mine" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// A full disk leaves a valid file without half a line.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := create(t, s)
	id := j.Info().Header.ID
	closeJournal(t, j)
	_, out, wait := child(t, s, id, "full")
	out.Scan()
	n, err := strconv.Atoi(out.Text())
	if err != nil || n < 10 {
		t.Fatalf("%q envelopes written", out.Text())
	}
	out.Scan()
	if msg := out.Text(); !strings.Contains(msg, j.path+" is read-only") || !strings.Contains(msg, "file too large") {
		t.Errorf("error %q names neither path nor cause", msg)
	}
	wait()
	j = open(t, s, id)
	if got := load(t, j); len(got.Events) != n || len(j.Info().Warnings) > 0 {
		t.Errorf("%d envelopes, warnings %q, want %d and none", len(got.Events), j.Info().Warnings, n)
	}
}

// asUser runs without root's rights in a read-only working directory.
func asUser(s Store, _ string) error {
	const nobody = 65534
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
		return err
	}
	local, notice, err := Dir(s.dir, InProject)
	fmt.Printf("%s|%s|%v\n", local.dir, notice, err)
	return nil
}

// The working directory can't be written.
func TestNotWritableDir(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user")
	}
	work := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(work), 0o755), os.Chmod(work, 0o755)); err != nil {
		t.Fatal(err)
	}
	state, err := os.MkdirTemp("", "state") // accessible to the other user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(state) }) //nolint:errcheck // temporary
	for _, mode := range []os.FileMode{0o777, 0o755} {
		if err := os.Chmod(state, mode); err != nil {
			t.Fatal(err)
		}
		t.Setenv("XDG_STATE_HOME", state)
		_, out, wait := child(t, Store{dir: work}, "", "user")
		out.Scan()
		got := strings.Split(out.Text(), "|")
		wait()
		ok := mode == 0o777
		if len(got) != 3 || ok != strings.HasPrefix(got[0], state) || got[2] != "<nil>" {
			t.Fatalf("state directory %v: %q", mode, got)
		}
		if !strings.Contains(got[1], "because "+work+"/.buddyx/sessions: permission denied") {
			t.Errorf("notice %q", got[1])
		}
		if ok == strings.Contains(got[1], "until this machine restarts") {
			t.Errorf("state directory %v: notice %q", mode, got[1])
		}
	}
	if files, err := os.ReadDir(work); err != nil || len(files) > 0 {
		t.Errorf("something was created: %v", files)
	}
}
