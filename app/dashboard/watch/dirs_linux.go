package watch

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// dirs watches folders when no inotify instance is left: each host uses one, and a user may have 128. The kernel
// reports a change in any of the folders as a signal.
type dirs struct {
	changed chan os.Signal
	open    map[string]int // descriptors by folder, which the kernel needs
}

// allChanges is DN_CREATE, DN_DELETE, DN_RENAME, DN_ATTRIB and DN_MULTISHOT, which keeps the watch after the first
// signal; see fcntl(2).
const allChanges = 0x4 | 0x8 | 0x10 | 0x20 | 0x80000000

func newDirs() *dirs {
	d := &dirs{changed: make(chan os.Signal, 1), open: make(map[string]int)}
	signal.Notify(d.changed, syscall.SIGIO)
	return d
}

// Add watches a folder.
func (d *dirs) Add(name string) error {
	if _, ok := d.open[name]; ok {
		return nil
	}
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_NOTIFY, allChanges); err != nil {
		_ = unix.Close(fd)
		return err
	}
	d.open[name] = fd
	return nil
}

// Forget stops watching a folder.
func (d *dirs) Forget(name string) {
	if fd, ok := d.open[name]; ok {
		_ = unix.Close(fd)
		delete(d.open, name)
	}
}

// Close stops watching.
func (d *dirs) Close() {
	signal.Stop(d.changed)
	for name := range d.open {
		d.Forget(name)
	}
}
