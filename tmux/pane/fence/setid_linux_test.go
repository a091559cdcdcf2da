//go:build linux && (amd64 || arm64)

package fence

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setIDFlag is the argument that makes the test binary create set-user-ID and set-group-ID files in its working
// directory.
const setIDFlag = "--set-id"

// setIDWays are the calls that set bits of a file's mode. Each creates or changes the named file.
var setIDWays = map[string]func(name *byte, mode uint32){
	"fchmod":    func(_ *byte, mode uint32) { withFile(func(fd int) { _ = unix.Fchmod(fd, mode) }) },
	"fchmodat":  func(name *byte, mode uint32) { raw(unix.SYS_FCHMODAT, at(), name, mode) },
	"fchmodat2": func(name *byte, mode uint32) { raw(unix.SYS_FCHMODAT2, at(), name, mode) },
	"openat":    func(name *byte, mode uint32) { raw(unix.SYS_OPENAT, at(), name, unix.O_CREAT|unix.O_RDWR, mode) },
	"tmpfile": func(name *byte, mode uint32) {
		fd, err := unix.Open(".", unix.O_TMPFILE|unix.O_RDWR, mode)
		if err == nil {
			_ = unix.Linkat(unix.AT_FDCWD, fmt.Sprint("/proc/self/fd/", fd), unix.AT_FDCWD, unix.BytePtrToString(name), unix.AT_SYMLINK_FOLLOW)
		}
	},
	"openat2": func(name *byte, mode uint32) {
		how := &unix.OpenHow{Flags: unix.O_CREAT | unix.O_RDWR, Mode: uint64(mode)}
		raw(unix.SYS_OPENAT2, at(), name, how, uint32(unix.SizeofOpenHow))
	},
	"mknodat": func(name *byte, mode uint32) { raw(unix.SYS_MKNODAT, at(), name, mode|unix.S_IFREG, uint32(0)) },
}

// setIDWaysAMD64 are the calls that other architectures lack, by their numbers.
var setIDWaysAMD64 = map[string]func(name *byte, mode uint32){
	"open":  func(name *byte, mode uint32) { raw(2, name, uint32(unix.O_CREAT|unix.O_RDWR), mode) },
	"creat": func(name *byte, mode uint32) { raw(85, name, mode) },
	"chmod": func(name *byte, mode uint32) { raw(90, name, mode) },
	"mknod": func(name *byte, mode uint32) { raw(133, name, mode|unix.S_IFREG, uint32(0)) },
}

func at() int { return unix.AT_FDCWD }

func withFile(do func(fd int)) {
	if fd, err := unix.Open("fchmod", unix.O_RDONLY, 0); err == nil {
		do(fd)
		_ = unix.Close(fd)
	}
}

// raw makes a system call and ignores its error.
func raw(number uintptr, args ...any) {
	var a [6]uintptr
	for i, arg := range args {
		switch v := arg.(type) {
		case *byte:
			a[i] = uintptr(unsafe.Pointer(v))
		case *unix.OpenHow:
			a[i] = uintptr(unsafe.Pointer(v))
		case uint32:
			a[i] = uintptr(v)
		case int:
			a[i] = uintptr(v)
		}
	}
	_, _, _ = unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	runtime.KeepAlive(args)
}

// waysHere returns all calls of this machine.
func waysHere() map[string]func(*byte, uint32) {
	all := map[string]func(*byte, uint32){}
	for name, do := range setIDWays {
		all[name] = do
	}
	if runtime.GOARCH == "amd64" {
		for name, do := range setIDWaysAMD64 {
			all[name] = do
		}
	}
	return all
}

// setIDs tries all calls with a mode.
func setIDs(mode uint32) {
	unix.Umask(0)
	for name, do := range waysHere() {
		if strings.Contains(name, "chmod") {
			if err := os.WriteFile(name, nil, 0o755); err != nil {
				panic(err)
			}
		}
		path, _ := unix.BytePtrFromString(name)
		do(path, mode)
	}
}

// TestFenceLeavesNoProgramThatSetsItsUser: no call sets such a bit on a file of the workspace, and each works with
// other modes.
func TestFenceLeavesNoProgramThatSetsItsUser(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	f := newFence(t, Settings{Work: []string{work}, Write: []string{exe}})
	modes := func(dir string) map[string]os.FileMode {
		all := map[string]os.FileMode{}
		for name := range waysHere() {
			if info, err := os.Stat(dir + "/" + name); err == nil {
				all[name] = info.Mode()
			}
		}
		return all
	}
	for _, mode := range []uint32{0o4711, 0o2711} {
		outside := t.TempDir()
		cmd := exec.Command(exe, setIDFlag, fmt.Sprint(mode))
		cmd.Dir = outside
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		if _, err := run(t, f, work, fmt.Sprint(exe, " ", setIDFlag, " ", mode)); err != nil {
			t.Fatal(err)
		}
		plain, fenced := modes(outside), modes(work)
		for name := range waysHere() {
			if name == "fchmodat2" && unix.Fchmodat(at(), "/nowhere", 0, unix.AT_SYMLINK_NOFOLLOW) != unix.ENOENT {
				continue // the kernel lacks it
			}
			if plain[name]&(os.ModeSetuid|os.ModeSetgid) == 0 {
				t.Errorf("%s with %o outside of the fence gives %v: it proves nothing", name, mode, plain[name])
			}
			if fenced[name]&(os.ModeSetuid|os.ModeSetgid) != 0 {
				t.Errorf("%s with %o in the fence gives %v", name, mode, fenced[name])
			}
		}
	}
	if _, err := run(t, f, work, fmt.Sprint("rm *; ", exe, " ", setIDFlag, " ", 0o711)); err != nil {
		t.Fatal(err)
	}
	for name, mode := range modes(work) {
		if mode.Perm() != 0o711 {
			t.Errorf("%s in the fence gives %v, want 0711", name, mode)
		}
	}
	if n := len(modes(work)); n < len(waysHere())-1 { // openat2 is missing
		t.Errorf("%d calls made a file", n)
	}
}
