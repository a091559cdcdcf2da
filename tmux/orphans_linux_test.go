package tmux_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"buddy/tmux/tmuxtest"
)

// parentOf returns the parent of a process and its state, "" when it is gone.
func parentOf(pid string) (parent, state string) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return "", ""
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return fields[1], fields[0]
}

// TestOrphansStayBelowTheirSupervisor: a process that is fully detached from its command is a child of the pane's
// supervisor, which reaps it; it outlives the session.
func TestOrphansStayBelowTheirSupervisor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	supervisor := strings.TrimSpace(string(r.run("echo $PPID").Stdout.Head))
	line, err := os.ReadFile("/proc/" + supervisor + "/cmdline")
	if err != nil || !strings.Contains(string(line), "\x00pane\x00") {
		t.Fatalf("process %s is no supervisor: %q, %v", supervisor, line, err)
	}
	const detached = "(setsid env -i /bin/sh -c 'echo $$; exec sleep 1000' </dev/null >pid 2>&1 &)"
	r.want(detached+"; until test -s pid; do sleep 0.01; done", "")
	text, err := os.ReadFile(r.dir + "/pid")
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(text))
	if parent, _ := parentOf(pid); parent != supervisor {
		t.Errorf("process %s is a child of %s, not of the supervisor %s", pid, parent, supervisor)
	}
	r.want("kill "+pid, "")
	tmuxtest.Until(t, "it is reaped", func() bool { _, state := parentOf(pid); return state == "" })

	r.want(strings.Replace(detached, ">pid", ">pid2", 1)+"; until test -s pid2; do sleep 0.01; done", "")
	if text, err = os.ReadFile(r.dir + "/pid2"); err != nil {
		t.Fatal(err)
	}
	pid = strings.TrimSpace(string(text))
	if _, err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	tmuxtest.Until(t, "the supervisor ends", func() bool { _, state := parentOf(supervisor); return state == "" })
	if parent, state := parentOf(pid); state == "" || state == "Z" || parent == supervisor {
		t.Errorf("process %s ended with the session: child of %s, state %q", pid, parent, state)
	}
	kill(t, pid)
}

// TestManyOrphans: commands keep their exit codes while background processes of others end all the time.
func TestManyOrphans(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.want("for i in $(seq 200); do (sleep 0.0$((i % 10)) &) ; done >/dev/null 2>&1", "")
	for i := range 30 {
		if res := r.run(fmt.Sprintf("(sleep 0.01 & sleep 0.01 &) >/dev/null 2>&1; exit %d", i)); res.ExitCode != i || res.Fault != "" {
			t.Errorf("exit %d, %q; want %d", res.ExitCode, res.Fault, i)
		}
	}
	supervisor := strings.TrimSpace(string(r.run("echo $PPID").Stdout.Head))
	tmuxtest.Until(t, "all are reaped", func() bool {
		threads, _ := filepath.Glob("/proc/" + supervisor + "/task/*/children") // the pattern is valid
		for _, thread := range threads {
			children, _ := os.ReadFile(thread)
			for _, pid := range strings.Fields(string(children)) {
				if name, _ := os.ReadFile("/proc/" + pid + "/comm"); string(name) == "sleep\n" { // the other is the waiting shell
					return false
				}
			}
		}
		return len(threads) > 0
	})
}

// kill ends a process.
func kill(t *testing.T, pid string) {
	t.Helper()
	p, err := os.FindProcess(atoi(t, pid))
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Error(err)
	}
}

func atoi(t *testing.T, s string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLeftBehind: processes that a command leaves running are named at its end, however they were sent to the
// background, and only at the end of that command; ended ones are not.
func TestLeftBehind(t *testing.T) {
	for name, rig := range map[string]func(testing.TB) *rig{"supervisor": newRig, "plain": newPlainRig} {
		t.Run(name, func(t *testing.T) { // alone: without tmux this process is the parent of other tests' processes
			r := rig(t)
			for how, c := range map[string]struct{ line, names string }{
				"a job":          {"sleep 1000 >/dev/null 2>&1 &", "sleep"},
				"with output":    {"sleep 1000 &", "sleep"},
				"nohup":          {"nohup sleep 1000 >/dev/null 2>&1 &", "sleep"},
				"setsid":         {"setsid sleep 1000 >/dev/null 2>&1 </dev/null &", "sleep"},
				"disown":         {"sleep 1000 >/dev/null 2>&1 & disown", "sleep"},
				"a double fork":  {"(setsid sh -c 'setsid sleep 1000 &' >/dev/null 2>&1 </dev/null &)", "sleep"},
				"no environment": {"(setsid env -i /bin/sleep 1000 >/dev/null 2>&1 </dev/null &)", "sleep"},
				"a tree":         {"(setsid sh -c 'sleep 1000; :' >/dev/null 2>&1 </dev/null &)", "sh sleep"},
				"nothing":        {"sleep 0 & wait; (sleep 0; true)", ""},
			} {
				res := r.run(c.line)
				var pids []string
				for _, p := range res.Left {
					pids = append(pids, itoa(p.Pid))
				}
				want := strings.Fields(c.names)
				if len(res.Left) != len(want) {
					t.Errorf("%s: %+v, want %q", how, res.Left, c.names)
				}
				for i, p := range res.Left[:min(len(want), len(res.Left))] {
					if p.Name != want[i] && !slices.Contains([]string{"sh", "setsid", "nohup", "env"}, p.Name) { // the program before its exec, on a busy machine
						t.Errorf("%s: process %d is %q, want %q", how, i, p.Name, want[i])
					}
					tmuxtest.Until(t, "process "+itoa(i)+" is "+want[i], func() bool {
						comm, err := os.ReadFile("/proc/" + itoa(p.Pid) + "/comm")
						return err != nil || string(comm) == want[i]+"\n"
					})
				}
				if next := r.run("true"); len(next.Left) > 0 {
					t.Errorf("%s: said again: %+v", how, next.Left)
				}
				for _, pid := range pids {
					if err := syscall.Kill(atoi(t, pid), syscall.SIGKILL); err != nil { // a pidfd would claim it for this process
						t.Error(err)
					}
					tmuxtest.Until(t, "it ends", func() bool { _, state := parentOf(pid); return state == "" })
				}
			}
		})
	}
}
