package fullscreen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"buddy/app/host"
	"buddy/app/input"
)

// copy copies text to the clipboard in every available way: through the terminal (OSC 52, which works over ssh too), to
// a surrounding tmux, and with a desktop tool.
func (w *window) copy(text string) {
	w.screen.SetClipboard([]byte(text))
	w.loop.Go(func() {
		if _, err := input.Copy(text); err != nil {
			w.loop.Post(func() { w.ui.ShowHint("copied, but not " + err.Error()) })
		}
	})
}

// edit runs the user's editor on a text in place of the screen and returns the new text. It blocks the UI goroutine, so
// events are handled afterwards.
func (w *window) edit(name, text string) (edited string, err error) {
	err = w.runInPlace(func() (err error) {
		edited, err = input.EditText(name, text, input.Editor())
		return err
	})
	return edited, err
}

// look shows a text of any size in the user's editor, in place of the screen.
func (w *window) look(name string, text io.Reader) error {
	return w.runInPlace(func() error { return input.LookAt(name, text, input.Editor()) })
}

// openAt shows a file in the user's editor, in place of the screen.
func (w *window) openAt(path string, line int) error {
	return w.runInPlace(func() error { return input.OpenAt(path, line, input.Editor()) })
}

// continueTime limits how long suspend waits for SIGCONT, which never comes if the kernel did not stop the process
// because no shell could continue it.
const continueTime = 300 * time.Millisecond

// suspend stops this process, like Ctrl+Z elsewhere, until the shell continues it. The session keeps running.
func (w *window) suspend() error {
	return w.runOutside(func() error {
		_, _ = fmt.Fprintf(os.Stderr, "suspended · the session keeps running · return with fg, or from another terminal with buddy attach %s\n", host.Short(w.setup.ID))
		signal.Reset(syscall.SIGCONT) // otherwise the terminal would be taken over twice
		defer notify(w.signals)
		continued := make(chan os.Signal, 1)
		signal.Notify(continued, syscall.SIGCONT)
		defer signal.Stop(continued)
		if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
			return err
		}
		select {
		case <-continued:
		case <-time.After(continueTime):
		}
		return nil
	})
}

// runOutside runs something that needs the terminal for itself.
func (w *window) runOutside(run func() error) (err error) {
	if !w.loop.Suspend(func() { err = run() }) {
		err = errors.New("the editor can't use the terminal now")
	}
	return err
}
