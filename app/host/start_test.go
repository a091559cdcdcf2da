package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"buddy/app/client"
	"buddy/app/compose"
	"buddy/sessions"
	"buddy/tmux/pane"
)

// TestMain makes the test program act as the host that Start starts, and as the supervisor of its panes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "pane" {
		os.Exit(pane.Main(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "host" {
		if os.Getenv("HOST_DIES") != "" {
			_, _ = fmt.Fprintln(os.Stderr, "panic: out of \x1bluck")
			os.Exit(2)
		}
		os.Exit(Main())
	}
	os.Exit(m.Run())
}

// home sets up a home folder, a folder for sockets and one to work in.
func home(t *testing.T) *compose.Options {
	t.Helper()
	h := openHost(t, compose.Options{}) // creates the folders
	h.End(client.Close{})
	run, err := os.MkdirTemp("", "b") // short, because the path of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMUX_TMPDIR", run)
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	return &compose.Options{Model: "demo", Session: sessions.NewID()}
}

// TestStart: a process runs the session; starting it again joins it; it ends with its session and leaves neither a
// socket nor a report.
func TestStart(t *testing.T) {
	options := home(t)
	s, err := Start(options, sessions.Store{}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	hello, err := s.Hello(ctx)
	if err != nil || hello.Session != options.Session || hello.PID == os.Getpid() || s.Joined {
		t.Fatalf("%+v, %v", hello, err)
	}
	if !Runs(sessions.Store{}, options.Session) || Runs(sessions.Store{}, "other") {
		t.Error("it is not known that it runs")
	}
	again, err := Start(options, sessions.Store{}, true, false)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := again.Hello(ctx); err != nil || other.PID != hello.PID || !again.Joined {
		t.Errorf("%+v, %v", other, err)
	}
	for _, screen := range []client.Session{s, again} { // the last one ends it
		if _, err := client.Ask[client.CloseReply](ctx, screen, client.Close{}); err != nil {
			t.Error(err)
		}
	}
	for end := time.Now().Add(limit); Runs(sessions.Store{}, options.Session) || leftovers(t) != ""; time.Sleep(10 * time.Millisecond) { // a real process
		if time.Now().After(end) {
			t.Fatalf("left behind: %s", leftovers(t))
		}
	}
}

// leftovers lists the files that hosts left.
func leftovers(t *testing.T) string {
	t.Helper()
	sockets, _ := filepath.Glob(filepath.Join(os.Getenv("TMUX_TMPDIR"), "*", "host-*"))
	reports, _ := filepath.Glob(filepath.Join(reports(), "*"))
	return strings.Join(append(sockets, reports...), ", ")
}

// TestStartFails: an error in the options comes with the greeting, the report of a process that died with the error.
func TestStartFails(t *testing.T) {
	options := home(t)
	options.Targets = []string{"nowhere"}
	s, err := Start(options, sessions.Store{}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if hello, _ := s.Hello(ctx); hello.Failed == nil || !strings.Contains(hello.Failed.Text, `"nowhere"`) {
		t.Errorf("%+v", hello)
	}
	t.Setenv("HOST_DIES", "1")
	options.Session = sessions.NewID()
	s, err = Start(options, sessions.Store{}, false, false)
	if err == nil {
		_, err = s.Hello(ctx)
	}
	for end := time.Now().Add(limit); err != nil && !strings.Contains(err.Error(), "panic: out of ␛luck") && time.Now().Before(end); { // the end may be noticed before the report is complete
		time.Sleep(10 * time.Millisecond)
		if s != nil {
			err = s.explained(errors.New("it has ended"))
		}
	}
	if err == nil || !strings.Contains(err.Error(), "panic: out of ␛luck") || !strings.Contains(err.Error(), reportFile(options.Session)) {
		t.Error(err)
	}
	// Only the newest reports stay.
	for i := range 2 * keptReports {
		if err := os.WriteFile(reportFile(fmt.Sprint("old", i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	forgetReports()
	if all, _ := filepath.Glob(filepath.Join(reports(), "*")); len(all) != keptReports-1 {
		t.Errorf("%d reports", len(all))
	}
}
