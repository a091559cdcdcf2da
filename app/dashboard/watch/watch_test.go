package watch

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/app/client"
	"buddy/app/dashboard"
	"buddy/app/socket"
	"buddy/sessions"
	"buddy/tmux/host/hosttest"
	"buddy/tmux/tmuxtest"
)

const limit = time.Minute // for anything that comes

// session is a session that only has events.
type session struct{ *stream.Stream }

// memory is a journal.
type memory struct {
	mu     sync.Mutex
	events []event.Envelope
}

func (m *memory) Append(env event.Envelope) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, env)
	return nil
}

func (m *memory) Range(after uint64, f func(event.Envelope) bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, env := range m.events {
		if env.Seq > after && !f(env) {
			break
		}
	}
	return nil
}

func (s session) Hello(context.Context) (client.Hello, error) {
	return client.Hello{Protocol: client.Protocol, Session: "x", Last: s.Last(), About: &client.Description{Title: "taxes", State: client.Idle}}, nil
}

func (s session) Subscribe(ctx context.Context, after uint64, every time.Duration) (<-chan []event.Envelope, error) {
	return s.Join(ctx, after, every), nil
}
func (session) Send(event.Command)                                   {}
func (session) Request(context.Context, client.Request) (any, error) { return nil, nil }
func (session) Err() error                                           { return nil }

// folders gives the test socket folders and sessions of its own.
func folders(t *testing.T) {
	t.Helper()
	t.Setenv("TMUX_TMPDIR", tmuxtest.Dir(t))
	t.Setenv("HOME", t.TempDir())
}

// TestMain runs a host if begin started this process: a host refuses its own process.
func TestMain(m *testing.M) {
	if id := os.Getenv("WATCH_TEST_HOST"); id != "" {
		os.Exit(serve(id))
	}
	os.Exit(m.Run())
}

// serve runs a session with the events that come from the standard input, until its end or session.closed.
func serve(id string) int {
	path, err := socket.Path(os.Getenv, id)
	if err != nil {
		return 1
	}
	l, err := socket.Listen(path)
	if err != nil {
		return 1
	}
	s := session{stream.New(id, time.Now, &memory{})}
	server := socket.Server{Connect: func(context.Context, socket.Screen) client.Session { return s }, WithoutTerminal: true}
	go server.Serve(l)
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		env, err := event.Decode(lines.Bytes())
		if err != nil {
			return 1
		}
		s.Publish(1, 0, env.Payload)
		if _, end := env.Payload.(event.SessionClosed); end {
			s.Close()
			server.Wait()
			socket.Remove(path)
			return 0
		}
	}
	return 0
}

// begin starts a host process. publish makes it publish an event; crash kills it.
func begin(t *testing.T, id string) (publish func(event.Event), crash func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0]) //nolint:gosec // this test
	cmd.Env = append(os.Environ(), "WATCH_TEST_HOST="+id)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	crash = sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	t.Cleanup(crash)
	return func(e event.Event) {
		line, err := event.Envelope{Seq: 1, Payload: e}.AppendJSON(nil)
		if err == nil {
			_, err = in.Write(append(line, '\n'))
		}
		if err != nil {
			t.Error(err)
		}
	}, crash
}

// await waits until a session has a row that fits; nil waits until it has none.
func await(t *testing.T, table *Table, id string, fits func(dashboard.Session) bool) dashboard.Session {
	t.Helper()
	late := time.After(limit)
	for {
		all := table.Sessions() // with those of other tests, whose sockets are in /tmp
		i := slices.IndexFunc(all, func(s dashboard.Session) bool { return s.ID == id })
		switch {
		case i < 0 && fits == nil:
			return dashboard.Session{}
		case i >= 0 && fits != nil && fits(all[i]):
			return all[i]
		}
		select {
		case <-table.Changed():
		case <-late:
			t.Fatalf("not seen: %s in %d sessions, %q", id, len(all), table.Notes())
		}
	}
}

func anyRow(dashboard.Session) bool { return true }

// Sessions that run, start, change and end while the table is open.
func TestSessionsComeAndGo(t *testing.T) {
	folders(t)
	first, second := sessions.NewID(), sessions.NewID()
	one, crash := begin(t, first)
	table := Open(t.Context(), nil, false)
	defer table.Close()
	table.Await(t.Context())
	if s := await(t, table, first, anyRow); s.Title != "taxes" || s.Group != dashboard.Idle {
		t.Errorf("%+v", s)
	}
	one(event.TaskStarted{ID: 1, Kind: event.MainTask})
	one(event.QuestionAsked{ID: "q", Text: "Which?"})
	await(t, table, first, func(s dashboard.Session) bool { return s.Group == dashboard.Waiting && s.Waits[0].Text == "Which?" })
	two, _ := begin(t, second)
	await(t, table, second, anyRow)
	two(event.SessionClosed{})
	await(t, table, second, nil)
	crash()
	await(t, table, first, nil)
}

// A host that hangs has a row that says so, one that sends garbage as well, and neither delays the others.
func TestBadHostsDelayNobody(t *testing.T) {
	folders(t)
	fake := func(serve func(net.Conn)) string {
		id := sessions.NewID()
		path, err := socket.Path(os.Getenv, id)
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close(); socket.Remove(path) })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				serve(conn)
			}
		}()
		return id
	}
	silent := make(chan net.Conn, 100)              // keeps connections open, which the garbage collector would close
	hangs := fake(func(c net.Conn) { silent <- c }) // reads and says nothing
	garbles := fake(func(c net.Conn) { _, _ = c.Write([]byte("\x1b[31m{{\n")); _ = c.Close() })
	good := sessions.NewID()
	begin(t, good)
	table := Open(t.Context(), nil, false)
	defer table.Close()
	await(t, table, good, anyRow)
	problem := func(text string) func(dashboard.Session) bool {
		return func(s dashboard.Session) bool {
			return strings.Contains(s.Problem, text) && s.Group == dashboard.Failed
		}
	}
	await(t, table, hangs, problem("no answer"))
	await(t, table, garbles, problem("unreadable"))
	table.Await(t.Context())
}

// The sessions of another machine, over a real ssh connection, and why there are none.
func TestOtherMachines(t *testing.T) {
	folders(t)
	srv := hosttest.NewSSHD(t, "")
	var home bytes.Buffer
	if _, err := srv.Host(t).Run(t.Context(), `printf %s "$HOME"`, &home, io.Discard); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := "#!/bin/sh\nexec " + ssh(t) + " -F " + srv.Config + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	there := func(text string) {
		dir := filepath.Join(home.String(), ".local", "bin")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "buddy"), []byte("#!/bin/sh\n"+text), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	note := func(text string) {
		t.Helper()
		table := Open(t.Context(), []string{srv.Dest}, false)
		defer table.Close()
		late := time.After(limit)
		for !strings.Contains(strings.Join(table.Notes(), "\n"), text) {
			select {
			case <-table.Changed():
			case <-late:
				t.Fatalf("%q, want %q", table.Notes(), text)
			}
		}
	}
	there(`echo '{"id":"7f3a-1","state":"waits for approval","title":"far","waits":[{"id":"a","kind":"approval","text":"rm x"}]}'; echo '{"id":"7f3a-2"}'; echo '{"id":"7f3a-2","gone":true}'; while kill -0 $PPID 2>/dev/null; do sleep 0.1; done`)
	table := Open(t.Context(), []string{srv.Dest}, false)
	far := await(t, table, "7f3a-1", anyRow)
	if far.Machine != srv.Dest || far.Group != dashboard.Waiting || far.Title != "far" {
		t.Errorf("%+v", far)
	}
	await(t, table, "7f3a-2", nil)
	if line := table.Attach(far).Args[2]; !strings.Contains(line, "-t "+srv.Dest) || !strings.Contains(line, "attach 7f3a-1") {
		t.Error(line)
	}
	table.Close()
	there(`echo '{"id":"$(touch pwned)"}'; while kill -0 $PPID 2>/dev/null; do sleep 0.1; done`)
	note("unreadable")
	there(`echo 'buddy: unknown command "dashboard" for "buddy"' >&2; exit 2`)
	note("too old")
	there(`exec nonexistent-program`)
	note("isn't installed")
}

// ssh returns the real program.
func ssh(t *testing.T) string {
	t.Helper()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if path := filepath.Join(dir, "ssh"); exists(path) {
			return path
		}
	}
	t.Skip("needs ssh")
	return ""
}
