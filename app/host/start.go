package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/socket"
	"buddy/app/version"
	"buddy/sessions"
	"buddy/tmux/pane"
)

// Start starts a host process for a session and connects to it. The session has the id options.Session; it is new, or
// with resume the stored session. If the session runs already, Start joins it. Start returns at once, and the greeting
// reports whether the session has started. looks means that the caller is a program without a user.
func Start(options *compose.Options, store sessions.Store, resume, looks bool) (*Process, error) {
	return start(&Process{looks: looks}, options, store, resume)
}

// StartForEditor is Start for a program that shows the session in an editor. secret is the Secret of the Process from
// an earlier start of the session by this program, "" for none.
func StartForEditor(options *compose.Options, store sessions.Store, resume bool, secret string) (*Process, error) {
	return start(&Process{editor: true, earlier: secret}, options, store, resume)
}

func start(p *Process, options *compose.Options, store sessions.Store, resume bool) (*Process, error) {
	p.Secret, p.report = rand.Text(), reportFile(options.Session)
	var note *sessions.HostNote // nil if the session has no file yet, or its folder is not writable
	if _, err := os.Lstat(store.File(options.Session)); err == nil && resume {
		if note, err = sessions.HoldHost(store, options.Session, true); err == nil {
			defer note.Release()
		}
	}
	if note != nil {
		path, err := awaitNoted(store, options.Session, note.Read())
		if err != nil {
			return nil, err
		}
		if path != "" {
			return p, p.join(path)
		}
	}
	err := p.launch(options, resume, note)
	if errors.Is(err, unix.ECONNREFUSED) {
		// For a moment the new process belongs to the terminal's foreground group, and Ctrl+C would kill it, too.
		err = p.launch(options, resume, note)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// launch starts a host process, or finds one that has just started, and connects to it.
func (p *Process) launch(options *compose.Options, resume bool, note *sessions.HostNote) error {
	path, err := socket.Path(os.Getenv, options.Session)
	if err != nil {
		return err
	}
	l, err := socket.Listen(path)
	if errors.Is(err, socket.ErrRuns) {
		return p.join(path)
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(order{Options: *options, Resume: resume, Log: options.Log.Path(), Secret: p.Secret, Key: sessions.HeldKey(), Servers: options.Servers})
	if err == nil {
		var exe string
		if exe, err = os.Executable(); err == nil {
			p.report = newReport(options.Session)
			var started *os.Process
			started, err = socket.Start(exe, append([]string{"host"}, pane.Of(socket.Folders())...), l, p.report, text)
			if err == nil && note != nil {
				_ = note.Write(sessions.Host{PID: started.Pid, Socket: path}) // on an error only the socket leads to it
			}
		}
	}
	if err != nil {
		_ = l.Close()
		socket.Remove(path)
		return err
	}
	return p.dial(path)
}

// Runs reports whether a session of a store has a host process.
func Runs(store sessions.Store, session string) bool {
	return socket.Find(os.Getenv, session) != "" || socket.Listens(session, sessions.HostOf(store, session).Socket)
}

// Process is a session in a host process.
type Process struct {
	client.Session
	Joined bool   // whether it was running already
	Secret string // of the start, for programs without a terminal that connect; "" if another program started it
	looks  bool   // nothing is shown to a user
	editor bool   // an editor shows it

	earlier string // the secret of an earlier start by this program
	report  string // the file with the host's last errors
}

// join connects to a running session.
func (p *Process) join(path string) error {
	p.Joined, p.Secret = true, p.earlier
	return p.dial(path)
}

func (p *Process) dial(path string) error {
	screen, err := socket.Dial(path, socket.Screen{Version: version.Number, Looks: p.looks, Editor: p.editor, Env: terminal(), Secret: p.Secret})
	if err != nil {
		return p.explained(err)
	}
	p.Session = screen
	return nil
}

// Hello implements [client.Session]. If the host has died, the error includes its report.
func (p *Process) Hello(ctx context.Context) (client.Hello, error) {
	hello, err := p.Session.Hello(ctx)
	return hello, p.explained(err)
}

// Leave disconnects from the session, which keeps running.
func (p *Process) Leave() {
	if c, ok := p.Session.(*socket.Client); ok {
		c.Close()
	}
}

// Err implements [client.Session]. If the host has died, the error includes its report.
func (p *Process) Err() error { return p.explained(p.Session.Err()) }

// explained adds the host's report to an error.
func (p *Process) explained(err error) error {
	if err == nil {
		return nil
	}
	_ = shortenReport(p.report) // a long report can be read, too
	line := firstLine(p.report)
	if line == "" {
		return err
	}
	return fmt.Errorf("%w: %s (more in %s)", err, line, p.report)
}
