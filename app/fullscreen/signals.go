package fullscreen

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"buddy/app/exit"
)

// notify sends c the signals that keys stand for where no program reads them. While the screen is shown its keys are
// read, so these signals come from another program. What nohup and the like have ignored stays so.
func notify(c chan<- os.Signal) {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

// follow ends the screen on a signal, until stop: the session goes on.
func (w *window) follow(end context.CancelCauseFunc) (stop func()) {
	notify(w.signals)
	w.loop.Go(func() {
		for s := range w.signals {
			end(exit.BySignal(s))
		}
	})
	return func() {
		signal.Stop(w.signals)
		close(w.signals)
	}
}

// beside runs a program in place of the screen. The terminal sends the signals of its keys to this process too: they
// are for that program alone.
func (w *window) beside(run func() error) error {
	return w.aside(func() error {
		others := make(chan os.Signal, 1)
		signal.Notify(others, syscall.SIGINT, syscall.SIGQUIT)
		defer signal.Stop(others)
		signal.Stop(w.signals)
		defer notify(w.signals)
		return run()
	})
}
