package pane

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"buddy/tmux/tmuxtest"
)

func TestMakeDir(t *testing.T) {
	t.Parallel()
	base := tmuxtest.Dir(t)
	mine := "buddy-" + strconv.Itoa(os.Getuid())
	env := func(tmp string) func(string) string {
		return func(name string) string { return map[string]string{"TMUX_TMPDIR": tmp}[name] }
	}
	perm := func(dir string) os.FileMode {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	dir, err := MakeDir(env(base), "abc")
	if err != nil || dir != filepath.Join(base, mine, "abc") || perm(dir) != 0o700 || perm(filepath.Dir(dir)) != 0o700 {
		t.Errorf("MakeDir = %q, %v", dir, err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if again, err := MakeDir(env(base), "abc"); err != nil || again != dir || perm(dir) != 0o700 {
		t.Errorf("again: %q, %v", again, err)
	}
	name := rand.Text()
	t.Cleanup(func() { _ = os.Remove(filepath.Join("/tmp", mine, name)) })
	long := filepath.Join(base, strings.Repeat("x", 90))
	if dir, err := MakeDir(env(long), name); err != nil || dir != filepath.Join("/tmp", mine, name) {
		t.Errorf("with a long directory: %q, %v", dir, err)
	}
	if err := os.Symlink(base, filepath.Join(base, mine, name)); err != nil {
		t.Fatal(err)
	}
	if dir, err := MakeDir(env(base), name); err != nil || strings.HasPrefix(dir, base) {
		t.Errorf("a link was taken: %q, %v", dir, err)
	}
}

// If no folder is usable, one line has the reason and the next step; the folder for temporary files is the last resort.
func TestMakeDirSaysWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	base, own := tmuxtest.Dir(t), tmuxtest.Dir(t)
	name := rand.Text()
	for _, tmp := range []string{base, "/tmp"} {
		taken := filepath.Join(tmp, "buddy-"+strconv.Itoa(os.Getuid()), name)
		if err := os.MkdirAll(filepath.Dir(taken), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(taken, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(taken) })
	}
	env := map[string]string{"TMUX_TMPDIR": base}
	getenv := func(name string) string { return env[name] }
	dir, err := MakeDir(getenv, name)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), base) ||
		!strings.HasPrefix(err.Error(), "no folder for a socket (set TMPDIR to one of your own): ") || !strings.HasSuffix(err.Error(), name+`": not a directory`) {
		t.Errorf("MakeDir = %q, %v", dir, err)
	}
	env["TMPDIR"] = own
	if dir, err = MakeDir(getenv, name); err != nil || !strings.HasPrefix(dir, own) {
		t.Errorf("with TMPDIR: %q, %v", dir, err)
	}
}

func TestPromptText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ls -l\n":                "ls -l",
		"a\nb\nc\nd\ne":          "a\r\n> b\r\n> c\r\n… 2 more lines",
		"\x1b]52;c;x\x07\ttab":   "␛]52;c;x␇ tab",
		"\u202egpj\u009b\u200b":  "‹U+202E›gpj‹U+009B›‹U+200B›",
		"bad \xff utf":           "bad ‹FF› utf",
		"漢字 👩‍👩‍👧":               "漢字 👩‹U+200D›👩‹U+200D›👧",
		strings.Repeat("x", 400): strings.Repeat("x", 300) + "…",
		"cr\rhidden":             "cr␍hidden",
	} {
		if got := Prompt(in); got != want {
			t.Errorf("Prompt(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzPromptText: no terminal control sequence gets through, and the length is limited.
func FuzzPromptText(f *testing.F) {
	f.Add("ls\x1b[31m\n\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := Prompt(s)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 10*promptLines*promptRunes {
			t.Errorf("Prompt(%q) = %q", s, got)
		}
		for _, r := range strings.ReplaceAll(got, "\r\n", "") {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Errorf("Prompt(%q) = %q with %U", s, got, r)
			}
		}
	})
}

func TestExitFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := ReadExit(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("ReadExit of nothing: %v", err)
	}
	want := Exit{Code: 137, Signal: 9, Cancelled: true, Stdout: 5, Stderr: 1 << 40, Duration: time.Second, Fault: "disk\nfull", Left: []Left{{Pid: 7, Name: "node"}}, Ended: []string{"sleep"}}
	if err := WriteExit(dir, want); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadExit(dir); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("ReadExit = %+v, %v; want %+v", got, err, want)
	}
	if got, err := parseExit([]byte("7\n")); err != nil || !reflect.DeepEqual(got, Exit{Code: 7}) {
		t.Errorf("rc of a script: %+v, %v", got, err)
	}
	for _, bad := range []string{"", "x\n", "7\n{", "7\n[]"} {
		if e, err := parseExit([]byte(bad)); err == nil {
			t.Errorf("parseExit(%q) = %+v", bad, e)
		}
	}
}

func FuzzParseExit(f *testing.F) {
	f.Add([]byte("7\n{\"signal\":9}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := parseExit(b)
		if err != nil {
			return
		}
		dir := t.TempDir()
		if err := WriteExit(dir, e); err != nil {
			t.Fatal(err)
		}
		if again, err := ReadExit(dir); err != nil || !utf8.ValidString(e.Fault) || !reflect.DeepEqual(again, e) {
			t.Errorf("%+v reads back as %+v, %v", e, again, err)
		}
	})
}

// FuzzServe: for any input from a client, the server answers or closes the connection.
func FuzzServe(f *testing.F) {
	f.Add([]byte("q\x00\x00\x00\x02{}"))
	f.Add([]byte("q\x00\x00\x00\x1e{\"op\":\"attach\",\"v\":1,\"dir\":\"\"}"))
	f.Add([]byte("q\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		if bytes.Contains(sent, []byte("run")) {
			return // needs a shell
		}
		srv := NewServer(&Shell{})
		ours, theirs := net.Pipe()
		done := make(chan struct{})
		go func() { srv.ServeConn(theirs); close(done) }()
		go func() { _, _ = ours.Write(sent); _ = ours.SetDeadline(time.Now().Add(50 * time.Millisecond)) }()
		for buf := make([]byte, 512); ; {
			if _, err := ours.Read(buf); err != nil {
				break
			}
		}
		_ = ours.Close()
		<-done
	})
}

func TestMailbox(t *testing.T) {
	t.Parallel()
	m := NewMailbox()
	m.Put(Stdout, []byte("a"), 1)
	m.Put(Stdout, []byte("b"), 2)
	m.Put(Stderr, []byte("c"), 1)
	m.Put(Stdout, []byte("d"), 9) // 6 bytes are missing before it
	for _, want := range []Chunk{{Stdout, []byte("ab"), 2}, {Stderr, []byte("c"), 1}, {Stdout, []byte("d"), 9}} {
		if got, ok := m.Take(); !ok || got.Stream != want.Stream || !bytes.Equal(got.Bytes, want.Bytes) || got.Total != want.Total {
			t.Errorf("Take = %v, %v; want %v", got, ok, want)
		}
	}
	var total int64
	for range 1000 {
		total += 10000
		m.Put(Stdout, make([]byte, 10000), total)
	}
	m.Close()
	m.Put(Stdout, []byte("late"), total+4)
	got, last := 0, int64(0)
	for c, ok := m.Take(); ok; c, ok = m.Take() {
		got += len(c.Bytes)
		last = c.Total
	}
	if got > mailboxMax || got < mailboxMax/2 || last != total {
		t.Errorf("after a flood: %d bytes up to %d of %d", got, last, total)
	}
}

func BenchmarkMailbox(b *testing.B) {
	m, p := NewMailbox(), make([]byte, 1000)
	b.ReportAllocs()
	b.SetBytes(1000)
	for i := int64(1); b.Loop(); i++ {
		m.Put(Stdout, p, i*1000)
	}
}

func TestKeepLast(t *testing.T) {
	t.Parallel()
	var whole, kept []byte
	for i := range 500 {
		p := bytes.Repeat([]byte{byte(i)}, i*7%40)
		whole = append(whole, p...)
		kept = keepLast(kept, p, 16)
		if len(kept) > 32 || !bytes.Equal(lastOf(kept, 16), lastOf(whole, 16)) {
			t.Fatalf("after %d pieces: %v", i, kept)
		}
	}
}

// A record is written to disk immediately, so that a crash keeps the output so far. At the end it is complete, or has a
// line about the missing part; background jobs fill it up, but never after a gap.
func TestRecord(t *testing.T) {
	t.Parallel()
	text := bytes.Repeat([]byte("0123456789"), 50_000)
	for _, tt := range []struct {
		name      string
		most      int64
		add       int           // bytes added
		skip, end int           // then the stream skips to skip bytes; the last end of them are known
		gap       int64         // bytes missing at the end
		want      func() []byte // the file without output of jobs
	}{
		{"whole", 0, 500_000, 0, 0, 0, func() []byte { return text }},
		{"a little more than the limit", 450_000, 500_000, 0, 0, 0, func() []byte { return text }},
		{"more than the limit", 100_000, 500_000, 0, 0, 400_000 - TailMax, nil},
		{"the end is known", 0, 100_000, 150_000, 60_000, 0, func() []byte { return text[:150_000] }},
		{"the middle is unknown", 0, 100_000, 500_000, 80_000, 400_000 - TailMax, nil},
	} {
		path := filepath.Join(t.TempDir(), "out")
		c := NewRecord(path, tt.most)
		for at := 0; at < tt.add; at += 10_000 {
			c.Add(text[at : at+10_000])
			if b, err := os.ReadFile(path); err != nil || len(b) != int(min(c.most, int64(at+10_000))) || !bytes.HasPrefix(text, b) {
				t.Fatalf("%s: after %d bytes the file has %d, %v", tt.name, at+10_000, len(b), err)
			}
		}
		if tt.skip > 0 {
			c.SkipTo(int64(tt.skip), text[tt.skip-tt.end:tt.skip])
		}
		c.Seal()
		c.Add([]byte("from a job"))
		c.Close()
		b, err := os.ReadFile(path)
		if err != nil || c.Fault() != nil || c.Gap() != tt.gap || c.Total() != int64(max(tt.add, tt.skip)) {
			t.Errorf("%s: gap %d of %d, %v, %v", tt.name, c.Gap(), c.Total(), c.Fault(), err)
		}
		if tt.want != nil {
			if job := bytes.TrimPrefix(b, tt.want()); len(job) == len(b) || len(job) > 0 && (tt.most > 0 || string(job) != "from a job") {
				t.Errorf("%s: the file has %d bytes", tt.name, len(b))
			}
			continue
		}
		first, last, ok := bytes.Cut(b, fmt.Appendf(nil, "\n[buddy did not record %d bytes of this output here]\n", tt.gap))
		if !ok || len(first) != 100_000 || !bytes.HasPrefix(text, first) || !bytes.Equal(last, text[len(text)-TailMax:]) {
			t.Errorf("%s: %d bytes, then %d", tt.name, len(first), len(last))
		}
	}
}

// slowTerminal accepts nothing until it is opened.
type slowTerminal struct {
	open chan struct{}
	busy chan struct{} // gets a token for each write
	mu   sync.Mutex
	got  []byte
}

func (s *slowTerminal) Write(p []byte) (int, error) {
	s.busy <- struct{}{}
	<-s.open
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, p...)
	return len(p), nil
}

func (s *slowTerminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.got)
}

// TestDisplaySkips: a terminal that accepts nothing does not block the writer, memory is bounded, and it finally gets
// the end of the output.
func TestDisplaySkips(t *testing.T) {
	t.Parallel()
	term := &slowTerminal{open: make(chan struct{}), busy: make(chan struct{}, 10)}
	d := newDisplay(term)
	d.prompt("flood")
	<-term.busy // the writer blocks in the terminal
	line := bytes.Repeat([]byte("0123456789abcdef\n"), 1000)
	for range 6000 {
		_, _ = d.Write(line)
	}
	d.mu.Lock()
	if len(d.buf) > 2*displayKeep {
		t.Errorf("%d bytes are held (at most %d)", len(d.buf), 2*displayKeep)
	}
	d.mu.Unlock()
	_, _ = d.Write([]byte("the end\n"))
	d.end("exit 1")
	close(term.open)
	tmuxtest.Until(t, "the end is shown", func() bool {
		return strings.HasSuffix(term.text(), "the end\n\x1b[2m[exit 1]\x1b[m\r\n")
	})
	got := term.text()
	if !strings.HasPrefix(got, "\x1b[1m$\x1b[m flood\r\n") || !strings.Contains(got, "… 101.9 MB skipped\r\n0123456789abcdef\n") || len(got) > 3*displayKeep {
		t.Errorf("%d bytes: %.120q", len(got), got)
	}
}

func TestDisplayEnd(t *testing.T) {
	t.Parallel()
	d := &display{flush: make(chan struct{}, 1), column0: true}
	d.wake.L = &d.mu
	_, _ = d.Write([]byte("x"))
	d.end("")
	if got := string(d.buf); got != "x\r\n" {
		t.Errorf("after text without a newline: %q", got)
	}
	d.buf = nil
	_, _ = d.Write([]byte("\x1b[?1049h\n"))
	d.end("")
	if got := string(d.buf); !strings.Contains(got, "\x1b[?1049l") || !strings.Contains(got, "\x1b[?25h") {
		t.Errorf("after a full screen: %q", got)
	}
	d.buf = nil
	d.end("")
	if len(d.buf) > 0 {
		t.Errorf("after nothing: %q", d.buf)
	}
}

// TestFollowAfterTheEnd: a client that follows a command after its end gets its output anyway.
func TestFollowAfterTheEnd(t *testing.T) {
	t.Parallel()
	dir := tmuxtest.Dir(t)
	state, cmdDir := filepath.Join(dir, "state"), filepath.Join(dir, "c")
	if err := errors.Join(os.Mkdir(state, 0o700), os.Mkdir(cmdDir, 0o700), os.WriteFile(filepath.Join(cmdDir, "cmd"), []byte("echo quick"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := NewShell(state, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	s.Greet(Greeting{Cwd: dir, Env: tmuxtest.Env(t, dir)})
	run, err := s.Start(cmdDir, Capture, Unheld)
	if err != nil {
		t.Fatal(err)
	}
	run.Exit()
	box := run.Follow()
	if c, ok := box.Take(); !ok || c.Stream != Stdout || string(c.Bytes) != "quick\n" || c.Total != 6 {
		t.Errorf("took %+v, %v, want the whole output", c, ok)
	}
	if c, ok := box.Take(); ok {
		t.Errorf("took %+v after the end", c)
	}
}

// TestPosixShell is the matrix without bash: exports, umask, directory and exit codes are kept.
func TestPosixShell(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("dash"); err != nil {
		t.Skip("dash is not installed")
	}
	dir := tmuxtest.Dir(t)
	state := filepath.Join(dir, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := NewShell(state, nil, "dash")
	if err == nil {
		err = makePrivate(filepath.Join(state, "nowhere"))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Greet(Greeting{Cwd: dir, Env: tmuxtest.Env(t, dir)})
	for i, c := range []struct {
		cmd  string
		code int
		out  string
	}{
		{"echo hi; echo err >&2; exit 7", 7, "hi\n"},
		{"mkdir 'we ird\"$x`'; cd 'we ird\"$x`'; export V='a\nb $HOME \"q\" '\\''s'\\'; umask 027", 0, ""},
		{"basename \"$PWD\"; printf %s \"$V\"; umask", 0, "we ird\"$x`\na\nb $HOME \"q\" 's'0027\n"},
		{"alias greet='echo hello'; set -e; false; echo no", 1, ""},
		{"greet\nfalse; echo on", 0, "hello\non\n"},
		{"echo 'unclosed", 2, ""},
		{"if then", 2, ""},
		{"exec sh -c 'exit 5'", 5, ""},
		{"kill -9 $$", 137, ""},
		{"nosuchcommand", 127, ""},
		{"cd ..; rmdir we*; mkdir gone; cd gone; rmdir ../gone", 0, ""},
		{"ls -A; cd /", 0, ""},
		{"pwd; cat", 0, "/\n"},
	} {
		cmdDir := filepath.Join(dir, string(rune('a'+i)))
		if err := errors.Join(os.Mkdir(cmdDir, 0o700), os.WriteFile(filepath.Join(cmdDir, "cmd"), []byte(c.cmd), 0o600)); err != nil {
			t.Fatal(err)
		}
		run, err := s.Start(cmdDir, Capture, Unheld)
		if err != nil {
			t.Fatal(err)
		}
		e := run.Exit()
		out, _ := os.ReadFile(filepath.Join(cmdDir, "out"))
		if e.Code != c.code || string(out) != c.out {
			errs, _ := os.ReadFile(filepath.Join(cmdDir, "err"))
			t.Errorf("%s\n= exit %d, %q, %q\nwant %d, %q", c.cmd, e.Code, out, errs, c.code, c.out)
		}
	}
}

func TestMainRefuses(t *testing.T) {
	if code := Main(nil); code != 2 {
		t.Errorf("Main() = %d, want 2", code)
	}
}

// An ending supervisor removes its directory, but not one that a client has made again at the same path.
func TestSupervisorRemovesOnlyItsOwnDirectory(t *testing.T) {
	for name, again := range map[string]bool{"its own": false, "made again": true} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			lock, err := lockDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = lock.Close() }()
			if again {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				next, err := lockDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = next.Close() }()
			}
			if err := removeOwn(dir, lock); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(dir); (err == nil) != again {
				t.Errorf("the directory: %v", err)
			}
		})
	}
}
