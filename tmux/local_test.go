package tmux

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"buddy/tmux/pane"
	"buddy/tmux/tmuxtest"
)

// Without a folder for the socket, commands cannot run without tmux either: the error does not suggest installing it.
func TestNoFolderForTheSocketIsNotAboutTmux(t *testing.T) {
	base, name := tmuxtest.Dir(t), rand.Text()
	for _, tmp := range []string{base, "/tmp"} {
		taken := filepath.Join(tmp, "buddy-"+strconv.Itoa(os.Getuid()), name)
		if err := os.MkdirAll(filepath.Dir(taken), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(taken, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(taken) })
	}
	err := newLocal(Options{Greeting: pane.Greeting{Env: []string{"TMUX_TMPDIR=" + base}}}, name).prepare(t.Context())
	if err == nil || errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Errorf("prepare: %v", err)
	}
}
