package hosttest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/renameio/v2"

	"buddy/tmux/host"
	"buddy/tmux/tmuxtest"
)

// The kinds of images.
const (
	Bash   = "bash"   // bash, tmux and the GNU tools
	Ash    = "ash"    // BusyBox and tmux
	NoTmux = "notmux" // BusyBox only
)

// gnu lists the programs in an image with bash, apart from tmux, which every image has.
var gnu = []string{
	"bash", "sh", "basename", "cat", "chmod", "chown", "cp", "cut", "date", "dd", "dirname", "echo", "env", "expr", "false", "find",
	"grep", "head", "id", "kill", "ln", "ls", "mkdir", "mkfifo", "mv", "printf", "pwd", "readlink", "rm", "rmdir", "sed", "seq", "setsid",
	"sleep", "sort", "stat", "stty", "tail", "tee", "test", "touch", "tr", "true", "tty", "uname", "uniq", "wc", "yes", "tput",
}

// Container is a running container, which ends with its test.
type Container struct {
	Name   string
	Engine string
	// Dir is a short private directory with the same path inside and outside. The container's
	// TMUX_TMPDIR is there.
	Dir string
}

// NewContainer runs a container from an image of the given kind, built from this machine's programs. With podman, the
// container shares this machine's processes, so that a test can refer to them by number.
func NewContainer(t testing.TB, kind string) *Container {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a container")
	}
	c := &Container{Engine: need(t, engine()), Dir: tmuxtest.Dir(t)}
	image := image(t, kind)
	c.Name = "buddy-" + filepath.Base(c.Dir)
	args := []string{
		"run", "-d", "--name", c.Name, "--network", "none", "-e", "TMUX_TMPDIR=" + c.Dir, "-e", "PATH=/usr/bin:/bin",
		"-v", c.Dir + ":" + c.Dir, image, "sleep", "3600",
	}
	if engine() == "podman" {
		// Not with docker: its client would wait forever for a program in a container that was stopped.
		args = slices.Insert(args, 1, "--pid", "host")
	}
	if out, err := exec.Command(c.Engine, args...).CombinedOutput(); err != nil {
		t.Skipf("%s cannot run containers here: %v\n%s", c.Engine, err, out)
	}
	t.Cleanup(func() { _ = exec.Command(c.Engine, "rm", "-f", "-t", "0", c.Name).Run() })
	return c
}

// engine returns the program that runs containers: podman, or the one in BUDDY_TEST_ENGINE.
func engine() string { return cmp.Or(os.Getenv("BUDDY_TEST_ENGINE"), "podman") }

// Host returns the container as a host, which is closed at the test's end.
func (c *Container) Host(t testing.TB) *host.Host {
	t.Helper()
	h, err := host.Container(c.Name)
	return closing(t, h, err)
}

// Start starts the container after [Container.Stop].
func (c *Container) Start(t testing.TB) {
	t.Helper()
	run(t, c.Engine, "start", c.Name)
}

// Stop ends the programs in the container. Podman fails with "active exec sessions, refusing to clean up" if an exec
// starts meanwhile, although it has stopped the container, so Stop repeats the call until it succeeds.
func (c *Container) Stop(t testing.TB) {
	t.Helper()
	for try := 1; ; try++ {
		out, err := exec.Command(c.Engine, "stop", "-t", "0", c.Name).CombinedOutput()
		if err == nil {
			return
		}
		if try == 20 || !strings.Contains(string(out), "active exec sessions") {
			t.Fatalf("%s stop %s: %v\n%s", c.Engine, c.Name, err, out)
		}
		time.Sleep(250 * time.Millisecond)
	}
}

var setUp = sync.OnceValue(func() error {
	conf := filepath.Join(cacheDir(), "containers.conf")
	const text = `[containers]
netns = "none"
default_ulimits = ["nofile=1024:4096", "nproc=1024:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`
	if err := os.MkdirAll(cacheDir(), 0o700); err != nil {
		return err
	}
	if err := renameio.WriteFile(conf, []byte(text), 0o600); err != nil { // other packages' tests may be reading it
		return err
	}
	return os.Setenv("CONTAINERS_CONF", conf)
})

func cacheDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("buddy-test-%d", os.Getuid()))
}

// image returns the name of the image of a kind, and builds it if it is missing.
func image(t testing.TB, kind string) string {
	t.Helper()
	if os.Getenv("CONTAINERS_CONF") == "" {
		if err := setUp(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(cacheDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(cacheDir(), "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	programs := gnu
	if kind != Bash {
		programs = []string{need(t, "busybox")}
	}
	if kind != NoTmux {
		programs = append([]string{"tmux"}, programs...)
	}
	sum := sha256.Sum256([]byte(strings.Join(programs, " ") + " 2"))
	name := "localhost/buddy/test-" + kind + ":" + hex.EncodeToString(sum[:4])
	if exec.Command(engine(), "image", "inspect", name).Run() == nil {
		return name
	}
	root := filepath.Join(tmuxtest.Dir(t), "root")
	fill(t, root, kind, programs)
	script := fmt.Sprintf("tar -C %s -c . | %s import - %s", host.Quote(root), engine(), host.Quote(name))
	if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
		t.Skipf("%s cannot make an image here: %v\n%s", engine(), err, out)
	}
	return name
}

// fill writes the file system of an image.
func fill(t testing.TB, root, kind string, programs []string) {
	t.Helper()
	for _, d := range []string{"usr/bin", "etc", "tmp", "root", "proc", "dev"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(root, "tmp"), 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("usr/bin", filepath.Join(root, "bin")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n")
	if err := os.Chmod(filepath.Join(root, "etc/passwd"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		path := need(t, p)
		run(t, "cp", "-L", path, filepath.Join(root, "usr/bin", filepath.Base(p)))
		libs, _ := exec.Command("ldd", path).Output() // fails for static programs
		for _, word := range strings.Fields(string(libs)) {
			if strings.HasPrefix(word, "/") {
				copyTo(t, root, word)
			}
		}
	}
	if kind != Bash {
		for _, name := range strings.Fields(run(t, "busybox", "--list")) {
			_ = os.Symlink("busybox", filepath.Join(root, "usr/bin", name)) // tmux is there already
		}
	}
	for _, pattern := range []string{"/usr/lib/locale/C.utf8", "/lib/terminfo/*/screen*", "/lib/terminfo/*/xterm*", "/lib/terminfo/d/dumb"} {
		all, _ := filepath.Glob(pattern)
		for _, path := range all {
			copyTo(t, root, path)
		}
	}
}

func copyTo(t testing.TB, root, path string) {
	t.Helper()
	to := filepath.Join(root, path)
	if _, err := os.Lstat(to); err == nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, "cp", "-rL", path, to)
}
