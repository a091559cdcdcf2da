// Package debuglog writes the log file of --debug, with a line for each request, retry, tmux command and similar
// event.
//
//	log, err := debuglog.Open()
//	defer log.Close(os.Stderr)
//	slog.Debug("dial", "host", "web-02") // any package
package debuglog

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/event"
	"buddy/agent/redact"
	"buddy/app/version"
	"buddy/views/markup"
)

const (
	debugMax  = 32 << 20 // bytes of a debug log
	debugKept = 10       // logs that are kept
)

// Log is the destination of slog.Debug. Text from the user, the model or tools is not logged, and texts that look like
// secrets are removed. Any goroutine may use a Log. A nil Log does nothing.
type Log struct {
	path string
	hide atomic.Pointer[redact.Redactor]
	keys atomic.Pointer[redact.Keys]

	mu   sync.Mutex // guards all below
	file io.WriteCloser
	left int // bytes that the file may still grow
}

// Open creates a log and makes it slog's destination.
func Open() (*Log, error) {
	dir := filepath.Join(xdg.StateHome, "buddy", "debug")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("debug log: %w", err)
	}
	forgetDebug(dir)
	path := filepath.Join(dir, fmt.Sprintf("%s-%d.log", time.Now().Format("20060102-150405"), os.Getpid()))
	d, err := openLog(path, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	slog.Debug("start", "version", version.Text(), "go", runtime.Version(), "os", runtime.GOOS, "arch", runtime.GOARCH)
	return d, nil
}

// Join makes slog in this process write to a log that another process has opened.
func Join(path string) (*Log, error) { return openLog(path, 0) }

// openLog opens a log for appending. Each process appends whole lines.
func openLog(path string, flag int) (*Log, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|flag, 0o600)
	if err != nil {
		return nil, fmt.Errorf("debug log: %w", err)
	}
	d := &Log{path: path, file: file, left: debugMax}
	slog.SetDefault(slog.New(slog.NewTextHandler(d, &slog.HandlerOptions{Level: slog.LevelDebug})))
	return d, nil
}

// Path returns the path of the log, "" if there is none.
func (d *Log) Path() string {
	if d == nil {
		return ""
	}
	return d.path
}

// forgetDebug removes the oldest logs, so that there is room for one more. Errors are ignored.
func forgetDebug(dir string) {
	logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	slices.Sort(logs) // the oldest first
	for _, path := range logs[:max(0, len(logs)-debugKept+1)] {
		_ = os.Remove(path)
	}
}

// Write writes one line of slog.
func (d *Log) Write(p []byte) (int, error) {
	text := redact.Entropy(d.hide.Load().Text(d.keys.Load().Text(string(p))))
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left <= 0 {
		return len(p), nil
	}
	if d.left -= len(text); d.left <= 0 {
		text = fmt.Sprintf("the log is full: it has %d MiB\n", debugMax>>20)
	}
	if _, err := io.WriteString(d.file, text); err != nil {
		d.left = 0 // the disk is full, and nothing depends on the log
	}
	return len(p), nil
}

// Hide sets the secrets and keys to remove from now on.
func (d *Log) Hide(secrets *redact.Redactor, keys *redact.Keys) {
	if d != nil {
		d.hide.Store(secrets)
		d.keys.Store(keys)
	}
}

// Close ends the log and prints its path.
func (d *Log) Close(say io.Writer) {
	if d == nil {
		return
	}
	slog.Debug("end")
	slog.SetDefault(slog.New(slog.DiscardHandler))
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.file.Close() // written without a buffer
	_, _ = fmt.Fprintln(say, "buddy: the debug log is "+markup.Plain(d.path))
}

// Enabled reports whether there is a log.
func Enabled() bool { return slog.Default().Enabled(context.Background(), slog.LevelDebug) }

// Follow logs events until the channel closes.
func Follow(events <-chan event.Envelope) {
	for env := range events {
		if attrs, ok := factsOf(env.Payload); ok {
			slog.LogAttrs(context.Background(), slog.LevelDebug, event.Type(env.Payload), append(attrs,
				slog.Uint64("seq", env.Seq), slog.Int("task", env.Task), slog.Int("turn", env.Turn))...)
		}
	}
}

// factsOf returns the attributes to log of an event, without text from the user, the model or tools. ok is false for
// events that are not logged.
func factsOf(e event.Event) (attrs []slog.Attr, ok bool) {
	switch p := e.(type) {
	case event.RequestStarted:
		return []slog.Attr{slog.String("profile", p.Profile), slog.String("model", p.Model), slog.Int("messages", p.Messages), slog.Int("tokens", p.EstimatedTokens), slog.Int("attempt", p.Attempt)}, true
	case event.ResponseFinished:
		return []slog.Attr{slog.String("finish", p.FinishReason), slog.Int("calls", p.Calls), slog.Int("tokens", p.Tokens), slog.Int("cached", p.CachedTokens), slog.Int64("ms", p.PhaseMS)}, true
	case event.ModelRetry:
		return []slog.Attr{slog.Int("attempt", p.Attempt), slog.Int64("wait_ms", p.WaitMS), slog.String("why", p.Why)}, true
	case event.ModelStalled:
		return []slog.Attr{slog.Int64("timeout_ms", p.TimeoutMS)}, true
	case event.ModelFallback:
		return []slog.Attr{slog.String("from", p.From), slog.String("to", p.To), slog.String("why", p.Why), slog.String("detail", p.Detail)}, true
	case event.FallbackEnded:
		return []slog.Attr{slog.String("from", p.From), slog.String("to", p.To)}, true
	case event.ToolRequested:
		return []slog.Attr{slog.String("call", p.CallID), slog.String("tool", p.Name)}, true
	case event.ToolResult:
		return []slog.Attr{slog.String("call", p.CallID), slog.String("tool", p.Name), slog.Bool("error", p.IsError), slog.Int64("ms", p.DurationMS)}, true
	case event.ApprovalAnswered:
		return []slog.Attr{slog.String("call", p.CallID), slog.String("decision", string(p.Decision)), slog.String("by", p.By)}, true
	case event.TaskFinished:
		return []slog.Attr{slog.String("outcome", string(p.Outcome)), slog.String("error", p.Error)}, true
	case event.PaneLost:
		return []slog.Attr{slog.String("pane", p.Pane), slog.String("why", p.Why)}, true
	case event.Warning:
		return []slog.Attr{slog.String("code", p.Code), slog.String("text", p.Text)}, true
	case event.Error:
		return []slog.Attr{slog.String("code", p.Code), slog.String("text", p.Text)}, true
	}
	return nil, event.Durable(e)
}
