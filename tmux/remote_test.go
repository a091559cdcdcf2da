package tmux_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tmux/host"
	"buddy/tmux/host/hosttest"
	"buddy/tmux/pane"
	"buddy/tmux/tmuxtest"
)

// newWireRig is a session over ssh with a line that the test can cut.
func newWireRig(t testing.TB) (*rig, *hosttest.SSHD) {
	t.Helper()
	srv, sshd := tmuxtest.New(t), hosttest.NewSSHD(t, "")
	return newHostRig(t, srv, sshd.Host(t)), sshd
}

// TestLoginShellLikeCsh: an account whose login shell, like csh and tcsh, accepts no line break in quotes and expands
// exclamation marks from its history, and has a trap that prints and changes the exit code.
func TestLoginShellLikeCsh(t *testing.T) {
	t.Parallel()
	login := filepath.Join(t.TempDir(), "login")
	text := "#!/bin/sh\ntrap 'echo bye; exit 9' EXIT\ncase $SSH_ORIGINAL_COMMAND in *'\n'* | *'!'[![:space:]=]*) echo \"$SSH_ORIGINAL_COMMAND\" >>" + login + ".refused; exit 1 ;; esac\n" +
		"sh -c \"$SSH_ORIGINAL_COMMAND\"\n"
	if err := os.WriteFile(login, []byte(text), 0o755); err != nil { //nolint:gosec // sshd runs it
		t.Fatal(err)
	}
	sshd := hosttest.NewSSHD(t, "ForceCommand "+login)
	r := newHostRig(t, tmuxtest.New(t), sshd.Host(t))
	r.run("export V=kept")
	r.want("echo $V", "kept\n")
	if res := r.run("echo 'a!b\n$V'; exit 3"); res.ExitCode != 3 || string(res.Stdout.Head) != "a!b\n$V\n" {
		t.Errorf("exit %d, %q", res.ExitCode, res.Stdout.Head)
	}
	newHostPlainRig(t, sshd.Host(t), tmuxtest.Dir(t)).want("echo on", "on\n")
	if refused, err := os.ReadFile(login + ".refused"); err == nil {
		t.Errorf("refused: %s", refused)
	}
}

// TestCutInMidCommand: the command keeps running, the session connects again and gets its whole output.
func TestCutInMidCommand(t *testing.T) {
	t.Parallel()
	r, sshd := newWireRig(t)
	r.run("export V=kept")
	pane := r.Pane()
	run := r.start(tmux.Spec{Command: "echo first; while [ ! -e go ]; do sleep 0.02; done; seq 1000; exit 5"})
	r.untilOutput("first")
	sshd.Wire.Refuse(true)
	sshd.Wire.Cut()
	tmuxtest.Until(t, "the loss is told", func() bool { return r.kinds() == "opened lost" })
	r.letGo()
	sshd.Wire.Refuse(false)
	res := r.wait(run)
	if res.ExitCode != 5 || res.Stdout.Total != int64(len("first\n")+3893) || !strings.HasPrefix(string(res.Stdout.Head), "first\n1\n2\n") {
		t.Errorf("exit %d, %d bytes, fault %q", res.ExitCode, res.Stdout.Total, res.Fault)
	}
	tmuxtest.Until(t, "the pane is found again", func() bool { return r.kinds() == "opened lost opened" })
	r.want("echo $V", "kept\n")
	if r.Pane() != pane {
		t.Errorf("pane %s, then %s", pane, r.Pane())
	}
}

// TestCutBetweenCommands: the next command connects again.
func TestCutBetweenCommands(t *testing.T) {
	t.Parallel()
	r, sshd := newWireRig(t)
	r.run("export V=kept")
	sshd.Wire.Cut()
	tmuxtest.Until(t, "the loss is told", func() bool { return r.kinds() == "opened lost" })
	r.want("echo $V", "kept\n")
}

// TestCutAndCancelled: a cancelled command whose target does not come back ends with a clear error.
func TestCutAndCancelled(t *testing.T) {
	t.Parallel()
	r, sshd := newWireRig(t)
	run := r.start(tmux.Spec{Command: "echo first; sleep 1000"})
	r.untilOutput("first")
	sshd.Wire.Refuse(true)
	sshd.Wire.Cut()
	run.Cancel()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	res, err := run.Wait(ctx)
	if !errors.Is(err, tmux.ErrLost) || !strings.Contains(err.Error(), "target (ssh)") || string(res.Stdout.Head) != "first\n" {
		t.Errorf("Wait = %+v, %v, want ErrLost that names the host, and the output so far", res, err)
	}
	if _, err := r.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Command: "true"}); err == nil || errors.Is(err, tmux.ErrUnavailable) {
		t.Errorf("Start without a connection: %v", err)
	}
	sshd.Wire.Refuse(false)
	r.want("echo on", "on\n") // in a new turn: the old command was cancelled meanwhile or waits
}

// warm makes sure that two shells wait on the target, so that a command needs no new one while late output of the
// previous one is fetched.
func warm(r *rig) {
	r.t.Helper()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			code, err := r.opt.Host.Run(r.t.Context(), "cd '"+r.dir+"'; echo >>warm; until [ $(wc -l <warm) = 2 ]; do sleep 0.01; done", io.Discard, io.Discard)
			if code != 0 || err != nil {
				r.t.Errorf("exit code %d, %v", code, err)
			}
		})
	}
	all.Wait()
}

// startUnconfirmed starts a command on a line that holds back the target's answers, and cuts the line when ready
// returns true. It returns the error of the start.
func startUnconfirmed(ctx context.Context, r *rig, sshd *hosttest.SSHD, command string, ready func()) error {
	r.t.Helper()
	r.run("true")
	warm(r)
	sshd.Wire.HoldAnswers(true)
	defer sshd.Wire.HoldAnswers(false)
	failed := make(chan error, 1)
	dir := r.newDir()
	go func() {
		_, err := r.Start(ctx, tmux.Spec{Dir: dir, Command: command})
		failed <- err
	}()
	ready()
	sshd.Wire.Refuse(true)
	defer sshd.Wire.Refuse(false)
	sshd.Wire.Cut()
	err := <-failed
	if !errors.Is(err, tmux.ErrUnconfirmed) {
		r.t.Errorf("Start: %v, want ErrUnconfirmed", err)
	}
	return err
}

// TestCutBeforeTheStartIsConfirmed: the command runs once, and the error does not deny it.
func TestCutBeforeTheStartIsConfirmed(t *testing.T) {
	t.Parallel()
	r, sshd := newWireRig(t)
	count := filepath.Join(r.dir, "count")
	err := startUnconfirmed(t.Context(), r, sshd, "echo x >>count", func() {
		tmuxtest.Until(t, "the command has run", func() bool { _, err := os.Stat(count); return err == nil })
	})
	if !strings.Contains(err.Error(), "target (ssh)") {
		t.Errorf("Start: %v, want the cause", err)
	}
	r.want("cat count", "x\n")
}

// TestInterruptedBeforeTheStartIsConfirmed: a command without a confirmed start is stopped as soon as the target can be
// reached again.
func TestInterruptedBeforeTheStartIsConfirmed(t *testing.T) {
	t.Parallel()
	r, sshd := newWireRig(t)
	ctx, interrupt := context.WithCancel(t.Context())
	pid := 0
	_ = startUnconfirmed(ctx, r, sshd, "echo $$ >pid; exec sleep 1000", func() {
		tmuxtest.Until(t, "the command runs", func() bool {
			b, _ := os.ReadFile(filepath.Join(r.dir, "pid"))
			pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
			return pid > 0
		})
		interrupt()
	})
	r.want("echo on", "on\n")
	tmuxtest.Until(t, "it is stopped", func() bool { return syscall.Kill(pid, 0) != nil })
}

// TestInterruptedWhileItStarts on a working line: it is known whether the command started, and the next one does not
// wait for it.
func TestInterruptedWhileItStarts(t *testing.T) {
	t.Parallel()
	r, sshd := newWireRig(t)
	r.run("true")
	sshd.Wire.Delay(100 * time.Millisecond)
	ctx, interrupt := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer interrupt()
	run, err := r.Start(ctx, tmux.Spec{Dir: r.newDir(), Command: "sleep 1000"})
	if err == nil {
		run.Cancel()
		r.wait(run)
	} else if errors.Is(err, tmux.ErrUnconfirmed) {
		t.Errorf("Start: %v", err)
	}
	sshd.Wire.Delay(0)
	r.want("echo on", "on\n")
}

// TestWithdrawnCommandArrivesLate: a line may deliver a submission after another connection has withdrawn it. The
// command does not start, however often it is submitted.
func TestWithdrawnCommandArrivesLate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const script = `D=$1; . remote/lib.sh; mkfifo "$D/in"; exec 9<>"$D/in"; echo $$ >"$D/pid"
(withdraw 1) && echo withdrawn
for i in 1 2; do (submit 1 cap token "echo x" shown ""); echo "submitted: $?"; done
ls "$D/1"; echo end >&9; read -r line <&9; echo "supervisor: $line"
mkdir "$D/2"; : >"$D/2/cmd"; : >"$D/2/began"; (withdraw 2); echo "began: $?"`
	out, err := exec.Command("sh", "-c", script, "sh", dir).CombinedOutput()
	if want := "withdrawn\nsubmitted: 72\nsubmitted: 72\ncwd\nprompt\nsent\nwithdrawn\nsupervisor: end\nbegan: 70\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}

// TestEndOverABadLine: the end of a large output is fetched again when the connection breaks, without a time limit
// while data arrives.
func TestEndOverABadLine(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a minute")
	}
	srv := tmuxtest.New(t)
	const tail = `#!/bin/sh
[ "$2" = 1048576 ] || exec /usr/bin/tail "$@"
cd "${0%/*}"
[ -e cut ] || { : >cut; kill -KILL 0; }
/usr/bin/tail "$@" >end
for i in 1 2 3 4 5 6 7 8 9; do dd bs=131072 count=1 skip=$((i - 1)) <end 2>/dev/null; sleep 5; done
`
	bin := filepath.Join(srv.Dir, "bin")
	if err := errors.Join(os.Mkdir(bin, 0o700), os.WriteFile(filepath.Join(bin, "tail"), []byte(tail), 0o700)); err != nil {
		t.Fatal(err)
	}
	r := newHostRig(t, srv, localHost(t, append(srv.Env, "PATH="+bin+":"+os.Getenv("PATH"))))
	run := r.start(tmux.Spec{Command: "seq 700000; echo THE-END; exit 3"})
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	res, err := run.Wait(ctx)
	if err != nil || res.ExitCode != 3 || res.Fault != "" || !strings.HasSuffix(string(res.Stdout.Tail), "\n700000\nTHE-END\n") {
		t.Errorf("exit %d, fault %q, %d bytes, %v", res.ExitCode, res.Fault, res.Stdout.Total, err)
	}
}

// TestSlowLine: 50 ms each way and a flood.
func TestSlowLine(t *testing.T) {
	t.Parallel()
	r, sshd := newWireRig(t)
	sshd.Wire.Delay(50 * time.Millisecond)
	r.want("echo hi", "hi\n")
	if res := r.run("seq 100000; exit 3"); res.ExitCode != 3 || res.Stdout.Total != 588895 {
		t.Errorf("exit %d, %d bytes", res.ExitCode, res.Stdout.Total)
	}
}

// TestTargetDown and a changed host key: one clear line, nothing ran, no fallback.
func TestTargetDown(t *testing.T) {
	t.Parallel()
	r, sshd := newWireRig(t)
	sshd.NewHostKey(t)
	_, err := r.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Command: "true"})
	_, ok := errors.AsType[*host.DownError](err)
	if !ok || errors.Is(err, tmux.ErrUnavailable) || !strings.Contains(err.Error(), "host key has changed") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Start: %v", err)
	}
}

// TestTargetWithoutPlace: if nothing can be written, the error has that reason, not tmux, and a next step.
func TestTargetWithoutPlace(t *testing.T) {
	t.Parallel()
	s := tmux.New(tmux.Options{Session: "s", Host: host.Local([]string{"PATH=" + os.Getenv("PATH"), "TMUX_TMPDIR=/proc"})})
	_, err := s.Start(t.Context(), tmux.Spec{Dir: t.TempDir(), Command: "true"})
	if err == nil || errors.Is(err, tmux.ErrUnavailable) || !strings.Contains(err.Error(), "/proc/buddy-") || !strings.Contains(err.Error(), "--tmpfs /tmp") {
		t.Errorf("Start: %v", err)
	}
}

// TestContainerStopped in mid-command: a clear result at once, and the next call works once it runs.
func TestContainerStopped(t *testing.T) {
	t.Parallel()
	c := hosttest.NewContainer(t, hosttest.Bash)
	r := newHostRig(t, tmuxtest.In(t, c.Dir), c.Host(t))
	r.run("export V=kept")
	run := r.start(tmux.Spec{Command: "echo first; sleep 1000"})
	r.untilOutput("first")
	c.Stop(t)
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	res, err := run.Wait(ctx)
	if !errors.Is(err, tmux.ErrLost) || strings.Contains(err.Error(), "may still run") || string(res.Stdout.Head) != "first\n" {
		t.Errorf("Wait: %+v, %v", res, err)
	}
	if _, err := r.Start(t.Context(), tmux.Spec{Dir: r.newDir(), Command: "true"}); err == nil || !strings.Contains(err.Error(), "not running") {
		t.Errorf("Start in a stopped container: %v", err)
	}
	c.Start(t)
	r.want("echo $V", "kept\n")
}

// TestVersionGate: without tmux on the target the error is one clear line, and plain pipes work there.
func TestVersionGate(t *testing.T) {
	t.Parallel()
	c := hosttest.NewContainer(t, hosttest.NoTmux)
	h := c.Host(t)
	s := tmux.New(tmux.Options{Session: "t", Host: h})
	_, err := s.Start(t.Context(), tmux.Spec{Dir: filepath.Join(c.Dir, "x"), Command: "true"})
	if !errors.Is(err, tmux.ErrUnavailable) || !strings.Contains(err.Error(), "tmux is not installed on "+c.Name+" (container)") {
		t.Errorf("Start: %v, want ErrUnavailable", err)
	}
	if _, err := s.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	r := newHostPlainRig(t, h, c.Dir)
	r.run("export V=kept; cd /tmp")
	r.want("echo $V $PWD", "kept /tmp\n")
	run := r.start(tmux.Spec{Command: "echo ready; sleep 1000"})
	r.untilOutput("ready")
	if left, err := r.Close(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("Close = %v, %v", left, err)
	}
	if res := r.wait(run); res.ExitCode == 0 || res.Fault == "" {
		t.Errorf("a command that ended with its session: %+v", res)
	}
}

// TestTmuxTooOld: an old tmux is refused with the text of the version gate.
func TestTmuxTooOld(t *testing.T) {
	t.Parallel()
	dir := tmuxtest.Dir(t)
	if err := os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\necho tmux 3.1c\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	h := localHost(t, append(tmuxtest.Env(t, dir), "PATH="+dir+":"+os.Getenv("PATH")))
	s := tmux.New(tmux.Options{Session: "t", Host: h})
	_, err := s.Start(t.Context(), tmux.Spec{Dir: filepath.Join(dir, "x"), Command: "true"})
	if !errors.Is(err, tmux.ErrUnavailable) || !strings.Contains(err.Error(), "3.1c") || !strings.Contains(err.Error(), "3.2") {
		t.Errorf("Start: %v", err)
	}
	if _, err := s.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestDiskFull on the target: the command runs to its end, the result reports the missing part.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may mount a small disk")
	}
	dir := tmuxtest.Dir(t)
	disk := filepath.Join(dir, "d")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	mountSmall(t, disk)
	srv := tmuxtest.In(t, dir)
	env := append(tmuxtest.Env(t, dir), "TMUX_TMPDIR="+disk)
	r := newHostRig(t, srv, localHost(t, env))
	r.run("export V=kept")
	res := r.run("head -c 3000000 /dev/zero; echo end >&2; exit 3")
	if res.ExitCode != 3 || !strings.Contains(res.Fault, "space") || string(res.Stderr.Head) != "end\n" {
		t.Errorf("exit %d, fault %q, stderr %q", res.ExitCode, res.Fault, res.Stderr.Head)
	}
	untilRoom(t, disk)
	r.want("echo $V", "kept\n")
}

// untilRoom waits until a command's files on a full disk are removed.
func untilRoom(t *testing.T, disk string) {
	t.Helper()
	_ = os.Remove(filepath.Join(disk, "fill")) // if it still exists
	tmuxtest.Until(t, "there is room again", func() bool {
		left, _ := filepath.Glob(filepath.Join(disk, "buddy-*", "*", "[0-9]*"))
		return len(left) == 0
	})
}

// TestDiskFullAtTheStart: the shell does not start, and the error has the reason.
func TestDiskFullAtTheStart(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may mount a small disk")
	}
	dir := tmuxtest.Dir(t)
	disk := filepath.Join(dir, "d")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	mountSmall(t, disk)
	if err := os.WriteFile(filepath.Join(disk, "fill"), make([]byte, 64<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	s := tmux.New(tmux.Options{Session: "t", Host: localHost(t, append(tmuxtest.Env(t, dir), "TMUX_TMPDIR="+disk))})
	_, err := s.Start(t.Context(), tmux.Spec{Dir: filepath.Join(dir, "x"), Command: "true"})
	if err == nil || !strings.Contains(err.Error(), "could not be written to "+disk) || !strings.Contains(err.Error(), "if its disk is full") {
		t.Errorf("Start: %v", err)
	}
	if _, err := s.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestDiskFullState: the disk is full while the shell saves its state, and gets room again before it is done, as
// recording stops. A torn file is not used as the state.
func TestDiskFullState(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may mount a small disk")
	}
	if _, err := pane.FindShell("dash"); err != nil {
		t.Skip(err)
	}
	dir := tmuxtest.Dir(t)
	disk := filepath.Join(dir, "d")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	mountSmall(t, disk)
	srv := tmuxtest.In(t, dir)
	env := append(tmuxtest.Env(t, dir), "TMUX_TMPDIR="+disk)
	r := newHostRig(t, srv, localHost(t, env))
	r.opt.Shell = "dash"
	r.Session = tmux.New(r.opt)
	r.closeAtEnd()
	r.run("export A=old")
	// The disk is filled several times, since files of the previous command are still being removed. umask is one of
	// the words in the state; the exports precede it.
	res := r.run("exec 3>&1; for i in 1 2 3 4 5; do dd if=/dev/zero bs=4096 2>/dev/null >>" + disk + "/fill; sleep 0.1; done; export A=new\n" +
		"umask() { head -c 100000 /dev/zero >&3; until ls " + disk + "/buddy-*/*/*/o.full; do sleep 0.02; done >/dev/null 2>&1; rm " + disk + "/fill; command umask; }")
	if !strings.Contains(res.Fault, "space") {
		t.Errorf("fault %q", res.Fault)
	}
	untilRoom(t, disk)
	r.want("echo $A", "old\n")
}

// TestWaitDeadline: Wait with a deadline leaves the command running.
func TestWaitDeadline(t *testing.T) {
	all(t, false, func(t *testing.T, _ testTarget, r *rig) {
		run := r.start(tmux.Spec{Command: "echo ready; while [ ! -e go ]; do sleep 0.02; done; exit 4"})
		r.untilOutput("ready")
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer stop()
		if _, err := run.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait: %v", err)
		}
		r.letGo()
		if res := r.wait(run); res.ExitCode != 4 {
			t.Errorf("exit %d", res.ExitCode)
		}
	})
}

// TestSetupsAtOnce: simultaneous connections, one of which may have been abandoned, always leave complete files.
func TestSetupsAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const script = `. "$1"; text() { seq 3000; }; for i in 1 2 3 4 5 6 7 8; do (setup s "cd /" "" bash) || exit; done`
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", "remote/setup.sh")
			cmd.Env = append(os.Environ(), "TMUX_TMPDIR="+dir, "HOME="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	lib := filepath.Join(dir, "buddy-"+strconv.Itoa(os.Getuid()), "s", "lib")
	for {
		if text, err := os.ReadFile(lib); err == nil && !strings.HasSuffix(string(text), "\n3000\n") {
			t.Errorf("the file ends with %.20q after %d bytes", text[max(0, len(text)-20):], len(text))
			<-done
		}
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
