package project

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/agent/hooks"
	"buddy/extensions/plugin"
)

// sure waits until file times reveal every later change of a plugin's files.
func sure(tb testing.TB, dir string) {
	tb.Helper()
	for late := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, ok, err := plugin.Stamp(dir); ok {
			return
		} else if err != nil || time.Now().After(late) {
			tb.Fatal(err)
		}
	}
}

// The files of a plugin are read once as long as nothing changes. A change that keeps size and time is noticed all the
// same, and so is the end of trust.
func TestFilesOfAPluginAreReadOnce(t *testing.T) {
	s := sourceOf(t, tidy(".buddy/plugins/tidy"))
	trustPlugins(t, s)
	found, _, err := s.plugins()
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	dir := found[0].Dir
	memory := &pluginTrust{source: s, known: make(map[string]trustedPlugin)}
	from := hooks.Origin{Source: hooks.Plugin, Root: dir, Part: "tidy"}
	check := func(remembered bool, wrong string) {
		t.Helper()
		err := memory.check(from)
		if wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%v, want %q", err, wrong)
		}
		if _, ok := memory.known[dir]; ok != remembered {
			t.Errorf("remembered: %v", ok)
		}
	}
	sure(t, dir)
	check(true, "")

	// proves that it is not read again: the cached result is used
	k := memory.known[dir]
	memory.source = new(Source) // finds no plugin
	check(true, "")
	if err := TrustStore().ForgetParts(found[0].part.Dir, found[0].part.Part); err != nil {
		t.Fatal(err)
	}
	memory.source = s
	check(false, "changed since you trusted it")
	trustPlugins(t, s)
	memory.known[dir] = k
	check(true, "")

	script := filepath.Join(dir, "hooks/guard.sh")
	info, err := os.Stat(script)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("#", int(info.Size()))
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(script, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	check(false, "changed since you trusted it")
	sure(t, dir)
	check(false, "changed since you trusted it")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	check(false, "is gone")
}

// BenchmarkTrustOfALargePlugin measures the check before a hook of a plugin of 19 MB.
func BenchmarkTrustOfALargePlugin(b *testing.B) {
	for _, n := range []int{20, 1900} {
		b.Run(fmt.Sprintf("%d files", n), func(b *testing.B) {
			b.Setenv("XDG_STATE_HOME", b.TempDir())
			dir := b.TempDir()
			write := func(name string, text []byte) {
				at := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(at, text, 0o600); err != nil {
					b.Fatal(err)
				}
			}
			write(plugin.Manifest, []byte(`{"name": "big", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`))
			data := make([]byte, (19<<20)/n)
			_, _ = rand.Read(data)
			for i := range n {
				write(fmt.Sprintf("f%d", i), data)
			}
			s := new(Source)
			s.Config.Plugins.Dirs = []string{dir}
			found, _, err := s.plugins()
			if err != nil || len(found) != 1 {
				b.Fatal(found, err)
			}
			if err := TrustStore().TrustParts(found[0].part.Dir, found[0].part.Part); err != nil {
				b.Fatal(err)
			}
			sure(b, dir)
			set := s.Hooks()
			for b.Loop() {
				if _, err := set.Trusted(set.Handlers[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
