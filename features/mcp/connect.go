package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/texts"
	"buddy/tmux/host/child"
)

const (
	// probeTime limits how long a program may stay silent after the first request of the present
	// protocol, before it is started again with the old handshake.
	probeTime = 3 * time.Second
	// maxNotifications limits the notifications that a server may send in one second.
	maxNotifications = 100
	// legacyVersion is the newest protocol that begins with a handshake.
	legacyVersion = "2025-11-25"
)

// connection is one run of a server.
type connection struct {
	server  *server
	session *sdk.ClientSession
	process *child.Process // nil over HTTP
	held    bool           // it runs inside the fence
	lines   *lines         // nil over HTTP
	cancel  context.CancelCauseFunc
	ended   chan struct{} // closed when the session is over
	changed chan struct{} // holds one when its lists are to be fetched anew
	flood   atomic.Bool
	refused atomic.Bool // the latest answer over HTTP was that the credentials do not count

	mu      sync.Mutex // guards what follows
	second  time.Time  // that notifications are counted in
	count   int
	running map[string]*running // calls, by their progress tokens
	age     time.Duration       // the smallest that the lists of the latest load may have; 0: none was named
}

// connect starts or reaches a server, within its time to start. The caller closes the connection.
func (s *server) connect(ctx context.Context) (*connection, error) {
	late := time.Now().Add(s.def.StartTimeout)
	if s.def.Transport != Stdio {
		version := ""
		if s.def.Legacy {
			version = legacyVersion
		}
		return s.try(ctx, version, time.Until(late))
	}
	known, _ := s.all.pins.read()
	remembered := known.Legacy[s.def.key()]
	if !s.def.Legacy && !remembered {
		c, err := s.try(ctx, "", min(probeTime, s.def.StartTimeout))
		if err == nil || ctx.Err() != nil || !s.started(err) {
			return c, err
		}
	}
	c, err := s.try(ctx, legacyVersion, time.Until(late))
	switch {
	case err != nil && remembered && ctx.Err() == nil:
		return s.try(ctx, "", time.Until(late)) // it was exchanged for one that is newer
	case err == nil && !s.def.Legacy && !remembered:
		_ = s.all.pins.setLegacy(s.def.key(), true) // else it is found out again
	}
	return c, err
}

// errNotStarted is a program that could not be started at all.
var errNotStarted = errors.New("not started")

// started reports whether the program of a failed attempt ran, so that another may help.
func (*server) started(err error) bool { return !errors.Is(err, errNotStarted) }

// try connects once. version is that of the handshake, "" for the present protocol, which falls
// back to a handshake where the server says so.
func (s *server) try(ctx context.Context, version string, limit time.Duration) (*connection, error) {
	tooLate := fmt.Errorf("it did not answer within %v", s.def.StartTimeout)
	if limit <= 0 {
		return nil, tooLate
	}
	c := &connection{server: s, ended: make(chan struct{}), changed: make(chan struct{}, 1), running: make(map[string]*running)}
	ctx, c.cancel = context.WithCancelCause(ctx)
	transport, err := c.transport(ctx)
	if err != nil {
		c.cancel(err)
		return nil, err
	}
	type connected struct {
		session *sdk.ClientSession
		err     error
	}
	result := make(chan connected, 1)
	go func() {
		session, err := c.client().Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
		result <- connected{session, err}
	}()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case got := <-result:
		if c.session, err = got.session, got.err; err != nil {
			err = c.explain(err)
			c.stop(err)
			return nil, err
		}
	case <-late.C:
		err = c.explain(tooLate)
		c.stop(err)
		return nil, err
	case <-ctx.Done(): // also when the program closes its output
		c.stop(context.Cause(ctx))
		return nil, c.explain(io.EOF)
	}
	go func() {
		_ = c.session.Wait() // explain says why
		close(c.ended)
	}()
	return c, nil
}

// transport starts the program, or returns how the address is talked to.
func (c *connection) transport(ctx context.Context) (sdk.Transport, error) {
	def := c.server.def
	switch def.Transport {
	case HTTP:
		return &sdk.StreamableClientTransport{
			Endpoint: def.Endpoint.URL, HTTPClient: c.httpClient(), MaxRetries: 3, MaxEventSize: maxFrame, OAuthHandler: c.server.login,
		}, nil
	case SSE:
		return &sdk.SSEClientTransport{Endpoint: def.Endpoint.URL, HTTPClient: c.httpClient(), MaxEventSize: maxFrame}, nil
	}
	if checked := c.server.all.o.Checked; checked != nil && def.Project {
		var err error
		if def, err = checked(def); err != nil {
			return nil, fmt.Errorf("%w: %w", errNotStarted, err)
		}
	}
	var within child.Holder
	if hold := c.server.all.o.Hold; hold != nil && def.Held {
		var err error
		if within, err = hold(def); err != nil {
			_ = os.RemoveAll(def.Process.Copies) // "" is nothing
			return nil, fmt.Errorf("%w: %w", errNotStarted, err)
		}
		c.held = within != nil
	}
	p, err := child.Start(ctx, child.Spec{
		Name: "mcp server " + def.Name, Command: def.Process.Command, Dir: def.Process.Dir, Env: slices.Concat(c.server.all.o.Env, def.Process.Env), State: c.server.all.o.State,
		Temp: def.Process.Copies, Within: within,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotStarted, err)
	}
	c.process = p
	c.lines = newLines(p.Stdout(), func() { c.cancel(nil) })
	return &sdk.IOTransport{Reader: c.lines, Writer: p.Stdin(), MaxLineLength: maxFrame + 1<<20}, nil
}

// httpClient returns the client of the options, which adds the headers of the server.
func (c *connection) httpClient() *http.Client {
	client := *c.server.http
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	client.Transport = &withHeaders{next: next, headers: c.server.def.Endpoint.Headers, seen: c.seen}
	client.CheckRedirect = func(to *http.Request, via []*http.Request) error {
		if first := via[0].URL; to.URL.Scheme != first.Scheme || to.URL.Host != first.Host || len(via) > maxRedirects {
			return http.ErrUseLastResponse // headers with a token must not go to another server
		}
		return nil
	}
	return &client
}

const maxRedirects = 5

// withHeaders adds headers to each request, and limits answers that are no streams.
type withHeaders struct {
	next    http.RoundTripper
	headers []string
	seen    func(*http.Request, *http.Response)
}

func (w *withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for _, h := range w.headers {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Set(name, strings.TrimSpace(value))
	}
	res, err := w.next.RoundTrip(r)
	if err == nil {
		w.seen(r, res)
	}
	if err == nil && !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		res.Body = &limitedBody{ReadCloser: res.Body, left: maxFrame + 1}
	}
	return res, err
}

// limitedBody is an answer that fails when it is too long.
type limitedBody struct {
	io.ReadCloser
	left int // bytes until it fails, of which the last must not come
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errFrame
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// listsChanged notes that the lists of the connection are to be fetched anew.
func (c *connection) listsChanged() {
	select {
	case c.changed <- struct{}{}:
	default: // they are to be anyway
	}
}

// client returns the protocol's client for this connection.
func (c *connection) client() *sdk.Client {
	client := sdk.NewClient(&sdk.Implementation{Name: "buddy", Version: c.server.all.o.Version}, &sdk.ClientOptions{
		// Set, or the library offers roots.
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{
			Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{},
		}},
		ElicitationHandler:          c.elicit,
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { c.listsChanged() },
		PromptListChangedHandler:    func(context.Context, *sdk.PromptListChangedRequest) { c.listsChanged() },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { c.listsChanged() },
		ProgressNotificationHandler: c.progress,
	})
	client.AddSendingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			res, err := next(ctx, method, req)
			if err == nil {
				c.take(res)
			}
			return res, err
		}
	})
	client.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if strings.HasPrefix(method, "notifications/") && c.tooMany() {
				return nil, nil
			}
			return next(ctx, method, req)
		}
	})
	return client
}

// take notes how old a list may become, and keeps the library from answering out of its cache: when
// something is fetched is decided here.
func (c *connection) take(res sdk.Result) {
	switch r := res.(type) {
	case *sdk.ListToolsResult:
		c.noteAge(&r.TTLMs)
	case *sdk.ListPromptsResult:
		c.noteAge(&r.TTLMs)
	case *sdk.ListResourcesResult:
		c.noteAge(&r.TTLMs)
	case *sdk.ReadResourceResult:
		r.TTLMs = 0
	}
}

// noteAge takes over the age of a list, in milliseconds.
func (c *connection) noteAge(ms *int) {
	age := min(max(time.Duration(*ms)*time.Millisecond, minListAge), maxListAge)
	if *ms > int(maxListAge/time.Millisecond) {
		age = maxListAge // the product may not fit
	}
	*ms = 0
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.age == 0 || age < c.age {
		c.age = age
	}
}

func (c *connection) forgetAge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.age = 0
}

// listAge returns after how long what was fetched is old.
func (c *connection) listAge() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.age, maxListAge)
}

// tooMany counts a notification and reports whether there are too many; then the connection ends.
func (c *connection) tooMany() bool {
	c.mu.Lock()
	now := time.Now()
	if now.Sub(c.second) > time.Second {
		c.second, c.count = now, 0
	}
	c.count++
	over := c.count > maxNotifications
	c.mu.Unlock()
	if over && c.flood.CompareAndSwap(false, true) {
		go c.stop(errFlood)
	}
	return over
}

var errFlood = fmt.Errorf("it sent more than %d notifications in a second", maxNotifications)

// stop ends the connection and everything that its program has started.
func (c *connection) stop(cause error) {
	c.cancel(cause)
	var ended sync.WaitGroup
	if c.session != nil {
		// Over HTTP it tells the server; a program may not read any more, so it is not waited for.
		closed := make(chan struct{})
		go func() { _ = c.session.Close(); close(closed) }()
		ended.Go(func() {
			select {
			case <-closed:
			case <-time.After(2 * time.Second):
			}
		})
	}
	if c.process != nil {
		c.process.Stop()
		c.server.mu.Lock()
		c.server.stderr = c.process.Stderr()
		c.server.mu.Unlock()
	}
	ended.Wait()
}

// rejected precedes the reason why a request was not sent, in errors of the library.
const rejected = "rejected by transport: "

// explain returns why the connection failed, for people: what is known here says more than the
// error of the library.
func (c *connection) explain(err error) error {
	switch {
	case c.flood.Load():
		return errFlood
	case c.lines != nil && c.lines.broken.Load():
		return errFrame
	}
	closed := err == nil || hungUp(err)
	if exit := c.exit(closed); exit != "" && c.held {
		return fmt.Errorf("%s; it ran in the sandbox, because of auto mode: outside = true under [mcp.%s] in your own settings runs it outside", exit, c.server.def.Name)
	} else if exit != "" {
		return errors.New(exit)
	}
	if closed {
		return errors.New("it closed the connection")
	}
	if err := c.refusal(err); err != nil {
		return err
	}
	if _, cause, ok := strings.Cut(err.Error(), rejected); ok {
		return errors.New(oneLine(cause)) // it did not get as far as the server
	}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return fmt.Errorf("it answered with an error: %s", oneLine(wire.Message))
	}
	return errors.New(oneLine(err.Error()))
}

// hungUp reports whether the error of a request means that the server closed the connection.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed)
}

// exit returns how the program of the connection has ended and its last words, "" if it runs.
// One that is just ending has a moment for that.
func (c *connection) exit(ending bool) string {
	if c.process == nil {
		return ""
	}
	select {
	case <-c.process.Done():
	default:
		if !ending {
			return ""
		}
		select {
		case <-c.process.Done():
		case <-time.After(time.Second):
			return ""
		}
	}
	return c.process.Ended()
}

// oneLine returns text of a server as a part of a line.
func oneLine(text string) string {
	return texts.ClipBytes(texts.OneLine(text), 300)
}
