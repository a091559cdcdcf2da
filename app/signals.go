package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilEnded returns a context that ends when the program is ended from outside: by SIGTERM, or
// by SIGHUP because its terminal was closed, unless nohup has it ignored. Its cause is an error
// of this package. Nobody has cancelled anything then. stop gives the signals back.
func untilEnded() (ctx context.Context, stop func()) {
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
			cancel(endedBy(s))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		cancel(nil)
	}
}

// endedBy is how the program exits after a signal, with the code that a shell gives it.
func endedBy(s os.Signal) exit {
	n, _ := s.(syscall.Signal)
	return exit{code: 128 + int(n)}
}
