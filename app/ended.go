package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// untilEnded returns a context that ends when the program is ended from outside: by SIGTERM, or
// by SIGHUP because its terminal was closed, unless nohup has it ignored. Its cause is an exit.
// Nobody has cancelled anything then: leave with [program.desert]. stop gives the signals back.
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

// hungUp reports whether a terminal was closed: nobody typed the end of input that it gives.
func hungUp(tty *os.File) bool {
	_, err := term.GetState(int(tty.Fd()))
	return err != nil
}

// desert leaves the session as a crash would, so that resuming goes on with it: from here on
// nothing is recorded, and commands go on in their panes. It says what stays behind. The runtime
// does not end before the program does.
func (p *program) desert(said io.Writer) {
	p.live.abandon()
	p.journal.freeze()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	p.closeTargets(ctx, said)
	stored := p.journal.stored() != nil
	if err := p.journal.close(); err != nil {
		_, _ = fmt.Fprintln(said, "buddy: "+plain(err.Error()))
	}
	if stored {
		_, _ = fmt.Fprintln(said, "buddy: ended from outside; the session goes on with: "+plain(p.again()))
	}
}

// again is the command line that goes on with the session.
func (p *program) again() string {
	return "buddy " + flagFor(p.dest.Name) + "resume " + p.id
}
