package target

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/policy"
	"buddy/agent/policy/shell"
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
	all, rg, git := shell.Search{Hidden: true, Ignored: true}, shell.Search{}, shell.Search{Hidden: true}
	for _, c := range []struct {
		dir  string
		s    shell.Search
		want string
	}{
		{"src", all, ""},
		{"hidden", all, ".env"},
		{"hidden", rg, ""},
		{"hidden", shell.Search{Hidden: true}, ".env"},
		{"plain", rg, "prod.env"},
		{"plain", git, "prod.env"},
		{"ignored", rg, ""},
		{"ignored", git, ""},
		{"ignored", all, "prod.env"},
		{"modules", all, ""},
		{"repo", all, ""},
		{"leaky", all, ".git/config"},
		{"leaky", git, ""},
		{"own", all, "deep/k"},
		{"own", rg, "deep/k"},
		{"links", all, ""},
		{"links", shell.Search{Hidden: true, Ignored: true, Links: true}, "x"},
		{"src/main.go", all, ""},
		{"missing", all, ""},
		{"plain/HEAD", git, ""},
		{"plain/HEAD", shell.Search{Hidden: true, Commits: true}, "prod.env"},
		{"src/a/b", shell.Search{Commits: true}, ""},
	} {
		for range 2 { // the second answer is the cached one
			if got, ok := f.holds(filepath.Join(dir, c.dir), c.s); got != c.want || !ok {
				t.Errorf("%s, %+v: %q, %v; want %q", c.dir, c.s, got, ok, c.want)
			}
		}
	}
}

// More files than can be checked are no clean folder.
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
	if name, ok := f.holds(dir, shell.Search{Hidden: true, Ignored: true}); ok {
		t.Errorf("%q", name)
	}
	more := finder{secret: f.secret, most: 1000}
	if name, ok := more.holds(dir, shell.Search{Hidden: true, Ignored: true}); !ok || name != "" {
		t.Errorf("%q, %v", name, ok)
	}
}
