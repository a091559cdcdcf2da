package seatbelt

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "update golden files")

// rules has every kind of rule.
var rules = Rules{
	Run: []string{"/Users/ann/.rustup"}, Read: []string{"/Users/ann/.gitconfig"}, Write: []string{"/Users/ann/shop", "/Users/ann/lib"}, Temp: "/Users/ann/tmp",
	Hidden: []string{"/Users/ann/shop/deploy/keys/id_rsa", "/Users/ann/.buddyx"}, Shown: []string{"/Users/ann/.buddyx/s/plan.md"}, Kept: []string{"/Users/ann/.buddyx/data"},
	Fixed: []string{"/Users/ann/shop/.git/config"}, Proxy: 49152,
}

// The profile of all kinds of rules equals the approved one.
func TestProfile(t *testing.T) {
	for name, r := range map[string]Rules{
		"workspace.sb": rules,
		"readonly.sb":  {Read: []string{"/Users/ann/shop"}, Hidden: []string{"/Users/ann/shop/.env"}, Temp: "/Users/ann/tmp"},
		"network.sb":   {Write: []string{"/Users/ann/shop"}, Temp: "/Users/ann/tmp", Network: true},
	} {
		h, err := r.Hold()
		if err != nil {
			t.Fatal(err)
		}
		got := h.Profile
		for i, path := range h.params {
			got += fmt.Sprintf("; P%d = %s\n", i, path)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || got != string(want) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// hostile holds names of folders with a meaning in SBPL, in a shell or for sandbox-exec.
var hostile = []string{`a"b`, `a\`, "a\nb", "a)(allow default)", `"))(allow default)`, "a b=c", "-D", "$(touch x)", "`touch x`", "a;b", "ä'é", "*", `#"`}

// A name never becomes a part of the profile.
func TestHostileNamesAddNoRule(t *testing.T) {
	plain, err := Rules{Read: []string{"/Users/ann/shop"}, Write: []string{"/Users/ann/lib"}, Temp: "/t"}.Hold()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range hostile {
		h, err := Rules{Read: []string{"/Users/ann/" + name}, Write: []string{"/Users/" + name + "/lib"}, Temp: "/t"}.Hold()
		if err != nil {
			t.Fatal(err)
		}
		if h.Profile != plain.Profile {
			t.Errorf("%q: the profile is\n%s", name, h.Profile)
		}
		if !slices.Contains(h.params, "/Users/ann/"+name) {
			t.Errorf("%q: the paths are %q", name, h.params)
		}
	}
}

// Links are resolved, because the kernel compares their targets; missing paths stay.
func TestPathsAreReal(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	h, err := Rules{Read: []string{dir + "/link/missing/file"}, Temp: dir + "/link"}.Hold()
	if err != nil {
		t.Fatal(err)
	}
	if h.Temp != dir || !slices.Equal(h.Read, []string{dir + "/missing/file"}) {
		t.Errorf("%q, %q", h.Temp, h.Read)
	}
	disk := map[string][]string{"/": {"Users"}, "/Users": {"Ann"}, "/Users/Ann": {"shop", "Shop", "Élan"}}
	for given, want := range map[string]string{
		"/users/ann/shop/X": "/Users/Ann/shop/X", "/USERS/ANN/Shop": "/Users/Ann/Shop", "/users/ann/élan": "/Users/Ann/Élan", "/other/Ann": "/other/Ann", "/": "/",
	} {
		if got := spelled(given, func(dir string) []string { return disk[dir] }); got != want {
			t.Errorf("%q is spelled %q, want %q", given, got, want)
		}
	}
}

// Hidden or fixed paths can't get another name by moving a folder above them, and no writable folder can be replaced.
func TestFoldersAroundWhatIsHeldStay(t *testing.T) {
	h, err := rules.Hold()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/Users/ann/lib", "/Users/ann/shop", "/Users/ann/shop/.git", "/Users/ann/shop/deploy", "/Users/ann/shop/deploy/keys", "/Users/ann/tmp"}
	if got := h.pins(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestReads(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"work/secrets", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h, err := Rules{Read: []string{dir + "/work"}, Hidden: []string{dir + "/work/secrets"}, Temp: "/t"}.Hold()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"/work": true, "/work/secrets": false, "/other": false, "/missing": false} {
		if h.Reads(dir+path) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
}

// More paths than macOS takes as arguments are an error, not a command that does not start.
func TestTooManyPaths(t *testing.T) {
	r := Rules{Temp: "/t"}
	for range 20_000 {
		r.Hidden = append(r.Hidden, "/Users/ann/shop/a-folder/with-a-secret/.env")
	}
	if _, err := r.Hold(); err == nil || !strings.Contains(err.Error(), "20") {
		t.Errorf("%v", err)
	}
}

// A path that means the whole disk is an error, and so is a missing one.
func TestNoRuleForTheWholeDisk(t *testing.T) {
	for _, r := range []Rules{{}, {Temp: "/"}, {Temp: "/t", Write: []string{"/x/.."}}, {Temp: "/t", Read: []string{"work"}}, {Temp: "/t", Hidden: []string{""}}} {
		if h, err := r.Hold(); err == nil {
			t.Errorf("%+v: %s", r, h.Profile)
		}
	}
	if _, err := (Rules{Temp: "/t"}).Hold(); err != nil {
		t.Error(err)
	}
}

// Start passes the unchanged profile, paths and command to sandbox-exec, within limits, and does not change the
// command.
func TestStartPassesTheCommandOn(t *testing.T) {
	old := program
	t.Cleanup(func() { program = old })
	program = filepath.Join(t.TempDir(), "sandbox-exec")
	script := "#!/bin/sh\nulimit -c; ulimit -t\nwhile [ \"$1\" != -- ]; do printf '<%s>' \"$1\"; shift; done; shift; exec \"$@\"\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	for _, name := range hostile {
		h, err := Rules{Read: []string{"/Users/ann/" + name}, Temp: "/t", Limited: true}.Hold()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		cmd := &exec.Cmd{Path: "/bin/bash", Args: []string{"sh", "-c", `printf '[%s]' "$@"`, "sh", name, "a b\n"}, Stdout: &out}
		if err := errors.Join(h.Start(cmd), cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		want := "0\n1800\n<-p><" + h.Profile + "><-D><P0=/Users/ann/" + name + "><-D><P1=/t><-D><P2=/t>[" + name + "][a b\n]"
		if out.String() != want {
			t.Errorf("%q: %q, want %q", name, out.String(), want)
		}
		if cmd.Path != "/bin/bash" || cmd.Args[0] != "sh" || len(cmd.Args) != 6 {
			t.Errorf("the command became %q %q", cmd.Path, cmd.Args)
		}
		h.Limited = false
		free := &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "ulimit -t"}, Stdout: &out}
		if err := errors.Join(h.Start(free), free.Wait()); err != nil || strings.HasSuffix(out.String(), "1800\n") {
			t.Errorf("without limits: %v, %q", err, out.String())
		}
	}
}
