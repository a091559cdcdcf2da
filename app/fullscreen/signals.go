package fullscreen

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"buddy/app/exit"
)

// notify passes to c the signals that other programs send. The terminal sends none while the screen is shown, because
// in raw mode no key causes a signal. Signals ignored by nohup and the like stay ignored. SIGTSTP is not included: Go
// could not return it to the kernel, which then would not stop this process together with an editor that Ctrl+Z stops.
func notify(c chan<- os.Signal) {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGCONT} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

// follow handles signals until stop is called. After SIGCONT it takes over the terminal again, because the shell had
// it. Other signals end the screen, while the session keeps running.
func (w *window) follow(end context.CancelCauseFunc) (stop func()) {
	notify(w.signals)
	w.loop.Go(func() {
		for s := range w.signals {
			if s == syscall.SIGCONT {
				w.loop.Post(w.regainTerminal)
			} else {
				end(exit.BySignal(s))
			}
		}
	})
	return func() {
		signal.Stop(w.signals)
		close(w.signals)
	}
}

// regainTerminal sets the terminal's mode again and paints the whole screen, because the process was stopped without a
// warning and the shell had the terminal.
func (w *window) regainTerminal() { _ = w.runOutside(func() error { return nil }) } // on an error the screen is gone

// runInPlace runs a program in place of the screen. The terminal sends signals for keys to this process too, which
// ignores them: they are for the program.
func (w *window) runInPlace(run func() error) error {
	return w.runOutside(func() error {
		others := make(chan os.Signal, 1)
		signal.Notify(others, syscall.SIGINT, syscall.SIGQUIT)
		defer signal.Stop(others)
		signal.Stop(w.signals)
		defer notify(w.signals)
		err := run()
		if byKey(err) {
			select {
			case <-others: // it may come a moment after the program has ended
			case <-time.After(signalTime):
			}
		}
		return err
	})
}

// signalTime limits how long a signal that ended a program may take to reach this process.
const signalTime = 300 * time.Millisecond

// byKey reports whether a program was ended by a signal that the terminal sends for a key.
func byKey(err error) bool {
	e, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := e.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGINT || status.Signal() == syscall.SIGQUIT)
}
