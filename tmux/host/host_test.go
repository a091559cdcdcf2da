package host_test

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"testing"

	"buddy/tmux/host"
	"buddy/tmux/host/hosttest"
	"buddy/tmux/tmuxtest"
)

// targets are the places where the tests of this package run.
var targets = []struct {
	name string
	open func(t testing.TB) (h *host.Host, dir string)
}{
	{"local", func(t testing.TB) (*host.Host, string) { return host.Local(nil), tmuxtest.Dir(t) }},
	{"ssh", func(t testing.TB) (*host.Host, string) { s := hosttest.NewSSHD(t, ""); return s.Host(t), s.Dir }},
	{"bash container", func(t testing.TB) (*host.Host, string) {
		c := hosttest.NewContainer(t, hosttest.Bash)
		return c.Host(t), c.Dir
	}},
	{"ash container", func(t testing.TB) (*host.Host, string) {
		c := hosttest.NewContainer(t, hosttest.Ash)
		return c.Host(t), c.Dir
	}},
}

// everywhere runs a test on every target. dir is a directory that both sides see.
func everywhere(t *testing.T, test func(t *testing.T, h *host.Host, dir string)) {
	t.Parallel()
	for _, at := range targets {
		t.Run(at.name, func(t *testing.T) {
			t.Parallel()
			h, dir := at.open(t)
			test(t, h, dir)
		})
	}
}

func script(t *testing.T, h *host.Host, text string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code, err := h.Run(t.Context(), text, &out, &errs)
	if err != nil {
		t.Fatalf("Run(%q): %v", text, err)
	}
	return code, out.String(), errs.String()
}

// TestRun: streams, exit codes (those of ssh and of the engines too), no state, no input.
func TestRun(t *testing.T) {
	everywhere(t, func(t *testing.T, h *host.Host, _ string) {
		for _, code := range []int{0, 1, 7, 125, 126, 127, 128, 137, 255} {
			text := "echo out; echo err >&2; exit " + itoa(code)
			if got, out, errs := script(t, h, text); got != code || out != "out\n" || errs != "err\n" {
				t.Errorf("Run(%q) = %d, %q, %q", text, got, out, errs)
			}
		}
		script(t, h, "cd /tmp; X=1; f() { :; }; exec >/dev/null 2>&1")
		if _, out, _ := script(t, h, "echo \"[$X]\"; cat; printf 'no newline\\036'"); out != "[]\nno newline\x1e" {
			t.Errorf("stdout %q", out)
		}
		if code, _, errs := script(t, h, "nosuchprogram"); code != 127 || errs == "" {
			t.Errorf("a program that is missing: exit %d, %q", code, errs)
		}
		var down *host.DownError
		if _, err := h.Run(t.Context(), "kill -9 $$; sleep 1", io.Discard, io.Discard); !errors.As(err, &down) {
			t.Errorf("a shell that is killed: %v, want a DownError", err)
		}
		if _, out, _ := script(t, h, "echo on"); out != "on\n" {
			t.Errorf("after that: %q", out)
		}
	})
}

func itoa(n int) string { return strconv.Itoa(n) }
