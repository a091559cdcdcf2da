// Package enter is this program's start-up code around a command that is tried: in new namespaces, it puts overlays over
// the writable folders, opens the port of a name server, and becomes bwrap. It runs while the package is initialised,
// as package inside does, because the initialisation of unneeded packages takes longer than all of this. Hence it
// imports little.
package enter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Flag is the argument of `buddy pane` that selects this. A socket's number, the path of bwrap and its arguments follow
// it. The socket has one message, the text of a [Setup], and gets one with the socket of the name server's port.
const Flag = "--try"

// Setup holds the surroundings of a command. All paths are absolute.
type Setup struct {
	Overlays []Overlay
	ReadOnly []string // writable paths that become read-only
	Resolver string   // the file that commands see as /etc/resolv.conf
	FileMax  uint64   // the size of a written file, in bytes
	TasksMax uint64   // processes and threads; the kernel does not limit those of root
}

// Overlay is a folder whose changes go to a layer.
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
	if len(os.Args) < 3 || os.Args[1] != "pane" || os.Args[2] != Flag {
		return
	}
	_, _ = os.Stderr.WriteString("buddy: the try: " + become(os.Args[3:]).Error() + "\n")
	os.Exit(1)
}

// become prepares the namespaces of this process with the setup from the socket with the number args[0], and becomes
// the program args[1] with the arguments after it. It returns only on failure.
func become(args []string) error {
	runtime.LockOSThread() // capabilities belong to a thread
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

// lower limits a resource, unless it has a lower limit.
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

// mount mounts the overlay. Its options name descriptors, because commas and colons in a path would end an option. It is
// volatile: the kernel writes nothing to the disk before the changes are kept, otherwise each copied file would wait for
// the disk.
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

// serve opens the port of the name server on the loopback and sends its socket outside.
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
