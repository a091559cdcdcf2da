package host

import (
	"context"
	"errors"
	"io/fs"
	"log"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"buddy/app/fswatch"
	"buddy/app/socket"
	"buddy/sessions"
)

const (
	// settle is the time from the last change in the folder until a removed socket is made again.
	settle = 100 * time.Millisecond
	// slowest limits the pause between two attempts to make a socket, which doubles after each failed attempt.
	slowest = time.Minute
)

// hostSocket is the socket of a host. The host makes the socket again if it is removed, and records its path next to the
// session's file.
type hostSocket struct {
	host *Host

	mu       sync.Mutex // guards the fields below
	listener *net.UnixListener
	is       fs.FileInfo // identifies the socket file; nil if it was gone
	noted    string      // the recorded path
}

// openSocket returns the hostSocket for the listener with which the host was started.
func openSocket(h *Host, l *net.UnixListener) *hostSocket {
	d := &hostSocket{host: h}
	d.setListener(l)
	return d
}

func (d *hostSocket) setListener(l *net.UnixListener) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listener = l
	d.is, _ = os.Lstat(l.Addr().String())
}

func (d *hostSocket) path() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.listener.Addr().String()
}

// answers reports whether the socket file is still this host's.
func (d *hostSocket) answers() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, err := os.Lstat(d.listener.Addr().String())
	return err == nil && os.SameFile(now, d.is)
}

// keep serves screens until ctx ends, and makes the socket again if it is removed.
func (d *hostSocket) keep(ctx context.Context, serve func(*net.UnixListener)) {
	go serve(d.listener)
	w, err := fswatch.New()
	if err != nil {
		return // without watching, a removed socket is not replaced
	}
	defer w.Close()
	quiet, pause := time.NewTimer(0), settle // the folder may be gone already
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-w.Events:
			if path := d.path(); e.Op&(fsnotify.Remove|fsnotify.Rename) != 0 && (e.Name == path || e.Name == filepath.Dir(path) || e.Name == filepath.Dir(filepath.Dir(path))) {
				quiet.Reset(settle)
			}
		case <-w.Lost:
			quiet.Reset(settle)
		case <-quiet.C:
			if !d.answers() {
				d.again(serve)
			}
			dir := filepath.Dir(d.path())
			if w.Add(dir) == nil && w.Add(filepath.Dir(dir)) == nil && d.answers() {
				pause = settle
				continue
			}
			quiet.Reset(pause) // the socket is gone again, or can't be made or watched now
			pause = min(2*pause, slowest)
		}
	}
}

// again makes a new socket and serves screens on it, because the old socket's file is gone. Errors are only logged,
// because keep tries again.
func (d *hostSocket) again(serve func(*net.UnixListener)) {
	path, err := socket.Path(os.Getenv, d.host.flags.Session)
	if err != nil {
		log.Print(err)
		return
	}
	l, err := socket.Listen(path)
	if err != nil {
		log.Print(err)
		return
	}
	old := d.listener
	d.setListener(l)
	_ = old.Close() // it can't be reached any more
	go serve(l)
	d.note()
}

// note records the path of the socket, if the session has a file.
func (d *hostSocket) note() {
	if d == nil || d.host.program == nil || !d.host.program.Stored() {
		return
	}
	p := d.host.program
	d.mu.Lock()
	defer d.mu.Unlock()
	path := d.listener.Addr().String()
	if d.noted == path {
		return
	}
	n, err := sessions.HoldHost(p.Store, p.ID, false)
	if err != nil {
		return // the process that started this host holds the note, and writes the same
	}
	defer n.Release()
	if n.Write(sessions.Host{PID: os.Getpid(), Socket: path}) == nil {
		d.noted = path
	}
}

// close removes the socket and the record of its path.
func (d *hostSocket) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	path := d.listener.Addr().String()
	_ = d.listener.Close() // stops new connections
	if now, err := os.Lstat(path); err == nil && os.SameFile(now, d.is) || errors.Is(err, fs.ErrNotExist) {
		socket.Remove(path)
	}
	p := d.host.program
	if p == nil || !p.Stored() {
		return
	}
	if n, err := sessions.HoldHost(p.Store, p.ID, false); err == nil {
		if n.Read().PID == os.Getpid() {
			n.Forget()
		}
		n.Release()
	}
}
