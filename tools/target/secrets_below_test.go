package target

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/policy"
)

func TestSearchesThatWouldReadSecrets(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"src/main.go": "x", "src/credentials_test.go": "x", "hidden/.env": "x", "plain/prod.env": "x", "ignored/.gitignore": "*.env\n", "ignored/prod.env": "x",
		"modules/node_modules/a/test.pem": "x", "repo/.git/config": "[core]\n", "repo/main.go": "x", "leaky/.git/config": "[remote \"o\"]\nurl = https://u:p@h/x\n", "own/deep/k": "x",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "links"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../hidden/.env", filepath.Join(dir, "links/x")); err != nil {
		t.Fatal(err)
	}
	f := finder{most: maxSearched, secret: func(path string) string {
		if path == filepath.Join(dir, "own/deep/k") {
			return "k"
		}
		return policy.Secret(strings.TrimPrefix(path, dir))
	}}
	for below, want := range map[string]string{
		"src": "", "hidden": ".env", "plain": "prod.env", "ignored": "prod.env", "modules": "", "repo": "", "leaky": ".git/config", "own": "deep/k", "links": "", "src/main.go": "", "missing": "",
	} {
		for range 2 { // the second answer is the cached one
			if got, ok := f.holds(filepath.Join(dir, below)); got != want || !ok {
				t.Errorf("%s: %q, %v; want %q", below, got, ok, want)
			}
		}
	}
	for below, want := range map[string]string{"leaky": "leaky/.git/config", "leaky/a/b": "leaky/.git/config", "repo": "", "src": ""} {
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got := gitKeepsAround(filepath.Join(dir, below)); got != want {
			t.Errorf("around %s: %q, want %q", below, got, want)
		}
	}
}

// A folder with more files than can be checked does not count as free of secrets.
func TestSearchesOfTooManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 30 {
		sub := filepath.Join(dir, "d"+strings.Repeat("x", i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 300 {
		if err := os.WriteFile(filepath.Join(dir, "f"+strings.Repeat("y", i%200)+string(rune('a'+i/200))), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := finder{secret: func(string) string { return "" }, most: 100}
	if name, ok := f.holds(dir); ok {
		t.Errorf("%q", name)
	}
	more := finder{secret: f.secret, most: 1000}
	if name, ok := more.holds(dir); !ok || name != "" {
		t.Errorf("%q, %v", name, ok)
	}
}
