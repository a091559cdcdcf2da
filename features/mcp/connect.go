package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
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
	// probeTime limits how long a program may stay silent after the first request of the present protocol. Then it is
	// started again with the old handshake.
	probeTime        = 3 * time.Second
	maxNotifications = 100
	// legacyVersion is the newest protocol that starts with a handshake.
	legacyVersion = "2025-11-25"
)

// connection is one connection to a server, with its program if buddy started one.
type connection struct {
	server  *server
	session *sdk.ClientSession
	process *child.Process // nil over HTTP
	held    bool           // it runs inside the sandbox
	lines   *lines         // nil over HTTP
	cancel  context.CancelCauseFunc
	ended   chan struct{} // closed when the session has ended
	changed chan struct{} // buffered: has a value when the lists must be fetched again
	flood   atomic.Bool
	refused atomic.Bool // the latest answer over HTTP was 401

	mu      sync.Mutex // guards the fields below
	second  time.Time  // start of the second in which count counts notifications
	count   int
	running map[string]*running // calls by progress token
	age     time.Duration       // the shortest maximum age of the lists of the latest load; 0: the server named none
}

// connect starts the program or reaches the URL, within StartTimeout. The caller closes the connection.
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
		return s.try(ctx, "", time.Until(late)) // perhaps the program was replaced by a newer one
	case err == nil && !s.def.Legacy && !remembered:
		_ = s.all.pins.setLegacy(s.def.key(), true) // on an error the next start probes again
	}
	return c, err
}

// errNotStarted wraps the error of a program that could not be started at all.
var errNotStarted = errors.New("not started")

// started reports whether the program ran in an attempt that failed. If it did, another handshake can help.
func (*server) started(err error) bool { return !errors.Is(err, errNotStarted) }

// try connects once. version is the protocol of the handshake; "" is the present protocol, which falls back to a
// handshake if the server asks for it.
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
		_ = c.session.Wait() // explain has the reason
		close(c.ended)
	}()
	return c, nil
}

// transport starts the program, or returns the transport for the URL.
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
			_ = os.RemoveAll(def.Process.Copies) // "" is ignored
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

// httpClient returns a copy of the options' HTTP client that adds the server's headers and limits the size of answers.
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

// withHeaders is a transport that adds headers to each request, and limits the size of answers other than streams.
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

// limitedBody fails when an answer is too long.
type limitedBody struct {
	io.ReadCloser
	left int // bytes that may still come, plus one
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errFrame
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// listsChanged requests that the lists are fetched again.
func (c *connection) listsChanged() {
	select {
	case c.changed <- struct{}{}:
	default: // already requested
	}
}

// roots returns the session's folders for a program. A server at a URL gets none, because paths of this machine mean
// nothing to it.
func (c *connection) roots() (all []*sdk.Root) {
	if c.server.def.Transport != Stdio {
		return nil
	}
	for _, dir := range c.server.all.o.Folders {
		uri := url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}
		all = append(all, &sdk.Root{URI: uri.String(), Name: strings.ToValidUTF8(filepath.Base(dir), "\uFFFD")})
	}
	return all
}

// client returns the protocol client of this connection.
func (c *connection) client() *sdk.Client {
	can := &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{
		Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{},
	}}
	roots := c.roots()
	if len(roots) > 0 {
		can.RootsV2 = &sdk.RootCapabilities{}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "buddy", Version: c.server.all.o.Version}, &sdk.ClientOptions{
		Capabilities:               can,
		ElicitationHandler:         c.elicit,
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { c.listsChanged() },
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { c.listsChanged() },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { c.listsChanged() },
		ResourceUpdatedHandler: func(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) {
			c.server.all.subs.change(resourceName{c.server.def.Name, req.Params.URI})
		},
		ProgressNotificationHandler: c.progress,
	})
	client.AddRoots(roots...)
	client.AddSendingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			res, err := next(ctx, method, req)
			if err == nil {
				c.useOwnAge(res)
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

// useOwnAge reads the maximum age of a list and sets it to 0, so that the library answers nothing from its cache.
func (c *connection) useOwnAge(res sdk.Result) {
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

// noteAge lowers the age of the lists to the age in milliseconds, within limits, and sets ms to 0.
func (c *connection) noteAge(ms *int) {
	age := min(max(time.Duration(*ms)*time.Millisecond, minListAge), maxListAge)
	if *ms > int(maxListAge/time.Millisecond) {
		age = maxListAge // the product may overflow
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

// listAge returns the maximum age of the fetched lists.
func (c *connection) listAge() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.age, maxListAge)
}

// tooMany counts a notification and ends the connection if there are too many.
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

// stop ends the connection, its program and all processes that the program started.
func (c *connection) stop(cause error) {
	c.cancel(cause)
	var ended sync.WaitGroup
	if c.session != nil {
		// Over HTTP this notifies the server. A program may no longer read, so the wait is limited.
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

// rejected precedes the reason in the library's errors for requests that were not sent.
const rejected = "rejected by transport: "

// explain returns an error for the user that says why the connection failed, often more precisely than the library's
// error.
func (c *connection) explain(err error) error {
	switch {
	case c.flood.Load():
		return errFlood
	case c.lines != nil && c.lines.broken.Load():
		return errFrame
	}
	closed := err == nil || hungUp(err)
	if exit := c.exit(closed); exit != "" && c.held {
		return fmt.Errorf("%s; it ran in the sandbox, because of auto mode; to run it outside, set outside = true under [mcp.%s] in your own settings", exit, c.server.def.Name)
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
		return errors.New(oneLine(cause)) // the request did not reach the server
	}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return fmt.Errorf("it answered with an error: %s", oneLine(wire.Message))
	}
	return errors.New(oneLine(err.Error()))
}

// hungUp reports whether an error means that the server closed the connection.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed)
}

// exit describes how the program ended, with its last output; "" if it runs. ending waits a second for a program that
// is about to end.
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

// oneLine shortens text of a server to a part of a line.
func oneLine(text string) string {
	return texts.ClipBytes(texts.OneLine(text), 300)
}
