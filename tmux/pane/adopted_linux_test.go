package pane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// adoptTest makes the test below run as the adopting process.
const adoptTest = "PANE_TEST_ADOPT"

// TestAdopt: an orphan of a program becomes a child of the process that started the program, which reaps it without
// taking exit codes from waiters of its own programs. Without Adopt it is not: the control.
func TestAdopt(t *testing.T) {
	if os.Getenv(adoptTest) == "" {
		for _, adopts := range []string{"yes", "no"} {
			cmd := exec.Command(os.Args[0], "-test.run=^TestAdopt$", "-test.v")
			cmd.Env = append(os.Environ(), adoptTest+"="+adopts)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("adopts: %s: %v\n%s", adopts, err, out)
			}
		}
		return
	}
	adopts := os.Getenv(adoptTest) == "yes"
	if adopts {
		Adopt()
	}
	out, err := exec.Command("sh", "-c", "(setsid env -i /bin/sh -c 'echo $$; exec sleep 1000' </dev/null 2>/dev/null &) | head -n 1").Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	orphan, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "its parent is known", func() bool { return (parent(pid) == os.Getpid()) == adopts && parent(pid) != 0 })
	if err := orphan.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, "it is reaped", func() bool { return parent(pid) == 0 || !adopts })

	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			err := exec.Command("sh", "-c", fmt.Sprintf("(sleep 0.0%d & sleep 0.01 &); exit %d", i%10, i+1)).Run()
			if exited, ok := errors.AsType[*exec.ExitError](err); !ok || exited.ExitCode() != i+1 {
				t.Errorf("exit %d: %v", i+1, err)
			}
		})
	}
	all.Wait()
	until(t, "all are reaped", func() bool { return !adopts || len(children(t)) == 0 })

	// A program without a waiter yet is left to its waiter.
	late := exec.Command("sh", "-c", "(sleep 0 &); exit 3")
	if err := late.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "it ends", func() bool { return ended() == late.Process.Pid })
	time.Sleep(2 * reapAgain)
	if err := late.Wait(); late.ProcessState == nil || late.ProcessState.ExitCode() != 3 {
		t.Errorf("exit 3: %v", err)
	}
}

// parent returns the parent of a process, 0 if there is no such process.
func parent(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[1])
	return n
}

// children returns the processes whose parent is this one.
func children(t *testing.T) (all []int) {
	t.Helper()
	names, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if pid, err := strconv.Atoi(name.Name()); err == nil && parent(pid) == os.Getpid() {
			all = append(all, pid)
		}
	}
	return all
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for late := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("never: ", what)
		}
	}
}
