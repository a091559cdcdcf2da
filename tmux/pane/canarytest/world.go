//go:build linux

// Package canarytest tests sandboxes with hostile commands. It creates canaries (folders, sockets and a process),
// runs a command, and reports which canaries the command has changed.
//
//	w := canarytest.New(t, canarytest.Options{Dir: "/tmp", Script: script})
//	got := w.Plain(line, time.Minute) // unrestricted: line.Canary is among them
//	got = w.Run(line, 0, env, box.Start, sweep) // restricted: no canary changed
package canarytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Words that occur in lines, and in the scripts that create worlds.
const (
	SecretWord = "c4n4ry" // must be in no output
	RanWord    = "r4n"    // printed by a line if a forbidden action works
	sleepTime  = "98765"  // marks background processes of lines, replaced by a number for this process
)

// Nobody is the user and group id of an ordinary user.
const Nobody = 65534

// Path is the PATH with which lines run.
const Path = "/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// lineTime limits the time of a line.
const lineTime = time.Minute

// World holds everything that lines could change.
type World struct {
	Base                       string // contains all of it
	Out, Workspace, Home, Temp string
	Env                        []string // of lines

	t                    *testing.T
	seesWorkspace        bool
	tcp, udp, sock, gram string
	contacts             atomic.Int64
	victim               int
	sleep                string
}

// Options describe a world.
type Options struct {
	Dir           string   // the folder that contains it
	Env           []string // for lines, besides the common variables
	Script        string   // creates the folders, for bash
	SeesWorkspace bool     // a change of the workspace counts as one of the canary "file", too
}

// New creates a world, which ends with the test. A process can have one world at a time.
func New(t *testing.T, o Options) *World {
	t.Helper()
	base, err := os.MkdirTemp(o.Dir, "k") // short name, because paths of sockets are limited
	if err != nil {
		t.Fatal(err)
	}
	w := &World{
		Base: base, Out: base + "/out", Workspace: base + "/ws", Home: base + "/home", Temp: base + "/tmp",
		t: t, seesWorkspace: o.SeesWorkspace,
		sleep: strconv.Itoa(1e8 + os.Getpid()),
	}
	t.Cleanup(func() {
		w.kill()
		_ = os.RemoveAll(base)
	})
	w.listen()
	w.Env = append([]string{
		"PATH=" + Path, "HOME=" + w.Home, "OUT=" + w.Out, "WS=" + w.Workspace, "TMPDIR=" + w.Temp, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"TCP=" + w.tcp, "UDP=" + w.udp, "SOCK=" + w.sock, "DGRAM=" + w.gram, "ABSTRACT=" + w.sock,
	}, o.Env...)
	w.build(o.Script)
	_ = unix.Setxattr(w.Out+"/f", "user.had", []byte("x"), 0) // where this fails, no test needs the attribute
	w.build(`mkdir "$SAFE" && cp -a "$OUT" "$WS" "$HOME" "$SAFE"`)
	w.breed()
	return w
}

// build runs a script that makes folders.
func (w *World) build(script string) {
	cmd := exec.Command("bash", "-c", script)
	cmd.Env, cmd.Dir = append(slices.Clone(w.Env), "SAFE="+w.Base+"/safe", "VDIR="+w.Base+"/c4n4ry-v"), "/"
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
}

// listen opens sockets of all kinds and counts connections.
func (w *World) listen() {
	w.sock, w.gram = w.Base+"/s", w.Base+"/g"
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

// breed starts the victim process that lines try to harm. It is not a child of this process. SIGHUP must be able to end
// it even if the tests run under nohup. breed therefore handles the signal in this process: child processes do not
// ignore a signal that their parent handles.
func (w *World) breed() {
	w.kill()
	if signal.Ignored(unix.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), unix.SIGHUP)
	}
	cmd := exec.Command("bash", "-c", `set -m; SECRET=c4n4ry sleep 100000 7<secret >/dev/null 2>&1 & echo $!`)
	cmd.Env, cmd.Dir = w.Env, w.Base+"/c4n4ry-v"
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

func (w *World) kill() {
	if w.victim != 0 {
		_ = unix.Kill(w.victim, unix.SIGKILL)
	}
}

// health describes everything about the victim that other processes could change.
func (w *World) health() string {
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

// files returns everything visible in the watched folders, except the access times.
func (w *World) files() string {
	dirs := []string{w.Out, w.Home}
	if w.seesWorkspace {
		dirs = append(dirs, w.Workspace)
	}
	var b strings.Builder
	for _, dir := range dirs {
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

// Remaining returns the background processes of lines.
func (w *World) Remaining() (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, _ := os.ReadFile(f); bytes.Contains(b, []byte(w.sleep)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// Run starts a line with start, calls clean after the line, waits for later changes, and returns the changed canaries.
// Then it restores the folders.
func (w *World) Run(l Line, wait time.Duration, env []string, start func(*exec.Cmd) error, clean func(*exec.Cmd)) (changed []string) {
	return w.Watch(l, wait, func(ctx context.Context, text string, out *os.File) error {
		// Like the supervisor, this function sends the line only when all restrictions are in force.
		read, write, err := os.Pipe()
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "/bin/bash", "-c", `IFS= read -r -d '' line <&3; exec 3<&-; eval -- "$line"`)
		cmd.ExtraFiles = []*os.File{read}
		cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append(slices.Clone(env), "VICTIM="+strconv.Itoa(w.victim)), w.Workspace, out, out
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := start(cmd); err != nil {
			return err
		}
		_, err = write.WriteString(text)
		err = errors.Join(err, write.Close(), read.Close())
		_ = cmd.Wait()
		clean(cmd)
		return err
	})
}

// Watch does the same as Run, but calls run for the line's text. run must write the text's output to out and set
// $VICTIM to Victim.
func (w *World) Watch(l Line, wait time.Duration, run func(ctx context.Context, text string, out *os.File) error) (changed []string) {
	files, health, contacts := w.files(), w.health(), w.contacts.Load()
	_ = os.Remove(w.Base + "/said") // a process of the last line may still write to it
	out, err := os.Create(w.Base + "/said")
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	ctx, stop := context.WithTimeout(context.Background(), lineTime)
	defer stop()
	if err := run(ctx, strings.ReplaceAll(l.Text, sleepTime, w.sleep), out); err != nil {
		w.t.Fatalf("%s: %v", l.Text, err)
	}
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if changed = w.changed(l, files, health, contacts); len(changed) > 0 || time.Since(began) > wait {
			break
		}
	}
	if ctx.Err() != nil {
		changed = append(changed, endless)
	}
	if !w.seesWorkspace || slices.Contains(changed, "file") {
		w.build(`rm -rf "$OUT" "$WS" "$HOME" && cp -a "$SAFE/." "$SAFE/.."`)
	}
	if slices.Contains(changed, "victim") {
		w.breed()
	}
	return changed
}

// endless is the canary of a line that does not end by itself.
const endless = "endless"

// Victim returns the pid of the process that lines try to harm.
func (w *World) Victim() int { return w.victim }

// Said returns the output of the last line that ran.
func (w *World) Said() string {
	output, err := os.ReadFile(w.Base + "/said")
	if err != nil {
		w.t.Fatal(err)
	}
	return string(output)
}

// changed returns the canaries that a line has changed.
func (w *World) changed(l Line, files, health string, contacts int64) (changed []string) {
	output := w.Said()
	for _, c := range []struct {
		canary string
		is     bool
	}{
		{"secret", strings.Contains(output, SecretWord)},
		{"ran", strings.Contains(output, RanWord)},
		{"file", w.files() != files},
		{"victim", w.health() != health},
		{"net", w.contacts.Load() != contacts},
		{"left", l.Canary == "left" && len(w.Remaining()) > 0}, // other lines' processes are searched for at the end
	} {
		if c.is {
			changed = append(changed, c.canary)
		}
	}
	return changed
}

// Plain runs a line unrestricted, waits for the changes of its background processes for the time wait, and ends these
// processes. A line that does not end by itself counts as changing nothing, because it could not be distinguished from
// a restricted line.
func (w *World) Plain(l Line, wait time.Duration) []string {
	if l.Maybe() {
		wait = 300 * time.Millisecond
	}
	group := 0
	got := w.Run(l, wait, w.Env, (*exec.Cmd).Start, func(cmd *exec.Cmd) { group = cmd.Process.Pid })
	if l.Canary == "left" {
		_ = unix.Kill(-group, unix.SIGKILL) // once would not suffice against a process that starts others
	}
	for none := 0; l.Canary == "left" && none < 5; none++ { // a process that is just starting has no name
		for _, pid := range w.Remaining() {
			_, none = unix.Kill(pid, unix.SIGKILL), 0
		}
		time.Sleep(5 * time.Millisecond)
	}
	if slices.Contains(got, endless) {
		return nil
	}
	return got
}
