//go:build linux && (amd64 || arm64)

package fence

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"buddy/texts"
	"buddy/tmux/pane/confine"
)

// Fence holds commands; one serves many. Start and Sweep may be called by any goroutine, Close
// after the last of them.
type Fence struct {
	bwrap  string
	args   []string // up to the folder of the command
	filter *os.File // system calls, for bwrap
	config Config
	reads  []string // folders that commands see, real paths
	status map[int]*os.File
}

// New prepares the fence. Folders that are made later are not included. The error is
// [ErrImpossible] where it can't hold.
func New(c Config) (*Fence, error) {
	home := lookup(c.Env)("HOME")
	if err := c.check(home); err != nil {
		return nil, err
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, fmt.Errorf("%w: bubblewrap (bwrap) is not installed; install the package bubblewrap", ErrImpossible)
	}
	f := &Fence{bwrap: bwrap, config: c, status: map[int]*os.File{}}
	f.args = []string{"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--cap-drop", "ALL"}
	if !c.Network {
		f.args = append(f.args, "--unshare-net")
	}
	f.args = append(append(f.args, f.mounts(home).args()...), "--proc", "/proc", "--dev", "/dev")
	code, err := confine.FenceFilter()
	if err != nil {
		return nil, err
	}
	f.filter, err = inMemory("filter", code)
	return f, err
}

// mounts plans what commands see.
func (f *Fence) mounts(home string) plan {
	c, p := f.config, plan{}
	read, secret := confine.System(c.Env, c.Work)
	for _, path := range read {
		p.add(readable, path)
	}
	for _, path := range secret {
		p.add(hidden, path)
	}
	if filepath.IsAbs(home) {
		p.add(empty, home)
	}
	for _, dir := range slices.Concat(c.Work, c.Write) {
		p.add(writable, dir)
	}
	if c.Cache != "" {
		p.add(writable, c.Cache)
	}
	for _, path := range c.Hide {
		p.add(hidden, path)
	}
	for _, m := range p {
		if m.kind == readable || m.kind == writable {
			f.reads = append(f.reads, m.path)
		}
	}
	for _, tmp := range []string{"/tmp", "/var/tmp"} {
		p.put(mount{tmp, writable, c.Temp})
	}
	return p
}

// inMemory returns a file with the text that has no name.
func inMemory(name string, text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), name)
	_, err = file.WriteAt(text, 0)
	return file, err
}

// Environ returns the environment of a fenced command; now is what earlier commands made of the
// first one's.
func (f *Fence) Environ(now, withheld []string) []string {
	env := confine.Clean(f.config.Env, now, withheld)
	return append(env, "TERM=dumb", "PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=", "GIT_TERMINAL_PROMPT=0", "PYTHONUNBUFFERED=1", "TMPDIR=/tmp")
}

// Close releases the fence. Commands that were started stay in it.
func (f *Fence) Close() {
	if f != nil {
		_ = f.filter.Close()
	}
}

// Start starts cmd in the fence.
func (f *Fence) Start(cmd *exec.Cmd) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	filter, err := os.Open("/proc/self/fd/" + strconv.Itoa(int(f.filter.Fd()))) // with an offset of its own
	if err != nil {
		_ = r.Close()
		return err
	}
	defer func() { _ = filter.Close() }()
	first := 3 + len(cmd.ExtraFiles)
	args := slices.Concat([]string{"bwrap"}, f.args, []string{
		"--chdir", cmd.Dir, "--seccomp", strconv.Itoa(first), "--info-fd", strconv.Itoa(first + 1), "--", cmd.Path,
	}, cmd.Args[1:])
	cmd.ExtraFiles = append(cmd.ExtraFiles, filter, w)
	cmd.Path, cmd.Args, cmd.Dir = f.bwrap, args, "/"
	if err := cmd.Start(); err != nil {
		_ = r.Close()
		return err
	}
	f.status[cmd.Process.Pid] = r
	return nil
}

// Sweep ends what the command left behind. Call it after the command's Wait.
func (f *Fence) Sweep(pid int) error {
	if r := f.status[pid]; r != nil {
		delete(f.status, pid)
		_ = r.Close()
	}
	return nil
}

// Reads reports whether commands may list a folder, following links.
func (f *Fence) Reads(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && slices.ContainsFunc(f.reads, func(place string) bool { return texts.Below(real, place) }) &&
		!slices.ContainsFunc(f.config.Hide, func(place string) bool { return texts.Below(real, place) })
}

// Available returns nil when commands with these settings and this environment can be fenced, else
// an error that is [ErrImpossible] and says what to install or switch on. It runs a program in a fence.
func Available(s Settings, env []string) error {
	temp, err := os.MkdirTemp("", "buddy-")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	defer func() { _ = os.RemoveAll(temp) }()
	f, err := New(Config{Settings: s, Env: env, Temp: temp})
	if err != nil {
		return err
	}
	defer f.Close()
	var said bytes.Buffer
	cmd := &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", ":"}, Dir: "/", Env: []string{}, Stderr: &said}
	if err := f.Start(cmd); err != nil {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	err = errors.Join(cmd.Wait(), f.Sweep(cmd.Process.Pid))
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s%s", ErrImpossible, strings.TrimSpace(said.String()), hint())
}

// hint says what to switch on where a program can't make namespaces.
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

func lookup(env []string) func(name string) string {
	return func(name string) string {
		for _, kv := range slices.Backward(env) {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v
			}
		}
		return ""
	}
}
