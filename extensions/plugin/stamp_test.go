package plugin

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// stamped returns the stamp of a plugin.
func stamped(t *testing.T, dir string) string {
	t.Helper()
	stamp, _, err := Stamp(dir)
	if err != nil {
		t.Fatal(err)
	}
	return stamp
}

// Every change of a file changes the stamp, even one that keeps its size and resets its time.
func TestStampTellsEveryChange(t *testing.T) {
	for what, change := range map[string]func(at string) error{
		"other content, same size and time": func(at string) error {
			info, err := os.Stat(at)
			if err != nil {
				return err
			}
			if err := os.WriteFile(at, []byte("exit 1"), 0o644); err != nil {
				return err
			}
			return os.Chtimes(at, info.ModTime(), info.ModTime())
		},
		"another file of the same size and time": func(at string) error {
			info, err := os.Stat(at)
			if err != nil {
				return err
			}
			if err := os.WriteFile(at+".new", []byte("exit 1"), 0o644); err != nil {
				return err
			}
			if err := os.Chtimes(at+".new", info.ModTime(), info.ModTime()); err != nil {
				return err
			}
			return os.Rename(at+".new", at)
		},
		"made executable": func(at string) error { return os.Chmod(at, 0o755) },
		"one more file":   func(at string) error { return os.WriteFile(at+"2", nil, 0o644) },
		"removed":         os.Remove,
	} {
		t.Run(what, func(t *testing.T) {
			dir := tree(t, map[string]string{Manifest: named, "hooks/guard.sh": "exit 0", "hooks/link": "->guard.sh"})
			before := stamped(t, dir)
			if again := stamped(t, dir); again != before {
				t.Error("nothing changed, and the stamp did")
			}
			time.Sleep(20 * time.Millisecond) // clocks of file systems are coarse
			if err := change(filepath.Join(dir, "hooks/guard.sh")); err != nil {
				t.Fatal(err)
			}
			if stamped(t, dir) == before {
				t.Error("the stamp is the same")
			}
		})
	}
}

// A recently changed file may change again in the same clock tick, so its stamp is not sure; git's own folder does
// not matter.
func TestStampOfFreshFilesIsNotSure(t *testing.T) {
	dir := tree(t, map[string]string{Manifest: named, ".git/HEAD": "x"})
	before, sure, err := Stamp(dir)
	if sure || err != nil {
		t.Errorf("sure %v, %v", sure, err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git/index"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if stamped(t, dir) != before {
		t.Error("git's own files count")
	}
	for late := time.Now().Add(time.Minute); !sure; time.Sleep(100 * time.Millisecond) {
		if _, sure, err = Stamp(dir); err != nil || time.Now().After(late) {
			t.Fatal(err)
		}
	}
	if _, _, err := Stamp(filepath.Join(dir, "gone")); err == nil {
		t.Error("a folder that is gone has a stamp")
	}
}
