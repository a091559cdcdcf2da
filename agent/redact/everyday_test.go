package redact

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// At most one line in a thousand changes in the Go sources. They contain cryptography and servers with tests, full
// of names of secrets.
func TestEverydayText(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	if _, err := os.Stat(root); err != nil {
		t.Skip("the sources of Go are not here:", err)
	}
	for _, part := range []string{"net/http", "crypto/tls", "encoding", "go/parser", "go/scanner", "os", "strings", "cmd/go/internal/auth", "database"} {
		lines, touched := 0, 0
		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(part)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			lines += strings.Count(string(b), "\n")
			touched += strings.Count((*Redactor)(nil).Text(string(b)), Mark)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		limit := lines / 1000
		if part == "cmd/go/internal/auth" { // its tests log in
			limit = lines / 10
		}
		if lines == 0 || touched > limit {
			t.Errorf("%s: %d of %d lines", part, touched, lines)
		}
	}
}
