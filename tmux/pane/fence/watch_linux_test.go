package fence

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCommandThatEndsBeforeItIsWatched(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if first, pidfd, err := watch(cmd.Process.Pid); first != 0 || pidfd != -1 || err != nil {
		t.Errorf("of an ended process: %d, descriptor %d, %v", first, pidfd, err)
	}
	first, pidfd, err := watch(os.Getpid())
	if first != os.Getpid() || pidfd < 0 || err != nil {
		t.Fatalf("of a running process: %d, descriptor %d, %v", first, pidfd, err)
	}
	if err := unix.Close(pidfd); err != nil {
		t.Error(err)
	}
}
