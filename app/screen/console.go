package screen

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// ErrNotTerminal means that there is no terminal to show a screen on. The program should then work without a screen, or
// name a command that does.
var ErrNotTerminal = errors.New("not a terminal")

// console is the terminal that the program was started in.
type console struct {
	f *os.File

	mu      sync.Mutex // guards the fields below
	saved   *term.State
	signals chan os.Signal
	resized func()
}

// openTty switches the terminal to raw mode and reads the bytes typed so far, including Enter; call it early in main.
// The caller shows a screen on it with [New], or restores it with [Tty.Close].
func openTty() (*Tty, error) {
	for _, std := range []*os.File{os.Stdin, os.Stdout} {
		if !term.IsTerminal(int(std.Fd())) {
			return nil, fmt.Errorf("%s is %w", std.Name(), ErrNotTerminal)
		}
	}
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	c := &console{f: f}
	if err := c.raw(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("/dev/tty: raw mode: %w", err)
	}
	return NewTty(c, c.typed()), nil
}

// control runs f with the file's descriptor. It does not use Fd, which would make the file blocking.
func (c *console) control(f func(fd int) error) error {
	raw, err := c.f.SyscallConn()
	if err != nil {
		return err
	}
	return errors.Join(raw.Control(func(fd uintptr) { err = f(int(fd)) }), err)
}

// raw switches to raw mode. The caller holds c.mu, or owns c.
func (c *console) raw() error {
	if c.saved != nil {
		return nil
	}
	return c.control(func(fd int) (err error) {
		c.saved, err = term.MakeRaw(fd)
		return err
	})
}

// typed returns the bytes that can be read without waiting.
func (c *console) typed() []byte {
	var text []byte
	_ = c.control(func(fd int) error {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			return err
		}
		if flags&unix.O_NONBLOCK == 0 { // not every system can poll a terminal
			if err := unix.SetNonblock(fd, true); err != nil {
				return err
			}
			defer func() { _ = unix.SetNonblock(fd, false) }()
		}
		buf := make([]byte, 4096)
		for len(text) < MaxPaste {
			n, err := unix.Read(fd, buf)
			if n <= 0 || err != nil {
				return err
			}
			text = append(text, buf[:n]...)
		}
		return nil
	})
	return text
}

// Start implements [Device].
func (c *console) Start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.raw(); err != nil {
		return err
	}
	_ = c.f.SetDeadline(time.Time{})
	if c.signals == nil {
		c.signals = make(chan os.Signal, 1)
		signal.Notify(c.signals, unix.SIGWINCH)
		go c.watch(c.signals)
	}
	return nil
}

// watch reports new sizes until Stop closes signals.
func (c *console) watch(signals <-chan os.Signal) {
	for range signals {
		c.mu.Lock()
		f := c.resized
		c.mu.Unlock()
		if f != nil {
			f()
		}
	}
}

// Stop implements [Device].
func (c *console) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.signals != nil {
		signal.Stop(c.signals)
		close(c.signals)
		c.signals = nil
	}
	if c.saved == nil {
		return nil
	}
	saved := c.saved
	c.saved = nil
	return c.control(func(fd int) error { return term.Restore(fd, saved) })
}

// Read implements [Device].
func (c *console) Read(p []byte) (int, error) { return c.f.Read(p) }

// Write implements [Device].
func (c *console) Write(p []byte) (int, error) { return c.f.Write(p) }

// Interrupt implements [Device].
func (c *console) Interrupt() {
	if c.f.SetReadDeadline(time.Unix(1, 0)) == nil {
		return
	}
	// On a system that can't poll /dev/tty, a read without a minimum of bytes returns at once.
	_ = c.control(func(fd int) error {
		mode, err := unix.IoctlGetTermios(fd, getTermios)
		if err != nil {
			return err
		}
		mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 0, 0
		return unix.IoctlSetTermios(fd, setTermios, mode)
	})
}

// LimitWrites implements [Device].
func (c *console) LimitWrites(d time.Duration) {
	_ = c.f.SetWriteDeadline(time.Now().Add(d)) // on failure, writes may block
}

// Size implements [Device].
func (c *console) Size() (cols, rows int, err error) {
	err = c.control(func(fd int) (err error) {
		cols, rows, err = term.GetSize(fd)
		return err
	})
	return cols, rows, err
}

// Resized implements [Device].
func (c *console) Resized(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resized = f
}

// Close implements [Device].
func (c *console) Close() error { return c.f.Close() }
