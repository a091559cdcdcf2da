package host

import (
	"bytes"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A host's log stays within its limit, and keeps its start and end.
func TestReportIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.err")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stderr := os.Stderr
	os.Stderr = f
	log.SetOutput(reporter{path})
	defer func() { os.Stderr = stderr; log.SetOutput(stderr) }()
	const lines = 30_000
	for i := range lines {
		slog.Warn("notify_command", "error", strings.Repeat("x", 100), "n", i)
		if i%1000 == 0 {
			if info, err := f.Stat(); err != nil || info.Size() > maxReport+1000 {
				t.Fatalf("%d bytes after %d lines, %v", info.Size(), i, err)
			}
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || len(text) > maxReport || !strings.HasSuffix(string(text), fmt.Sprintf("n=%d\n", lines-1)) {
		t.Errorf("%d bytes, %v; it ends with %q", len(text), err, text[max(0, len(text)-100):])
	}
	if first, _, _ := bytes.Cut(text, []byte("\n")); !bytes.HasSuffix(first, []byte("n=0")) {
		t.Errorf("it begins with %q", first)
	}
	if !bytes.Contains(text, []byte("bytes omitted")) {
		t.Error("it does not say that something is left out")
	}
}

// The report of a process that died, such as the stacks of all goroutines, keeps its start and end, too; a short report
// is unchanged, and a link is not followed.
func TestLongReportOfADeadHost(t *testing.T) {
	options := home(t)
	if err := os.MkdirAll(reports(), 0o700); err != nil {
		t.Fatal(err)
	}
	trace := "fatal error: out of luck\n" + strings.Repeat("goroutine 7 [running]:\n", 200_000) + "exit status 2\n"
	target := filepath.Join(t.TempDir(), "mine")
	for path, text := range map[string]string{reportFile(options.Session): trace, reportFile("short"): "short\n", target: trace} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(target, reportFile("link")); err != nil {
		t.Fatal(err)
	}
	p := &Process{report: reportFile(options.Session)}
	if err := p.explained(os.ErrClosed); !strings.Contains(err.Error(), "fatal error: out of luck (more in ") {
		t.Error(err)
	}
	text, err := os.ReadFile(p.report)
	if err != nil || len(text) > maxReport || !strings.HasPrefix(string(text), "fatal error: out of luck\n") || !strings.HasSuffix(string(text), "\nexit status 2\n") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	forgetReports()
	if _ = shortenReport(reportFile("link")); len(trace) < maxReport {
		t.Fatal("the trace is too short")
	}
	for path, want := range map[string]int{reportFile("short"): len("short\n"), target: len(trace)} {
		if info, err := os.Stat(path); err != nil || info.Size() != int64(want) {
			t.Errorf("%s: %+v, %v", path, info, err)
		}
	}
}
