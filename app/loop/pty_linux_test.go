package loop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/sys/unix"

	"buddy/app/gc"
	"buddy/app/screen"
)

// childEnv makes the test binary a program with a screen.
const childEnv = "LOOP_TEST_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childEnv); mode != "" {
		os.Exit(child(mode))
	}
	os.Exit(m.Run())
}

// child shows a toy until Q is pressed, then prints what was typed.
func child(mode string) int {
	gc.QuickStart()
	signal.Ignore(unix.SIGHUP)
	s, err := screen.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	y := newToy(0)
	y.onKey = func(ev *tcell.EventKey) *tcell.EventKey {
		if ev.Rune() == 'Q' {
			y.loop.Quit()
		}
		return ev
	}
	y.source = make(chan int, 1)
	switch mode {
	case "panic":
		y.source <- 1
		y.before = func() { y.loop.Go(func() { panic("boom") }) }
	case "panic on the UI goroutine":
		y.source <- 1
		y.before = func() { panic("boom") }
	}
	if err := y.run(context.Background(), s); err != nil {
		_ = os.WriteFile(os.Getenv("LOOP_TEST_FILE"), []byte("ended: "+err.Error()), 0o600)
		return 4
	}
	fmt.Printf("KEYS %s\n", strings.Join(y.keys, " "))
	return 0
}

// pty is a program on a terminal of its own.
type pty struct {
	master, slave *os.File
	cmd           *exec.Cmd
	before        *unix.Termios

	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// startPTY starts the child in mode; what is typed early is there before it runs.
func startPTY(t *testing.T, mode, early string, env ...string) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pty: %v", err)
	}
	var n int
	control(t, master, func(fd int) error { // Fd would make reading uninterruptible
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
			return err
		}
		n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pty{master: master, slave: slave}
	if p.before, err = unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS); err != nil {
		t.Fatal(err)
	}
	if _, err := master.WriteString(early); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(append(os.Environ(), childEnv+"="+mode, "TERM=xterm-256color", "GORACE=atexit_sleep_ms=0"), env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		_ = slave.Close()
		_ = master.Close()
	})
	go p.read()
	return p
}

func control(t *testing.T, f *os.File, do func(fd int) error) {
	t.Helper()
	conn, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Control(func(fd uintptr) { err = do(int(fd)) }), err); err != nil {
		t.Fatal(err)
	}
}

func (p *pty) read() {
	buf := make([]byte, 4096)
	for {
		n, err := p.master.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.text.Write(buf[:n])
		p.mu.Unlock()
	}
}

func (p *pty) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// until waits for a condition of the real world.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waiting for %s took too long", what)
		}
	}
}

func (p *pty) sameMode(t *testing.T) bool {
	t.Helper()
	now, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *now == *p.before
}

// What is typed during the start is kept, with its Enter.
func TestTypeAhead(t *testing.T) {
	for range 5 {
		p := startPTY(t, "toy", "hi\nthere")
		until(t, "the first frame", func() bool { return strings.Contains(p.output(), "?1049h") })
		if _, err := p.master.WriteString(" late\rQ"); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Wait(); err != nil {
			t.Fatalf("%v\n%q", err, p.output())
		}
		until(t, "the keys", func() bool { return strings.Contains(p.output(), "KEYS ") })
		want := "KEYS " + names("hi\nthere late\nQ")
		if got := p.output(); !strings.Contains(got, want) {
			t.Errorf("the program got %q\nwant %q", got[strings.Index(got, "KEYS"):], want)
		}
		if !p.sameMode(t) {
			t.Error("the terminal's mode is not restored")
		}
	}
}

func names(text string) string {
	var all []string
	for _, r := range text {
		if r == '\n' {
			all = append(all, "Enter")
		} else {
			all = append(all, "Rune["+string(r)+"]")
		}
	}
	return strings.Join(all, " ")
}

// A7: a panic in any goroutine leaves a usable terminal, and the panic is readable.
func TestPanicRestoresTerminal(t *testing.T) {
	for _, mode := range []string{"panic", "panic on the UI goroutine"} {
		t.Run(mode, func(t *testing.T) { testPanic(t, mode) })
	}
}

func testPanic(t *testing.T, mode string) {
	p := startPTY(t, mode, "")
	var exit *exec.ExitError
	if err := p.cmd.Wait(); !errors.As(err, &exit) {
		t.Fatalf("the child ended with %v, want a panic", err)
	}
	until(t, "the panic", func() bool { return strings.Contains(p.output(), "[running]") })
	out := p.output()
	restored, panicked := strings.LastIndex(out, "\x1b[?1049l"), strings.Index(out, "panic: boom")
	if restored < 0 || panicked < restored {
		t.Errorf("the panic is not printed after the terminal was restored: %q", out)
	}
	if !p.sameMode(t) {
		t.Error("the terminal's mode is not restored")
	}
}

func TestTerminalGone(t *testing.T) {
	file := t.TempDir() + "/end"
	p := startPTY(t, "toy", "", "LOOP_TEST_FILE="+file)
	until(t, "the first frame", func() bool { return strings.Contains(p.output(), "> ") })
	_ = p.slave.Close()
	_ = p.master.Close()
	var exit *exec.ExitError
	if err := p.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 4 {
		t.Fatalf("the child ended with %v, want exit code 4", err)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "ended: terminal: ") {
		t.Errorf("the child's last words are %q, %v", text, err)
	}
}

func TestNotTerminal(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=toy")
	out, err := cmd.CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 3 || !strings.Contains(string(out), "/dev/stdin is not a terminal") {
		t.Errorf("without a terminal: %v, %q", err, out)
	}
}
