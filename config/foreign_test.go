package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// foreign makes a file changeable by another user of the machine, in each possible way.
func foreign(t *testing.T, file string, check func(what, want string)) {
	t.Helper()
	dir := filepath.Dir(file)
	change := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	change(os.Chmod(dir, 0o700)) //nolint:gosec // entering a folder needs x
	change(os.Chmod(file, 0o600))
	check("mine", "")
	change(os.Chmod(file, 0o606))
	check("everybody may write to it", `everybody may write to "`+file+`"; to use it: chmod go-w "`+file+`"`)
	change(os.Chmod(file, 0o600))
	change(os.Chmod(dir, 0o703)) //nolint:gosec // this is refused
	check("everybody may write to its folder", `everybody may write to "`+dir+`"; to use it: chmod go-w "`+dir+`"`)
	change(os.Chmod(dir, 0o700)) //nolint:gosec // entering a folder needs x
	if os.Getuid() == 0 {
		change(os.Chown(file, 1, 0))
		check("it belongs to somebody else", `; to use it: chown root "`+file+`"`)
	}
}

// Settings, logins, keys and trust are not loaded from files that another user of the machine could change; the error
// names the owner and the next step.
func TestFilesThatOthersCouldChangeAreRefused(t *testing.T) {
	h := newHome(t)
	dir := t.TempDir()
	settings, key, more := filepath.Join(dir, "s/c.toml"), filepath.Join(dir, "k/key"), filepath.Join(dir, "t/trust.json")
	store := NewTrustStore(filepath.Dir(more))
	for file, text := range map[string]string{h.user: twoProfiles, settings: twoProfiles, key: "k\n", Auth().Path(): "{}", more: "[]"} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, file, text)
	}
	for _, c := range []struct {
		file string
		load func() error
	}{
		{h.user, func() error { _, _, _, err := Load(Options{}); return err }},
		{settings, func() error { _, _, _, err := Load(Options{Config: settings}); return err }},
		{Auth().Path(), func() error { _, err := Auth().Read(); return err }},
		{key, func() error { _, err := readKeyFile(key); return err }},
		{more, func() error { _, err := store.List(); return err }},
	} {
		foreign(t, c.file, func(what, want string) {
			t.Helper()
			if err := c.load(); (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), "not loaded: another user of this machine could change it: ") || !strings.HasSuffix(err.Error(), want)) {
				t.Errorf("%s, %s: %v, want %q", c.file, what, err, want)
			}
		})
		if err := os.Remove(c.file); err != nil {
			t.Fatal(err)
		}
	}
}
