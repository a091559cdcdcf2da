// Command buddy-telemetry sends traces and metrics of buddy's sessions to an OpenTelemetry collector, over OTLP/HTTP.
// It reads the files of the sessions, so that buddy itself knows nothing of it. The variables of OpenTelemetry, such as
// OTEL_EXPORTER_OTLP_ENDPOINT, configure it; docs/telemetry.md describes it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/adrg/xdg"
)

const (
	interval = 2 * time.Second // between looks at the files
	grace    = 5 * time.Second // for the last batch after SIGTERM, and for the last metrics
)

func main() {
	only := flag.String("session", "", "follow only the session with this `ID`, or with an ID that starts like this")
	content := flag.Bool("content", false, "also send prompts, answers, and the arguments and results of tools")
	flag.Parse()
	log.SetPrefix("buddy-telemetry: ")
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "buddy-telemetry: unknown argument %q; -help lists the flags\n", flag.Arg(0))
		os.Exit(2)
	}
	f := &follower{only: *only, content: *content, state: filepath.Join(xdg.StateHome, "buddy", "telemetry.json")}
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "buddy-telemetry:", err)
		os.Exit(1)
	}
}

// run follows the sessions until ctx ends.
func run(ctx context.Context, f *follower) error {
	if err := os.MkdirAll(filepath.Dir(f.state), 0o700); err != nil {
		return err
	}
	unlock, err := f.open()
	if err != nil {
		return err
	}
	defer unlock() //nolint:errcheck // the end of the process unlocks, too
	s, err := newSender(ctx, f)
	if err != nil {
		return err
	}
	log.Printf("follows the sessions of %s", filepath.Dir(f.state))
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for ctx.Err() == nil {
		s.round(ctx)
		select {
		case <-ctx.Done():
		case <-ticks.C:
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	s.round(last)
	cancel()
	s.close()
	return nil
}
