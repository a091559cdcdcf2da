// Package child runs servers and hooks on this machine as child processes, and leaves none of their processes behind.
//
// Each program runs in its own process group. Stop closes the program's standard input, then sends TERM and finally
// KILL to the group. While a program runs, a file describes it, so that [Sweep] in a later process can end it if
// buddy itself was killed.
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
	// stepTime limits each step of a stop before the next, stronger one.
	stepTime = 2 * time.Second
	// graceTime limits how long other processes of the group may run after the program's exit.
	graceTime = time.Second
	// maxStderr limits how much of standard error is kept, in bytes.
	maxStderr = 64 << 10
	// maxLast limits the last line in [Process.Ended], in bytes.
	maxLast = 300
)

// Spec describes the program to start.
type Spec struct {
	Name    string   // for messages: "mcp server files", "hook lint"
	Command []string // program and arguments, executed directly
	Dir     string   // its working directory; "" is that of this process
	Env     []string // NAME=value, added to the minimal environment and overriding it
	State   string   // folder for the note with which [Sweep] finds the child; "": no note
	Temp    string   // folder to remove when the program is gone; "": none
	Within  Holder   // sandbox of the program; nil: none. It is closed when the program is gone
}

// Holder is a sandbox that starts programs, such as a Fence of package fence. Start may change any field of cmd.
type Holder interface {
	Environ(now, withheld []string) []string // returns the environment in the sandbox, from the one outside
	Start(cmd *exec.Cmd) error
	Group(pid int) int   // the process group that receives the program's signals
	Sweep(pid int) error // ends other processes of the program, after its end
	Close()
}

// Process is a started program. It is safe for concurrent use; create it with [Start].
type Process struct {
	name   string
	cmd    *exec.Cmd
	stdin  *input
	stdout *output
	stderr *tail
	note   string // file; "" without one
	within Holder // nil: no sandbox

	stopping func()          // requests the stop
	stop     <-chan struct{} // closed when a stop was requested
	done     chan struct{}
	gone     chan struct{} // closed when the stop is complete
	state    *os.ProcessState
	err      error // the reason why its exit is unknown
}

// Start starts a program in its own process group. The end of ctx stops it as Stop does, without waiting. The caller
// must read Stdout to its end or call Stop; otherwise the program may block on its output.
func Start(ctx context.Context, s Spec) (*Process, error) {
	p, err := startProcess(ctx, s)
	if err != nil && s.Within != nil {
		s.Within.Close()
	}
	switch {
	case s.Temp == "":
	case err != nil:
		_ = os.RemoveAll(s.Temp) // otherwise a later process removes it
	default:
		go func() { <-p.gone; _ = os.RemoveAll(s.Temp) }()
	}
	return p, err
}

// startProcess does the work of Start. After an error the caller has to close the holder.
func startProcess(ctx context.Context, s Spec) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s was not started: %w", s.Name, err)
	}
	if len(s.Command) == 0 || s.Command[0] == "" {
		return nil, fmt.Errorf("%s was not started: it names no program", s.Name)
	}
	if _, err := os.Stat(cmp.Or(s.Dir, ".")); err != nil { // the system would report the program as missing instead
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
		err = noted.recordPID(s.State, cmd.Process.Pid)
	}
	go p.wait(stderr)
	go p.supervise(context.AfterFunc(ctx, p.stopping))
	if err != nil {
		p.Stop()
		return nil, fmt.Errorf("%s was ended, because it could not be noted in %s: %w", s.Name, s.State, err)
	}
	return p, nil
}

// announce writes a note before the child starts, so that [Sweep] finds the child even if this process is killed before
// it has noted the pid.
func (p *Process) announce(s Spec, id string) (n note, err error) {
	if s.State == "" {
		return note{}, nil
	}
	if n, err = newNote(s.Name, id); err == nil {
		p.note, err = n.write(s.State)
	}
	return n, err
}

// programIn looks up a program in the PATH of an environment.
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

// launch creates the pipes and starts the program.
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
		_ = f.Close() // the program has its own copies
	}
	p.stdin, p.stdout, p.stderr = &input{File: inW}, &output{file: outR}, &tail{}
	return &output{file: errR}, nil
}

// start starts the program, in the sandbox if there is one.
func (p *Process) start() error {
	if p.within == nil {
		return p.cmd.Start()
	}
	return p.within.Start(p.cmd)
}

func (p *Process) group() int {
	if p.within == nil {
		return p.cmd.Process.Pid
	}
	return p.within.Group(p.cmd.Process.Pid)
}

// Stdin returns the standard input of the program. Closing it makes many programs end.
func (p *Process) Stdin() io.WriteCloser { return p.stdin }

// Stdout returns the standard output. It ends with the program itself, even if another process still holds the pipe.
func (p *Process) Stdout() io.Reader { return p.stdout }

// Stderr returns the last 64 KiB of the standard error so far.
func (p *Process) Stderr() string { return p.stderr.String() }

// Done returns a channel that is closed when the program itself has exited and its standard error has been read. Other
// processes of its group are ended a second later.
func (p *Process) Done() <-chan struct{} { return p.done }

// Gone returns a channel that is closed when no process of the program's group runs, or the remaining ones cannot be
// ended.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Exit returns the exit code of a program that is done, or -1 and an error with the signal that ended it. Call it only
// after Done is closed.
func (p *Process) Exit() (code int, err error) {
	if p.err != nil {
		return -1, fmt.Errorf("%s: its exit code is unknown: %w", p.name, p.err)
	}
	if status, ok := p.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -1, fmt.Errorf("%s was ended by a signal: %v", p.name, status.Signal())
	}
	return p.state.ExitCode(), nil
}

// Ended describes the end of a program that is done, with the last line of its standard error, as part of a sentence:
// "it exited with status 3: no such file". Call it only after Done is closed.
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

// Stop ends the program and its group in at most three steps of 2 seconds: closing standard input, TERM, KILL. If the
// caller has closed the input already, the first 2 seconds count from then. Stop returns when no process of the group
// runs, or when the remaining ones are blocked in the kernel and cannot be ended.
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

// supervise ends the group on request or after the program's own exit.
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

// goneWithin reports whether the group ends within d. Closing hurry, which may be nil, ends the wait.
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

// alive reports whether the program or another process of its group runs.
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
	return len(members(group)) > 0 // the others are zombies
}

// marker is the environment variable that identifies the processes started by a child.
const marker = "BUDDY_CHILD"

// minimalEnv returns the variables that every program gets. None of them is secret.
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
