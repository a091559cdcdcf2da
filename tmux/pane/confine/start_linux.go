//go:build linux && (amd64 || arm64)

package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"buddy/texts"
)

// Box restricts commands. One Box serves many commands. Start and Sweep are safe for concurrent use, Stale and Renew
// are not. Call Close after the last use.
type Box struct {
	config Config
	abi    int      // the version of Landlock's interface
	rules  *os.File // Landlock's
	filter []bpf.RawInstruction
	paths  []pathRule // the source of the rules
	roots  []pathInfo // the workspace folders
	listed []listing

	surveys []*survey           // of the workspace folders
	secrets map[string][]string // paths excluded from the rules, by workspace folder
	git     []string            // files that the user's git reads
}

// New prepares the restrictions. Folders of c that are created later are not included. The error is [ErrImpossible] if
// the kernel lacks support.
func New(c Config) (*Box, error) {
	b, err := withoutRules(c)
	if err != nil {
		return nil, err
	}
	for _, root := range c.Read {
		b.surveys = append(b.surveys, newSurvey(root, c.Hidden))
	}
	return b, b.addRules()
}

// Renew returns a box as New would create it now. It is faster in a large workspace, because it reads only changed
// folders. If it succeeds, the caller may only call Close on b.
func (b *Box) Renew() (*Box, error) {
	next := &Box{config: b.config, abi: b.abi, filter: b.filter, surveys: b.surveys}
	return next, next.addRules()
}

// withoutRules returns a box without rules for paths.
func withoutRules(c Config) (b *Box, err error) {
	if err := c.Check(c.Temp); err != nil {
		return nil, err
	}
	b = &Box{config: c}
	if b.abi, err = version(c.ABI); err != nil {
		return nil, err
	}
	if err := Seal(); err != nil {
		return nil, err
	}
	b.filter, err = filter(b.abi)
	return b, err
}

// addRules adds the current rules for paths.
func (b *Box) addRules() (err error) {
	b.secrets = make(map[string][]string)
	for _, s := range b.surveys {
		b.secrets[s.root] = s.look()
		b.roots = append(b.roots, statPath(s.root))
	}
	for _, given := range slices.Concat(b.config.Given, b.config.Run) {
		b.roots = append(b.roots, statPath(given))
	}
	b.git = b.config.gitFiles()
	b.paths, b.listed = pathRules(b.config, b.git, b.secrets)
	b.rules, err = ruleSet(b.abi, b.paths)
	return err
}

// Seal keeps programs from inheriting descriptors that this process has itself inherited, such as files that the user's
// shell had open. Descriptors that this process has opened are never inherited. An error is an [ErrImpossible].
var Seal = sync.OnceValue(func() error {
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("%w: inherited descriptors stay open (Linux 5.11 or newer closes them): %w", ErrImpossible, err)
	}
	return nil
})

// Possible tries the restrictions of Start on a separate thread, and returns nil if all succeed, else an error that is
// [ErrImpossible]. It tries rules for a single folder, because collecting all folders takes long.
func Possible() error {
	temp, err := os.MkdirTemp("", "buddy-")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	defer func() { _ = os.Remove(temp) }()
	b, err := withoutRules(Config{Temp: temp})
	if err != nil {
		return err
	}
	if b.rules, err = ruleSet(b.abi, []pathRule{{path: temp, access: toFill}}); err != nil {
		return err
	}
	defer b.Close()
	return onThread(b.restrict)
}

// Close releases the box. Started commands stay restricted.
func (b *Box) Close() {
	if b != nil {
		_ = b.rules.Close()
	}
}

// Start starts cmd restricted. cmd must do nothing before Start has returned, because until then it could inspect the
// thread that started it, and its limits do not apply yet. So cmd should wait for input that the caller sends
// afterwards, like a shell that reads its command from a pipe.
func (b *Box) Start(cmd *exec.Cmd) error {
	adopt.prepare()
	err := onThread(func() error {
		if err := b.restrict(); err != nil {
			return err
		}
		return cmd.Start()
	})
	if err != nil {
		if cmd.Process != nil { // it runs, but some restrictions are missing
			err = errors.Join(err, cmd.Process.Kill())
			_ = cmd.Wait()
		}
		adopt.end(0)
		return err
	}
	pid := cmd.Process.Pid
	adopt.started(pid) // before its limits mark it, or the end of another command would treat it as left behind
	if err := limit(pid); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		adopt.end(pid)
		return err
	}
	return nil
}

// onThread calls f on a thread that is not reused, and returns when that thread has ended.
func onThread(f func() error) error {
	type result struct {
		tid int
		err error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// The process's first thread would not end with its goroutine. This goroutine occupies it, so that the next
			// attempt uses another thread.
			defer runtime.UnlockOSThread()
			done <- result{0, onThread(f)}
			return
		}
		done <- result{unix.Gettid(), f()}
		// The thread is never unlocked, so that it ends with this goroutine.
	}()
	r := <-done
	if r.tid == 0 {
		return r.err
	}
	for began := time.Now(); unix.Tgkill(unix.Getpid(), r.tid, 0) == nil; time.Sleep(20 * time.Microsecond) {
		if time.Since(began) > 10*time.Second {
			return errors.Join(r.err, fmt.Errorf("%w: the thread that starts commands does not end", ErrImpossible))
		}
	}
	return r.err
}

// restrict restricts the calling thread forever.
func (b *Box) restrict() error {
	fail := func(what string, err error) error { return fmt.Errorf("%w: %s: %w", ErrImpossible, what, err) }
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fail("no new privileges", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fail("ambient capabilities", err)
	}
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fail("capabilities", err)
	}
	if err := ll.LandlockRestrictSelf(int(b.rules.Fd()), 0); err != nil {
		return fail("Landlock", err)
	}
	// struct sock_fprog and sock_filter of linux/filter.h; bpf.RawInstruction has that layout.
	prog := unix.SockFprog{Len: uint16(len(b.filter)), Filter: (*unix.SockFilter)(unsafe.Pointer(&b.filter[0]))}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, seccompSetModeFilter, 0, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return fail("seccomp", e)
	}
	return nil
}

const seccompSetModeFilter = 1 // linux/seccomp.h

// Scope permanently keeps the calling thread and its children from sending signals to other processes, and from
// connecting to the abstract Unix sockets of others. If the kernel's Landlock does not support this, Scope only
// prevents new privileges. An error is an [ErrImpossible].
func Scope() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("%w: no new privileges: %w", ErrImpossible, err)
	}
	abi, err := version(0)
	if err != nil || abi < abiScope {
		return nil //nolint:nilerr // the namespaces restrict without it, too
	}
	fd, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{Scoped: ll.ScopeAbstractUnixSocket | ll.ScopeSignal}, 0)
	if err != nil {
		return fmt.Errorf("%w: Landlock: %w", ErrImpossible, err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := ll.LandlockRestrictSelf(fd, 0); err != nil {
		return fmt.Errorf("%w: Landlock: %w", ErrImpossible, err)
	}
	return nil
}

// limit bounds the resources of a process and its future children.
func limit(pid int) error {
	for _, l := range []struct {
		what int
		max  uint64
	}{{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, fileMax}, {unix.RLIMIT_CPU, cpuMax}, {unix.RLIMIT_AS, spaceMax}, {unix.RLIMIT_NPROC, tasks() + moreMax}} {
		var old unix.Rlimit
		if err := unix.Prlimit(pid, l.what, nil, &old); err != nil {
			return fmt.Errorf("%w: limits: %w", ErrImpossible, err)
		}
		if old.Max <= l.max {
			continue
		}
		if err := unix.Prlimit(pid, l.what, &unix.Rlimit{Cur: min(old.Cur, l.max), Max: l.max}, nil); err != nil {
			return fmt.Errorf("%w: limits: %w", ErrImpossible, err)
		}
	}
	// Ignore a refusal, which happens if this process is itself in a sandbox that allows writes only below its own
	// /proc/self. The kernel then only lacks the hint which process to end first when memory is low.
	err := os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("1000"), 0)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	return nil
}

// tasks returns the number of processes and threads of all users, which the kernel reports in one line. If it can't be
// read, the result is so high that the limit has no effect.
func tasks() uint64 {
	text, err := os.ReadFile("/proc/loadavg") // "0.20 0.18 0.12 1/80 11206": 1 of 80 is running
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 4 {
		return math.MaxUint32
	}
	_, all, _ := strings.Cut(fields[3], "/")
	n, err := strconv.ParseUint(all, 10, 32)
	if err != nil {
		return math.MaxUint32
	}
	return n
}

// Reads reports whether commands may list a folder, following links.
func (b *Box) Reads(dir string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	contains := func(place string) bool {
		real, err := filepath.EvalSymlinks(place)
		return err == nil && texts.Below(dir, real)
	}
	return slices.ContainsFunc(b.config.Read, contains) || // including folders that are listed entry by entry
		slices.ContainsFunc(b.paths, func(p pathRule) bool {
			return p.access&toRead == toRead && p.path != b.config.Temp && contains(p.path)
		})
}
