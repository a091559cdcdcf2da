//go:build linux && (amd64 || arm64)

package confine

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

//go:embed testdata/hostile.txt
var hostileText string

// hostile is a line of hostile.txt.
type hostile struct {
	canary string   // which one it changes
	needs  []string // programs and other things
	line   string
}

func hostiles(t *testing.T) []hostile {
	t.Helper()
	var all []hostile
	seen := map[string]bool{}
	for l := range strings.Lines(hostileText) {
		l = strings.TrimSuffix(l, "\n")
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		head, line, ok := strings.Cut(l, ": ")
		canary, needs, _ := strings.Cut(strings.TrimSuffix(head, "]"), "[")
		if !ok || seen[line] {
			t.Fatalf("hostile.txt: %q: no canary, or twice", l)
		}
		seen[line] = true
		all = append(all, hostile{canary, strings.FieldsFunc(needs, func(r rune) bool { return r == ',' }), line})
	}
	return all
}

// allLines names the variable by which every line runs with both versions, as both users.
// Without it every third line runs, with one of them, and a sixth as the ordinary user as
// well, for the sake of time.
const allLines = "CONFINE_TEST_ALL"

// asUser names the variable by which TestHostile starts itself as one user. Its environment
// holds the secret as well, which the parent of a confined command must not give away.
const asUser = "CONFINE_TEST_USER"

const (
	secretWord = "c4n4ry" // what no output may have
	ranWord    = "r4n"    // what a line prints if what must not work does
	sleepTime  = "98765"  // of what lines leave behind, replaced by a number of the test's own
	nobody     = 65534    // an ordinary user
	lineTime   = time.Minute
)

// TestHostile runs every line of hostile.txt as it is, which must change its canary, and
// confined, which must change none: as root and as an ordinary user, with what this kernel has
// and with the oldest Landlock. Nothing but the kernel judges here.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if err := Possible(); err != nil {
		t.Skip(err)
	}
	if user := os.Getenv(asUser); user != "" {
		testHostile(t, user)
		return
	}
	users := map[string]*syscall.Credential{"self": nil}
	if os.Getuid() == 0 {
		users["nobody"] = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	for name, who := range users {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(copyOfTest(t), "-test.run=^TestHostile$", "-test.v")
			cmd.Dir = "/"
			cmd.Env = []string{asUser + "=" + name, "SECRET=" + secretWord, "PATH=" + testPath, allLines + "=" + os.Getenv(allLines)}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("lines counted")) {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

const testPath = "/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// copyOfTest is this program where every user can start it.
func copyOfTest(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "confine")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b, err := os.ReadFile(os.Args[0])
	name := filepath.Join(dir, "test")
	if err := errors.Join(err, os.WriteFile(name, b, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return name
}

// world holds everything that hostile lines could change.
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

func testHostile(t *testing.T, user string) {
	everything := os.Getenv(allLines) != ""
	w := newWorld(t)
	boxes := map[string]*Box{}
	for name, abi := range map[string]int{"kernel": 0, "oldest": 1} {
		box, err := New(Config{Reach: Reach{Read: []string{w.ws}}, Env: w.env, Temp: w.temp, ABI: abi})
		if err != nil {
			t.Fatal(err)
		}
		defer box.Close()
		boxes[name] = box
	}
	w.mechanisms(boxes)
	counted := map[string]int{}
	for i, h := range hostiles(t) {
		if !everything && (i%3 != 0 || user == "nobody" && i%12 > 3) || !w.has(h.needs) {
			continue
		}
		if got := w.plain(h); !slices.Contains(got, h.canary) {
			if !slices.Contains(h.needs, "maybe") {
				t.Errorf("%s: %s\nas it is changes %q: it proves nothing", h.canary, h.line, got)
			}
			continue
		}
		counted[h.canary]++
		for name, box := range boxes {
			if !everything && (name == "oldest") == (i%6 < 3) {
				continue
			}
			if got := w.confined(box, h); len(got) > 0 {
				t.Errorf("%s: %s\nconfined (%s, %s) changes %q", h.canary, h.line, user, name, got)
			}
		}
	}
	if left := w.remaining(); len(left) > 0 {
		t.Errorf("processes were left: %v", left)
	}
	all := 0
	for _, n := range counted {
		all += n
	}
	t.Logf("%d lines counted: %v", all, counted)
	want := 300 // with few programs and without root
	if !everything {
		want = 75
	}
	if all < want {
		t.Errorf("only %d lines could be tried on this machine, want %d", all, want)
	}
}

// newWorld makes it.
func newWorld(t *testing.T) *world {
	base, err := os.MkdirTemp("/tmp", "k")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, base: base, out: base + "/out", ws: base + "/ws", home: base + "/home", temp: base + "/tmp", sleep: strconv.Itoa(1e8 + os.Getpid())}
	t.Cleanup(func() {
		w.kill()
		_ = os.RemoveAll(base)
	})
	w.listen()
	w.env = []string{
		"PATH=" + testPath, "HOME=" + w.home, "OUT=" + w.out, "WS=" + w.ws, "TMPDIR=" + w.temp, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"TCP=" + w.tcp, "UDP=" + w.udp, "SOCK=" + w.sock, "DGRAM=" + w.gram, "ABSTRACT=" + w.sock,
	}
	w.build(script)
	_ = unix.Setxattr(w.out+"/f", "user.had", []byte("x"), 0) // where there are none, nothing needs it
	w.build(`mkdir "$SAFE" && cp -a "$OUT" "$WS" "$HOME" "$SAFE"`)
	w.breed()
	return w
}

// script makes the folders: a repository with traps, and one with secrets.
const script = `
set -e
mkdir -p "$OUT/d" "$OUT/e" "$OUT/names" "$WS" "$HOME" "$TMPDIR" "$VDIR"
echo c4n4ry >"$VDIR/secret"
echo keep >"$OUT/f"; echo g >"$OUT/d/g"; echo c4n4ry >"$OUT/secret"; : >"$OUT/names/c4n4ry.txt"
chmod 600 "$OUT/f" "$OUT/secret"
ln -s f "$OUT/l"
echo c4n4ry >"$HOME/secret"
mkdir -p "$HOME/.config/go/telemetry"; echo off >"$HOME/.config/go/telemetry/mode"
printf '[user]\n\tname = x\n\temail = x@x\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n' >"$HOME/.gitconfig"
cd "$WS"
git init -q --template= .
echo 1 >f1; echo ext >f.ext; echo flt >f.flt
printf '#!/bin/sh\necho r4n\n' >x.sh; chmod +x x.sh
printf 'all:\n\ttouch "$(OUT)/new"\n' >Makefile
printf '*.ext diff=evil\n*.flt filter=evil\n' >.gitattributes
git add -A; git commit -qm one
git checkout -q -b side; echo s >side; git add side; git commit -qm side; git checkout -q main
echo 2 >f1; echo more >>f.ext; git commit -qam two; echo 3 >f1; echo more >>f.ext; echo n >f2
ln -s "$OUT/secret" link
git config core.fsmonitor 'touch "$OUT/new"; false'
git config diff.evil.textconv 'touch "$OUT/new"; cat'
git config filter.evil.clean 'touch "$OUT/new"; cat'
git config filter.evil.smudge 'touch "$OUT/new"; cat'
git config alias.st '!touch "$OUT/new"'
git init -q --template= --bare bare
git -C bare config core.fsmonitor 'touch "$OUT/new"; false'
git -C bare config core.bare false; git -C bare config core.worktree ..
`

// again puts the folders back as script made them.
const again = `rm -rf "$OUT" "$WS" "$HOME" && cp -a "$SAFE/." "$SAFE/.."`

// build makes them.
func (w *world) build(script string) {
	cmd := exec.Command("bash", "-c", script)
	cmd.Env, cmd.Dir = append(slices.Clone(w.env), "VDIR="+w.base+"/c4n4ry-v", "SAFE="+w.base+"/safe"), "/"
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

// files is all that can be seen of the folders, but for the time of the last look.
func (w *world) files() string {
	var b strings.Builder
	for _, dir := range []string{w.out, w.ws, w.home} {
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			var st unix.Stat_t
			if err == nil {
				err = unix.Lstat(path, &st)
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(&b, path, st.Mode, st.Uid, st.Gid, st.Size, st.Mtim, st.Nlink, st.Ctim)
			return nil
		})
	}
	return b.String()
}

// remaining returns the processes that a line has left.
func (w *world) remaining() []int {
	var pids []int
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
	for _, n := range needs {
		ok := true
		switch n {
		case "maybe":
		case "root":
			ok = os.Getuid() == 0
		case "amd64":
			ok = runtime.GOARCH == n
		case "xattr":
			ok = unix.Setxattr(w.home, "user.probe", nil, 0) == nil
		case "userns":
			ok = exec.Command("unshare", "-Ur", "true").Run() == nil
		default:
			_, err := exec.LookPath(n)
			ok = err == nil
		}
		if !ok {
			return false
		}
	}
	return true
}

// run runs a line with start, then clean, and returns the canaries that have changed. wait is
// how long one that changes a little later is waited for.
func (w *world) run(h hostile, wait time.Duration, env []string, start func(*exec.Cmd) error, clean func(*exec.Cmd)) (changed []string) {
	line := strings.ReplaceAll(h.line, sleepTime, w.sleep)
	files, health, contacts := w.files(), w.health(), w.contacts.Load()
	_ = os.Remove(w.base + "/said") // something of the last line may still write to it
	out, err := os.Create(w.base + "/said")
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	ctx, stop := context.WithTimeout(context.Background(), lineTime)
	defer stop()
	// As the supervisor does it: the line comes when all restrictions hold.
	text, in, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "/bin/bash", "-c", `IFS= read -r -d '' line <&3; exec 3<&-; eval -- "$line"`)
	cmd.ExtraFiles = []*os.File{text}
	cmd.Env = append(slices.Clone(env), "VICTIM="+strconv.Itoa(w.victim))
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.ws, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := start(cmd); err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	_, err = in.WriteString(line)
	if err = errors.Join(err, in.Close(), text.Close()); err != nil {
		w.t.Errorf("%s: %v", line, err)
	}
	_ = cmd.Wait()
	clean(cmd)
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if changed = w.changed(h, files, health, contacts); len(changed) > 0 || time.Since(began) > wait {
			break
		}
	}
	if ctx.Err() != nil {
		w.t.Errorf("%s: did not end", line)
	}
	if slices.Contains(changed, "file") {
		w.build(again)
	}
	if slices.Contains(changed, "victim") {
		w.breed()
	}
	return changed
}

func (w *world) changed(h hostile, files, health string, contacts int64) (changed []string) {
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
		{"left", h.canary == "left" && len(w.remaining()) > 0}, // others are looked for at the end
	} {
		if c.is {
			changed = append(changed, c.canary)
		}
	}
	return changed
}

// plain runs a line as it is.
func (w *world) plain(h hostile) []string {
	wait, group := lineTime, 0 // for what it starts in the background, on a busy machine
	if slices.Contains(h.needs, "maybe") {
		wait = 300 * time.Millisecond
	}
	got := w.run(h, wait, w.env, (*exec.Cmd).Start, func(cmd *exec.Cmd) { group = cmd.Process.Pid })
	if h.canary == "left" {
		_ = unix.Kill(-group, unix.SIGKILL) // one that starts others would escape a look at each
	}
	for none := 0; h.canary == "left" && none < 5; none++ { // one that is just being started has no name
		for _, pid := range w.remaining() {
			_, none = unix.Kill(pid, unix.SIGKILL), 0
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = empty(w.temp)
	return got
}

// confined runs a line in a box.
func (w *world) confined(box *Box, h hostile) []string {
	return w.run(h, 0, Environ(w.env, w.env, nil, w.temp), box.Start, func(cmd *exec.Cmd) {
		if err := box.Sweep(cmd.Process.Pid); err != nil {
			w.t.Errorf("%s: %v", h.line, err)
		}
	})
}

// mechanisms checks that it is the kernel that restricts, and with what.
func (w *world) mechanisms(boxes map[string]*Box) {
	for name, box := range boxes {
		w.run(hostile{line: "cat /proc/self/status; cat /proc/self/limits /proc/self/oom_score_adj"}, 0, Environ(w.env, w.env, nil, w.temp), box.Start, func(cmd *exec.Cmd) { _ = box.Sweep(cmd.Process.Pid) })
		said, _ := os.ReadFile(w.base + "/said")
		for _, want := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n", "CapEff:\t0000000000000000\n", "CapPrm:\t0000000000000000\n", "CapAmb:\t0000000000000000\n", "\n1000\n"} {
			if !strings.Contains(string(said), want) {
				w.t.Errorf("%s: a confined process does not have %q:\n%s", name, want, said)
			}
		}
	}
}
