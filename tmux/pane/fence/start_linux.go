//go:build linux && (amd64 || arm64)

package fence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"buddy/texts"
	"buddy/texts/searchpath"
	"buddy/tmux/pane/confine"
	"buddy/tmux/pane/fence/inside"
	"buddy/tmux/pane/gitfiles"
)

// Fence is the sandbox for commands. One Fence serves many commands. Start and Sweep are safe for concurrent use; call
// Close after the last use.
type Fence struct {
	bwrap  string
	args   []string // up to the command's folder
	filter *os.File // system calls, for bwrap
	config Config
	reads  []string        // folders that commands see, real paths
	writes []string        // writable folders that others read
	hides  map[string]bool // by path to hide: whether it existed
	around []*surrounding  // repositories around the workspace
	git    gitfiles.Files  // the user's
	net    network         // of the proxy

	mu   sync.Mutex      // guards the field below
	runs map[int]process // by the process of bwrap
}

// New prepares the fence. Folders created later are not included. The error is [ErrImpossible] if the fence can't work.
func New(c Config) (*Fence, error) { return (*Fence)(nil).Renew(c) }

// Renew returns the fence that New would return, but reads only the changed folders of a repository around the
// workspace that f knows. f may be nil; Renew does not close it.
func (f *Fence) Renew(c Config) (*Fence, error) {
	var known []*surrounding
	if f != nil {
		known = f.around
	}
	return prepare(c, known)
}

// prepare implements New and Renew. known holds the repositories around the workspace that were searched before.
func prepare(c Config, known []*surrounding) (*Fence, error) {
	home := texts.Lookup(c.Env)("HOME")
	if err := c.check(home); err != nil {
		return nil, err
	}
	if err := confine.Seal(); err != nil {
		return nil, err
	}
	bwrap, err := searchpath.Look("bwrap")
	if err != nil {
		return nil, fmt.Errorf("%w: bubblewrap (bwrap) is not installed; install the package bubblewrap", ErrImpossible)
	}
	if exe, err := os.Executable(); err != nil || !exists(exe) {
		c.Asks = false // this program was removed, and commands reach the proxy only through it
	}
	f := &Fence{bwrap: bwrap, config: c, net: internet, hides: map[string]bool{}, runs: map[int]process{}}
	if f.around, err = surroundings(c.Settings, home, known); err != nil {
		return nil, err
	}
	for _, path := range f.hidden() {
		f.hides[path] = exists(path)
	}
	f.git = f.config.gitFiles()
	if c.Cache != "" {
		if err := os.MkdirAll(c.Cache, 0o700); err != nil {
			return nil, fmt.Errorf("%w: the folder for caches: %w", ErrImpossible, err)
		}
		c.seed()
	}
	f.args = []string{"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL"}
	if !c.Network && c.Launch == nil {
		f.args = append(f.args, "--unshare-net")
	}
	f.args = slices.Concat(f.args, f.mounts(home).args(), []string{"--proc", "/proc"}, kernelFiles(), []string{"--dev", "/dev"})
	code, err := confine.FenceFilter()
	if err != nil {
		return nil, err
	}
	f.filter, err = inMemory("filter", code)
	return f, err
}

// kernelFiles returns bwrap's arguments that make the kernel's settings in /proc read-only. Root owns these settings
// and can write most of them even without capabilities, and bwrap protects only some.
func kernelFiles() (args []string) {
	if os.Getuid() != 0 {
		return nil
	}
	entries, _ := os.ReadDir("/proc") // without /proc nothing is mounted either
	for _, e := range entries {
		if _, number := strconv.Atoi(e.Name()); number == nil || e.Type()&fs.ModeSymlink != 0 || e.Name() == "sysvipc" {
			continue
		}
		if path := "/proc/" + e.Name(); path == "/proc/sys" || path != "/proc/irq" && path != "/proc/bus" && writableBelow(path) {
			args = append(args, "--ro-bind", path, path)
		}
	}
	return args
}

// writableBelow reports whether a path is a writable file, or contains one.
func writableBelow(path string) (found bool) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // skip unreadable files
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o222 != 0 {
			found = true
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// mounts plans the mounts that commands see.
func (f *Fence) mounts(home string) plan {
	c, p := f.config, plan{}
	read, secret := confine.System(c.Env, c.Work)
	p.addAll(readable, read)
	p.addAll(hidden, secret)
	if filepath.IsAbs(home) {
		p.add(empty, home)
	}
	p.addAll(writable, slices.Concat(c.Work, c.Write))
	for _, dir := range c.Work {
		p.repository(dir, home)
	}
	if c.Cache != "" {
		p.put(mount{path: c.Cache, kind: writable})
	}
	for _, path := range f.hidden() {
		p.add(hidden, path)
		for _, dir := range slices.Concat(c.Work, c.Write) {
			p.fix(dir, path)
		}
	}
	p.git(f.git, slices.Concat(c.Work, c.Write))
	p.addAll(shown, c.Show)
	p.addAll(kept, c.Keep)
	if f.config.proxied() {
		if exe, err := os.Executable(); err == nil { // without it bwrap reports the missing file
			p.put(mount{insideExe, readable, exe})
		}
	}
	f.note(p)
	for _, tmp := range []string{"/tmp", "/var/tmp"} {
		p.put(mount{tmp, writable, c.Temp})
	}
	return p
}

// note records the folders that commands can read, and the writable folders except the caches, which only sandboxed
// commands use.
func (f *Fence) note(p plan) {
	for _, m := range p {
		if m.kind == readable || m.kind == writable {
			f.reads = append(f.reads, m.path)
		}
		if m.kind == writable && m.path != f.config.Cache {
			f.writes = append(f.writes, m.path)
		}
	}
}

// inMemory returns an unnamed file with the text.
func inMemory(name string, text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), name)
	_, err = file.WriteAt(text, 0)
	return file, err
}

// Environ returns the environment of a fenced command; now is the first environment as earlier commands changed it.
func (f *Fence) Environ(now, withheld []string) []string {
	return f.config.environ(now, withheld, "/tmp", f.git, closedDir)
}

// Close releases the fence. Started commands stay in it.
func (f *Fence) Close() {
	if f != nil {
		_ = f.filter.Close()
	}
}

// process is a started command.
type process struct {
	first int           // process 1 of its namespace, as a pid of this machine; 0 if bwrap did not get that far
	pidfd int           // of first, -1 for none
	over  chan struct{} // closed when the thread that started it may end
	end   func()        // records that the command changes nothing more
	proxy *proxy        // nil: none
}

// Start starts cmd in the fence, in a separate process group and session. It first marks the workspace as changed
// without approval.
func (f *Fence) Start(cmd *exec.Cmd) error {
	end, err := f.config.mark(f.writes)
	if err != nil {
		return err
	}
	if err = f.start(cmd, end); err != nil {
		end()
	}
	return err
}

// start starts cmd; end is called when none of its processes runs.
func (f *Fence) start(cmd *exec.Cmd, end func()) error {
	filter, err := os.Open("/proc/self/fd/" + strconv.Itoa(int(f.filter.Fd()))) // with a separate offset
	if err != nil {
		return err
	}
	defer func() { _ = filter.Close() }()
	about, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = about.Close() }()
	over := make(chan struct{})
	dir := cmd.Dir
	if dir == f.config.Temp {
		dir = "/tmp"
	}
	launch := []string{f.bwrap}
	if f.config.Launch != nil {
		launch = append(f.config.Launch(cmd), launch...)
	}
	next := 3 + len(cmd.ExtraFiles)
	args := slices.Concat(launch, f.args, []string{
		"--chdir", dir, "--seccomp", strconv.Itoa(next), "--info-fd", strconv.Itoa(next + 1), "--",
	})
	cmd.ExtraFiles = append(cmd.ExtraFiles, filter, w)
	program := append([]string{cmd.Path}, cmd.Args[1:]...)
	var through *proxy
	if f.config.proxied() {
		ours, theirs, err := pair()
		if err != nil {
			return err
		}
		defer func() { _ = theirs.Close() }()
		cmd.ExtraFiles = append(cmd.ExtraFiles, theirs)
		program = slices.Concat([]string{insideExe, "pane", inside.Flag, strconv.Itoa(next + 2), cmd.Path}, cmd.Args)
		through = newProxy(f.config.Hosts, f.net)
		go passOn(through, ours, over)
	}
	args = append(args, program...)
	cmd.Path, cmd.Args, cmd.Dir = args[0], args, "/"
	r := process{pidfd: -1, over: over, end: end, proxy: through}
	err = f.onThread(cmd, r.over)
	_ = w.Close()
	if err != nil {
		close(r.over)
		return err
	}
	var info struct {
		First int `json:"child-pid"`
	}
	if json.NewDecoder(about).Decode(&info) == nil && info.First > 0 { // bwrap writes this before it starts the program
		r.first, r.pidfd, err = watch(info.First)
	}
	if err != nil { // without a pidfd it could not be ended completely
		close(r.over)
		return errors.Join(fmt.Errorf("%w: its first process can't be watched: %w", ErrImpossible, err), cmd.Process.Kill(), ignoreExit(cmd.Wait()))
	}
	f.mu.Lock()
	f.runs[cmd.Process.Pid] = r
	f.mu.Unlock()
	return nil
}

// watch returns pid and a pidfd for it, or 0 and -1 if the process has ended. A short command can end before it is
// watched; its namespace then has no other process.
func watch(pid int) (first, pidfd int, err error) {
	switch pidfd, err = unix.PidfdOpen(pid, 0); {
	case errors.Is(err, unix.ESRCH):
		return 0, -1, nil
	case err != nil:
		return 0, -1, err
	}
	return pid, pidfd, nil
}

// Ask sets the function that decides whether the command with a pid may reach hosts outside the settings. Without it,
// nobody is asked.
func (f *Fence) Ask(pid int, ask Ask) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.runs[pid].proxy; p != nil && f.config.Asks {
		p.ask.Store(&ask)
	}
}

// passOn serves, until over is closed, the port that a command opens on its loopback.
func passOn(p *proxy, socket *os.File, over <-chan struct{}) {
	defer func() { _ = socket.Close() }()
	l, err := receive(socket)
	if err != nil {
		return // the command's connections to the proxy are refused
	}
	go p.serve(l)
	<-over
	_ = l.Close()
}

// ignoreExit drops an error that only reports how a process ended.
func ignoreExit(err error) error {
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil
	}
	return err
}

// onThread starts cmd on a thread that Landlock restricts, if the kernel supports it, so that neither signals nor
// abstract Unix sockets reach anything outside of the fence, even with a network. Landlock's rules for files can't be
// used, because a process with such rules can't mount. The thread lives until over is closed, because bwrap would end
// with the thread.
func (f *Fence) onThread(cmd *exec.Cmd, over <-chan struct{}) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// The process's first thread would not end with its goroutine. This goroutine occupies it, so that the next
			// attempt uses another thread.
			defer runtime.UnlockOSThread()
			done <- f.onThread(cmd, over)
			return
		}
		err := confine.Scope()
		if err == nil {
			err = cmd.Start()
		}
		done <- err
		<-over
		// The thread is never unlocked, so that it ends with this goroutine.
	}()
	return <-done
}

// endMax limits the wait for the kernel to end the command's remaining processes.
const endMax = 10 * time.Second

// Sweep ends the command's remaining processes. Call it after the command's Wait.
func (f *Fence) Sweep(pid int) error {
	f.mu.Lock()
	r, ok := f.runs[pid]
	delete(f.runs, pid)
	f.mu.Unlock()
	if !ok {
		return nil
	}
	close(r.over)
	if r.pidfd < 0 {
		r.end()
		return nil // nothing was started
	}
	defer func() { _ = unix.Close(r.pidfd) }()
	// When process 1 ends, the kernel ends all other processes of the namespace before it reports that end.
	_ = unix.PidfdSendSignal(r.pidfd, unix.SIGKILL, nil, 0)
	for until := time.Now().Add(endMax); ; {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(r.pidfd), Events: unix.POLLIN}}, int(max(0, time.Until(until).Milliseconds())))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n == 0:
			return fmt.Errorf("processes that the command left behind do not end within %v", endMax) // and may change more
		default:
			r.end()
			return nil
		}
	}
}

// Group returns the process group that receives a command's signals. It is the group of the command and of the first
// process inside, which ignores all signals except SIGKILL. A signal to bwrap's group would end bwrap at once, and the
// command with it.
func (f *Fence) Group(pid int) int {
	f.mu.Lock()
	first := f.runs[pid].first
	f.mu.Unlock()
	if g, err := unix.Getpgid(first); first != 0 && err == nil && g == first { // otherwise --new-session has not created it yet
		return first
	}
	return pid
}

// Stale reports whether, since New, a path that must be hidden appeared or disappeared, or git reads other files of the
// user. It searches the repositories around the workspace for secrets at most once a second.
func (f *Fence) Stale() bool {
	for path, was := range f.hides {
		if exists(path) != was {
			return true
		}
	}
	return slices.ContainsFunc(f.around, (*surrounding).changed) || !reflect.DeepEqual(f.git, f.config.gitFiles())
}

// Writes returns the paths that commands may write to, besides the caches and temporary folders.
func (f *Fence) Writes() []string { return f.writes }

// hidden returns the paths that look empty in the sandbox.
func (f *Fence) hidden() []string { return f.config.hidden(f.around) }

// Reads reports whether commands may list a folder, following links.
func (f *Fence) Reads(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && slices.ContainsFunc(f.reads, func(place string) bool { return texts.Below(real, place) }) &&
		!slices.ContainsFunc(f.hidden(), func(place string) bool { return texts.Below(real, place) })
}

// Available returns nil if commands with these settings and this environment can be fenced, else an error that is
// [ErrImpossible] and tells what to install or switch on. To find out, it runs a program in a fence.
func Available(s Settings, env []string) error {
	temp, err := os.MkdirTemp("", "buddy-")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	defer func() { _ = os.RemoveAll(temp) }()
	s.Cache, s.Marks, s.Asks = "", "", false // leave no marks, and ask nobody
	f, err := New(Config{Settings: s, Env: env, Temp: temp})
	if err != nil {
		return err
	}
	defer f.Close()
	var stderr bytes.Buffer
	cmd := &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", ":"}, Dir: "/", Env: []string{}, Stderr: &stderr}
	if err := f.Start(cmd); err != nil {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	err = errors.Join(cmd.Wait(), f.Sweep(cmd.Process.Pid))
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s%s", ErrImpossible, strings.TrimSpace(stderr.String()), hint())
}

// hint returns the remedy for a program that can't create namespaces, such as a kernel setting to change.
func hint() string {
	for _, s := range []struct{ file, off, text string }{
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"},
		{"/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=15000"},
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "an AppArmor profile for bwrap (package apparmor-profiles), or sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
	} {
		if b, err := os.ReadFile(s.file); err == nil && strings.TrimSpace(string(b)) == s.off {
			return "; user namespaces are switched off here: " + s.text
		}
	}
	return "; user namespaces are refused here, as in most containers: run buddy outside of it"
}
