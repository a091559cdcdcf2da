package exit

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// UntilEnded returns a context that ends on SIGTERM or, when the terminal is closed, on SIGHUP, unless nohup has made
// the program ignore SIGHUP. The cause of the context is the error that [BySignal] returns. stop ends the handling of
// the signals.
func UntilEnded() (ctx context.Context, stop func()) {
	signals := []os.Signal{syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	got := make(chan os.Signal, 1)
	signal.Notify(got, signals...)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		select {
		case s := <-got:
			cancel(BySignal(s))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		cancel(nil)
	}
}

// BySignal returns the error that ends the program after a signal, with the code that a shell uses for the signal.
func BySignal(s os.Signal) Error {
	n, _ := s.(syscall.Signal)
	return Error{Code: 128 + int(n)}
}
