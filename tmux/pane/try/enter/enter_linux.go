// Package enter is the part of buddy that prepares the sandbox in which package try runs a command.
//
// A first process creates namespaces and starts a second process in them. The second one mounts overlays over the
// writable folders, opens the port of a name server, and replaces itself with bwrap. The main process of buddy can't
// be the first one, because it hides from debuggers (PR_SET_DUMPABLE), and an ordinary user can't set the id maps of
// such a process.
//
// As in package inside, the code runs in an init function and imports little, so that other packages are not
// initialised.
package enter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Flag is the argument of `buddy pane` that selects this code. It is followed by the number of a socket, the path of
// bwrap, and bwrap's arguments. The socket carries one message, the text of a [Setup]. The answer passes on the socket
// of the name server's port.
const Flag = "--try"

// inFlag selects the second process, which has the same arguments.
const inFlag = "--try-inside"

// Setup describes the file system and the limits of a command. All paths are absolute.
type Setup struct {
	Overlays []Overlay
	ReadOnly []string // writable paths that become read-only
	Resolver string   // the file that commands see as /etc/resolv.conf
	FileMax  uint64   // the size of a written file, in bytes
	TasksMax uint64   // processes and threads; the kernel does not limit those of root
}

// Overlay describes a folder whose changes go to a layer.
type Overlay struct {
	Folder string
	Layer  string // contains the folders [Upper] and [Work]
}

// The folders of a layer.
const (
	Upper = "upper" // changes
	Work  = "work"  // for the kernel
)

// Text returns the setup as a message.
func (s Setup) Text() string {
	words := []string{s.Resolver, strconv.FormatUint(s.FileMax, 10), strconv.FormatUint(s.TasksMax, 10), strconv.Itoa(len(s.Overlays))}
	for _, o := range s.Overlays {
		words = append(words, o.Folder, o.Layer)
	}
	return strings.Join(append(words, s.ReadOnly...), "\x00")
}

// parse reads the text of a setup.
func parse(text string) (s Setup, err error) {
	words := strings.Split(text, "\x00")
	if len(words) < 4 {
		return s, errors.New("no setup")
	}
	s.Resolver = words[0]
	var e1, e2, e3 error
	s.FileMax, e1 = strconv.ParseUint(words[1], 10, 64)
	s.TasksMax, e2 = strconv.ParseUint(words[2], 10, 64)
	n, e3 := strconv.Atoi(words[3])
	words = words[4:]
	if err := errors.Join(e1, e2, e3); err != nil || n < 0 || len(words) < 2*n {
		return s, fmt.Errorf("a wrong setup: %w", err)
	}
	for ; n > 0; n-- {
		s.Overlays = append(s.Overlays, Overlay{words[0], words[1]})
		words = words[2:]
	}
	s.ReadOnly = words
	return s, nil
}

func init() {
	if len(os.Args) < 3 || os.Args[1] != "pane" || os.Args[2] != Flag && os.Args[2] != inFlag {
		return
	}
	runtime.LockOSThread() // capabilities belong to a thread, and the second process ends with its thread
	do := start
	if os.Args[2] == inFlag {
		do = become
	}
	_, _ = os.Stderr.WriteString("buddy: the try: " + do(os.Args[3:]).Error() + "\n")
	os.Exit(1)
}

// start starts the second process, and ends this process with the same exit code. It returns only on failure.
func start(args []string) error {
	users, groups, err := ids()
	if err != nil {
		return err
	}
	root := os.Getuid() == 0
	a := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET, Pdeathsig: unix.SIGKILL,
		UidMappings: users, GidMappings: groups, GidMappingsEnableSetgroups: root,
	}
	if !root {
		a.AmbientCaps = []uintptr{ // for mounts, for what the kernel does in layers, and for the network
			unix.CAP_SYS_ADMIN, unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_MKNOD, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE,
		}
	}
	p, err := os.StartProcess("/proc/self/exe", append([]string{os.Args[0], "pane", inFlag}, args...), &os.ProcAttr{Env: os.Environ(), Files: inherited(), Sys: a})
	if err != nil {
		return err
	}
	end, err := p.Wait()
	if err != nil {
		return err
	}
	status, _ := end.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		os.Exit(128 + int(status.Signal()))
	}
	os.Exit(status.ExitStatus())
	return nil
}

// inherited returns the files that this process inherited, by descriptor. The descriptors are consecutive, up to the
// first one that is closed on exec, which Go itself has opened.
func inherited() (all []*os.File) {
	for fd := 0; ; fd++ {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			return all
		}
		all = append(all, os.NewFile(uintptr(fd), ""))
	}
}

// ids returns the ids that the user namespace maps: all ids for root, only the user's own for others.
func ids() (users, groups []syscall.SysProcIDMap, err error) {
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		return []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}, []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}, nil
	}
	if users, err = idMap("/proc/self/uid_map"); err != nil {
		return nil, nil, err
	}
	groups, err = idMap("/proc/self/gid_map")
	return users, groups, err
}

// idMap reads the ids that exist in this namespace.
func idMap(file string) (all []syscall.SysProcIDMap, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		var first, outside, size int
		if _, err := fmt.Sscan(line, &first, &outside, &size); err != nil {
			return nil, fmt.Errorf("%q: %w", file, err)
		}
		all = append(all, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: size})
	}
	return all, nil
}

// become prepares the namespaces of this process with the setup from the socket with the number args[0], and becomes
// the program args[1] with the arguments after it. It returns only on failure.
func become(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: pane " + Flag + " FD PROGRAM [ARG]")
	}
	outside, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	unix.CloseOnExec(outside)
	message := make([]byte, 1<<20)
	n, err := unix.Read(outside, message)
	if err != nil {
		return os.NewSyscallError("read", err)
	}
	s, err := parse(string(message[:n]))
	if err != nil {
		return err
	}
	if err := errors.Join(s.mount(), loopback()); err != nil {
		return err
	}
	if err := serve(outside); err != nil {
		return err
	}
	for what, most := range map[int]uint64{unix.RLIMIT_FSIZE: s.FileMax, unix.RLIMIT_NPROC: s.TasksMax, unix.RLIMIT_CORE: 0} {
		if err := lower(what, most); err != nil {
			return err
		}
	}
	// bwrap refuses to start with capabilities that it did not expect.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	return unix.Exec(args[1], args[1:], os.Environ())
}

// lower reduces a limit of this process to most, if it is higher.
func lower(what int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(what, &now); err != nil {
		return os.NewSyscallError("getrlimit", err)
	}
	most = min(most, now.Max)
	return os.NewSyscallError("setrlimit", unix.Setrlimit(what, &unix.Rlimit{Cur: min(most, now.Cur), Max: most}))
}

// mount creates the mounts.
func (s Setup) mount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts can't be made private: %w", err)
	}
	for _, o := range s.Overlays {
		if err := o.mount(); err != nil {
			return fmt.Errorf("no overlay over %q: %w", o.Folder, err)
		}
	}
	for _, path := range s.ReadOnly {
		if err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("%q can't be mounted: %w", path, err)
		}
		if err := unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return fmt.Errorf("%q can't be made read-only: %w", path, err)
		}
	}
	resolver, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil {
		return nil //nolint:nilerr // without the file, programs ask the name server on the loopback
	}
	if err := unix.Mount(s.Resolver, resolver, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("%q can't be mounted: %w", resolver, err)
	}
	return nil
}

// mount mounts the overlay. Its options name descriptors, because commas and colons in a path would end an option. The
// overlay is volatile: the kernel writes nothing to the disk before the changes are kept, because otherwise each copied
// file would have to wait for the disk.
func (o Overlay) mount() error {
	options := "userxattr,volatile"
	for _, dir := range []struct{ option, path string }{
		{"lowerdir", o.Folder}, {"upperdir", filepath.Join(o.Layer, Upper)}, {"workdir", filepath.Join(o.Layer, Work)},
	} {
		fd, err := unix.Open(dir.path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("%q: %w", dir.path, err)
		}
		options += "," + dir.option + "=/proc/self/fd/" + strconv.Itoa(fd)
	}
	return unix.Mount("buddy", o.Folder, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options)
}

// loopback starts the loopback device of the network namespace.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer func() { _ = unix.Close(fd) }()
	device, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	device.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, device); err != nil {
		return fmt.Errorf("the loopback can't be started: %w", err)
	}
	return nil
}

// serve opens the port of the name server on the loopback and passes its socket on, over the socket with the number
// outside.
func serve(outside int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: 53, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return fmt.Errorf("the port of the name server: %w", err)
	}
	return os.NewSyscallError("sendmsg", unix.Sendmsg(outside, []byte{1}, unix.UnixRights(fd), nil, 0))
}
