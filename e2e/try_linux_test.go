package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// offers reports whether a question that is being shown offers an answer.
func (d *dialog) offers(answer string) bool {
	d.t.Helper()
	from := d.seen
	d.want("Enter for no): ")
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Contains(d.text.String()[from:d.seen], answer)
}

// A command is tried on a terminal: thrown away, kept and taken back. A program that acts through a service is not
// offered, and the details say why.
func TestPlainTry(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	d := newDialog(t, "xterm-256color")
	shop := filepath.Join(d.work, "shop")
	dist := filepath.Join(shop, "dist", "a.txt")
	if err := os.MkdirAll(filepath.Dir(dist), 0o700); err != nil {
		t.Fatal(err)
	}
	migrate := "import os, sqlite3\nd = sqlite3.connect('app.db')\nd.execute('create table ' + os.environ['TABLE'] + '(id)')\nd.commit()\nprint('migrated')\n"
	for path, text := range map[string]string{dist: "built\n", filepath.Join(shop, "migrate.py"): migrate} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exists := func(path string, want bool) {
		t.Helper()
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) == want {
			t.Fatalf("%s exists: %v", path, !want)
		}
	}
	const offered = "Try it first (nothing changes)"
	d.start("--plain", "-C", shop)
	d.want("> ")
	d.types("run docker build .\r")
	d.want("Run this command?", "Enter for no): ")
	d.types("?\r")
	d.want("It can't be tried first: docker acts through the Docker service", "Enter for no): ")
	d.types("t\r")
	d.want("not a valid answer", "Enter for no): ")
	d.types("n\r")
	d.want("It said: ", "> ")
	d.types("run rm -rf dist\r")
	d.want("Run this command?")
	if !d.offers(offered) {
		t.Skip("commands can't be tried on this machine")
	}
	d.types("t\r")
	d.want("Keep what it changed?", "dist/a.txt", "-built", "tried, nothing changed here · exit 0", "1  Keep exactly this", "Enter for no): ")
	exists(dist, true)
	d.types("3\rstill needed\r")
	d.want("no, don't save it")
	d.types("\r")
	d.want("It said: Command execution denied by user. Reason: still needed", "> ")
	exists(dist, true)
	d.types("run rm -rf dist\r")
	d.want(offered, "Enter for no): ")
	d.types("2\r")
	d.want("Keep what it changed?", "Enter for no): ")
	d.types("y\r")
	d.want("the user has seen and kept its changes", "> ")
	exists(filepath.Dir(dist), false)
	d.types("/undo\r")
	d.want("undid the changes", "> ")
	exists(dist, true)
	d.types("run export TABLE=orders\r")
	d.want("Enter for no): ")
	d.types("y\r")
	d.want("> ")
	d.types("run python3 migrate.py\r")
	d.want(offered, "Enter for no): ")
	d.types("t\r")
	d.want("app.db", "migrated", "Enter for no): ")
	exists(filepath.Join(shop, "app.db"), false)
	d.types("1\r")
	d.want("It said: migrated", "> ")
	out, err := exec.Command("python3", "-c", "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('select name from sqlite_master').fetchone()[0])", filepath.Join(shop, "app.db")).CombinedOutput()
	if string(out) != "orders\n" {
		t.Errorf("the database has %q, %v", out, err)
	}
	d.types("/undo\r")
	d.want("undid the changes", "> ")
	exists(filepath.Join(shop, "app.db"), false)
	d.types("/quit\r")
	d.ends()
}

// keptFiles is the number of files that a tried command changes, so that a kill often hits the middle of keeping.
const keptFiles = 400

// TestKilledWhileKeeping kills the program after the person has chosen to keep what a command changed. The next session
// has all the changes or none.
func TestKilledWhileKeeping(t *testing.T) {
	if testing.Short() {
		t.Skip("kills the program several times")
	}
	t.Parallel()
	d := newDialog(t, "xterm-256color")
	shop := filepath.Join(d.work, "shop")
	if err := os.Mkdir(shop, 0o700); err != nil {
		t.Fatal(err)
	}
	// changed returns how many files have the changes of a round.
	changed := func(round int) (n int) {
		for i := range keptFiles {
			if text, err := os.ReadFile(filepath.Join(shop, fmt.Sprintf("f%d", i+1))); err == nil && string(text) == fmt.Sprintln(round) {
				n++
			}
		}
		return n
	}
	half := 0
	for round := 1; round <= *plainCrashes; round++ {
		d.start("--plain", "-C", shop)
		d.want("> ")
		d.types(fmt.Sprintf("run for i in $(seq %d); do echo %d > f$i; done; rm -rf d*; mkdir d%d\r", keptFiles, round, round))
		if d.want("Run this command?"); !d.offers("Try it first (nothing changes)") {
			t.Skip("commands can't be tried on this machine")
		}
		d.types("t\r")
		d.want("Keep exactly this", "Enter for no): ")
		d.types("y\r")
		time.Sleep(time.Duration(rand.Int64N(int64(30 * time.Millisecond)))) // the instant is random
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
		<-d.ended
		if n := changed(round); n > 0 && n < keptFiles {
			half++
		}
		d.start("--plain", "-C", shop)
		d.want("> ")
		d.types("/quit\r")
		out := d.ends()
		folders, _ := filepath.Glob(filepath.Join(shop, "d[0-9]*"))
		want := filepath.Join(shop, fmt.Sprintf("d%d", round))
		n, made := changed(round), len(folders) == 1 && folders[0] == want
		if n != 0 && n != keptFiles || made != (n > 0) {
			t.Fatalf("round %d: %d of %d files, folders %v\n%s", round, n, keptFiles, folders, out)
		}
	}
	t.Logf("%d of %d kills were in the middle", half, *plainCrashes)
}
