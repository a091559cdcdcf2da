package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"golang.org/x/sys/unix"

	"buddy/app/compose"
	"buddy/app/live"
	"buddy/app/socket"
	"buddy/app/version"
	"buddy/sessions"
	"buddy/views/markup"
)

// keptReports is how many files with what hosts said when they died stay.
const keptReports = 20

// Start starts a process that runs a session, and connects to it: a new session with the id
// options.Session, or the stored one of that id. It returns at once; how the start went is in the
// greeting. One that runs already is joined. looks says that nothing is shown to a person.
func Start(options *compose.Options, resume, looks bool) (*Process, error) {
	path, err := socket.Path(os.Getenv, options.Session)
	if err != nil {
		return nil, err
	}
	p := &Process{looks: looks, report: reportFile(options.Session)}
	l, err := socket.Listen(path)
	if errors.Is(err, socket.ErrRuns) {
		p.Joined = true
		return p, p.dial(path)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(order{Options: *options, Resume: resume, Log: options.Log.Path()})
	if err == nil {
		var exe string
		if exe, err = os.Executable(); err == nil {
			p.report = newReport(options.Session)
			_, err = socket.Start(exe, []string{"host"}, l, p.report, text)
		}
	}
	if err != nil {
		_ = l.Close()
		socket.Remove(path)
		return nil, err
	}
	return p, p.dial(path)
}

// Runs reports whether a session runs in a process of its own.
func Runs(session string) bool { return socket.Find(os.Getenv, session) != "" }

// Process is a session that runs in another process.
type Process struct {
	live.Session
	Joined bool   // it ran already
	looks  bool   // nothing is shown to a person
	report string // the file with what it says when it dies
}

func (p *Process) dial(path string) error {
	client, err := socket.Dial(path, socket.Screen{Version: version.Number, Looks: p.looks, Env: terminal()})
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
	f, e := sessions.OpenPlain(p.report, os.O_RDONLY)
	if e != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	line, _ := bufio.NewReader(io.LimitReader(f, 4<<10)).ReadString('\n')
	if line = strings.TrimSpace(markup.Plain(line)); line == "" {
		return err
	}
	return fmt.Errorf("%w: %s (all of it is in %s)", err, line, p.report)
}

// reports is the folder of what hosts say when they die.
func reports() string { return filepath.Join(xdg.StateHome, "buddy", "hosts") }

func reportFile(session string) string { return filepath.Join(reports(), session+".err") }

// newReport returns the file for the report of a host that starts. Where none can be made, nobody
// reads what it says.
func newReport(session string) string {
	if err := os.MkdirAll(reports(), 0o700); err != nil || unix.Access(reports(), unix.W_OK) != nil {
		return os.DevNull
	}
	forgetReports()
	return reportFile(session)
}

// forgetReport removes the report of a host that has said nothing.
func forgetReport(session string) {
	if info, err := os.Lstat(reportFile(session)); err == nil && info.Size() == 0 {
		_ = os.Remove(reportFile(session)) // it is in nobody's way
	}
}

// forgetReports leaves room for one more report: the oldest go. What can't be removed stays.
func forgetReports() {
	type report struct {
		path string
		time time.Time
	}
	paths, _ := filepath.Glob(filepath.Join(reports(), "*.err")) // the pattern is right
	var all []report
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil {
			all = append(all, report{path, info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b report) int { return a.time.Compare(b.time) })
	for _, r := range all[:max(0, len(all)-keptReports+1)] {
		_ = os.Remove(r.path)
	}
}
