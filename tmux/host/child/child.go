// Package child runs programs that never stay behind: servers and hooks, which buddy starts
// on this machine and talks to over pipes.
//
// Each gets a process group of its own. Whoever ends it ends the whole group: its standard
// input is closed, then the group gets TERM, then KILL, until nothing of it is left. What was
// started is noted in a folder, so that a later process finds what a killed one left and ends
// it with [Sweep].
//
//	p, err := child.Start(ctx, child.Spec{Name: "hook lint", Command: []string{"./lint"}, State: dir})
//	defer p.Stop()
//	<-p.Done()
//	code, err := p.Exit()
package child

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"buddy/texts"
)

const (
	// stepTime limits how long each step of an end may take before the next, stronger one.
	stepTime = 2 * time.Second
	// graceTime limits how long what a program has left in its group may go on after its own exit.
	graceTime = time.Second
	// maxStderr limits how much of the standard error is kept, in bytes.
	maxStderr = 64 << 10
	// maxLast limits how much of its last line [Process.Ended] returns, in bytes.
	maxLast = 300
)

// Spec says what to start.
type Spec struct {
	Name    string   // for messages: "mcp server files", "hook lint"
	Command []string // program and arguments, executed directly
	Dir     string   // where it runs; "" is the folder of this process
	Env     []string // NAME=value, added to the minimal environment and stronger than that
	State   string   // folder where the child and its owner are noted; "" notes nothing
	Temp    string   // folder that is removed when the program is gone; "" is none
	Within  Holder   // holds the program; nil: nothing does. It is closed when the program is gone
}

// Holder starts programs so that they reach less, as package fence does. Start may change all of cmd.
type Holder interface {
	Environ(now, withheld []string) []string // the environment of a program, of the one that it would have
	Start(cmd *exec.Cmd) error
	Group(pid int) int   // the process group that signals for the program go to
	Sweep(pid int) error // ends what the program left behind, after its end
	Close()
}

// Process is a program that runs, or ran. It is safe for concurrent use; use [Start].
type Process struct {
	name   string
	cmd    *exec.Cmd
	stdin  *input
	stdout *output
	stderr *tail
	note   string // file; "" without one
	within Holder // nil: nothing holds it

	stopping func()          // asks for the end
	stop     <-chan struct{} // closed when somebody has asked for it
	done     chan struct{}
	gone     chan struct{} // closed when the end is over
	state    *os.ProcessState
	err      error // why its exit is not known
}

// Start starts a program in a process group of its own. The end of ctx stops it as Stop does,
// without waiting. The caller must read Stdout to its end, or call Stop, or the program waits
// with its output for ever.
func Start(ctx context.Context, s Spec) (*Process, error) {
	p, err := begin(ctx, s)
	if err != nil && s.Within != nil {
		s.Within.Close()
	}
	switch {
	case s.Temp == "":
	case err != nil:
		_ = os.RemoveAll(s.Temp) // else a later process does
	default:
		go func() { <-p.gone; _ = os.RemoveAll(s.Temp) }()
	}
	return p, err
}

// begin is Start, which leaves the holder open when nothing was started.
func begin(ctx context.Context, s Spec) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s was not started: %w", s.Name, err)
	}
	if len(s.Command) == 0 || s.Command[0] == "" {
		return nil, fmt.Errorf("%s was not started: it names no program", s.Name)
	}
	if _, err := os.Stat(cmp.Or(s.Dir, ".")); err != nil { // the system names the program instead
		return nil, fmt.Errorf("%s was not started: its folder: %w", s.Name, err)
	}
	id := rand.Text()
	env := append(append(minimalEnv(os.Environ()), s.Env...), marker+"="+id)
	if s.Within != nil {
		env = s.Within.Environ(env, nil)
	}
	program, err := programIn(env, s.Command[0])
	if err != nil {
		return nil, fmt.Errorf("%s was not started: %w", s.Name, err)
	}
	cmd := &exec.Cmd{Path: program, Args: s.Command, Dir: s.Dir, Env: env}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := &Process{name: s.Name, cmd: cmd, within: s.Within, done: make(chan struct{}), gone: make(chan struct{})}
	noted, err := p.announce(s, id)
	if err != nil {
		return nil, fmt.Errorf("%s was not started: it could not be noted in %s: %w", s.Name, s.State, err)
	}
	stderr, err := p.launch()
	if err != nil {
		if p.note != "" {
			_ = os.Remove(p.note)
		}
		return nil, fmt.Errorf("%s was not started: %w", s.Name, err)
	}
	stop := make(chan struct{})
	p.stop, p.stopping = stop, sync.OnceFunc(func() { close(stop) })
	if s.State != "" {
		err = noted.started(s.State, cmd.Process.Pid)
	}
	go p.wait(stderr)
	go p.supervise(context.AfterFunc(ctx, p.stopping))
	if err != nil {
		p.Stop()
		return nil, fmt.Errorf("%s was ended again: it could not be noted in %s: %w", s.Name, s.State, err)
	}
	return p, nil
}

// announce notes that the child is about to be started, so that it is found even if this process is killed before it can
// note which process that is.
func (p *Process) announce(s Spec, id string) (n note, err error) {
	if s.State == "" {
		return note{}, nil
	}
	if n, err = newNote(s.Name, id); err == nil {
		p.note, err = n.write(s.State)
	}
	return n, err
}

// programIn returns the program of a name, looked for in the PATH of an environment.
func programIn(env []string, name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(texts.Lookup(env)("PATH")) {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(found) {
			return found, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// launch makes the pipes and starts the program.
func (p *Process) launch() (stderr *output, err error) {
	var all []*os.File
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err == nil {
			all = append(all, r, w)
		}
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	if err == nil {
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, errW
		err = p.start()
	}
	if err != nil {
		for _, f := range all {
			_ = f.Close()
		}
		return nil, err
	}
	for _, f := range []*os.File{inR, outW, errW} {
		_ = f.Close() // the program has them
	}
	p.stdin, p.stdout, p.stderr = &input{File: inW}, &output{file: outR}, &tail{}
	return &output{file: errR}, nil
}

// start starts the program, held by what holds it.
func (p *Process) start() error {
	if p.within == nil {
		return p.cmd.Start()
	}
	return p.within.Start(p.cmd)
}

// group returns the process group of the program.
func (p *Process) group() int {
	if p.within == nil {
		return p.cmd.Process.Pid
	}
	return p.within.Group(p.cmd.Process.Pid)
}

// Stdin returns the standard input of the program. Closing it tells many programs to end.
func (p *Process) Stdin() io.WriteCloser { return p.stdin }

// Stdout returns the standard output. It ends with the program itself, also when a process
// that the program has started still holds the pipe.
func (p *Process) Stdout() io.Reader { return p.stdout }

// Stderr returns the last 64 KiB of the standard error so far.
func (p *Process) Stderr() string { return p.stderr.String() }

// Done returns a channel that is closed when the program itself has exited and its standard
// error was read. What it has left in its group has one more second, then that is ended, too.
func (p *Process) Done() <-chan struct{} { return p.done }

// Gone returns a channel that is closed when nothing of the program's group is left, or what is
// left can't be ended.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Exit returns the exit code of a program that is done, or -1 and an error that names the
// signal which ended it. It must not be called before Done is closed.
func (p *Process) Exit() (code int, err error) {
	if p.err != nil {
		return -1, fmt.Errorf("%s: its exit is not known: %w", p.name, p.err)
	}
	if status, ok := p.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -1, fmt.Errorf("%s was ended by a signal: %v", p.name, status.Signal())
	}
	return p.state.ExitCode(), nil
}

// Ended says how a program that is done has ended, with the last line of its standard error, as
// part of a sentence: "it exited with status 3: no such file". It must not be called before Done is closed.
func (p *Process) Ended() string {
	code, err := p.Exit()
	text := fmt.Sprintf("it exited with status %d", code)
	if err != nil {
		text = "it was ended by a signal"
	}
	last := strings.TrimSpace(p.Stderr())
	if last = texts.OneLine(last[strings.LastIndexByte(last, '\n')+1:]); last != "" {
		text += ": " + texts.ClipBytes(last, maxLast)
	}
	return text
}

// Stop ends the program and all that it has started in its group, and returns when nothing of
// it is left, at the latest after three steps of 2 seconds: its standard input is closed, TERM,
// KILL. The time since the caller has closed the input counts. Only a process that the kernel
// itself holds survives that.
func (p *Process) Stop() {
	p.stopping()
	<-p.gone
}

// wait waits for the program's own exit.
func (p *Process) wait(stderr *output) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(p.stderr, stderr)
		_ = stderr.file.Close()
	}()
	p.state, p.err = p.cmd.Process.Wait()
	if p.within != nil {
		if err := p.within.Sweep(p.cmd.Process.Pid); err != nil {
			p.err = errors.Join(p.err, err)
		}
		p.within.Close()
	}
	p.stdout.end()
	stderr.end()
	<-read
	close(p.done)
}

// supervise ends the group, on demand or after the program's own exit.
func (p *Process) supervise(forget func() bool) {
	defer close(p.gone)
	defer forget()
	select {
	case <-p.stop:
		_ = p.stdin.Close()
		if !p.goneWithin(stepTime-time.Since(p.stdin.closed), nil) {
			p.kill()
		}
	case <-p.done:
		if !p.goneWithin(graceTime, p.stop) {
			p.kill()
		}
	}
	_ = p.stdin.Close()
	if p.note != "" && !p.alive() {
		_ = os.Remove(p.note)
	}
}

// kill sends TERM to the group, then KILL.
func (p *Process) kill() {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = syscall.Kill(-p.group(), signal)
		if p.goneWithin(stepTime, nil) {
			return
		}
	}
}

// goneWithin reports whether nothing of the group is left within d. hurry, if any, ends the wait.
func (p *Process) goneWithin(d time.Duration, hurry <-chan struct{}) bool {
	late := time.After(d)
	for pause := time.Millisecond; p.alive(); pause = min(2*pause, 50*time.Millisecond) {
		select {
		case <-late:
			return false
		case <-hurry:
			return false
		case <-time.After(pause):
		}
	}
	return true
}

// alive reports whether the program or anything of its group runs.
func (p *Process) alive() bool {
	select {
	case <-p.done:
		return groupAlive(p.cmd.Process.Pid)
	default:
		return true
	}
}

// groupAlive reports whether a process of a group has not ended yet.
func groupAlive(group int) bool {
	if errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) {
		return false
	}
	return len(members(group)) > 0 // the others have ended, and their parents did not notice
}

// marker is the variable by which a process is known as one that a child has started.
const marker = "BUDDY_CHILD"

// minimalEnv returns what every program gets of an environment: nothing in it is a secret.
func minimalEnv(all []string) []string {
	var env []string
	for _, v := range all {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "HOME", "PATH", "SHELL", "TERM", "USER", "LOGNAME", "LANG", "TMPDIR":
			env = append(env, v)
		default:
			if strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") {
				env = append(env, v)
			}
		}
	}
	return env
}
