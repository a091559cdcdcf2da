package lsp

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/tools"
)

// bench is a project in which files are changed.
type bench struct {
	t   *testing.T
	dir string
	def Server // for its files
	all *Clients

	mu     sync.Mutex // guards events
	events []event.Event
}

func newBench(t *testing.T, def Server) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, def: def}
	b.all = New(Options{
		Servers: func() []Server { return []Server{b.def} }, Folders: []string{dir}, State: t.TempDir(),
		Publish: func(e event.Event) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.events = append(b.events, e)
		},
	})
	t.Cleanup(b.all.Close)
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// write writes a file as others do.
func (b *bench) write(name, text string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// replace writes a file as a tool does, and returns what it was.
func (b *bench) replace(name, text string) tools.Before {
	b.t.Helper()
	old, err := os.ReadFile(b.path(name))
	before := tools.Before{Path: b.path(name), Existed: err == nil, Data: old, After: tools.SumOf([]byte(text))}
	b.write(name, text)
	return before
}

// edit changes a file and returns what is said of that at once.
func (b *bench) edit(name, text string) string {
	b.t.Helper()
	return b.all.Changed(context.Background(), "local", []tools.Before{b.replace(name, text)})
}

// longTime is longer than anything takes on a busy machine.
const longTime = 60 * time.Second
