package host_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"buddy/tmux/host"
	"buddy/tmux/host/hosttest"
	"buddy/tmux/tmuxtest"
)

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// wantDown checks that the host cannot be reached, and that the error is one line.
func wantDown(t *testing.T, h *host.Host, words ...string) {
	t.Helper()
	_, err := h.Run(t.Context(), "true", io.Discard, io.Discard)
	_, ok := errors.AsType[*host.DownError](err)
	if !ok || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), h.Name()+": ") {
		t.Errorf("error %v, want a DownError of one line", err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q, want %q in it", err, w)
		}
	}
}

// TestSSHErrors: every failure to connect has its line and its next step.
func TestSSHErrors(t *testing.T) {
	t.Parallel()
	change := func(t *testing.T, s *hosttest.SSHD, old, with string) {
		t.Helper()
		b, err := os.ReadFile(s.Config)
		if err != nil || !bytes.Contains(b, []byte(old)) {
			t.Fatalf("%q is not in the configuration (%v)", old, err)
		}
		if err := os.WriteFile(s.Config, bytes.ReplaceAll(b, []byte(old), []byte(with)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, s *hosttest.SSHD)
		words []string
	}{
		{"changed key", func(t *testing.T, s *hosttest.SSHD) { s.NewHostKey(t) }, []string{"host key has changed", "known_hosts", "ssh-keygen -R"}},
		{"unknown key", func(t *testing.T, s *hosttest.SSHD) {
			change(t, s, "StrictHostKeyChecking yes", "StrictHostKeyChecking ask")
			_ = os.Remove(filepath.Join(s.Dir, "known_hosts"))
		}, []string{"not known yet", "connect once by hand", "ssh -F"}},
		{"no key accepted", func(t *testing.T, s *hosttest.SSHD) { _ = os.Remove(filepath.Join(s.Dir, "authorized_keys")) }, []string{"no key was accepted", "publickey", "ssh-add"}},
		{"refused", func(t *testing.T, s *hosttest.SSHD) { change(t, s, "Port ", "Port 1\n  #") }, []string{"Connection refused", "sshd listens"}},
		{"name", func(t *testing.T, s *hosttest.SSHD) { change(t, s, "HostName 127.0.0.1", "HostName nowhere.invalid") }, []string{"resolve hostname", "check the name"}},
		{"cut", func(_ *testing.T, s *hosttest.SSHD) { s.Wire.Refuse(true) }, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := hosttest.NewSSHD(t, "")
			h := s.Host(t)
			c.spoil(t, s)
			wantDown(t, h, c.words...)
			if _, err := os.Stat(host.SSHDir(h)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%q is left behind: %v", host.SSHDir(h), err)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, dest := range []string{"", "-oProxyCommand=x", "a b", "a;b", "$(x)"} {
		if _, err := host.SSH(host.SSHOptions{Dest: dest}); err == nil {
			t.Errorf("SSH(%q): no error", dest)
		}
		if _, err := host.Container(dest); err == nil {
			t.Errorf("Container(%q): no error", dest)
		}
	}
	if _, err := host.SSH(host.SSHOptions{Dest: "x", ConfigFile: "/nonexistent/c"}); err == nil || !strings.Contains(err.Error(), `"/nonexistent/c"`) {
		t.Errorf("a missing configuration: %v", err)
	}
}

// TestSSHAttach: the command that attaches a person, and the name of the target.
func TestSSHAttach(t *testing.T) {
	t.Parallel()
	s := hosttest.NewSSHD(t, "")
	h := s.Host(t)
	if got, want := h.Attach("tmux", "-L", "buddy", "attach", "-t", "S"), "ssh -F "+s.Config+" -t target tmux -L buddy attach -t S"; got != want {
		t.Errorf("Attach = %q, want %q", got, want)
	}
	if got, want := h.Attach("tmux", "-S", "/it's", "attach"), "ssh -F "+s.Config+` -t target 'tmux -S '\''/it'\''\'\'''\''s'\'' attach'`; got != want {
		t.Errorf("Attach = %s, want %s", got, want)
	}
	if !strings.HasSuffix(h.Name(), "@target (ssh)") {
		t.Errorf("Name = %q", h.Name())
	}
	h2, err := host.SSH(host.SSHOptions{Dest: "root@web-02"})
	if err != nil || h2.Name() != "root@web-02 (ssh)" {
		t.Errorf("Name = %q, %v", h2.Name(), err)
	}
}

// chatty is sshd configuration that makes every command start like a login script that prints to both streams.
const chatty = `ForceCommand printf 'WELCOME\nwithout an end'; printf 'oops\nwithout an end' >&2; eval "$SSH_ORIGINAL_COMMAND"`

// TestSSHLoginScriptPrints: the output of a login script is in no output and in no file.
func TestSSHLoginScriptPrints(t *testing.T) {
	t.Parallel()
	s := hosttest.NewSSHD(t, chatty)
	h := s.Host(t)
	for range 2 { // a new shell and an idle one
		if code, out, errs := script(t, h, "echo out; echo err >&2; exit 3"); code != 3 || out != "out\n" || errs != "err\n" {
			t.Errorf("Run = %d, %q, %q", code, out, errs)
		}
	}
	path, want := filepath.Join(s.Dir, "file"), "\x00WELCOME\n\xff"
	if err := h.WriteFile(t.Context(), path, strings.NewReader(want), int64(len(want)), 0o600, false); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := h.Read(t.Context(), path, 0, 100, &got); err != nil || got.String() != want {
		t.Errorf("Read = %q, %v", got.String(), err)
	}
}

// TestSSHOneConnection: everything is multiplexed, and Close removes the connection and its socket. Requests beyond the
// server's limit of sessions wait.
func TestSSHOneConnection(t *testing.T) {
	t.Parallel()
	s := hosttest.NewSSHD(t, "")
	h := s.Host(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if code, err := h.Run(t.Context(), "sleep 0.1; exit 7", io.Discard, io.Discard); code != 7 || err != nil {
				t.Errorf("Run = %d, %v", code, err)
			}
		})
	}
	all.Wait()
	log, err := os.ReadFile(filepath.Join(s.Dir, "sshd.log"))
	if n := bytes.Count(log, []byte("Accepted publickey")); err != nil || n != 1 {
		t.Errorf("%d connections (%v)\n%s", n, err, log)
	}
	if m, _ := filepath.Glob(filepath.Join(s.Dir, "cm-*")); len(m) > 0 {
		t.Errorf("the person's own master was touched: %v", m)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	tmuxtest.Until(t, "the connection is closed", func() bool {
		log, err := os.ReadFile(filepath.Join(s.Dir, "sshd.log"))
		return err == nil && bytes.Contains(log, []byte("isconnect"))
	})
	if _, err := h.Run(t.Context(), "true", io.Discard, io.Discard); err == nil {
		t.Error("Run works after Close")
	}
}

// TestSSHReconnect: after a cut the next call works, even with an idle shell from before.
func TestSSHReconnect(t *testing.T) {
	t.Parallel()
	s := hosttest.NewSSHD(t, "")
	h := s.Host(t)
	for range 3 {
		if code, _, _ := script(t, h, "exit 4"); code != 4 {
			t.Errorf("exit %d", code)
		}
		s.Wire.Cut()
		tmuxtest.Until(t, "the cut is noticed", func() bool {
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			_, err := h.Run(ctx, "true", io.Discard, io.Discard)
			return err == nil
		})
	}
	// A cut in the middle is a DownError.
	ended := make(chan error, 1)
	var out lockedBuffer
	// The script ends at the first line that nobody reads.
	go func() {
		_, err := h.Run(t.Context(), "while echo started; do sleep 0.1; done", &out, io.Discard)
		ended <- err
	}()
	tmuxtest.Until(t, "the script runs", func() bool { return out.String() != "" })
	s.Wire.Cut()
	var down *host.DownError
	if err := <-ended; !errors.As(err, &down) {
		t.Errorf("Run: %v, want a DownError", err)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestCancelledRun: the end of ctx ends the wait, and the host stays usable.
func TestCancelledRun(t *testing.T) {
	everywhere(t, func(t *testing.T, h *host.Host, _ string) {
		script(t, h, "true")
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		// On an SSH host the script keeps running until it writes.
		if _, err := h.Run(ctx, "while echo on; do sleep 0.1; done", io.Discard, io.Discard); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run: %v", err)
		}
		if _, out, _ := script(t, h, "echo on"); out != "on\n" {
			t.Errorf("after that: %q", out)
		}
	})
}

// TestCancelledConnecting: the end of ctx ends the wait for a machine that does not answer.
func TestCancelledConnecting(t *testing.T) {
	t.Parallel()
	s := hosttest.NewSSHD(t, "")
	h := s.Host(t)
	s.Wire.Delay(time.Minute)
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	began := time.Now()
	if _, err := h.Run(ctx, "true", io.Discard, io.Discard); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Run: %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	s.Wire.Delay(0)
	if _, out, _ := script(t, h, "echo on"); out != "on\n" {
		t.Errorf("after that: %q", out)
	}
}

// TestLargeOutput passes any bytes through in pieces.
func TestLargeOutput(t *testing.T) {
	everywhere(t, func(t *testing.T, h *host.Host, _ string) {
		var out bytes.Buffer
		code, err := h.Run(t.Context(), "i=0; while [ $i -lt 2000 ]; do printf '\\036\\036ABCDEFGH\\036'; i=$((i+1)); done; yes | head -c 5000000 >&2; seq 300000", &out, io.Discard)
		if err != nil || code != 0 || !strings.HasPrefix(out.String(), strings.Repeat("\x1e\x1eABCDEFGH\x1e", 2000)+"1\n2\n") || !strings.HasSuffix(out.String(), "\n300000\n") {
			t.Errorf("Run = %d, %v, %d bytes", code, err, out.Len())
		}
	})
}

// TestContainerErrors: the engines' exit codes are distinguished from the command's.
func TestContainerErrors(t *testing.T) {
	t.Parallel()
	h, err := host.Container("buddy-no-such-container")
	if err != nil {
		t.Fatal(err)
	}
	c := hosttest.NewContainer(t, hosttest.Ash)
	wantDown(t, h, "no such container", "podman")
	up := c.Host(t)
	script(t, up, "true")
	c.Stop(t)
	wantDown(t, up, "not running", "start it with "+filepath.Base(c.Engine)+" start "+c.Name)
	var down *host.DownError
	if err := up.Connect(t.Context()); !errors.As(err, &down) || !down.Gone {
		t.Errorf("a stopped container: %v, want one that is gone", err)
	}
	c.Start(t)
	if code, _, _ := script(t, up, "exit 125"); code != 125 {
		t.Errorf("exit %d, want 125", code)
	}
}

// TestDockerThatIsPodman: podman installed under the name docker.
func TestDockerThatIsPodman(t *testing.T) {
	c := hosttest.NewContainer(t, hosttest.Ash)
	podman, err := exec.LookPath("podman")
	if err != nil {
		t.Skip(err)
	}
	dir := tmuxtest.Dir(t)
	text := "#!/bin/sh\necho 'Emulate Docker CLI using podman. Create /etc/containers/nodocker to quiet msg.' >&2\nexec " + podman + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	h := c.Host(t)
	if code, out, _ := script(t, h, "echo hi; exit 3"); code != 3 || out != "hi\n" {
		t.Errorf("Run = %d, %q", code, out)
	}
	if got := h.Attach("tmux", "attach"); got != "docker exec -it "+c.Name+" tmux attach" {
		t.Errorf("Attach = %q", got)
	}
}

// BenchmarkRun runs a short script on an idle shell; compare it with ssh-true.
func BenchmarkRun(b *testing.B) {
	for _, at := range targets {
		b.Run(strings.ReplaceAll(at.name, " ", "-"), func(b *testing.B) {
			h, _ := at.open(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.Run(b.Context(), "true", io.Discard, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("ssh-true", func(b *testing.B) {
		h := hosttest.NewSSHD(b, "").Host(b)
		for b.Loop() {
			cmd, err := h.Command(b.Context(), "true")
			if err == nil {
				err = cmd.Run()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// loginShell returns the line of an sshd's configuration that replaces the login shell by a script.
func loginShell(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil { //nolint:gosec // sshd runs it
		t.Fatal(err)
	}
	return "ForceCommand " + path
}

// A login shell that accepts no line break in quotes, like csh and tcsh, starts every script, with any content after
// it.
func TestLoginShellWithoutLineBreaksInQuotes(t *testing.T) {
	csh := "case $SSH_ORIGINAL_COMMAND in *'\n'*) echo \"Unmatched '.\" >&2; exit 1 ;; esac\nexec sh -c \"$SSH_ORIGINAL_COMMAND\"\n"
	h := hosttest.NewSSHD(t, loginShell(t, csh)).Host(t)
	path := filepath.Join(t.TempDir(), "new")
	content := strings.Repeat("line\x00 $(id)\n", 20_000)
	if err := h.WriteFile(t.Context(), path, strings.NewReader(content), int64(len(content)), 0o644, false); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != content {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := h.MkdirAll(t.Context(), path+"s/a"); err != nil {
		t.Error(err)
	}
}

// A login shell that prints something at its end, and ends with another exit code, loses no answer.
func TestLoginShellWithExitTrap(t *testing.T) {
	h := hosttest.NewSSHD(t, loginShell(t, "trap 'echo; echo bye; exit 3' EXIT\nsh -c \"$SSH_ORIGINAL_COMMAND\"\n")).Host(t)
	path := filepath.Join(t.TempDir(), "new")
	if err := h.WriteFile(t.Context(), path, strings.NewReader("x"), 1, 0o644, false); err != nil {
		t.Error(err)
	}
	if err := h.WriteFile(t.Context(), filepath.Dir(path), strings.NewReader("x"), 1, 0o644, false); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	if code, out, _ := script(t, h, "echo hi; exit 4"); code != 4 || out != "hi\n" {
		t.Errorf("Run = %d, %q", code, out)
	}
}

// The result of a write is known if its script never started, and unknown if the answer is lost.
func TestLostAnswerOfAWrite(t *testing.T) {
	for _, c := range []struct {
		name, login, message string
		wrote                bool
	}{
		{"no start", "exit 3", "the shell there ended with exit code 3 and gave no answer", false},
		{"no start and a lost connection", "exit 255", "the connection was lost", false},
		{"no answer", `sh -c "$SSH_ORIGINAL_COMMAND" | head -n 1; exit 255`, "the connection was lost", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hosttest.NewSSHD(t, loginShell(t, "case $SSH_ORIGINAL_COMMAND in *eval*) "+c.login+" ;; esac\nexec sh -c \"$SSH_ORIGINAL_COMMAND\"\n")).Host(t)
			path := filepath.Join(t.TempDir(), "new")
			err := h.WriteFile(t.Context(), path, strings.NewReader("x"), 1, 0o644, false)
			if err == nil || !strings.Contains(err.Error(), c.message) || errors.Is(err, host.ErrUnknown) != c.wrote {
				t.Errorf("%v, want %s; unknown: %v", err, c.message, c.wrote)
			}
			if _, err := os.Stat(path); (err == nil) != c.wrote {
				t.Errorf("the file: %v", err)
			}
		})
	}
}

// An account that may not log in is reported as that, not as a lost connection.
func TestAccountWithoutAShell(t *testing.T) {
	h := hosttest.NewSSHD(t, loginShell(t, "echo 'This account is currently not available.'\nexit 1\n")).Host(t)
	for _, err := range []error{
		h.MkdirAll(t.Context(), filepath.Join(t.TempDir(), "a")),
		h.WriteFile(t.Context(), filepath.Join(t.TempDir(), "b"), strings.NewReader("x"), 1, 0o644, false),
	} {
		if err == nil || !strings.Contains(err.Error(), "the account starts no shell (This account is currently not available.)") {
			t.Errorf("%v", err)
		}
	}
}
