package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/app/client"
	"buddy/app/show"
)

// session is a stream that answers, and records its commands.
type session struct {
	*stream.Stream
	journal memory

	mu   sync.Mutex
	told []event.Command
}

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
	events := m.events
	m.mu.Unlock()
	for _, env := range events {
		if env.Seq > after && !f(env) {
			break
		}
	}
	return nil
}

func (s *session) Hello(context.Context) (client.Hello, error) {
	return client.Hello{Protocol: client.Protocol, Version: "1", Session: "7f3a", Last: s.Last()}, nil
}

func (s *session) Subscribe(ctx context.Context, after uint64, every time.Duration) (<-chan []event.Envelope, error) {
	return s.Join(ctx, after, every), nil
}

func (s *session) Send(c event.Command) {
	s.mu.Lock()
	s.told = append(s.told, c)
	s.mu.Unlock()
	if p, ok := c.(event.Submit); ok {
		s.Publish(1, 1, event.Notice{Text: p.Text})
	}
}

func (s *session) Request(ctx context.Context, q client.Request) (any, error) {
	switch q := q.(type) {
	case client.Files:
		return &client.FilesReply{Paths: []string{q.Query + ".go"}}, nil
	case client.Close:
		s.Publish(0, 0, event.SessionClosed{})
		s.Close()
		return &client.CloseReply{Lines: []string{"bye"}, Stored: true}, nil
	case client.ChangedSince:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, errors.New("not here")
}

func (s *session) Err() error { return nil }

// listening is a host of a session.
type listening struct {
	*session
	server *Server
	l      *net.UnixListener
	path   string
}

// listen starts a host that takes nobody for a command of its own.
func listen(t testing.TB) *listening { return listenAs(t, -1) }

func listenAs(t testing.TB, host int) *listening {
	t.Helper()
	return listenWith(t, func(s *Server) { s.host = host })
}

// listenWith starts a host after changing the server.
func listenWith(t testing.TB, change func(*Server)) *listening {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "buddy") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	h := &listening{session: &session{}, path: filepath.Join(dir, "sock")}
	h.Stream = stream.New("7f3a", time.Now, &h.journal)
	h.server = &Server{Connect: func(context.Context, Screen) client.Session { return h.session }, patience: time.Second, host: -1, WithoutTerminal: true}
	change(h.server)
	if h.l, err = Listen(h.path); err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() { h.server.Serve(h.l); close(served) }()
	t.Cleanup(func() {
		h.Close()
		_ = h.l.Close()
		<-served
		Remove(h.path)
		_ = os.RemoveAll(dir)
	})
	return h
}

func (h *listening) dial(t testing.TB) *Client {
	t.Helper()
	c, err := Dial(h.path, Screen{Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// notices reads until n notices have come.
func notices(t testing.TB, batches <-chan []event.Envelope, n int) (texts []string) {
	t.Helper()
	for len(texts) < n {
		batch, ok := <-batches
		if !ok {
			t.Fatalf("the events ended after %q", texts)
		}
		for _, env := range batch {
			if p, ok := env.Payload.(event.Notice); ok {
				texts = append(texts, p.Text)
			}
		}
	}
	return texts
}

func TestAScreenHasTheSession(t *testing.T) {
	h := listen(t)
	h.Publish(0, 0, event.Notice{Text: "before"})
	c := h.dial(t)
	hello, err := c.Hello(t.Context())
	if err != nil || hello.Session != "7f3a" || hello.Last != 1 {
		t.Fatalf("%+v, %v", hello, err)
	}
	batches, err := c.Subscribe(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	c.Send(event.Submit{Text: "a <&>\n\u2028 prompt"})
	if got := notices(t, batches, 2); got[1] != "a <&>\n\u2028 prompt" {
		t.Errorf("%q", got)
	}
	files, err := client.Ask[client.FilesReply](t.Context(), c, client.Files{Query: "main"})
	if err != nil || fmt.Sprint(files.Paths) != "[main.go]" {
		t.Errorf("%v, %v", files, err)
	}
	if _, err := client.Ask[show.Answer](t.Context(), c, client.Run{}); err == nil || err.Error() != "not here" {
		t.Errorf("%v", err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for range batches { //nolint:revive // to the end: a reply comes after the events
		}
	}()
	end, err := client.Ask[client.CloseReply](t.Context(), c, client.Close{})
	if err != nil || !end.Stored {
		t.Errorf("%+v, %v", end, err)
	}
	<-read
	if err := c.Err(); err != nil {
		t.Errorf("a session that was closed: %v", err)
	}
	if _, err := c.Request(t.Context(), client.Run{}); err == nil {
		t.Error("a request after the end was answered")
	}
}

// TestEventsBeforeAnotherMessage: events are delivered at once, whatever follows them in the same read.
func TestEventsBeforeAnotherMessage(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "buddy") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := Listen(filepath.Join(dir, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c, err := Dial(filepath.Join(dir, "sock"), Screen{Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	batches, err := c.Subscribe(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	host, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close() //nolint:errcheck // at the end of the test
	line, err := json.Marshal(event.Envelope{Seq: 1, Payload: event.Notice{Text: "first"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := host.Write(append(line, "\n{\"type\":\"reply\",\"payload\":{\"id\":7}}\n"...)); err != nil {
		t.Fatal(err)
	}
	select {
	case batch := <-batches:
		if len(batch) != 1 || batch[0].Seq != 1 {
			t.Errorf("%+v", batch)
		}
	case <-time.After(time.Minute):
		t.Fatal("the event waits for the next one")
	}
}

// A connection may be lost, but never an event.
func TestALostConnectionIsMadeAnew(t *testing.T) {
	h := listen(t)
	c := h.dial(t)
	batches, err := c.Subscribe(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	c.Send(event.WatchPanes{IDs: []string{"%1"}})
	const n = 200
	go func() {
		for i := range n {
			h.Publish(0, 0, event.Notice{Text: fmt.Sprint(i)})
			if i%20 == 10 {
				c.mu.Lock()
				_ = c.conn.Close()
				c.mu.Unlock()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	for i, text := range notices(t, batches, n) {
		if text != fmt.Sprint(i) {
			t.Fatalf("notice %d is %s", i, text)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.told) < 2 { // sent again on each connection
		t.Errorf("%v", h.told)
	}
}

func TestAHostThatEndsIsNamed(t *testing.T) {
	h := listen(t)
	c := h.dial(t)
	batches, err := c.Subscribe(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Hello(t.Context()); err != nil {
		t.Fatal(err)
	}
	asked := make(chan error)
	go func() {
		_, err := client.Ask[client.ChangedSinceReply](t.Context(), c, client.ChangedSince{})
		asked <- err
	}()
	time.Sleep(10 * time.Millisecond)
	_ = h.l.Close()
	_ = os.Remove(h.path)
	c.mu.Lock()
	_ = c.conn.Close()
	c.mu.Unlock()
	for range batches { //nolint:revive // to the end
	}
	if err := c.Err(); !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
	if err := <-asked; err == nil {
		t.Error("a request was answered by nobody")
	}
	if _, err := c.Hello(t.Context()); err == nil {
		t.Error("nobody said hello")
	}
	c.Send(event.Submit{Text: "to nobody"}) // has no effect
}

// raw is a peer that sends arbitrary bytes.
func raw(t *testing.T, h *listening) *net.UnixConn {
	t.Helper()
	conn, err := net.Dial("unix", h.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.UnixConn)
}

const greeting = `{"type":"hello","payload":{"protocol":1,"version":"1"}}` + "\n"

// TestVersionsThatDoNotFit: a screen learns which side to replace, whether the host is older or newer, and whether the
// host accepts or refuses it.
func TestVersionsThatDoNotFit(t *testing.T) {
	for name, tt := range map[string]struct{ hello, want string }{
		"an older host":              {`{"protocol":0,"version":"0.9","session":"7f3a","pid":1234}`, "the session uses an older buddy: the session runs buddy 0.9 (protocol 0), the screen runs buddy 1 (protocol 1); end it (buddy 0.9 stop, or kill 1234), then resume it with buddy 1"},
		"an older host that refuses": {`{"protocol":0,"version":"0.9","failed":{"Code":1,"Text":"what?"}}`, "the session uses an older buddy"},
		"a newer host":               {`{"protocol":9,"version":"9.0","session":"7f3a"}`, "the screen uses an older buddy: the session runs buddy 9.0 (protocol 9), the screen runs buddy 1 (protocol 1); attach with buddy 9.0"},
		"a newer host that refuses":  {`{"protocol":9,"version":"9.0","failed":{"Code":1,"Text":"what?"}}`, "the screen uses an older buddy"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("/tmp", "buddy") // a socket's path is short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			l, err := Listen(filepath.Join(dir, "sock"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			c, err := Dial(filepath.Join(dir, "sock"), Screen{Version: "1"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			host, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer host.Close() //nolint:errcheck // at the end of the test
			if _, err := io.WriteString(host, `{"type":"hello","payload":`+tt.hello+"}\n"); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Hello(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// Whatever a peer sends, other screens continue.
func TestBadPeersAreCut(t *testing.T) {
	h := listen(t)
	other := h.dial(t)
	batches, err := other.Subscribe(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ say, answer string }{
		"garbage":             {"\x00\xff\xfe{{{\n", "not a hello"},
		"http":                {"GET / HTTP/1.1\r\n\r\n", "not a hello"},
		"no greeting":         {`{"type":"submit","payload":{"text":"x"}}` + "\n", "not a hello"},
		"a newer protocol":    {`{"type":"hello","payload":{"protocol":99,"version":"9"}}` + "\n", "the session uses an older buddy"},
		"an older protocol":   {`{"type":"hello","payload":{"protocol":0,"version":"0"}}` + "\n", "the screen uses an older buddy"},
		"a long greeting":     {strings.Repeat("x", 2*maxGreeting), "too long"},
		"garbage later":       {greeting + "nonsense\n", ""},
		"a bad command":       {greeting + `{"type":"submit","payload":7}` + "\n", ""},
		"a bad subscription":  {greeting + `{"type":"subscribe","payload":"x"}` + "\n", ""},
		"two subscriptions":   {greeting + strings.Repeat(`{"type":"subscribe","payload":{}}`+"\n", 2), ""},
		"a line of 100 MB":    {greeting + strings.Repeat("x", 100<<20), ""},
		"a line without end":  {greeting + `{"type":"submit"`, ""},
		"an unknown request":  {greeting + `{"type":"request","payload":{"id":1,"name":"x","args":{}}}` + "\n", `unknown request`},
		"an unknown message":  {greeting + `{"type":"dance"}` + "\n", `"session":"7f3a"`},
		"requests in a crowd": {greeting + strings.Repeat(`{"type":"request","payload":{"id":1,"name":"changes","args":{}}}`+"\n", 20_000), "try again"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := raw(t, h)
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute)) // or a missing answer hangs the test
			go func() {
				_, _ = io.WriteString(conn, tt.say)
				if tt.answer == "" {
					_ = conn.CloseWrite()
				}
			}()
			var got strings.Builder
			for buf := make([]byte, 4096); tt.answer == "" || !strings.Contains(got.String(), tt.answer); {
				n, err := conn.Read(buf)
				got.Write(buf[:n])
				if err != nil {
					break
				}
			}
			if !strings.Contains(got.String(), tt.answer) {
				t.Errorf("it answered %.300q, want %q", got.String(), tt.answer)
			}
		})
	}
	h.Publish(0, 0, event.Notice{Text: "still here"})
	if got := notices(t, batches, 1); got[0] != "still here" {
		t.Errorf("%q", got)
	}
	for _, c := range h.told {
		t.Errorf("a bad peer made it do %+v", c)
	}
}

// A peer that does not read is disconnected, and one that reads gets everything.
func TestAScreenThatDoesNotReadIsCut(t *testing.T) {
	h := listen(t)
	conn := raw(t, h)
	if _, err := io.WriteString(conn, greeting+`{"type":"subscribe","payload":{}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	c := h.dial(t)
	batches, err := c.Subscribe(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("y", 10<<10)
	go func() {
		for i := range 200 {
			h.Publish(0, 0, event.Notice{Text: fmt.Sprint(i, text)})
		}
	}()
	notices(t, batches, 200)
	for deadline := time.Now().Add(time.Minute); h.server.Count() > 1; {
		if time.Now().After(deadline) {
			t.Fatal("it still has a connection")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestManyScreens(t *testing.T) {
	h := listen(t)
	var all []<-chan []event.Envelope
	for range maxScreens {
		c := h.dial(t)
		if _, err := c.Hello(t.Context()); err != nil {
			t.Fatal(err)
		}
		batches, err := c.Subscribe(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, batches)
	}
	if _, err := h.dial(t).Hello(t.Context()); err == nil || !strings.Contains(err.Error(), "64 screens") {
		t.Errorf("one more: %v", err)
	}
	for i := range 50 {
		h.Publish(0, 0, event.Notice{Text: fmt.Sprint(i)})
	}
	for _, batches := range all {
		notices(t, batches, 50)
	}
}

// When many screens come at the same time, only as many as allowed are accepted.
func TestManyScreensAtOnce(t *testing.T) {
	h := listen(t)
	var in, out atomic.Int64
	var all sync.WaitGroup
	for range maxScreens + 20 {
		c := h.dial(t)
		all.Go(func() {
			if _, err := c.Hello(t.Context()); err != nil {
				out.Add(1)
			} else {
				in.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() != maxScreens || out.Load() != 20 {
		t.Errorf("%d got in, %d did not", in.Load(), out.Load())
	}
}

func TestSocketsOfKilledHosts(t *testing.T) {
	tmp, err := os.MkdirTemp("/tmp", "b")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // a temporary folder
	getenv := func(name string) string { return map[string]string{"TMUX_TMPDIR": tmp}[name] }
	path, err := Path(getenv, "7f3a")
	if err != nil {
		t.Fatal(err)
	}
	if found := Find(getenv, "7f3a"); found != "" {
		t.Errorf("%s, where nobody listens", found)
	}
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if found := Find(getenv, "7f3a"); found != path {
		t.Errorf("%s", found)
	}
	if _, err := Listen(path); !errors.Is(err, ErrRuns) {
		t.Errorf("a second host: %v", err)
	}
	if all := Running(getenv); all["7f3a"] != path { // other hosts may run on this machine
		t.Errorf("%v", all)
	}
	_ = l.Close() // as if it had been killed: the file stays
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if all := Running(getenv); all["7f3a"] != "" {
		t.Errorf("%v", all)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("what the killed host left is still there")
	}
	if path, err = Path(getenv, "7f3a"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/tmp/elsewhere", path); err != nil {
		t.Fatal(err)
	}
	if l, err = Listen(path); err != nil {
		t.Errorf("a link in the way: %v", err)
	}
	_ = l.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = Listen(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a folder in the way: %v", err)
	}
}

// BenchmarkDelta sends one piece of an answer from the stream through the socket to a screen.
func BenchmarkDelta(b *testing.B) {
	h := listen(b)
	c := h.dial(b)
	batches, err := c.Subscribe(b.Context(), 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		h.Publish(1, 1, event.TextDelta{Text: "word "})
		<-batches
	}
}

// BenchmarkFourScreens sends an answer of 2,000 pieces a second to four screens, and measures the time of each piece
// from the stream to a screen.
func BenchmarkFourScreens(b *testing.B) {
	const screens, gap = 4, 500 * time.Microsecond
	h := listen(b)
	var mu sync.Mutex // guards took
	var took []time.Duration
	var wait, ready sync.WaitGroup
	h.Publish(0, 0, event.Notice{Text: "begin"})
	for range screens {
		batches, err := h.dial(b).Subscribe(b.Context(), 0, 0)
		if err != nil {
			b.Fatal(err)
		}
		ready.Add(1)
		wait.Go(func() {
			notices(b, batches, 1)
			ready.Done()
			for batch := range batches {
				now := time.Now().UnixNano()
				for _, env := range batch {
					switch p := env.Payload.(type) {
					case event.TextDelta: // late pieces are merged
						sent, _ := strconv.ParseInt(strings.Fields(p.Text)[0], 10, 64)
						mu.Lock()
						took = append(took, time.Duration(now-sent))
						mu.Unlock()
					case event.Notice:
						return
					}
				}
			}
		})
	}
	ready.Wait()
	b.ReportAllocs()
	next := time.Now()
	for b.Loop() {
		h.Publish(1, 1, event.TextDelta{Text: strconv.FormatInt(time.Now().UnixNano(), 10) + " "})
		next = next.Add(gap)
		time.Sleep(time.Until(next))
	}
	h.Publish(0, 0, event.Notice{Text: "end"})
	wait.Wait()
	slices.Sort(took)
	for name, share := range map[string]int{"p50-ms": 500, "p99-ms": 990} {
		b.ReportMetric(float64(took[len(took)*share/1000].Microseconds())/1000, name)
	}
}

// Processes that list running sessions, and tidy up after killed hosts, do not remove the folder of a starting one.
func TestListenWhileOthersLook(t *testing.T) {
	tmp := t.TempDir()
	getenv := func(name string) string { return map[string]string{"TMUX_TMPDIR": tmp}[name] }
	var others sync.WaitGroup
	over := make(chan struct{})
	for range 4 {
		others.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					Running(getenv)
				}
			}
		})
	}
	defer others.Wait()
	defer close(over)
	for range 300 {
		path, err := Path(getenv, "7f3a")
		if err != nil {
			t.Fatal(err)
		}
		l, err := Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		if found := Find(getenv, "7f3a"); found != path {
			t.Fatalf("the host is found at %q, want %q", found, path)
		}
		_ = l.Close()
		Remove(path)
	}
}
