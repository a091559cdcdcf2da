package lsp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"buddy/features/lsp/lsptest"
	"buddy/tools"
)

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for late := time.Now().Add(longTime); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("not %s", what)
		}
	}
}

// A server that violates the protocol is given up with one sentence, without further harm.
func TestServersThatBreakTheRulesAreGivenUp(t *testing.T) {
	for mode, reason := range map[string]string{
		lsptest.Huge:    "it announced a message of 2147483648 bytes (at most 32 MiB)",
		lsptest.Header:  "it sent a header that is invalid or over 8 KiB",
		lsptest.Flood:   "it sent more than 100 messages in a second",
		lsptest.Garbage: "", // with the library's message
		lsptest.Dies:    "it exited with status 0; it was started 3 times",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, language(mode))
			b.all.limits.messages = 100
			b.write("tax.x", "fine\n")
			for range maxRestarts + 2 {
				wantNothing(t, "what it says", b.edit("tax.x", "bad: no\n"))
				b.settle()
			}
			eventually(t, "given up", func() bool { return strings.Contains(b.published(), "language server checker: ") })
			want(t, "the reason", b.published(), reason, "there are no diagnostics of its files any more")
			if strings.Count(b.published(), "language server checker") != 1 {
				t.Errorf("said more than once: %q", b.published())
			}
			wantNothing(t, "afterwards", b.diagnose("tax.x", "bad: yes\n"))
		})
	}
}

func TestAServerThatHangsIsWaitedForOnce(t *testing.T) {
	inMemory(t, lsptest.Mute, func(t *testing.T, b *bench) {
		b.write("tax.x", "fine\n")
		began := time.Now()
		wantNothing(t, "the first edit", b.edit("tax.x", "bad: no\n"))
		if elapsed := time.Since(began); elapsed != waitTime {
			t.Errorf("it took %v", elapsed)
		}
		for i := range 20 {
			wantNothing(t, "later", b.all.Late()) // the next turn
			wantNothing(t, "an edit", b.edit("tax.x", fmt.Sprintf("bad: %d\n", i)))
		}
		if elapsed := time.Since(began); elapsed != waitTime {
			t.Errorf("all edits took %v", elapsed)
		}
		time.Sleep(2 * startTime)
		want(t, "the reason", b.published(), "it did not answer within 1m0s")
	})
}

// All edits of a turn together wait a second at most.
func TestManyEditsWaitASecondTogether(t *testing.T) {
	for _, mode := range []string{lsptest.Silent, lsptest.Mute, lsptest.Quiet, lsptest.Slow} {
		inMemory(t, mode, func(t *testing.T, b *bench) {
			began := time.Now()
			for i := range 200 {
				b.edit(fmt.Sprintf("f%d.x", i%20), fmt.Sprintf("fine %d\n", i))
			}
			if elapsed := time.Since(began); elapsed > waitTime {
				t.Errorf("%s: %v", mode, elapsed)
			}
			var files []tools.Before
			for i := range 200 {
				files = append(files, b.replace(fmt.Sprintf("g%d.x", i), "fine\n"))
			}
			began = time.Now()
			b.all.Late() // the next turn
			b.changed(files...)
			if elapsed := time.Since(began); elapsed > waitTime {
				t.Errorf("%s: one call: %v", mode, elapsed)
			}
		})
	}
}

// Late diagnostics are sent with the next request, once.
func TestWhatComesLateIsToldWithTheNextRequest(t *testing.T) {
	inMemory(t, lsptest.Slow, func(t *testing.T, b *bench) {
		b.write("tax.x", "fine\n")
		wantNothing(t, "the call", b.edit("tax.x", "bad: late\n"))
		wantNothing(t, "a request before it came", b.all.Late())
		time.Sleep(time.Minute)
		want(t, "the next request", b.all.Late(), "tax.x:1:1 error: late")
		wantNothing(t, "the one after", b.all.Late())
		b.edit("tax.x", "fine again\n")
		b.edit("tax.x", "bad: later\n")
		b.edit("tax.x", "fine at last\n")
		time.Sleep(time.Minute)
		if out := b.all.Late(); strings.Contains(out, "error") {
			t.Errorf("what was mended meanwhile: %q", out)
		}
	})
}

func TestAServerThatDiesIsStartedAgain(t *testing.T) {
	t.Parallel()
	def := language(lsptest.DiesOnce)
	def.Command = append(def.Command, filepath.Join(t.TempDir(), "ran"))
	b := newBench(t, def)
	b.write("tax.x", "bad: old\n")
	out := b.diagnose("tax.x", "bad: old\nbad: new\n")
	want(t, "in its second run", out, "tax.x:2:1 error: new")
	if strings.Contains(out, "old") || b.published() != "" {
		t.Errorf("%q, published %q", out, b.published())
	}
}

// A server ends when it is not needed, and starts again when it is.
func TestAServerEndsAfterTenMinutesWithoutEdits(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		b.write("tax.x", "fine\n")
		b.diagnose("tax.x", "finer\n")
		time.Sleep(9 * time.Minute)
		if b.wasTold("exit") {
			t.Fatal("it ended too early")
		}
		b.diagnose("tax.x", "finest\n")
		time.Sleep(9 * time.Minute)
		if b.wasTold("exit") {
			t.Fatal("an edit did not count")
		}
		time.Sleep(2 * time.Minute)
		if !b.wasTold("exit") || len(b.all.running()) != 0 {
			t.Fatal("it still runs")
		}
		want(t, "the next edit", b.diagnose("tax.x", "bad: again\n"), "error: again")
		if b.started() != 2 || b.published() != "" {
			t.Errorf("started %d times, said %q", b.started(), b.published())
		}
	})
}

func TestAServerThatUsesTooMuchMemoryIsEnded(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		b.size = 2 << 30
		b.write("tax.x", "fine\n")
		b.diagnose("tax.x", "finer\n")
		time.Sleep(time.Minute)
		if b.wasTold("exit") {
			t.Fatal("2 GiB are allowed")
		}
		b.mu.Lock()
		b.size++
		b.mu.Unlock()
		time.Sleep(time.Minute)
		want(t, "the reason", b.published(), "it was ended, because it used 2048 MiB of memory (at most 2048)")
		wantNothing(t, "afterwards", b.diagnose("tax.x", "bad: no\n"))
		if b.started() != 1 || !b.wasTold("exit") {
			t.Errorf("started %d times", b.started())
		}
	})
}

// At most four servers run; the least recently used one ends for another.
func TestFourServersRunAtMost(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		for i := range 6 {
			dir := fmt.Sprintf("p%d/", i)
			b.write(dir+"mark", "")
			want(t, dir, b.diagnose(dir+"a.x", "bad: here\n"), dir+"a.x:1:1 error: here")
			time.Sleep(time.Second)
			b.diagnose("p0/a.x", fmt.Sprintf("bad: here %d\n", i)) // keeps it in use
			time.Sleep(time.Second)
		}
		var roots []string
		for _, s := range b.all.running() {
			roots = append(roots, filepath.Base(s.root))
		}
		if got := strings.Join(roots, " "); got != "p0 p3 p4 p5" {
			t.Errorf("these run: %s", got)
		}
	})
}

func TestNothingIsWaitedForAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newMemoryBench(t, lsptest.Slow)
		b.write("tax.x", "fine\n")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		began := time.Now()
		wantNothing(t, "cancelled", b.all.Changed(ctx, "local", []tools.Before{b.replace("tax.x", "bad: no\n")}))
		if elapsed := time.Since(began); elapsed != 0 {
			t.Errorf("a cancelled call took %v", elapsed)
		}
		b.all.Close()
		wantNothing(t, "closed", b.edit("tax.x", "bad: yes\n"))
	})
}

// runs reports whether a process runs; a zombie does not.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !os.IsNotExist(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// pidsIn waits for the process ids that a stubborn server writes to a file.
func pidsIn(t *testing.T, file string) []int {
	t.Helper()
	var pids []int
	eventually(t, "started", func() bool {
		text, _ := os.ReadFile(file)
		pids = nil
		for word := range strings.FieldsSeq(string(text)) {
			n, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, n)
		}
		return len(pids) == 2
	})
	return pids
}

func TestNoProcessIsLeftOfServersThatDoNotEnd(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pids")
	def := language(lsptest.Stubborn)
	def.Command = append(def.Command, file)
	b := newBench(t, def)
	want(t, "it works", b.diagnose("tax.x", "bad: no\n"), "error: no")
	pids := pidsIn(t, file)
	b.all.Close()
	for _, pid := range pids {
		if runs(pid) {
			t.Errorf("process %d still runs", pid)
		}
	}
}

// A server that does not read can be ended.
func TestAServerThatDoesNotReadIsEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t, language(lsptest.Deaf))
	b.all.limits.settle = 100 * time.Millisecond
	long := strings.Repeat("long\n", 200_000)
	for i := range 4 {
		b.edit("tax.x", long+strconv.Itoa(i))
	}
	closed := make(chan struct{})
	go func() { b.all.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(longTime):
		t.Fatal("Close hangs")
	}
}

// The servers of a killed process are ended at the next start, with the processes that they started.
func TestServersOfAKilledProgramAreEnded(t *testing.T) {
	t.Parallel()
	state, file := t.TempDir(), filepath.Join(t.TempDir(), "pids")
	owner := exec.Command(os.Args[0], "owner", state, file)
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	pids := pidsIn(t, file)
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // killed: the error is expected
	for _, pid := range pids {
		if !runs(pid) {
			t.Fatalf("process %d is gone already, so this shows nothing", pid)
		}
	}
	b := newBench(t)
	b.all.o.State = state
	b.all.Start()
	eventually(t, "ended", func() bool { return !runs(pids[0]) && !runs(pids[1]) })
	eventually(t, "said", func() bool {
		return strings.Contains(b.published(), "ended language servers left by an earlier session (1)")
	})
}

// runOwner starts a stubborn server in a process that the test kills.
func runOwner(state, file string) {
	def := language(lsptest.Stubborn)
	def.Command = append(def.Command, file)
	dir, err := os.MkdirTemp(state, "work")
	if err != nil {
		panic(err)
	}
	all := New(Options{Servers: func() []Server { return []Server{def} }, Folders: []string{dir}, State: state})
	all.Changed(context.Background(), "local", []tools.Before{{Path: filepath.Join(dir, "tax.x")}})
	time.Sleep(time.Hour)
}
