//go:build linux && (amd64 || arm64)

package confine

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"buddy/texts"
)

// TestEveryCallHasAnAction: every call that x/sys knows for either architecture is in the tables, once in each.
func TestEveryCallHasAnAction(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Fatal(err)
	}
	read := func(file, pattern string) (names []string) {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ = bytes.Cut(text, []byte("enceCalls hold ")) // those of the fence are only differences
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
		return names
	}
	for _, arch := range []string{"amd64", "arm64"} {
		known := read(filepath.Join(strings.TrimSpace(string(dir)), "unix", "zsysnum_linux_"+arch+".go"), `\tSYS_(\w+) += \d+`)
		if len(known) < 300 {
			t.Fatalf("%s has %d calls only", arch, len(known))
		}
		have := slices.Concat(read("calls_linux.go", `unix\.SYS_(\w+)`), read("arch_linux_"+arch+".go", `unix\.SYS_(\w+)`))
		for _, name := range known {
			// The first number of a range is not a call.
			if !slices.Contains(have, name) && name != "ARCH_SPECIFIC_SYSCALL" {
				t.Errorf("%s: %s has no action", arch, name)
			}
		}
	}
	for _, tables := range [][]map[string][]uint32{{calls, machineCalls}, {fenceCalls, machineFenceCalls}} {
		entries := 0
		for _, table := range tables {
			for action, numbers := range table {
				if entries += len(numbers); actions(1)[action] == nil {
					t.Errorf("unknown action %q", action)
				}
			}
		}
		if n := len(byNumber(tables...)); n != entries {
			t.Errorf("%d calls have %d actions", n, entries)
		}
	}
}

// TestFilter asks the filter about calls, in the library's virtual machine.
func TestFilter(t *testing.T) {
	const (
		yes    = retAllow
		eperm  = retErrno | uint32(unix.EPERM)
		eacces = retErrno | uint32(unix.EACCES)
		enosys = retErrno | uint32(unix.ENOSYS)
		enotty = retErrno | uint32(unix.ENOTTY)
	)
	for _, c := range []struct {
		abi  int
		call uint32
		args []uint64
		want uint32
	}{
		{6, unix.SYS_READ, nil, yes},
		{6, unix.SYS_FCHMOD, nil, eperm},
		{6, 9999, nil, enosys},
		{6, unix.SYS_MEMFD_CREATE, nil, enosys},
		{6, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, 0}, yes},
		{6, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, 15}, eacces},
		{6, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, 0}, eacces},
		{6, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, yes},
		{6, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC}, eacces},
		{6, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, yes},
		{6, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)}, yes},
		{6, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER}, eperm},
		{6, unix.SYS_IOCTL, []uint64{0, unix.TCGETS}, yes},
		{6, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, enotty},
		{6, unix.SYS_IOCTL, []uint64{0, 1<<32 | unix.TIOCSTI}, enotty},
		{6, unix.SYS_PRLIMIT64, []uint64{0, 7, 1}, yes},
		{6, unix.SYS_PRLIMIT64, []uint64{5, 7, 0}, yes},
		{6, unix.SYS_PRLIMIT64, []uint64{5, 7, 1}, eperm},
		{6, unix.SYS_PRLIMIT64, []uint64{5, 7, 1 << 32}, eperm},
		{6, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, 0, 5}, yes},
		{6, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_USER, 0, 5}, eperm},
		{6, unix.SYS_FCNTL, []uint64{0, unix.F_SETLEASE}, eperm},
		{6, unix.SYS_FCNTL, []uint64{0, unix.F_SETOWN}, yes},
		{5, unix.SYS_FCNTL, []uint64{0, unix.F_SETOWN}, eperm},
		{6, unix.SYS_KILL, nil, yes},
		{5, unix.SYS_KILL, nil, eperm},
		{3, unix.SYS_TRUNCATE, nil, yes},
		{2, unix.SYS_TRUNCATE, nil, eperm},
		{2, unix.SYS_OPENAT2, nil, enosys},
		{2, unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY}, yes},
		{2, unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY | unix.O_TRUNC}, eperm},
		{2, unix.SYS_OPENAT, []uint64{0, 0, 3 | unix.O_TRUNC}, eperm},
		{2, unix.SYS_OPENAT, []uint64{0, 0, unix.O_WRONLY | unix.O_TRUNC}, yes},
		{3, unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY | unix.O_TRUNC}, yes},
	} {
		if got := ask(t, c.abi, auditArch, c.call, c.args); got != c.want {
			t.Errorf("interface %d, call %d%v: %#x, want %#x", c.abi, c.call, c.args, got, c.want)
		}
	}
	if got := ask(t, 6, 0x40000003, unix.SYS_READ, nil); got != retKill {
		t.Errorf("a call of another machine: %#x", got)
	}
	if got := ask(t, 6, auditArch, foreignNumbers+1, nil); got != retKill {
		t.Errorf("a call with a foreign number: %#x", got)
	}
}

// ask runs the filter. The library's machine reads words in network order.
func ask(t *testing.T, abi int, arch, call uint32, args []uint64) uint32 {
	t.Helper()
	raw, err := filter(abi)
	if err != nil {
		t.Fatal(err)
	}
	insts, ok := bpf.Disassemble(raw)
	vm, err := bpf.NewVM(insts)
	if err != nil || !ok || len(insts) > 4096 {
		t.Fatalf("%d instructions: %v, %v", len(insts), ok, err)
	}
	data := make([]byte, 64)
	put := func(off, v uint32) {
		for i := range 4 {
			data[int(off)+i] = byte(v >> (24 - 8*i))
		}
	}
	put(offNumber, call)
	put(offArch, arch)
	for i, a := range args {
		put(low(i), uint32(a))
		put(high(i), uint32(a>>32))
	}
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

// TestNothingStartsHalfRestricted: if one of the restrictions fails, nothing runs.
func TestNothingStartsHalfRestricted(t *testing.T) {
	box, err := New(Config{Env: os.Environ(), Temp: t.TempDir()})
	if err != nil {
		t.Skip(err)
	}
	mark := filepath.Join(t.TempDir(), "ran")
	for what, broken := range map[string]*Box{
		"rules":  {rules: os.Stdin, filter: box.filter, config: box.config},
		"filter": {rules: box.rules, filter: []bpf.RawInstruction{{Op: 0xffff}}, config: box.config},
	} {
		cmd := exec.Command("touch", mark)
		if err := broken.Start(cmd); !errors.Is(err, ErrImpossible) || cmd.Process != nil {
			t.Errorf("with broken %s: %v, process %v", what, err, cmd.Process)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
	// This process is not restricted.
	if err := exec.Command("touch", mark).Run(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestWorkThatHoldsTheSupervisorsFiles(t *testing.T) {
	temp := t.TempDir()
	if _, err := New(Config{Reach: Reach{Read: []string{filepath.Dir(temp)}}, Temp: temp}); !errors.Is(err, ErrImpossible) {
		t.Errorf("it was taken: %v", err)
	}
}

// TestRepository: a link to a history elsewhere counts only if that repository links back.
func TestRepository(t *testing.T) {
	dir := t.TempDir()
	run := exec.Command("sh", "-ec", `git init -q main; cd main; git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; mkdir -p sub/deep; git worktree add -q ../tree
mkdir ../victim ../evil; printf 'gitdir: %s\n' "$PWD/../victim" >../evil/.git`)
	run.Dir, run.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := run.CombinedOutput(); err != nil {
		t.Skipf("no git: %v %s", err, out)
	}
	for root, want := range map[string][]string{
		"main": {"main/.git"}, "main/sub/deep": {"main/.git"}, "tree": {"main/.git/worktrees/tree", "main/.git"}, "evil": nil, "victim": nil,
	} {
		var got []string
		for _, p := range repository(filepath.Join(dir, root), "/home/nobody") {
			rel, _ := filepath.Rel(dir, p)
			got = append(got, rel)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", root, got, want)
		}
	}
	if got := repository(filepath.Join(dir, "main/sub"), filepath.Join(dir, "main")); got != nil {
		t.Errorf("the home is taken for a project: %q", got)
	}
}

func TestPlacesAreNotTheHome(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home, "JAVA_HOME=" + home, "GOROOT=/", "PYENV_ROOT=" + filepath.Dir(home), "PATH=" + home + ":.::" + home + "/bin:/proj/bin", "CONDA_PREFIX=/proj"}
	rules, _ := pathRules(Config{Reach: Reach{Read: []string{"/proj"}}, Env: env, Temp: "/t"}, nil, nil)
	for _, p := range rules {
		if texts.Below(home, p.path) || p.path == "/" || texts.Below(p.path, "/proj") && p.access&toRun == toRun {
			t.Errorf("%q is allowed", p.path)
		}
	}
}

func TestEtcHasNoSecrets(t *testing.T) {
	for _, p := range etc() {
		for _, bad := range []string{"/etc/shadow", "/etc/sudoers", "/etc/ssh", "/etc/ssl/private"} {
			if texts.Below(bad, p) || texts.Below(p, bad) {
				t.Errorf("%s may be read, because of %s", bad, p)
			}
		}
	}
	if !strings.Contains(strings.Join(etc(), "\n"), "/etc/passwd") {
		t.Error("/etc/passwd is not allowed")
	}
}

// BenchmarkStart measures the cost of the sandbox per command.
func BenchmarkStart(b *testing.B) {
	temp := b.TempDir()
	box, err := New(Config{Env: os.Environ(), Temp: temp})
	if err != nil {
		b.Skip(err)
	}
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("confined", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("/bin/true")
			if err := errors.Join(box.Start(cmd), cmd.Wait(), box.Sweep(cmd.Process.Pid)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("box", func(b *testing.B) {
		for b.Loop() {
			box, err := New(Config{Env: os.Environ(), Temp: temp})
			if err != nil {
				b.Fatal(err)
			}
			box.Close()
		}
	})
}

// A command can't start an endless number of processes, as awk or a repository's script might: the user may have a
// thousand more than at the start.
func TestProcessesAreLimited(t *testing.T) {
	if err := Possible(); err != nil {
		t.Skip(err)
	}
	work, temp := t.TempDir(), t.TempDir()
	box, err := New(Config{Reach: Reach{Read: []string{work}}, Env: os.Environ(), Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	most := func(box *Box) int {
		t.Helper()
		n, err := strconv.Atoi(strings.TrimSpace(runWay(t, box, work, temp, "ulimit -u")))
		if err != nil {
			return math.MaxInt // unlimited
		}
		return n
	}
	before := int(tasks())
	if free := most(nil); free <= before+2*moreMax {
		t.Skipf("this machine allows %d processes itself", free)
	}
	if got := most(box); got < before || got > before+2*moreMax {
		t.Errorf("a command may have %d processes, %d run", got, before)
	}
}
