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

// notify passes SIGINT, SIGQUIT and SIGCONT to c. They come from other programs, because in raw mode no key causes a
// signal. Signals that are ignored, for example because of nohup, stay ignored. SIGTSTP must keep its default action,
// so that Ctrl+Z in an editor also stops this process.
func notify(c chan<- os.Signal) {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGCONT} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

// follow handles signals until stop is called. After SIGCONT it takes the terminal back from the shell. Other signals
// end the screen, while the session keeps running.
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

// regainTerminal sets the terminal's mode again and paints the whole screen, after the process was stopped and the
// shell has used the terminal.
func (w *window) regainTerminal() { _ = w.runOutside(func() error { return nil }) } // on an error the screen is gone

// runInPlace runs a program in place of the screen. Signals that the terminal sends for keys are meant for the program,
// so this process ignores them.
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
