//go:build linux && (amd64 || arm64)

package fence

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"buddy/texts/unseen"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == setIDFlag {
		mode, _ := strconv.ParseUint(os.Args[2], 10, 32)
		setIDs(uint32(mode))
		return
	}
	os.Exit(m.Run())
}

// newFence returns a fence, which ends with the test; if none is possible it skips the test.
func newFence(t testing.TB, s Settings) *Fence {
	t.Helper()
	if err := Available(s, os.Environ()); err != nil {
		t.Skip(err)
	}
	f, err := New(Config{Settings: s, Env: os.Environ(), Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// run runs a command line in a fence and returns its output.
func run(t *testing.T, f *Fence, dir, line string) (string, error) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", line}, Dir: dir, Env: f.Environ(os.Environ(), nil), Stdout: out, Stderr: out}
	if err := f.Start(cmd); err != nil {
		t.Fatal(err)
	}
	ended := cmd.Wait()
	if err := f.Sweep(cmd.Process.Pid); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), ended
}

// TestFenceWritesTheWorkspaceOnly: a file in the workspace stays; a file next to it can be neither seen nor created.
func TestFenceWritesTheWorkspaceOnly(t *testing.T) {
	work, beside := t.TempDir(), t.TempDir()
	s := Settings{Work: []string{work}}
	f := newFence(t, s)
	out, err := run(t, f, work, "pwd; echo in >in; ls /usr >/dev/null && cat /etc/passwd >/dev/null && echo ok; echo x >"+beside+"/out")
	if err == nil || out[:len(work)+4] != work+"\nok\n" {
		t.Errorf("%v: %s", err, out)
	}
	if b, err := os.ReadFile(work + "/in"); err != nil || string(b) != "in\n" {
		t.Errorf("in the workspace: %q, %v", b, err)
	}
	if _, err := os.Stat(beside + "/out"); err == nil {
		t.Error("it wrote beside the workspace")
	}
}

// TestFenceMarksWhatMayChange: a command is marked before it starts, for all folders that it may write, and no approval
// clears the mark while one of its processes runs. Available marks nothing.
func TestFenceMarksWhatMayChange(t *testing.T) {
	work, more := t.TempDir(), t.TempDir()
	f := newFence(t, Settings{Work: []string{work}, Write: []string{more}, Marks: t.TempDir()})
	marks := func(folder string) []unseen.Mark {
		t.Helper()
		all, err := unseen.Place{Dir: f.config.Marks, Folders: []string{folder}}.Marks()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := marks("/"); len(all) > 0 {
		t.Fatalf("marked before anything ran: %+v", all)
	}
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "read x; sleep 100 & exit 0"}, Dir: work, Env: f.Environ(os.Environ(), nil), Stdin: in}
	if err := f.Start(cmd); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{work, more} {
		if unseen.Clear(marks(folder)); len(marks(folder)) != 1 {
			t.Errorf("%d marks of %s while a command runs", len(marks(folder)), folder)
		}
	}
	_ = w.Close()
	_ = cmd.Wait()
	if unseen.Clear(marks(work)); len(marks(work)) != 1 {
		t.Error("not marked while something is left of the command")
	}
	if err := f.Sweep(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if unseen.Clear(marks("/")); len(marks("/")) != 0 {
		t.Errorf("marked when nothing is left: %+v", marks("/"))
	}
}

// TestNothingStartsWithoutAMark: if the mark can't be set, the fence starts nothing.
func TestNothingStartsWithoutAMark(t *testing.T) {
	work := t.TempDir()
	f := newFence(t, Settings{Work: []string{work}, Marks: "/proc/nowhere"})
	cmd := &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "touch x"}, Dir: work, Env: f.Environ(os.Environ(), nil)}
	if err := f.Start(cmd); err == nil || cmd.Process != nil {
		t.Errorf("started: %v", err)
	}
}

// TestFencedProxy: a command reaches the proxy, and through it only listed hosts.
func TestFencedProxy(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	work := t.TempDir()
	s := Settings{Work: []string{work}, Hosts: []string{"buddy.invalid"}}
	f := newFence(t, s)
	out, err := run(t, f, work, "curl -s http://other.invalid/; curl -s http://buddy.invalid/; curl -s -m 5 --noproxy '*' http://1.1.1.1/ || echo alone; ls /proc/self/fd | wc -l")
	if err != nil || !strings.Contains(out, `"other.invalid" is not among allow_hosts`) || !strings.Contains(out, "buddy: lookup buddy.invalid") || !strings.Contains(out, "alone\n4\n") {
		t.Errorf("%v: %s", err, out)
	}
}

// BenchmarkStart measures the cost of the fence per command.
func BenchmarkStart(b *testing.B) {
	s := Settings{Work: []string{b.TempDir()}}
	f := newFence(b, s)
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("fenced", func(b *testing.B) {
		var swept time.Duration
		for b.Loop() {
			cmd := exec.Command("/bin/true")
			cmd.Dir = s.Work[0]
			if err := errors.Join(f.Start(cmd), cmd.Wait()); err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			if err := f.Sweep(cmd.Process.Pid); err != nil {
				b.Fatal(err)
			}
			swept += time.Since(began)
		}
		b.ReportMetric(float64(swept.Microseconds())/float64(b.N), "µs-sweep/op")
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			f, err := New(Config{Settings: s, Env: os.Environ(), Temp: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
}
