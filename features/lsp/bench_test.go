package lsp

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/features/lsp/lsptest"
	"buddy/tools"
)

// longTime is longer than anything takes on a busy machine.
const longTime = 60 * time.Second

// bench is a project in which files are changed.
type bench struct {
	t    *testing.T
	dir  string
	defs []Server
	all  *Clients

	mu      sync.Mutex // guards the fields below
	events  []event.Event
	methods []string // methods of messages to servers in memory
	starts  int
	size    int64             // memory that a server in memory reports
	answers map[string]string // replaced answers of servers in memory, by method; "" is no answer
}

// language is a server for files that end in .x.
func language(mode string) Server {
	return Server{
		Name: "checker", Command: []string{os.Args[0], "server", mode}, Languages: map[string]string{".x": "x"}, Roots: []string{"mark"},
		Settings: []byte(`{"a": {"b": 1}}`),
	}
}

func newBench(t *testing.T, defs ...Server) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, defs: defs}
	b.all = New(Options{
		Servers: func() []Server { return b.defs }, Folders: []string{dir}, State: t.TempDir(),
		Publish: func(e event.Event) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.events = append(b.events, e)
		},
	})
	t.Cleanup(b.all.Close)
	return b
}

// newMemoryBench returns a project whose servers run in this process, so that they use the bubble's clock. The caller
// closes it.
func newMemoryBench(t *testing.T, mode string) *bench {
	t.Helper()
	b := newBench(t, language(mode))
	b.all.o.State = ""
	b.all.start = func(_ context.Context, def Server, _ string, _ Options) (link, error) {
		b.mu.Lock()
		b.starts++
		b.mu.Unlock()
		return newMemory(&lsptest.Server{Mode: mode, Log: b.log, Answer: b.answer}, b), nil
	}
	return b
}

func (b *bench) log(method string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.methods = append(b.methods, method)
}

func (b *bench) answer(method string) (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, replaced := b.answers[method]
	return text, replaced
}

// replies replaces the answers of servers in memory to a method.
func (b *bench) replies(method, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers = map[string]string{method: text}
}

// memory is a server that runs in this process.
type memory struct {
	bench  *bench
	stdin  *io.PipeWriter
	stdout *io.PipeReader
	in     *io.PipeReader
	done   chan struct{}
}

func newMemory(s *lsptest.Server, b *bench) *memory {
	m := &memory{bench: b, done: make(chan struct{})}
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	m.stdin, m.stdout, m.in = stdin, stdout, in
	go func() {
		defer close(m.done)
		s.Serve(in, out)
		_ = out.Close()
		_ = in.CloseWithError(errors.New("it has exited"))
	}()
	return m
}

func (m *memory) Stdin() io.WriteCloser { return m.stdin }
func (m *memory) Stdout() io.Reader     { return m.stdout }
func (m *memory) Done() <-chan struct{} { return m.done }
func (m *memory) Ended() string         { return "it exited with status 3: the last words" }
func (m *memory) Resident() (int64, error) {
	m.bench.mu.Lock()
	defer m.bench.mu.Unlock()
	return m.bench.size, nil
}

func (m *memory) Stop() {
	_ = m.stdin.Close()
	_ = m.stdout.CloseWithError(io.EOF)
	<-m.done
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

// replace writes a file as a tool does, and returns its previous state.
func (b *bench) replace(name, text string) tools.Before {
	b.t.Helper()
	old, err := os.ReadFile(b.path(name))
	b.write(name, text)
	return tools.Before{Path: b.path(name), Existed: err == nil, Data: old, After: tools.SumOf([]byte(text))}
}

// remove removes a file as a tool does, and returns its previous state.
func (b *bench) remove(name string) tools.Before {
	b.t.Helper()
	old, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.Remove(b.path(name)); err != nil {
		b.t.Fatal(err)
	}
	return tools.Before{Path: b.path(name), Existed: true, Data: old}
}

// changed reports changes and returns the immediate diagnostics.
func (b *bench) changed(files ...tools.Before) string {
	return b.all.Changed(context.Background(), "local", files)
}

// edit changes a file and returns the immediate diagnostics.
func (b *bench) edit(name, text string) string {
	b.t.Helper()
	return b.changed(b.replace(name, text))
}

// diagnose changes a file and returns its diagnostics, immediate or late.
func (b *bench) diagnose(name, text string) string {
	b.t.Helper()
	out := b.edit(name, text)
	b.settle()
	return strings.TrimSpace(out + "\n" + b.all.Late())
}

// settle waits until all servers have judged all changes.
func (b *bench) settle() {
	b.t.Helper()
	for _, s := range b.all.running() {
		settled, _ := s.settling()
		select {
		case <-settled:
		case <-time.After(2 * longTime):
			b.t.Fatal("the server is still busy")
		}
	}
}

// published returns the texts of published events.
func (b *bench) published() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, e := range b.events {
		switch e := e.(type) {
		case event.Warning:
			all = append(all, e.Text)
		case event.Notice:
			all = append(all, e.Text)
		}
	}
	return strings.Join(all, "\n")
}

// started returns how often a server in memory was started.
func (b *bench) started() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.starts
}

// wasTold reports whether a server in memory got a message.
func (b *bench) wasTold(method string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(b.methods, method)
}

func want(t *testing.T, what, out string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(out, p) {
			t.Errorf("%s: %q is not in %q", what, p, out)
		}
	}
}

func wantNothing(t *testing.T, what, out string) {
	t.Helper()
	if strings.TrimSpace(out) != "" {
		t.Errorf("%s: %q, want nothing", what, out)
	}
}
