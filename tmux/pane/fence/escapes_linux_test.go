//go:build linux && (amd64 || arm64)

package fence

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

//go:embed testdata/escapes.txt
var escapesText string

//go:embed testdata/world.sh
var worldScript string

// allLines names the variable by which every line runs, as both users; with the value "more" those of the
// read-only sandbox, too.
const allLines = "FENCE_TEST_ALL"

// asUser names the variable by which TestEscapes starts itself as one user.
const asUser = "FENCE_TEST_USER"

const (
	secretWord = "c4n4ry" // what no output may have
	ranWord    = "r4n"    // what a line prints if what must not work does
	sleepTime  = "98765"  // of what lines leave behind, replaced by a number of the test's own
	nobody     = 65534    // an ordinary user
	lineTime   = time.Minute
	testPath   = "/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// escape is a line of escapes.txt.
type escape struct {
	canary string   // which one it changes
	needs  []string // programs and other things
	line   string
}

func escapes(t *testing.T, text string) (all []escape) {
	t.Helper()
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		head, line, ok := strings.Cut(l, ": ")
		if !ok {
			t.Fatalf("%q: no canary", l)
		}
		canary, needs, _ := strings.Cut(strings.TrimSuffix(head, "]"), "[")
		all = append(all, escape{canary, strings.FieldsFunc(needs, func(r rune) bool { return r == ',' }), line})
	}
	return all
}

// TestEscapes runs lines as they are, which must change their canary, and in the fence, which must change
// none: as root and as an ordinary user. A line that changes nothing as it is does not count.
func TestEscapes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if err := Available(Settings{Work: []string{t.TempDir()}}, os.Environ()); err != nil {
		t.Skip(err)
	}
	if user := os.Getenv(asUser); user != "" {
		testEscapes(t, user)
		return
	}
	users := map[string]*syscall.Credential{"self": nil}
	if os.Getuid() == 0 {
		users["nobody"] = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	dir, err := os.MkdirTemp("/tmp", "fence")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program, err := os.ReadFile(os.Args[0])
	name := filepath.Join(dir, "test")
	more, _ := os.ReadFile("../confine/testdata/hostile.txt")
	if err := errors.Join(err, os.WriteFile(name, program, 0o755), os.WriteFile(dir+"/more", more, 0o644), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	for user, who := range users {
		t.Run(user, func(t *testing.T) {
			cmd := exec.Command(name, "-test.run=^TestEscapes$", "-test.v", "-test.timeout=60m")
			cmd.Dir = dir
			cmd.Env = []string{asUser + "=" + user, "SECRET=" + secretWord, "PATH=" + testPath, allLines + "=" + os.Getenv(allLines)}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("lines counted")) {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

func testEscapes(t *testing.T, user string) {
	everything := os.Getenv(allLines) != ""
	w := newWorld(t)
	own := escapes(t, escapesText)
	all := own
	if more, err := os.ReadFile("more"); os.Getenv(allLines) == "more" && err == nil {
		all = append(slices.Clone(own), escapes(t, string(more))...)
	}
	seen, held := w.fences() // where $OUT is there read-only, and where it is not
	counted, ownCounted := map[string]int{}, 0
	for i, e := range all {
		if !everything && (i%8 != 0 || user == "nobody" && i%16 != 0) || !w.has(e.needs) {
			continue
		}
		if i >= len(own) && (e.canary == "secret" || e.canary == "ran") {
			continue // of the workspace, which the fence does not keep from reading and running
		}
		if got := w.plain(e); !slices.Contains(got, e.canary) {
			if i < len(own) && !slices.Contains(e.needs, "maybe") {
				t.Errorf("%s: %s\nas it is changes %q: it proves nothing", e.canary, e.line, got)
			}
			continue
		}
		counted[e.canary]++
		if i < len(own) {
			ownCounted++
		}
		f := held
		if e.canary == "file" {
			f = seen
		}
		got := w.fenced(f, e)
		if e.canary == "file" { // $OUT may be read then
			got = slices.DeleteFunc(got, func(c string) bool { return c == "secret" })
		}
		if slices.Contains(got, e.canary) || len(got) > 0 && i < len(own) {
			t.Errorf("%s: %s\nin the fence (%s) changes %q", e.canary, e.line, user, got)
		}
	}
	if left := w.remaining(); len(left) > 0 {
		t.Errorf("processes were left: %v", left)
	}
	t.Logf("%d of our own and %d in all lines counted: %v", ownCounted, sum(counted), counted)
	if want := 100; everything && ownCounted < want {
		t.Errorf("only %d lines could be tried on this machine, want %d", ownCounted, want)
	}
}

func sum(counted map[string]int) (n int) {
	for _, c := range counted {
		n += c
	}
	return n
}

// world holds everything that lines could change.
type world struct {
	t                    *testing.T
	base                 string // holds all of it
	out, ws, home, temp  string
	env                  []string
	tcp, udp, sock, gram string
	contacts             atomic.Int64
	victim               int
	sleep                string
}

func newWorld(t *testing.T) *world {
	base, err := os.MkdirTemp("/var/tmp", "k")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, base: base, out: base + "/out", ws: base + "/ws", home: base + "/home", temp: base + "/tmp", sleep: strconv.Itoa(2e8 + os.Getpid())}
	shm := "/dev/shm/" + filepath.Base(base)
	t.Cleanup(func() {
		w.kill()
		_ = os.RemoveAll(base)
		_ = os.Remove(shm)
	})
	if err := os.WriteFile(shm, []byte(secretWord+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.listen()
	w.env = []string{
		"PATH=" + testPath, "HOME=" + w.home, "OUT=" + w.out, "WS=" + w.ws, "TMPDIR=" + w.temp, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "SHM=" + shm,
		"TCP=" + w.tcp, "UDP=" + w.udp, "SOCK=" + w.sock, "DGRAM=" + w.gram, "ABSTRACT=" + w.sock,
	}
	w.build(worldScript)
	w.breed()
	return w
}

// fences returns two, one of which sees the folder outside of the workspace, read-only.
func (w *world) fences() (seen, held *Fence) {
	make1 := func(env []string) *Fence {
		f, err := New(Config{Env: env, Temp: w.temp, Settings: Settings{
			Work: []string{w.ws}, Hide: []string{w.ws + "/.buddyx", w.ws + "/keys/hidden"},
		}})
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(f.Close)
		return f
	}
	return make1(append(slices.Clone(w.env), "GOROOT="+w.out)), make1(w.env)
}

func (w *world) build(script string) {
	cmd := exec.Command("bash", "-c", script)
	cmd.Env, cmd.Dir = append(slices.Clone(w.env), "SAFE="+w.base+"/safe", "VDIR="+w.base+"/c4n4ry-v"), "/"
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
}

// listen opens sockets of all kinds and counts who comes.
func (w *world) listen() {
	w.sock, w.gram = w.base+"/s", w.base+"/g"
	for _, a := range []struct{ network, address string }{{"tcp", "127.0.0.1:0"}, {"unix", w.sock}, {"unix", "@" + w.sock}} {
		l, err := net.Listen(a.network, a.address)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = l.Close() })
		if a.network == "tcp" {
			_, w.tcp, _ = net.SplitHostPort(l.Addr().String())
		}
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				w.contacts.Add(1)
				_ = c.Close()
			}
		}()
	}
	for _, a := range []struct{ network, address string }{{"udp", "127.0.0.1:0"}, {"unixgram", w.gram}} {
		c, err := net.ListenPacket(a.network, a.address)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = c.Close() })
		if a.network == "udp" {
			_, w.udp, _ = net.SplitHostPort(c.LocalAddr().String())
		}
		go func() {
			var b [64]byte
			for _, _, err := c.ReadFrom(b[:]); err == nil; _, _, err = c.ReadFrom(b[:]) {
				w.contacts.Add(1)
			}
		}()
	}
}

// breed starts the process that lines try to hurt. It is no child of this one.
func (w *world) breed() {
	w.kill()
	cmd := exec.Command("bash", "-c", `set -m; SECRET=c4n4ry sleep 100000 7<secret >/dev/null 2>&1 & echo $!`)
	cmd.Env, cmd.Dir = w.env, w.base+"/c4n4ry-v"
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatal(err)
	}
	if w.victim, err = strconv.Atoi(strings.TrimSpace(string(out))); err != nil {
		w.t.Fatal(err)
	}
	for !strings.Contains(w.health(), "(sleep)") {
		time.Sleep(time.Millisecond)
	}
}

func (w *world) kill() {
	if w.victim != 0 {
		_ = unix.Kill(w.victim, unix.SIGKILL)
	}
}

// health is all of the victim that others could change.
func (w *world) health() string {
	proc := "/proc/" + strconv.Itoa(w.victim) + "/"
	stat, _ := os.ReadFile(proc + "stat")
	f := strings.Fields(string(stat))
	if len(f) < 41 {
		return "gone"
	}
	text := fmt.Sprint(f[1], strings.ContainsAny(f[2], "TtZX"), f[17:19], f[40])
	for _, file := range []string{"limits", "oom_score_adj", "coredump_filter"} {
		b, _ := os.ReadFile(proc + file)
		text += string(b)
	}
	var cpus unix.CPUSet
	_ = unix.SchedGetaffinity(w.victim, &cpus)
	prio, _, _ := unix.Syscall(unix.SYS_IOPRIO_GET, 1, uintptr(w.victim), 0)
	return text + fmt.Sprint(cpus, prio)
}

// files is all that can be seen outside of the workspace, but for the time of the last look.
func (w *world) files() string {
	var b strings.Builder
	for _, dir := range []string{w.out, w.home} {
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			var st unix.Stat_t
			if err == nil {
				err = unix.Lstat(path, &st)
			}
			if err == nil {
				fmt.Fprintln(&b, path, st.Mode, st.Uid, st.Gid, st.Size, st.Mtim, st.Nlink, st.Ctim)
			}
			return err
		})
	}
	return b.String()
}

// remaining returns the processes that a line has left.
func (w *world) remaining() (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, _ := os.ReadFile(f); bytes.Contains(b, []byte(w.sleep)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// has reports whether what a line needs is here.
func (w *world) has(needs []string) bool {
	return !slices.ContainsFunc(needs, func(n string) bool {
		switch n {
		case "maybe":
			return false
		case "root":
			return os.Getuid() != 0
		case "amd64":
			return runtime.GOARCH != n
		case "xattr":
			return unix.Setxattr(w.home, "user.probe", nil, 0) != nil
		case "userns":
			return exec.Command("unshare", "-Ur", "true").Run() != nil
		}
		_, err := exec.LookPath(n)
		return err != nil
	})
}

// run runs a line with start, then clean, and returns the canaries that have changed. wait is
// how long one that changes a little later is waited for.
func (w *world) run(e escape, wait time.Duration, env []string, start func(*exec.Cmd) error, clean func(*exec.Cmd)) (changed []string) {
	line := strings.ReplaceAll(e.line, sleepTime, w.sleep)
	files, health, contacts := w.files(), w.health(), w.contacts.Load()
	_ = os.Remove(w.base + "/said") // something of the last line may still write to it
	out, err := os.Create(w.base + "/said")
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	ctx, stop := context.WithTimeout(context.Background(), lineTime)
	defer stop()
	cmd := exec.CommandContext(ctx, "/bin/bash", "-c", line)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append(slices.Clone(env), "VICTIM="+strconv.Itoa(w.victim)), w.ws, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := start(cmd); err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	_ = cmd.Wait()
	clean(cmd)
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if changed = w.changed(e, files, health, contacts); len(changed) > 0 || time.Since(began) > wait {
			break
		}
	}
	if ctx.Err() != nil {
		w.t.Errorf("%s: did not end", line)
	}
	// The workspace is put back after each line.
	w.build(`rm -rf "$OUT" "$WS" "$HOME" && cp -a "$SAFE/." "$SAFE/.."`)
	if slices.Contains(changed, "victim") {
		w.breed()
	}
	return changed
}

func (w *world) changed(e escape, files, health string, contacts int64) (changed []string) {
	said, err := os.ReadFile(w.base + "/said")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range []struct {
		canary string
		is     bool
	}{
		{"secret", bytes.Contains(said, []byte(secretWord))},
		{"ran", bytes.Contains(said, []byte(ranWord))},
		{"file", w.files() != files},
		{"victim", w.health() != health},
		{"net", w.contacts.Load() != contacts},
		{"left", e.canary == "left" && len(w.remaining()) > 0}, // others are looked for at the end
	} {
		if c.is {
			changed = append(changed, c.canary)
		}
	}
	return changed
}

// plain runs a line as it is.
func (w *world) plain(e escape) []string {
	wait, group := 5*time.Second, 0 // for what it starts in the background
	if slices.Contains(e.needs, "maybe") {
		wait = 300 * time.Millisecond
	}
	got := w.run(e, wait, w.env, (*exec.Cmd).Start, func(cmd *exec.Cmd) { group = cmd.Process.Pid })
	if e.canary == "left" {
		_ = unix.Kill(-group, unix.SIGKILL) // one that starts others would escape a look at each
	}
	for none := 0; e.canary == "left" && none < 5; none++ { // one that is just being started has no name
		for _, pid := range w.remaining() {
			_, none = unix.Kill(pid, unix.SIGKILL), 0
		}
		time.Sleep(5 * time.Millisecond)
	}
	return got
}

// fenced runs a line in a fence.
func (w *world) fenced(f *Fence, e escape) []string {
	return w.run(e, 0, f.Environ(w.env, nil), f.Start, func(cmd *exec.Cmd) {
		if err := f.Sweep(cmd.Process.Pid); err != nil {
			w.t.Errorf("%s: %v", e.line, err)
		}
	})
}
