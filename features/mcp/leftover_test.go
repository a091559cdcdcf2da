package mcp

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The servers of a killed process are ended at the next start, with the processes that they started.
func TestServersOfAKilledProgramAreEnded(t *testing.T) {
	state := t.TempDir()
	file := filepath.Join(state, "pids")
	owner := exec.Command(os.Args[0], "owner", state, file)
	var stderr bytes.Buffer
	owner.Stderr = &stderr
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for late := time.Now().Add(longTime); len(pids) < 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("the server did not start: %s", stderr.String())
		}
		text, _ := os.ReadFile(file)
		pids = nil
		for word := range strings.FieldsSeq(string(text)) {
			n, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, n)
		}
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // killed: the error is expected
	for _, pid := range pids {
		if !runs(pid) {
			t.Fatalf("process %d is gone already, so this shows nothing", pid)
		}
	}
	b := startIn(t, state, hostileServer("good"))
	b.settled()
	for _, pid := range pids {
		for late := time.Now().Add(longTime); runs(pid); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("process %d still runs", pid)
			}
		}
	}
	if st := b.status("good"); st.State != Ready {
		t.Errorf("%+v", st)
	}
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

// runOwner starts a stubborn server in a process that the test kills.
func runOwner(state, file string) {
	all := New(Options{Servers: []Server{hostileServer("stubborn", file)}, State: state})
	all.Start()
	select {}
}

// Many servers, some of which hang, delay neither each other nor the caller.
func TestHangingServersKeepNobodyWaiting(t *testing.T) {
	var all []Server
	for i := range 12 {
		mode := "good"
		if i%2 == 0 {
			mode = "mute"
		}
		s := hostileServer(mode)
		s.Name += strconv.Itoa(i)
		if mode == "mute" {
			s.StartTimeout = 3 * time.Second
		}
		all = append(all, s)
	}
	began := time.Now()
	b := start(t, all...)
	if wait := time.Since(began); wait > time.Second {
		t.Errorf("Start took %v", wait)
	}
	if res := b.call("mcp__good11__echo", `{"text":"x"}`); res.Content != "x" {
		t.Errorf("the last one: %+v", res)
	}
	b.settled()
	for _, st := range b.all.List() {
		if want := map[bool]State{true: Failed, false: Ready}[strings.HasPrefix(st.Name, "mute")]; st.State != want {
			t.Errorf("%s is %s: %s", st.Name, st.State, st.Error)
		}
	}
}
