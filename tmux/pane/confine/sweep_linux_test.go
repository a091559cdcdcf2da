package confine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSweepFindsWhatForksAway: processes that fork, start their own sessions and lose their parents during the search
// are found anyway.
func TestSweepFindsWhatForksAway(t *testing.T) {
	box, err := New(Config{Env: os.Environ(), Temp: t.TempDir()})
	if err != nil {
		t.Skip(err)
	}
	defer box.Close()
	mark := fmt.Sprint(98_000_000 + os.Getpid())
	for range 20 {
		text, in, err := os.Pipe() // the line comes when all restrictions hold
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", "-c", "read -r line <&3; exec 3<&-; eval \"$line\"")
		cmd.ExtraFiles = []*os.File{text}
		if err := box.Start(cmd); err != nil {
			t.Fatal(err)
		}
		_, err = in.WriteString("(setsid sh -c '(setsid sleep " + mark + " &) &' &) & exit 0\n")
		if err := errors.Join(err, in.Close(), text.Close()); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if err := box.Sweep(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range files {
			if b, _ := os.ReadFile(f); bytes.Contains(b, []byte(mark)) && filepath.Base(filepath.Dir(f)) != fmt.Sprint(os.Getpid()) {
				t.Fatalf("%s is left: %q", f, b)
			}
		}
	}
}
