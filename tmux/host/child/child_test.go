package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ownerState is the folder in which this test binary, as a second process, notes a child.
const ownerState = "BUDDY_TEST_OWNER_STATE"

func TestMain(m *testing.M) {
	if state := os.Getenv(ownerState); state != "" {
		owner(state)
		return
	}
	os.Exit(m.Run())
}

// owner starts a stubborn program, prints the processes, and waits to be killed.
func owner(state string) {
	p, err := Start(context.Background(), Spec{Name: "server", Command: []string{"sh", "-c", stubborn}, State: state})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	line, _ := bufio.NewReader(p.Stdout()).ReadString('\n')
	fmt.Print(line)
	select {}
}

// stubborn ignores TERM and the end of its input, and so does its child; its first line has both pids.
const stubborn = `trap '' TERM; (trap '' TERM; while :; do sleep 0.2; done) & echo $$ $!; while :; do sleep 0.2; done`

func start(t *testing.T, s Spec) *Process {
	t.Helper()
	if s.Name == "" {
		s.Name = "test program"
	}
	p, err := Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

func shell(script string) []string { return []string{"sh", "-c", script} }

// pidsOf reads the numbers in the first line of an output.
func pidsOf(t *testing.T, r io.Reader) []int {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("first line %q: %v", line, err)
	}
	var pids []int
	for _, w := range strings.Fields(line) {
		pid, err := strconv.Atoi(w)
		if err != nil {
			t.Fatalf("first line %q: %v", line, err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func running(pid int) bool {
	p, ok := lookup(pid)
	return ok && !p.ended
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for late := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("never: " + what)
		}
	}
}

func TestOutputErrorsAndExitOfAProgram(t *testing.T) {
	t.Parallel()
	p := start(t, Spec{Command: shell(`read x; echo "got $x"; echo oops >&2; exit 3`)})
	if _, err := io.WriteString(p.Stdin(), "this\n"); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(p.Stdout())
	if err != nil || string(out) != "got this\n" {
		t.Errorf("output %q, %v", out, err)
	}
	<-p.Done()
	if code, err := p.Exit(); code != 3 || err != nil {
		t.Errorf("exit %d, %v", code, err)
	}
	if p.Stderr() != "oops\n" {
		t.Errorf("standard error %q", p.Stderr())
	}
	if p.Ended() != "it exited with status 3: oops" {
		t.Errorf("it ended like this: %q", p.Ended())
	}
	p.Stop()
	p.Stop()
}

func TestStopEndsAProgramThatIgnoresTermAndItsGrandchild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, Spec{Command: shell(stubborn), State: dir})
	pids := pidsOf(t, p.Stdout())
	if len(pids) != 2 || !running(pids[0]) || !running(pids[1]) {
		t.Fatalf("processes %v do not run", pids)
	}
	if notes, _ := os.ReadDir(dir); len(notes) != 1 {
		t.Fatalf("%d notes of a running program", len(notes))
	}
	p.Stop()
	for _, pid := range pids {
		if running(pid) {
			t.Errorf("process %d was left", pid)
		}
	}
	if notes, _ := os.ReadDir(dir); len(notes) != 0 {
		t.Errorf("%d notes are left of a program that ended", len(notes))
	}
	if code, err := p.Exit(); code != -1 || err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("exit %d, %v", code, err)
	}
	if p.Ended() != "it was ended by a signal" {
		t.Errorf("it ended like this: %q", p.Ended())
	}
}

func TestProgramThatEndsWithItsInputIsNotSignalled(t *testing.T) {
	t.Parallel()
	p := start(t, Spec{Command: shell(`trap 'exit 7' TERM; echo ready; cat >/dev/null; exit 4`)})
	if line, err := bufio.NewReader(p.Stdout()).ReadString('\n'); line != "ready\n" {
		t.Fatalf("first line %q: %v", line, err)
	}
	p.Stop()
	if code, err := p.Exit(); code != 4 || err != nil {
		t.Errorf("exit %d, %v", code, err)
	}
}

func TestEndOfTheContextEndsTheGroup(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, Spec{Name: "test program", Command: shell(`sleep 1000 & echo $$ $!; wait`)})
	if err != nil {
		t.Fatal(err)
	}
	pids := pidsOf(t, p.Stdout())
	cancel()
	p.Stop()
	if running(pids[0]) || running(pids[1]) {
		t.Errorf("processes %v were left", pids)
	}
	if _, err := Start(ctx, Spec{Name: "hook lint", Command: shell("exit")}); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "hook lint") {
		t.Errorf("start after the end: %v", err)
	}
}

func TestGrandchildThatHoldsThePipesDelaysNothing(t *testing.T) {
	t.Parallel()
	p := start(t, Spec{Command: shell(`(trap '' TERM; while :; do sleep 0.2; done) & echo $$ $!; echo warned >&2; exit 5`)})
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	pids := pidsOf(t, strings.NewReader(string(out)))
	if !running(pids[1]) {
		t.Error("the grandchild did not run at the program's exit: the test shows nothing")
	}
	if code, err := p.Exit(); code != 5 || err != nil || p.Stderr() != "warned\n" {
		t.Errorf("exit %d, %v, standard error %q", code, err, p.Stderr())
	}
	<-p.gone // nobody has called Stop
	if running(pids[1]) {
		t.Errorf("the grandchild %d was left", pids[1])
	}
}

func TestOutputAfterTheExitIsBounded(t *testing.T) {
	t.Parallel()
	p := start(t, Spec{Command: shell(`yes & sleep 0.2; exit 0`)})
	n, err := io.Copy(io.Discard, p.Stdout())
	if err != nil || n == 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
	<-p.Done()
}

func TestAllOutputIsReadHoweverLateSomebodyReads(t *testing.T) {
	t.Parallel()
	p := start(t, Spec{Command: shell(`head -c 60000 /dev/zero; exit 0`)})
	<-p.Done()
	if n, err := io.Copy(io.Discard, p.Stdout()); n != 60000 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestStandardErrorKeepsItsEnd(t *testing.T) {
	t.Parallel()
	p := start(t, Spec{Command: shell(`head -c 1000000 /dev/zero >&2; printf end >&2`)})
	<-p.Done()
	if got := p.Stderr(); len(got) != maxStderr || !strings.HasSuffix(got, "end") {
		t.Errorf("%d bytes, ends with %q", len(got), got[max(0, len(got)-5):])
	}
}

func TestEnvironmentHoldsNoKeys(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	t.Setenv("BUDDY_KEY", "secret")
	t.Setenv("LC_TIME", "C")
	p := start(t, Spec{Command: []string{"env"}, Env: []string{"TOKEN=given", "LANG=changed"}})
	out, _ := io.ReadAll(p.Stdout())
	env := strings.Fields(string(out))
	for _, want := range []string{"TOKEN=given", "LANG=changed", "LC_TIME=C", "PATH=" + os.Getenv("PATH")} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
	if strings.Contains(string(out), "secret") {
		t.Errorf("a key is in %q", env)
	}
}

func TestProgramThatCannotStart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s    Spec
		want string
	}{
		{Spec{Name: "hook lint"}, "hook lint was not started: it names no program"},
		{Spec{Name: "hook lint", Command: []string{"/nowhere/lint"}}, "no such file"},
		{Spec{Name: "hook lint", Command: []string{"no-such-program-here"}}, "not found in $PATH"},
		{Spec{Name: "hook lint", Command: shell("exit"), Dir: "/nowhere"}, "/nowhere"},
	} {
		if p, err := Start(t.Context(), tt.s); p != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.s, err, tt.want)
		}
	}
}

func TestProgramThatCannotBeNotedIsEnded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pidFile := filepath.Join(t.TempDir(), "pid")
	p, err := Start(t.Context(), Spec{Name: "server", Command: shell("echo $$ >" + pidFile + "; cat"), State: filepath.Join(file, "state")})
	if p != nil || err == nil {
		t.Fatalf("started: %v", err)
	}
	if text, err := os.ReadFile(pidFile); err == nil {
		if pid, _ := strconv.Atoi(strings.TrimSpace(string(text))); running(pid) {
			t.Errorf("process %d was left", pid)
		}
	}
}

// killedOwner returns the processes and notes of a killed owner.
func killedOwner(t *testing.T) (state string, pids []int) {
	t.Helper()
	state = t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerState+"="+state)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids = pidsOf(t, out)
	until(t, "the note", func() bool { return len(notesIn(t, state)) == 1 })
	if n, err := Sweep(state); n != 0 || err != nil || !running(pids[0]) || !running(pids[1]) {
		t.Errorf("with a living owner %d groups ended, %v", n, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	t.Cleanup(func() { _ = syscall.Kill(-pids[0], syscall.SIGKILL) })
	return state, pids
}

func notesIn(t *testing.T, state string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "*"+noteSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestSweepEndsWhatAKilledOwnerLeft(t *testing.T) {
	t.Parallel()
	state, pids := killedOwner(t)
	if !running(pids[0]) || !running(pids[1]) {
		t.Fatal("the program ended with its owner: the test shows nothing")
	}
	if n, err := Sweep(state); n != 1 || err != nil {
		t.Errorf("%d groups ended, %v", n, err)
	}
	if running(pids[0]) || running(pids[1]) {
		t.Errorf("processes %v were left", pids)
	}
	if left := notesIn(t, state); len(left) != 0 {
		t.Errorf("notes are left: %q", left)
	}
}

func TestSweepEndsAGroupWhoseLeaderIsGone(t *testing.T) {
	t.Parallel()
	state, pids := killedOwner(t)
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the leader ends", func() bool { return !running(pids[0]) })
	if n, err := Sweep(state); n != 1 || err != nil || running(pids[1]) {
		t.Errorf("%d groups ended, %v; grandchild runs: %v", n, err, running(pids[1]))
	}
}

// The owner is killed between the start of a child and noting its pid.
func TestSweepFindsAChildWhoseProcessIsNotNoted(t *testing.T) {
	t.Parallel()
	state, pids := killedOwner(t)
	file := notesIn(t, state)[0]
	var n note
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	n.PID, n.Start = 0, ""
	text, _ = json.Marshal(n)
	if err := errors.Join(err, os.WriteFile(file, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	if n, err := Sweep(state); n != 1 || err != nil || running(pids[0]) || running(pids[1]) || len(notesIn(t, state)) != 0 {
		t.Errorf("%d groups ended, %v; notes: %q", n, err, notesIn(t, state))
	}
	if _, err := (note{Name: "x", ID: "none", Host: n.Host, Owner: 1 << 30, OwnerStart: "x"}).write(state); err != nil {
		t.Fatal(err)
	}
	if n, err := Sweep(state); n != 0 || err != nil || len(notesIn(t, state)) != 0 {
		t.Errorf("a child that never started: %d groups ended, %v; notes: %q", n, err, notesIn(t, state))
	}
}

func TestSweepLeavesProcessesThatOnlyHaveTheNumberOfAChild(t *testing.T) {
	t.Parallel()
	p := start(t, Spec{Command: []string{"sleep", "1000"}}) // in its own group, like a child
	pid := p.cmd.Process.Pid
	now, ok := lookup(pid)
	if !ok {
		t.Fatal("the program does not run")
	}
	host, _ := os.Hostname()
	for name, tt := range map[string]struct {
		n       note
		removed bool
	}{
		"another start":                {note{Host: host, PID: pid, Start: "another boot/1", Owner: 1 << 30, OwnerStart: "x"}, true},
		"living owner":                 {note{Host: host, PID: pid, Start: now.start, Owner: os.Getpid(), OwnerStart: startOf(t, os.Getpid())}, false},
		"another machine":              {note{Host: host + "-other", PID: pid, Start: now.start, Owner: 1 << 30, OwnerStart: "x"}, false},
		"group of others, no leader":   {note{Host: host, ID: "none", PID: leaderless(t), Start: "x/1", Owner: 1 << 30, OwnerStart: "x"}, true},
		"the group of everything else": {note{Host: host, PID: 0, Start: now.start, Owner: 1 << 30, OwnerStart: "x"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			text, _ := json.Marshal(tt.n)
			file := filepath.Join(state, "x"+noteSuffix)
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if n, _ := Sweep(state); n != 0 {
				t.Errorf("%d groups ended", n)
			}
			if tt.n.PID > 0 && len(members(tt.n.PID)) == 0 {
				t.Error("the group does not run any more")
			}
			if _, err := os.Stat(file); os.IsNotExist(err) != tt.removed {
				t.Errorf("note removed: %v, want %v", err, tt.removed)
			}
		})
	}
}

func startOf(t *testing.T, pid int) string {
	t.Helper()
	p, ok := lookup(pid)
	if !ok {
		t.Fatalf("no process %d", pid)
	}
	return p.start
}

// leaderless returns a group that keeps running after its first process has ended.
func leaderless(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sh", "-c", "sleep 1000 & exit 0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	group := cmd.Process.Pid
	t.Cleanup(func() { _ = syscall.Kill(-group, syscall.SIGKILL) })
	return group
}

func TestSweepRemovesABrokenNoteAndSaysSo(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	file := filepath.Join(state, "x"+noteSuffix)
	if err := os.WriteFile(file, []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := Sweep(state); n != 0 || err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("%d groups ended, %v", n, err)
	}
	if n, err := Sweep(state); n != 0 || err != nil {
		t.Errorf("again: %d groups ended, %v", n, err)
	}
	if n, err := Sweep(filepath.Join(state, "none")); n != 0 || err != nil {
		t.Errorf("no folder: %d groups ended, %v", n, err)
	}
}

// The memory is the whole group's: a shell whose child grows to 64 MiB.
func TestResidentCountsTheGroup(t *testing.T) {
	t.Parallel()
	p := start(t, Spec{Command: shell(`echo small; read line; (head -c 67108864 /dev/zero; sleep 1000) | tail -c 67108864`)})
	if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if size, err := p.Resident(); err != nil || size < 100<<10 || size > 64<<20 {
		t.Fatalf("a shell uses %d bytes, %v", size, err)
	}
	if _, err := io.WriteString(p.Stdin(), "go\n"); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		size, err := p.Resident()
		if err != nil {
			t.Fatal(err)
		}
		if size > 64<<20 {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("with its child it uses %d bytes", size)
		}
	}
	p.Stop()
	if size, err := p.Resident(); size != 0 || err != nil {
		t.Errorf("when it has ended: %d bytes, %v", size, err)
	}
}
