package watch

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"buddy/app/dashboard"
	"buddy/tmux/host"
	"buddy/views/markup"
)

// machine is another machine, reached over one ssh connection.
type machine struct {
	host *host.Host
	rows map[string]dashboard.Session // by id
}

// elsewhere is the shell command that runs buddy on another machine. It extends PATH, because shells that ssh starts
// often have a shorter PATH than a login.
const elsewhere = `PATH="$PATH:$HOME/.local/bin:$HOME/bin:$HOME/go/bin:/usr/local/bin"; exec buddy "$@"`

// argv returns the command line that runs buddy on another machine.
func argv(args ...string) []string { return append([]string{"sh", "-c", elsewhere, "buddy"}, args...) }

// machine watches the sessions of another machine until the connection ends, and notes why it ended. It calls greeted
// when the machine has answered.
func (t *Table) machine(name string, greeted func()) {
	defer greeted()
	h, err := host.SSH(host.SSHOptions{Dest: name})
	if err != nil {
		t.note(name, err.Error())
		return
	}
	defer h.Close() //nolint:errcheck // nothing runs there any more
	m := &machine{host: h, rows: make(map[string]dashboard.Session)}
	t.mu.Lock()
	t.machines[name] = m
	t.mu.Unlock()
	if err = t.read(name, m, greeted); err == nil {
		return
	}
	t.mu.Lock()
	delete(t.machines, name)
	t.mu.Unlock()
	if t.ctx.Err() == nil {
		t.note(name, name+": "+err.Error())
	}
}

// read reads the rows of another machine. The error explains why there are no more rows.
func (t *Table) read(name string, m *machine, greeted func()) error {
	if err := m.host.Connect(t.ctx); err != nil {
		return err
	}
	kind := "--watch"
	if t.once {
		kind, greeted = "--json", func() {}
	}
	cmd, err := m.host.Command(t.ctx, argv("dashboard", kind)...)
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var said lastLine
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 0, 4096), dashboard.MaxLine)
	var bad error
	for bad == nil && lines.Scan() {
		bad = t.take(name, m, lines.Bytes())
		greeted()
	}
	bad = cmp.Or(bad, lines.Err())
	if bad != nil {
		_ = cmd.Process.Kill()
	}
	err = cmd.Wait()
	if t.once && err == nil && bad == nil {
		return nil
	}
	return ended(err, bad, said.text())
}

// ended explains why buddy on another machine no longer reports.
func ended(err, bad error, said string) error {
	exited, _ := errors.AsType[*exec.ExitError](err)
	switch {
	case bad != nil:
		return fmt.Errorf("buddy there sent something unreadable: %w", bad)
	case exited != nil && exited.ExitCode() == 127, exited != nil && strings.Contains(said, "not found"):
		return errors.New("buddy isn't installed there, or not in the PATH of a non-login shell")
	case exited != nil && (strings.Contains(said, "--watch") || strings.Contains(said, "dashboard")):
		return errors.New("buddy there is too old for the dashboard; install the same version as here")
	case said != "":
		return errors.New(said)
	}
	return errors.New("the connection has ended; open the dashboard again to connect")
}

// take applies a line from another machine to the table.
func (t *Table) take(name string, m *machine, line []byte) error {
	s, err := dashboard.Read(name, line)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch _, known := m.rows[s.ID]; {
	case s.Gone:
		delete(m.rows, s.ID)
	case known || len(m.rows) < maxSessions:
		m.rows[s.ID] = s
	default:
		t.notes[name] = fmt.Sprintf("%s: more than %d sessions run; the others are not shown", name, maxSessions)
	}
	t.signal()
	return nil
}

// Attach returns the command that opens a session of another machine in this terminal; nil if the machine is not
// connected. The command makes its own connection, because the table's connection runs in the background, where the
// kernel stops programs that read from the terminal.
func (t *Table) Attach(s dashboard.Session) *exec.Cmd {
	t.mu.Lock()
	m := t.machines[s.Machine]
	t.mu.Unlock()
	if m == nil {
		return nil
	}
	return exec.Command("/bin/sh", "-c", m.host.Attach(argv("attach", s.ID)...)) //nolint:gosec // quoted by the host; the id is checked
}

// StopThere ends a session of another machine.
func (t *Table) StopThere(ctx context.Context, s dashboard.Session) error {
	t.mu.Lock()
	m := t.machines[s.Machine]
	t.mu.Unlock()
	if m == nil {
		return fmt.Errorf("%s is not connected", s.Machine)
	}
	cmd, err := m.host.Command(ctx, argv("stop", s.ID)...)
	if err != nil {
		return err
	}
	var said lastLine
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return errors.New(cmp.Or(said.text(), err.Error()))
	}
	return nil
}

// lastLine keeps the end of a process's output.
type lastLine struct{ b []byte }

// Write keeps the last bytes.
func (l *lastLine) Write(p []byte) (int, error) {
	l.b = append(l.b, p...)
	l.b = l.b[max(0, len(l.b)-4096):]
	return len(p), nil
}

// text returns the first kept line, made safe to show.
func (l *lastLine) text() string {
	first, _, _ := strings.Cut(strings.TrimSpace(string(l.b)), "\n")
	return markup.Plain(strings.TrimPrefix(first, "buddy: "))
}
