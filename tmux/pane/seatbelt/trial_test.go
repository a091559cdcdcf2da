package seatbelt

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// path returns the folders with the programs of the self-test, with stand-ins for those of macOS.
func path(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range map[string]string{
		"sw_vers":   "",
		"cp":        `[ "$1" != -cR ] || { shift; set -- -R "$@"; }; exec /bin/cp "$@"`,
		"launchctl": `shift 4; shift; exec /usr/bin/env touch "$OUT/launched"`,
		"open":      `"$3/Contents/MacOS/run" & `,
		"osascript": `(sleep 0.2; "$OUT/Script.app/Contents/MacOS/run") >/dev/null 2>&1 &`,
		"defaults":  `touch "$2.plist"`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // programs
			t.Fatal(err)
		}
	}
	return dir + ":/usr/bin:/bin:/usr/sbin:/sbin"
}

// standIn runs other commands in place of the sandboxed ones.
type standIn func(cmd *exec.Cmd)

func (s standIn) Start(cmd *exec.Cmd) error {
	s(cmd)
	return cmd.Start()
}

func (s standIn) Sweep(int) error { return nil }

func open(*exec.Cmd) {}

func closed(cmd *exec.Cmd) { cmd.Path, cmd.Args = "/bin/false", []string{"false"} }

func trial(t *testing.T, mode Mode, s standIn) (wrong []string) {
	t.Helper()
	wrong, err := Trial{mode, path(t), func(*World, Mode) (Holder, error) { return s, nil }, time.Second}.Run()
	if err != nil {
		t.Fatal(err)
	}
	return wrong
}

// A sandbox that lets everything through fails, and every canary is reported except those with paths that only a Mac
// has; none is reported as a failed allowed action.
func TestSandboxThatHoldsNothingFails(t *testing.T) {
	for _, mode := range []Mode{ReadOnly, Fenced, Networked} {
		wrong := trial(t, mode, open)
		for _, c := range canaries {
			tried := c.in(mode) && c.must == "" && !slices.ContainsFunc([]string{"/System/Volumes/Data", "/.vol/", "/.ENV", "/HIDDEN"}, func(s string) bool { return strings.Contains(c.script, s) })
			if got := slices.Contains(wrong, "a command "+c.text); tried && !got {
				t.Errorf("%s: not noticed: %s", mode, c.text)
			}
		}
		if i := slices.IndexFunc(wrong, func(w string) bool { return strings.Contains(w, "could not") }); i >= 0 {
			t.Errorf("%s: %s", mode, wrong[i])
		}
	}
}

// A sandbox in which nothing works fails, too, for only that reason.
func TestSandboxInWhichNothingRunsFails(t *testing.T) {
	for _, mode := range []Mode{ReadOnly, Fenced, Networked} {
		wrong := trial(t, mode, closed)
		for _, c := range canaries {
			if got := slices.Contains(wrong, "a command could not "+c.text); got != (c.in(mode) && c.must != "") {
				t.Errorf("%s: %s: %t", mode, c.text, got)
			}
			if slices.Contains(wrong, "a command "+c.text) {
				t.Errorf("%s: nothing ran, but it got through: %s", mode, c.text)
			}
		}
	}
}

// One canary that gets through is enough: each of these stand-ins lets exactly one through.
func TestOneHoleIsEnough(t *testing.T) {
	hole := func(script string) standIn {
		return func(cmd *exec.Cmd) {
			cmd.Args = []string{"bash", "-c", `read -r line; case $line in *'` + script + `'*) eval "$line" ;; *) echo plain notes written ended ;; esac`}
		}
	}
	for script, want := range map[string]string{
		"$HOME/made": "a command wrote to the home folder", "/dev/tcp": "a command connected to a port of this machine", "kill -9": "a command ended a process that it did not start",
		".ssh/id_rsa": "a command read a secret of the home folder", "osascript": "a command sent an event to an application",
	} {
		if wrong := trial(t, ReadOnly, hole(script)); !slices.Equal(wrong, []string{want}) {
			t.Errorf("%s: %q", script, wrong)
		}
	}
	if wrong := trial(t, ReadOnly, hole("nothing")); len(wrong) > 0 {
		t.Errorf("without a hole: %q", wrong)
	}
}

// The self-test runs once, and again if the machine, its system or the rules change. Its verdict is kept, even a bad
// one.
func TestVerdictIsKept(t *testing.T) {
	runs := 0
	var wrong standIn = closed
	count := Trial{ReadOnly, path(t), func(*World, Mode) (Holder, error) { runs++; return wrong, nil }, time.Millisecond}
	s := Store{File: filepath.Join(t.TempDir(), "state/seatbelt.json"), System: "macOS 15.1", Machine: "a"}
	for range 2 {
		err := s.Usable(count)
		if err == nil || !strings.Contains(err.Error(), "failed its self-test on macOS 15.1: a command could not read a file of the workspace;") || !strings.HasSuffix(err.Error(), s.File) {
			t.Errorf("%v", err)
		}
	}
	if runs != 1 {
		t.Errorf("it ran %d times", runs)
	}
	wrong = func(cmd *exec.Cmd) { cmd.Args = []string{"bash", "-c", "echo plain notes written ended"} }
	for n, other := range []Store{{s.File, "macOS 15.2", "a"}, {s.File, "macOS 15.2", "b"}, {s.File, "macOS 15.2", "b"}} {
		if err := other.Usable(count); err != nil {
			t.Errorf("%+v: %v", other, err)
		}
		if want := []int{2, 3, 3}[n]; runs != want {
			t.Errorf("%+v: it ran %d times, want %d", other, runs, want)
		}
	}
	if err := os.WriteFile(s.File, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Usable(count); err == nil || !strings.Contains(err.Error(), s.File) {
		t.Errorf("a damaged file: %v", err)
	}
	if err := os.Chmod(s.File, 0o666); err != nil { //nolint:gosec // the permissions are the fault
		t.Fatal(err)
	}
	if err := s.Usable(count); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("a file of everybody: %v", err)
	}
}

// Every mode is tested separately: a verdict about one does not apply to another.
func TestModesAreTriedApart(t *testing.T) {
	var modes []Mode
	tr := Trial{"", path(t), func(_ *World, m Mode) (Holder, error) { modes = append(modes, m); return standIn(closed), nil }, time.Millisecond}
	s := Store{File: filepath.Join(t.TempDir(), "seatbelt.json"), System: "macOS 15.1"}
	for _, m := range []Mode{ReadOnly, Fenced, Networked, ReadOnly} {
		tr.Mode = m
		if s.Usable(tr) == nil {
			t.Errorf("%s is usable", m)
		}
	}
	if want := []Mode{ReadOnly, Fenced, Networked}; !slices.Equal(modes, want) {
		t.Errorf("%q", modes)
	}
}
