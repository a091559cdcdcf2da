package input

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestClipboardTool(t *testing.T) {
	env := func(names ...string) func(string) string {
		return func(name string) string {
			if slices.Contains(names, name) {
				return ":0"
			}
			return ""
		}
	}
	have := func(names ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			if slices.Contains(names, name) {
				return "/bin/" + name, nil
			}
			return "", exec.ErrNotFound
		}
	}
	if runtime.GOOS == "darwin" {
		t.Skip("macOS has pbcopy")
	}
	for _, c := range []struct {
		env, have []string
		want      string
	}{
		{nil, []string{"xclip", "wl-copy"}, ""},
		{[]string{"DISPLAY"}, []string{"xsel"}, "xsel --clipboard --input"},
		{[]string{"DISPLAY", "WAYLAND_DISPLAY"}, []string{"xclip", "wl-copy"}, "wl-copy"},
		{[]string{"DISPLAY", "WAYLAND_DISPLAY"}, []string{"xclip"}, "xclip -selection clipboard"},
	} {
		if got := strings.Join(ClipboardTool(env(c.env...), have(c.have...)), " "); got != c.want {
			t.Errorf("with %v and %v: %q, want %q", c.env, c.have, got, c.want)
		}
	}
}

func TestFeed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "clip")
	if err := feed(t.Context(), []string{"tee", file}, "text\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); string(got) != "text\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if err := feed(t.Context(), []string{"false"}, "x"); err == nil || !strings.Contains(err.Error(), "with false: exit status 1") {
		t.Errorf("feed = %v", err)
	}
}
