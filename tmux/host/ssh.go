package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"buddy/texts/searchpath"
)

const (
	// connectLimit bounds the time to connect, including jump hosts and proxies of the user's configuration.
	connectLimit = 30 * time.Second
	// byeLimit bounds the request that ends the master.
	byeLimit = 2 * time.Second
)

// SSHOptions describe how to reach a machine. The user's ssh configuration applies.
type SSHOptions struct {
	Dest       string // as in an ssh command: a host, user@host or a name of the configuration; required
	ConfigFile string // used instead of ~/.ssh/config and the system's file; "": neither is replaced
}

// ssh is the transport to another machine. All processes share one connection, which ssh's master process holds. When
// this process ends, even if it is killed, a guard process ends the master and removes its folder.
type ssh struct {
	opt SSHOptions

	making sync.Mutex // held while the connection is made or ended

	mu     sync.Mutex // guards the fields below
	dir    *socketDir // of the master; nil before the first
	master *master
	title  string
}

type master struct {
	cmd  *exec.Cmd
	in   io.Closer
	done chan struct{}
}

func (m *master) ended() bool {
	if m == nil {
		return true
	}
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}

// SSH returns another machine. The first use connects.
func SSH(o SSHOptions) (*Host, error) {
	if badDest(o.Dest) {
		return nil, fmt.Errorf("ssh destination %q: must be a host, user@host or a name of your ssh configuration", o.Dest)
	}
	if o.ConfigFile != "" {
		f, err := os.Open(o.ConfigFile) // ssh's own message does not name the option
		if err != nil {
			return nil, fmt.Errorf("ssh configuration %q: %w", o.ConfigFile, errors.Unwrap(err))
		}
		_ = f.Close()
	}
	return newHost(&ssh{opt: o}), nil
}

// name returns the destination with the user, from `user@host` or from the configuration.
func (s *ssh) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.title != "" {
		return s.title
	}
	s.title = s.opt.Dest + " (ssh)"
	if strings.Contains(s.opt.Dest, "@") {
		return s.title
	}
	out, _, err := output(context.Background(), byeLimit, s.argv("-G", s.opt.Dest)...)
	for l := range strings.Lines(out) {
		if user, ok := strings.CutPrefix(l, "user "); ok && err == nil {
			s.title = clean(user) + "@" + s.title
			break
		}
	}
	return s.title
}

// argv returns an ssh command line that uses opt.ConfigFile, by default the user's own configuration.
func (s *ssh) argv(args ...string) []string {
	argv := []string{"ssh"}
	if s.opt.ConfigFile != "" {
		argv = append(argv, "-F", s.opt.ConfigFile)
	}
	return append(argv, args...)
}

// quiet holds the options of all our connections: no prompts on the terminal, detection of dead connections, and no
// additions from a configuration for interactive use.
var quiet = []string{
	"-T", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-o", "RemoteCommand=none", "-o", "RequestTTY=no",
	"-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "EscapeChar=none",
	"-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "-o", "ControlPersist=no",
}

func (s *ssh) command(ctx context.Context, argv []string) *exec.Cmd {
	s.mu.Lock()
	sock := s.socket()
	s.mu.Unlock()
	// ProxyCommand makes a client fail when the master has gone, because a client must not connect by itself.
	all := s.argv(append(quiet, "-o", "ControlMaster=no", "-o", "ProxyCommand=false", "-S", sock, "--", s.opt.Dest, Line(argv...))...)
	cmd := searchpath.Command(ctx, all[0], all[1:]...)
	cmd.WaitDelay = time.Second
	return cmd
}

func (s *ssh) attach(argv []string) string {
	there := Line(argv...)
	if strings.Contains(there, "'") {
		there = Quote(there) // quoted twice: for the shell here and for the shell on the target
	}
	return Line(s.argv("-t", s.opt.Dest)...) + " " + there
}

// socket returns the path of the master's socket. The caller holds the mutex mu or making.
func (s *ssh) socket() string {
	if s.dir == nil {
		return "none" // nothing connects before the first master
	}
	return filepath.Join(s.dir.path, "s")
}

func (s *ssh) connect(ctx context.Context) error {
	s.mu.Lock()
	m := s.master
	s.mu.Unlock()
	if !m.ended() {
		return nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	s.mu.Lock()
	m = s.master
	s.mu.Unlock()
	if !m.ended() {
		return nil
	}
	if err := s.makeDir(); err != nil {
		return err
	}
	m, message, err := s.startMaster(ctx)
	if err != nil {
		s.dir.close()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.explain(ctx, message, err)
	}
	s.mu.Lock()
	s.master = m
	s.mu.Unlock()
	return nil
}

// socketDir is a private folder for a master's socket, with a guard. The guard is a shell that waits until its input is
// closed, by close or by the end of this process. Then it ends the connection with everything that uses it, and removes
// the folder. Without a guard, the master would wait for its clients, and the clients would wait for the target.
type socketDir struct {
	path string
	in   io.Closer     // of the guard
	done chan struct{} // closed when the guard has ended
}

// guardScript gets the folder as $0, and as arguments the command that ends the connection.
const guardScript = `trap '' HUP INT QUIT TERM; read -r _; "$@" >/dev/null 2>&1; rm -rf -- "$0"`

// makeDir makes a folder for the socket of a new connection. The path must be short, because the length of a socket's
// path is limited and ssh first uses a name with 17 more characters. The caller holds the mutex making.
func (s *ssh) makeDir() error {
	s.dir.close()
	base := os.TempDir()
	if len(base) > 40 {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, "buddy-ssh-")
	if err != nil {
		return fmt.Errorf("can't make a directory for the ssh socket: %w", err)
	}
	d := &socketDir{path: dir, done: make(chan struct{})}
	cmd := searchpath.Command(context.Background(), "sh", append([]string{"-c", guardScript, dir}, s.argv("-S", filepath.Join(dir, "s"), "-O", "exit", s.opt.Dest)...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if d.in, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("the process that guards the ssh connection can't be started: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	go func() {
		_ = cmd.Wait()
		close(d.done)
	}()
	s.mu.Lock()
	s.dir = d
	s.mu.Unlock()
	return nil
}

// close ends the connection that uses the folder, and removes the folder. On nil it does nothing.
func (d *socketDir) close() {
	if d == nil {
		return
	}
	_ = d.in.Close()
	select {
	case <-d.done:
	case <-time.After(byeLimit):
	}
	_ = os.RemoveAll(d.path)
}

// startMaster connects. On failure it returns ssh's message.
func (s *ssh) startMaster(ctx context.Context) (m *master, message string, err error) {
	ctx, stop := context.WithTimeout(ctx, connectLimit)
	defer stop()
	const ready = "buddy-ready"
	all := s.argv(append(quiet, "-M", "-S", s.socket(), "-o", "ConnectTimeout=15", "--", s.opt.Dest, "echo "+ready+"; exec cat >/dev/null")...)
	cmd := searchpath.Command(context.WithoutCancel(ctx), all[0], all[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	var errs lastBytes
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	m = &master{cmd: cmd, in: in, done: make(chan struct{})}
	up := make(chan error, 1)
	printed := "" // output of a login shell that starts no command; read after up
	go func() {
		// A login script may print something first, without a final newline.
		lines := bufio.NewScanner(io.LimitReader(out, 64<<10))
		for lines.Scan() {
			if strings.HasSuffix(lines.Text(), ready) {
				up <- nil
				_, _ = io.Copy(io.Discard, out)
				return
			}
			printed = lines.Text()
		}
		up <- errors.New("the connection ended")
	}()
	loginText := ""
	select {
	case err = <-up:
		loginText = printed
	case <-ctx.Done():
		err = fmt.Errorf("no connection within %v", connectLimit)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		if waited := cmd.Wait(); exitCode(waited) > 0 {
			err = waited
		}
		return nil, string(errs.b) + loginText, err
	}
	go func() {
		_ = cmd.Wait()
		close(m.done)
	}()
	return m, "", nil
}

// close ends the connection and removes its socket, even if the master does not respond.
func (s *ssh) close() error {
	s.making.Lock()
	defer s.making.Unlock()
	s.mu.Lock()
	m, d := s.master, s.dir
	s.mu.Unlock()
	d.close()
	if !m.ended() {
		_ = m.in.Close()
		select {
		case <-m.done:
		case <-time.After(byeLimit):
			_ = m.cmd.Process.Kill()
			<-m.done
		}
	}
	return nil
}

// explain turns ssh's message into one line that also says what the user can do.
func (s *ssh) explain(_ context.Context, message string, err error) *DownError {
	e := &DownError{Host: s.name(), Why: lastLine(message)}
	byHand := "try " + Line(s.argv(s.opt.Dest)...)
	has := func(text string) bool { return strings.Contains(message, text) }
	switch {
	case has("REMOTE HOST IDENTIFICATION HAS CHANGED"):
		e.Why = "the host key has changed" + offending(message)
		e.Next = "if you know why, remove the old key with ssh-keygen -R; if not, somebody may be listening in"
	case has("Host key verification failed"), has("host key is known for"):
		e.Why = "the host key is not known yet"
		e.Next = "connect once by hand and confirm it: " + Line(s.argv(s.opt.Dest)...)
	case has("Permission denied ("):
		e.Why = "no key was accepted (" + lastLine(message) + ")"
		e.Next = "load one with ssh-add, or name it as IdentityFile in your ssh configuration; " + byHand
	case has("This account is currently not available"), has("nologin"):
		e.Why = "the account starts no shell (" + lastLine(message) + ")"
		e.Next = "use another account, or give this one a shell there with chsh -s /bin/sh"
	case has("Could not resolve hostname"):
		e.Next = "check the name, or define it in your ssh configuration"
	case has("Connection refused"), has("timed out"), has("No route to host"), has("unreachable"):
		e.Next = "check that the machine is up and that sshd listens there"
	case errors.Is(err, exec.ErrNotFound):
		e.Why, e.Next = "ssh is not installed on this machine", "install the OpenSSH client"
	case has("kex_exchange_identification"): // refused, or the master has just gone
		e.Why, e.Next = "the connection was closed", "the next command connects again; if that fails, "+byHand
	case e.Why == "" || has("closed by UNKNOWN") || has("mux_client") || has("not responding"):
		e.Why, e.Next = "the connection was lost", "the next command connects again"
		if code := exitCode(err); code > 0 && code != 255 { // 255 is ssh's own
			e.Why = fmt.Sprintf("the shell there ended with exit code %d and gave no answer", code)
			e.Next = "if that happens again, look for an exit in its start-up files; " + byHand
		}
	}
	return e
}

// offending returns the file and line of a host key that does not match.
func offending(message string) string {
	for l := range strings.Lines(message) {
		if _, at, ok := strings.Cut(l, "Offending "); ok {
			if _, place, ok := strings.Cut(at, " in "); ok {
				return " (" + clean(place) + ")"
			}
		}
	}
	return ""
}
