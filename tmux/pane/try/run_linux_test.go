//go:build amd64 || arm64

package try

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/tmux/pane/canarytest"
	"buddy/tmux/pane/fence"
)

// run runs a command with limits.
func (p *place) run(l Limits, line string) *Result {
	p.t.Helper()
	c := p.Config
	c.Limits = l
	r, err := Run(context.Background(), c, Command{Shell: "/bin/bash", Line: line, Dir: p.work})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := r.Discard(); err != nil {
			p.t.Error(err)
		}
	})
	return r
}

// TestLimits: a command that exceeds a limit is ended with all its processes, and can't be kept.
func TestLimits(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.sh("echo 1 >a")
	sleeps := fmt.Sprint("sleep ", 100_000_000+os.Getpid())
	for name, c := range map[string]struct {
		limits Limits
		line   string
		want   string // of Stopped
	}{
		"time":           {Limits{Time: 500 * time.Millisecond}, "echo n >a; setsid " + sleeps + " & " + sleeps, "it ran longer than 500ms"},
		"bytes":          {Limits{Bytes: 8 << 20}, "for i in $(seq 99); do head -c 1M /dev/zero >f$i; done; " + sleeps, "it wrote more than 8 MB"},
		"bytes in /tmp":  {Limits{Bytes: 8 << 20}, "for i in $(seq 99); do head -c 1M /dev/zero >/tmp/f$i; done; " + sleeps, "it wrote more than 8 MB"},
		"bytes, quickly": {Limits{Bytes: 8 << 20}, "for i in 1 2 3; do head -c 3M /dev/zero >f$i; done", "it wrote more than 8 MB"},
		"paths":          {Limits{Paths: 500}, "mkdir d; touch d/{1..400} {1..400}; " + sleeps, "it changed more than 500 paths"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &place{t: t, work: p.work, Config: p.Config}
			before := contents(t, p.work)
			began := time.Now()
			r := p.run(c.limits, c.line)
			if r.Stopped != c.want || time.Since(began) > 30*time.Second {
				t.Errorf("stopped %q after %v, want %q", r.Stopped, time.Since(began), c.want)
			}
			if err := r.Keep(); err == nil || contents(t, p.work) != before {
				t.Errorf("kept: %v", err)
			}
			if out, err := exec.Command("pgrep", "-f", sleeps).Output(); err == nil {
				t.Errorf("processes are left: %s", out)
			}
		})
	}
	r := p.run(Limits{Bytes: 8 << 20}, "head -c 9M /dev/zero >big; c=$?; echo; echo $c; ls -1s")
	if !strings.Contains(string(r.Output), "\n153\n") || !strings.Contains(string(r.Output), "8192 big\n") {
		t.Errorf("a large file: %s", r.Output)
	}
	r = p.run(Limits{Output: 1000}, "seq 100000; echo end >&2")
	if len(r.Output) > 1000 || !strings.HasSuffix(string(r.Output), "100000\nend\n") || r.OutputTotal != 588899 {
		t.Errorf("%d bytes of output, of %d: %.100s", len(r.Output), r.OutputTotal, r.Output)
	}
}

// TestMoreTime: a person may give a command more time, which runs meanwhile.
func TestMoreTime(t *testing.T) {
	p := newPlace(t, t.TempDir())
	asked := 0
	r := p.run(Limits{Time: 300 * time.Millisecond, More: func(context.Context) bool { asked++; return true }}, "sleep 1; echo n >a")
	if r.Stopped != "" || asked == 0 || summary(r) != "created \"a\"\n" {
		t.Errorf("stopped %q, asked %d times, %s", r.Stopped, asked, summary(r))
	}
	// An answer that does not come ends with the command.
	r = p.run(Limits{Time: 300 * time.Millisecond, More: func(ctx context.Context) bool { <-ctx.Done(); return false }}, "sleep 1; echo n >a")
	if r.Stopped != "" {
		t.Errorf("stopped %q", r.Stopped)
	}
}

// TestCancelled: the end of the context ends the command and removes the layer.
func TestCancelled(t *testing.T) {
	p := newPlace(t, t.TempDir())
	ctx, stop := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer stop()
	began := time.Now()
	r, err := Run(ctx, p.Config, Command{Shell: "/bin/bash", Line: "echo n >a; sleep 100", Dir: p.work})
	if r != nil || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 30*time.Second {
		t.Errorf("%+v, %v after %v", r, err, time.Since(began))
	}
	if left, err := os.ReadDir(p.Layers); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// runIn names the variable with a folder, in which TestKilledWhileItRuns tries a command in a process of its own.
const runIn = "TRY_TEST_RUN"

// TestKilledWhileItRuns: if this program is killed, the command ends with it, and nothing was kept.
func TestKilledWhileItRuns(t *testing.T) {
	if base := os.Getenv(runIn); base != "" {
		p := &place{t: t, work: filepath.Join(base, "work")}
		p.Layers = filepath.Join(base, "layers")
		p.Fence.Work, p.Fence.Env, p.Fence.Temp = []string{p.work}, os.Environ(), filepath.Join(base, "temp")
		p.run(Limits{}, "echo n >a; setsid sleep "+os.Getenv("SLEEP")+" & sleep "+os.Getenv("SLEEP"))
		return
	}
	p := newPlace(t, t.TempDir())
	sleeps := fmt.Sprint(200_000_000 + os.Getpid())
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileItRuns$")
	cmd.Env = append(os.Environ(), runIn+"="+filepath.Dir(p.work), "SLEEP="+sleeps)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		out, _ := exec.Command("pgrep", "-fx", "sleep "+sleeps).Output()
		return strings.Count(string(out), "\n")
	}
	for began := time.Now(); count() < 2; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal("the command does not start")
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for began := time.Now(); count() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("%d processes are left", count())
		}
	}
	layers, err := os.ReadDir(p.Layers)
	if err != nil || len(layers) != 1 {
		t.Fatalf("layers %v, %v", layers, err)
	}
	layer := filepath.Join(p.Layers, layers[0].Name())
	if kept, err := Resume(layer); kept || err != nil || strings.Contains(contents(t, p.work), `"a"`) {
		t.Errorf("kept: %v, %v", kept, err)
	}
	if err := Discard(layer); err != nil {
		t.Error(err)
	}
}

// TestForkBomb: processes are limited, and all of them end.
func TestForkBomb(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the kernel does not limit the processes of root; TestAsNobody runs this test")
	}
	p := newPlace(t, t.TempDir())
	r := p.run(Limits{Time: 2 * time.Second, Tasks: 60}, "b() { b | b & }; b; sleep 10")
	if r.Stopped == "" && !strings.Contains(string(r.Output), "Resource temporarily unavailable") {
		t.Errorf("stopped %q, output %s", r.Stopped, r.Output)
	}
	r = p.run(Limits{Tasks: 60}, "for i in $(seq 100); do sleep 3 & done; ls /proc | grep -c '^[0-9]'")
	if !strings.Contains(string(r.Output), "fork") {
		t.Errorf("100 processes, the limit is 60: %s", r.Output)
	}
}

// TestNames: names that a command asks a name server or its proxy for are recorded; nothing is reached.
func TestNames(t *testing.T) {
	p := newPlace(t, t.TempDir())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	contacts := make(chan string, 1)
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			contacts <- "contact"
			_ = c.Close()
		}
	}()
	p.Fence.Network, p.Fence.Hosts = true, []string{"allowed.example.com"} // have no effect
	began := time.Now()
	r := p.try(fmt.Sprintf("getent hosts Name.Example.com; getent hosts name.example.com; curl -s http://proxied.example.com/; curl -s https://allowed.example.com/; curl -s --noproxy '*' http://direct.example.com/; echo x >/dev/tcp/%s; curl -s --noproxy '*' -m 5 http://1.1.1.1/; echo $?",
		strings.Replace(l.Addr().String(), ":", "/", 1)))
	want := []string{"name.example.com", "proxied.example.com", "allowed.example.com", "direct.example.com"}
	if _, err := exec.LookPath("curl"); err != nil {
		want = want[:1]
	}
	if !slices.Equal(r.Names, want) {
		t.Errorf("names %q, want %q\n%s", r.Names, want, r.Output)
	}
	select {
	case <-contacts:
		t.Error("it reached this machine's loopback")
	default:
	}
	if !strings.Contains(string(r.Output), "Connection refused") || !strings.HasSuffix(string(r.Output), "\n7\n") || time.Since(began) > 20*time.Second {
		t.Errorf("after %v: %s", time.Since(began), r.Output)
	}
	if text := strings.Join(r.Doubts(), "; "); !strings.Contains(text, "name.example.com") {
		t.Errorf("doubts %q", text)
	}
	if r := p.try("python3 -c 'import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen(); socket.create_connection(s.getsockname()); print(1)'"); string(r.Output) != "1\n" && r.Code != 127 {
		t.Errorf("its own loopback: %s", r.Output)
	}
}

// TestPossible: what makes tries impossible is said in one sentence.
func TestPossible(t *testing.T) {
	p := newPlace(t, t.TempDir())
	if err := Possible(p.Fence.Settings, os.Environ(), p.Layers); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(p.Layers); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	inside := filepath.Join(p.work, "layers")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	shm, err := os.MkdirTemp("/dev/shm", "try")
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = os.RemoveAll(shm) }()
	for _, c := range []struct {
		s      fence.Settings
		layers string
		want   string
	}{
		{p.Fence.Settings, inside, "is in the workspace"},
		{p.Fence.Settings, shm, "different file systems or mounts"},
		{p.Fence.Settings, p.Layers + "/none", "no such file or directory"},
		{fence.Settings{}, p.Layers, "no workspace"},
		{fence.Settings{Work: []string{"/"}}, p.Layers, "the whole system"},
	} {
		if err := Possible(c.s, os.Environ(), c.layers); !errors.Is(err, ErrImpossible) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v %s: %v, want %q", c.s.Work, c.layers, err, c.want)
		}
		if _, err := Run(context.Background(), Config{Fence: fence.Config{Settings: c.s, Env: os.Environ(), Temp: p.Fence.Temp}, Layers: c.layers}, Command{Shell: "/bin/sh", Line: ":", Dir: "/"}); !errors.Is(err, ErrImpossible) {
			t.Errorf("%v %s: Run: %v", c.s.Work, c.layers, err)
		}
	}
}

// mountsIn names the variable with the folder of TestMounts in a mount namespace of its own.
const mountsIn = "TRY_TEST_MOUNTS"

// TestMounts: a workspace with a mount in it, or on an overlay, is refused.
func TestMounts(t *testing.T) {
	if base := os.Getenv(mountsIn); base != "" {
		p := &place{t: t, work: filepath.Join(base, "work")}
		p.Fence.Work, p.Layers = []string{p.work}, filepath.Join(base, "layers")
		fmt.Println(suits(p.Config))
		return
	}
	for _, c := range []struct{ mount, want string }{
		{"true", "<nil>"},
		{"mount -t tmpfs x 'work/a b'", `another file system is mounted in the workspace, on "` + "BASE" + `/work/a b"`},
		{"mount --bind work work", "different file systems or mounts"},
		{"mkdir u w m && mount -t overlay -o userxattr,lowerdir=work,upperdir=u,workdir=w x work", "is on an overlay file system"},
	} {
		base := t.TempDir()
		for _, dir := range []string{"/work", "/work/a b", "/layers"} {
			if err := os.Mkdir(base+dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"-m", "sh", "-c", c.mount + ` && exec "$0" -test.run='^TestMounts$'`, os.Args[0]}
		if os.Getuid() != 0 {
			args = append([]string{"-Ur"}, args...)
		}
		cmd := exec.Command("unshare", args...)
		cmd.Dir, cmd.Env = base, append(os.Environ(), mountsIn+"="+base)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Skipf("%s: %v\n%s", c.mount, err, out)
		}
		if want := strings.ReplaceAll(c.want, "BASE", base); !strings.Contains(string(out), want) {
			t.Errorf("%s: %s\nwant %s", c.mount, out, want)
		}
	}
}

// othersIn names the variable with the folder that TestFilesOfOthers made as root.
const othersIn = "TRY_TEST_OTHERS"

// TestFilesOfOthers: an ordinary user who may write a file of another user can't while it is tried, because the kernel
// would have to copy it; the result says so. To replace the file is named, because its owner changes.
func TestFilesOfOthers(t *testing.T) {
	if base := os.Getenv(othersIn); base != "" {
		p := &place{t: t, work: filepath.Join(base, "work")}
		p.Layers = filepath.Join(base, "layers")
		p.Fence.Work, p.Fence.Env, p.Fence.Temp = []string{p.work}, os.Environ(), filepath.Join(base, "temp")
		if r := p.try("echo x >>theirs"); len(r.Changes) > 0 || !strings.Contains(strings.Join(r.Doubts(), "; "), "Value too large") {
			t.Errorf("%s%q", summary(r), r.Doubts())
		}
		if r := p.try("echo x >n; mv n theirs"); summary(r) != "changed \"theirs\"\n" || len(r.Losses) != 1 || !strings.Contains(r.Losses[0].Why, "from 0:0") {
			t.Errorf("%s%q", summary(r), r.Losses)
		}
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can make files of two users")
	}
	newPlace(t, t.TempDir())
	base, err := os.MkdirTemp("/tmp", "try")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(base) }()
	for _, dir := range []string{"", "/work", "/layers", "/temp"} {
		if err := os.MkdirAll(base+dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(base+dir, canarytest.Nobody, canarytest.Nobody); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(base+"/work/theirs", []byte("1\n"), 0o600), os.Chmod(base+"/work/theirs", 0o666)); err != nil { //nolint:gosec // another user writes it
		t.Fatal(err)
	}
	if out, err := asNobody(t, "-test.run=^TestFilesOfOthers$", othersIn+"="+base); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAsNobody runs the other tests as an ordinary user.
func TestAsNobody(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this is an ordinary user")
	}
	if testing.Short() {
		t.Skip("takes seconds")
	}
	newPlace(t, t.TempDir())
	out, err := asNobody(t, "-test.run=^Test(Sed|KeptIsTheSame|Rename|Other|GoingBack|Sockets|KeepIsKilled|KilledWhile|ForkBomb|Names|Possible|Locked)", allLines+"="+os.Getenv(allLines))
	if text := string(out); err != nil || !strings.Contains(text, "--- PASS: TestForkBomb") || !strings.Contains(text, "--- PASS: TestKeptIsTheSame") {
		t.Errorf("%v\n%s", err, out)
	}
	for l := range strings.Lines(string(out)) {
		if strings.Contains(l, "kept in") || strings.Contains(l, "kills") {
			t.Log(strings.TrimSpace(l))
		}
	}
}

// asNobody runs this program as an ordinary user, with a temporary folder of that user.
func asNobody(t *testing.T, args string, env ...string) ([]byte, error) {
	t.Helper()
	name := canarytest.CopyProgram(t)
	temp := filepath.Join(filepath.Dir(name), "tmp")
	if err := errors.Join(os.Mkdir(temp, 0o700), os.Chown(temp, canarytest.Nobody, canarytest.Nobody)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args, "-test.v", "-test.timeout=20m")
	cmd.Dir, cmd.SysProcAttr = filepath.Dir(name), nobody()
	cmd.Env = append([]string{"PATH=" + canarytest.Path, "HOME=" + temp + "/none", "TMPDIR=" + temp}, env...)
	return cmd.CombinedOutput()
}

// TestLockedFolders: a folder that its owner can't read is named; what is in it is not kept.
func TestLockedFolders(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can read every folder; TestAsNobody runs this test")
	}
	p := newPlace(t, t.TempDir())
	p.sh("mkdir d; echo 1 >f")
	r := p.try("mkdir n; echo 2 >n/m; chmod 000 n d; echo 2 >f")
	if got := summary(r); got != "mode changed \"d\"\nchanged \"f\"\ncreated \"n\"\n" || len(r.Losses) != 2 {
		t.Errorf("%s%q", got, r.Losses)
	}
	p.keep(r)
	for _, name := range []string{"d", "n"} {
		if info, err := os.Stat(filepath.Join(p.work, name)); err != nil || info.Mode().Perm() != 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	p.sh("chmod 700 d n && cat n/m")
}
