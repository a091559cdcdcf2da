package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"buddy/app/compose"
	"buddy/app/live"
	"buddy/app/socket"
	"buddy/app/version"
	"buddy/sessions"
	"buddy/tmux/pane"
)

// Start starts a process that runs a session, and connects to it: a new session with the id
// options.Session, or the one of that id that is in a store. It returns at once; how the start went is in the
// greeting. One that runs already is joined. looks says that nothing is shown to a person.
func Start(options *compose.Options, store sessions.Store, resume, looks bool) (*Process, error) {
	p := &Process{Secret: rand.Text(), looks: looks, report: reportFile(options.Session)}
	var note *sessions.HostNote // nil: the session has no file yet, or its folder can't be written
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
	path, err := socket.Path(os.Getenv, options.Session)
	if err != nil {
		return nil, err
	}
	l, err := socket.Listen(path)
	if errors.Is(err, socket.ErrRuns) {
		return p, p.join(path)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(order{Options: *options, Resume: resume, Log: options.Log.Path(), Secret: p.Secret, Key: sessions.HeldKey()})
	if err == nil {
		var exe string
		if exe, err = os.Executable(); err == nil {
			p.report = newReport(options.Session)
			var started *os.Process
			started, err = socket.Start(exe, append([]string{"host"}, pane.Of(socket.Folders())...), l, p.report, text)
			if err == nil && note != nil {
				_ = note.Write(sessions.Host{PID: started.Pid, Socket: path}) // else it is found by its socket alone
			}
		}
	}
	if err != nil {
		_ = l.Close()
		socket.Remove(path)
		return nil, err
	}
	return p, p.dial(path)
}

// Runs reports whether a session of a store runs in a process of its own.
func Runs(store sessions.Store, session string) bool {
	return socket.Find(os.Getenv, session) != "" || socket.Listens(session, sessions.HostOf(store, session).Socket)
}

// Process is a session that runs in another process.
type Process struct {
	live.Session
	Joined bool   // it ran already
	Secret string // of this start, for programs without a terminal that connect to it; "" of one that was joined
	looks  bool   // nothing is shown to a person
	report string // the file with what it says when it dies
}

// join connects to a session that runs already.
func (p *Process) join(path string) error {
	p.Joined, p.Secret = true, ""
	return p.dial(path)
}

func (p *Process) dial(path string) error {
	client, err := socket.Dial(path, socket.Screen{Version: version.Number, Looks: p.looks, Env: terminal(), Secret: p.Secret})
	if err != nil {
		return p.explained(err)
	}
	p.Session = client
	return nil
}

// Hello implements [live.Session]: with what the process said last, if that has died.
func (p *Process) Hello(ctx context.Context) (live.Hello, error) {
	hello, err := p.Session.Hello(ctx)
	return hello, p.explained(err)
}

// Leave lets go of the session, which goes on.
func (p *Process) Leave() {
	if c, ok := p.Session.(*socket.Client); ok {
		c.Close()
	}
}

// Err implements [live.Session]: with what the process said last, if that has died.
func (p *Process) Err() error { return p.explained(p.Session.Err()) }

// explained adds to an error what the process said.
func (p *Process) explained(err error) error {
	if err == nil {
		return nil
	}
	_ = shortenReport(p.report) // which is readable as it is
	line := firstLine(p.report)
	if line == "" {
		return err
	}
	return fmt.Errorf("%w: %s (more in %s)", err, line, p.report)
}
