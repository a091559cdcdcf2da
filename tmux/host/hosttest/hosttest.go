// Package hosttest starts targets for tests: an ssh server, and containers with the programs of this machine. A
// [Forwarder] can slow down or cut the connection to a server.
//
//	srv := hosttest.NewSSHD(t, "") // skips the test where sshd is missing
//	h, err := host.SSH(host.SSHOptions{Dest: srv.Dest, ConfigFile: srv.Config})
package hosttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"buddy/tmux/host"
	"buddy/tmux/tmuxtest"
)

// SSHD is a server on 127.0.0.1 that accepts its test's key.
type SSHD struct {
	Dest   string // name in Config
	Config string // ssh configuration
	Dir    string // a short private directory of the test's own
	Wire   *Forwarder
}

// NewSSHD starts a server, which ends with the test. Its sessions have TMUX_TMPDIR and an empty home in Dir: start-up
// files in the user's home may take locks that a cut connection would keep, and every later shell would wait for them.
// more is appended to sshd_config.
func NewSSHD(t testing.TB, more string) *SSHD {
	t.Helper()
	if testing.Short() {
		t.Skip("needs an sshd")
	}
	sshd := need(t, "sshd", "/usr/sbin/sshd")
	need(t, "ssh")
	need(t, "ssh-keygen")
	if os.Getuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := tmuxtest.Dir(t)
	s := &SSHD{Dest: "target", Dir: dir, Config: filepath.Join(dir, "ssh_config")}
	for _, k := range []string{"hostkey", "id"} {
		run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, k))
	}
	key := read(t, filepath.Join(dir, "id.pub"))
	write(t, filepath.Join(dir, "authorized_keys"), key)
	write(t, filepath.Join(dir, "sshd_config"), fmt.Sprintf(`HostKey %[1]s/hostkey
AuthorizedKeysFile %[1]s/authorized_keys
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
StrictModes no
SetEnv TMUX_TMPDIR=%[1]s HOME=%[2]s
%[3]s
`, dir, tmuxtest.Home(t, dir), more))
	s.Wire = NewForwarder(t, serve(t, sshd, "-i", "-f", filepath.Join(dir, "sshd_config"), "-E", filepath.Join(dir, "sshd.log")))
	_, shown, _ := net.SplitHostPort(s.Wire.Addr)
	write(t, filepath.Join(dir, "known_hosts"), fmt.Sprintf("[127.0.0.1]:%s %s", shown, read(t, filepath.Join(dir, "hostkey.pub"))))
	write(t, s.Config, fmt.Sprintf(`Host target
  HostName 127.0.0.1
  Port %s
  User %s
  IdentityFile %[3]s/id
  IdentitiesOnly yes
  UserKnownHostsFile %[3]s/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  ControlMaster auto
  ControlPath %[3]s/cm-%%C
  ControlPersist 60
`, shown, user(), dir))
	return s
}

// serve returns an address where each connection gets its own process, as with inetd. The test owns the port from the
// start, so nobody else can take it.
func serve(t testing.TB, argv ...string) string {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.AcceptTCP()
			if err != nil {
				return
			}
			wire, err := c.File()
			_ = c.Close()
			if err != nil {
				continue
			}
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Stdin, cmd.Stdout = wire, wire
			all.Go(func() {
				defer func() { _ = wire.Close() }()
				_ = cmd.Run() // errors are in its log
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); stop(); all.Wait() })
	return l.Addr().String()
}

// Host returns the server as a host, which is closed at the test's end.
func (s *SSHD) Host(t testing.TB) *host.Host {
	t.Helper()
	h, err := host.SSH(host.SSHOptions{Dest: s.Dest, ConfigFile: s.Config})
	return closing(t, h, err)
}

// NewHostKey replaces the server's key in known_hosts, so that ssh reports a changed host key.
func (s *SSHD) NewHostKey(t testing.TB) {
	t.Helper()
	other := filepath.Join(s.Dir, "other")
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other)
	_, shown, _ := net.SplitHostPort(s.Wire.Addr)
	write(t, filepath.Join(s.Dir, "known_hosts"), fmt.Sprintf("[127.0.0.1]:%s %s", shown, read(t, other+".pub")))
}

func closing(t testing.TB, h *host.Host, err error) *host.Host {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("Host.Close: %v", err)
		}
	})
	return h
}

func user() string {
	if u := os.Getenv("USER"); u != "" && os.Getuid() != 0 {
		return u
	}
	out, err := exec.Command("id", "-un").Output()
	if err != nil {
		return "root"
	}
	return strings.TrimSpace(string(out))
}

// need returns the path of a program or skips the test.
func need(t testing.TB, name string, places ...string) string {
	t.Helper()
	for _, p := range append([]string{name}, places...) {
		if path, err := exec.LookPath(p); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed", name)
	return ""
}

func run(t testing.TB, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Forwarder passes connections on to a server. It can hold everything back, delay it, and cut
// all connections.
type Forwarder struct {
	Addr string

	delay   atomic.Int64 // nanoseconds, each way
	refuse  atomic.Bool
	answers sync.RWMutex // locked while the server's output is held back

	mu    sync.Mutex // guards conns
	conns map[net.Conn]bool
}

// NewForwarder returns a forwarder to addr, which ends with the test.
func NewForwarder(t testing.TB, addr string) *Forwarder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &Forwarder{Addr: l.Addr().String(), conns: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = l.Close(); f.Cut() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if f.refuse.Load() {
				_ = c.Close()
				continue
			}
			s, err := net.Dial("tcp", addr)
			if err != nil {
				_ = c.Close()
				continue
			}
			f.mu.Lock()
			f.conns[c], f.conns[s] = true, true
			f.mu.Unlock()
			go f.pipe(c, s, &sync.RWMutex{})
			go f.pipe(s, c, &f.answers)
		}
	}()
	return f
}

// Delay delays everything by this time, each way.
func (f *Forwarder) Delay(d time.Duration) { f.delay.Store(int64(d)) }

// HoldAnswers holds back the server's output, or lets it pass again.
func (f *Forwarder) HoldAnswers(on bool) {
	if on {
		f.answers.Lock()
		return
	}
	f.answers.Unlock()
}

// Refuse makes new connections fail at once, or accepts them again.
func (f *Forwarder) Refuse(on bool) { f.refuse.Store(on) }

// Cut closes all connections.
func (f *Forwarder) Cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		_ = c.Close()
	}
	clear(f.conns)
}

// pipe copies from one side to the other. Arriving data is queued, so that a delay does not
// reduce the throughput. Nothing is passed on while held is locked.
func (f *Forwarder) pipe(from, to net.Conn, held *sync.RWMutex) {
	type packet struct {
		at time.Time
		p  []byte
	}
	queue := make(chan packet, 1024)
	go func() {
		defer func() { _ = to.Close() }()
		for k := range queue {
			if d := time.Until(k.at); d > 0 {
				<-time.After(d)
			}
			held.RLock()
			_, err := to.Write(k.p)
			held.RUnlock()
			if err != nil {
				_ = from.Close()
			}
		}
	}()
	defer close(queue)
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			queue <- packet{time.Now().Add(time.Duration(f.delay.Load())), append([]byte(nil), buf[:n]...)}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				_ = to.Close()
			}
			return
		}
	}
}
