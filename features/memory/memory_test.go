package memory

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/agent/redact"
)

// disk reads files of this machine, as a workspace does.
type disk struct{}

func (disk) Peek(_ context.Context, path string, most int64) (string, []byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return real, nil, err
	case !info.Mode().IsRegular():
		return real, nil, &fs.PathError{Op: "open", Path: real, Err: fs.ErrInvalid}
	case info.Size() > most:
		return real, nil, fmt.Errorf("has %d bytes (allowed: %d)", info.Size(), most)
	}
	data, err := os.ReadFile(real)
	return real, data, err
}

// place is a project and a home directory.
type place struct {
	t             testing.TB
	home, project string
	now           time.Time
}

func newPlace(t testing.TB) *place {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, home: filepath.Join(root, "config"), project: filepath.Join(root, "shop"), now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	for _, dir := range []string{p.home, p.project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) path(scope Scope) string {
	switch scope {
	case Person:
		return filepath.Join(p.home, "memory.md")
	case Team:
		return filepath.Join(p.project, ".buddy/memory.md")
	}
	return filepath.Join(p.project, ".buddyx/memory/memory.md")
}

// store opens the memory of one session.
func (p *place) store(session string) *Store {
	var sources []Source
	for _, scope := range Scopes {
		src := Source{Scope: scope, Path: p.path(scope), Files: disk{}, Inside: p.project, Base: p.project}
		if scope == Person {
			src.Inside = p.home
		}
		sources = append(sources, src)
	}
	return Open(Options{
		Sources: func(context.Context) ([]Source, error) { return sources, nil },
		Dir:     filepath.Join(p.project, ".buddyx/memory"), Session: session, Target: "local", Person: true, Redact: redact.New("hush-hush-1234"),
		Now: func() time.Time { return p.now },
	})
}

func (p *place) write(scope Scope, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(scope)), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(scope), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) text(scope Scope) string {
	p.t.Helper()
	data, err := os.ReadFile(p.path(scope))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

func entries(t *testing.T, s *Store) []Entry {
	t.Helper()
	l, err := s.Entries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l.Entries
}

// promptText returns the memory in a session's system prompt.
func promptText(t *testing.T, s *Store) string {
	t.Helper()
	set, _, err := s.Instructions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return set.Text()
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func lineWith(text, part string) string {
	for l := range strings.Lines(text) {
		if strings.Contains(l, part) {
			return strings.TrimRight(l, "\r\n")
		}
	}
	return ""
}
