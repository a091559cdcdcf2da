package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOwnFilesHoldEveryKey(t *testing.T) {
	h := newHome(t)
	keys := t.TempDir()
	real := filepath.Join(keys, "real")
	write(t, real, "k\n")
	link := filepath.Join(keys, "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	dotfiles := filepath.Join(keys, "hooks.json")
	write(t, dotfiles, "{}\n")
	if err := os.MkdirAll(Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dotfiles, filepath.Join(Dir(), "hooks.json")); err != nil {
		t.Fatal(err)
	}
	write(t, h.user, "[models.a]\napi_base_url = \"https://example.com/v1\"\napi_key_file = \""+link+"\"\n"+
		"[models.b]\napi_base_url = \"https://example.com/v1\"\napi_key = \"literal\"\n")
	cfg, _, _ := load(t, Options{})
	got := cfg.OwnFiles()
	for _, want := range []string{cfg.File, Dir(), link, real, dotfiles} {
		if abs, _ := filepath.Abs(want); !slices.Contains(got, abs) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if slices.Contains(got, os.DevNull) || slices.Contains(got, "") {
		t.Errorf("%q", got)
	}
}
