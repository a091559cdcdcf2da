package apptest

import (
	"os"
	"path/filepath"
	"testing"
)

// Settings is a home folder with settings that a test changes.
type Settings struct {
	t    *testing.T
	File string // the user's settings file
}

// NewSettings gives a test a home folder with settings, and a working directory.
func NewSettings(t *testing.T, text string) Settings {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("NO_COLOR", "")
	for _, name := range []string{"BUDDY_MODEL", "BUDDY_BASE_URL", "BUDDY_API_KEY", "AGENT_MODEL", "AGENT_BASE_URL", "AGENT_API_KEY"} {
		t.Setenv(name, "")
	}
	t.Chdir(t.TempDir())
	d := Settings{t, filepath.Join(home, ".config", "buddy", "buddy.toml")}
	d.Write(d.File, text)
	return d
}

// Write writes a file, next to the settings unless its path is absolute.
func (d Settings) Write(path, text string) {
	d.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(d.File), path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}
