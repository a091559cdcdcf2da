package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metric "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"buddy/agent/model/modeltest"
)

const limit = 90 * time.Second

// collector is an OTLP/HTTP receiver.
type collector struct {
	t      *testing.T
	server http.Server
	addr   string
	status func(path string) int // 0 doesn't answer

	mu      sync.Mutex
	raw     bytes.Buffer
	headers http.Header
	service string
	spans   []*trace.Span
	metrics map[string]*metric.Metric // the latest
	asked   int                       // requests with spans
}

func newCollector(t *testing.T, status func(path string) int) *collector {
	t.Helper()
	c := &collector{t: t, status: status, metrics: make(map[string]*metric.Metric)}
	c.listen("127.0.0.1:0")
	return c
}

func (c *collector) listen(addr string) {
	c.t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		c.t.Fatal(err)
	}
	c.addr = l.Addr().String()
	c.server.Handler = c
	go func() { _ = c.server.Serve(l) }()
	c.t.Cleanup(func() { _ = c.server.Close() })
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program was killed
	}
	if r.URL.Path == "/v1/traces" {
		c.mu.Lock()
		c.asked++
		c.mu.Unlock()
	}
	status := 200
	if c.status != nil {
		status = c.status(r.URL.Path)
	}
	switch status {
	case 0:
		<-r.Context().Done()
		return
	case 200:
		c.mu.Lock()
		c.keep(r, body)
		c.mu.Unlock()
	}
	w.WriteHeader(status)
}

func (c *collector) keep(r *http.Request, body []byte) {
	c.raw.Write(body)
	c.headers = r.Header
	switch r.URL.Path {
	case "/v1/traces":
		var m traces.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			c.t.Error(err)
		}
		for _, rs := range m.ResourceSpans {
			c.service = attributeOf(rs.Resource.Attributes, "service.name")
			for _, ss := range rs.ScopeSpans {
				c.spans = append(c.spans, ss.Spans...)
			}
		}
	case "/v1/metrics":
		var m metrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			c.t.Error(err)
		}
		for _, rm := range m.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				for _, one := range sm.Metrics {
					c.metrics[one.Name] = one
				}
			}
		}
	default:
		c.t.Errorf("%s", r.URL.Path)
	}
}

func attributeOf(all []*common.KeyValue, key string) string {
	for _, a := range all {
		if a.Key == key {
			if v, ok := a.Value.Value.(*common.AnyValue_IntValue); ok {
				return fmt.Sprint(v.IntValue)
			}
			return a.Value.GetStringValue()
		}
	}
	return ""
}

func (c *collector) has(name string, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, s := range c.spans {
		if s.Name == name {
			n++
		}
	}
	return n >= most
}

func (c *collector) requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

// once fails if a span came twice.
func (c *collector) once() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := make(map[string]bool)
	for _, s := range c.spans {
		if id := hex.EncodeToString(s.SpanId); seen[id] {
			c.t.Errorf("%s came twice", s.Name)
		} else {
			seen[id] = true
		}
	}
}

// home is a person's home with buddy and a scripted model.
type home struct {
	t   *testing.T
	dir string
	env []string
}

func newHome(t *testing.T, script modeltest.Script, endpoint string) *home {
	t.Helper()
	if os.Getenv("BUDDY_TELEMETRY_BIN") == "" {
		t.Skip("make counterparts ONLY=telemetry runs this test: it needs the programs")
	}
	dir, err := os.MkdirTemp("", "b") // short, because the paths of sockets are limited
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir}
	for _, name := range []string{"work", ".config/buddy"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	conf := fmt.Sprintf("[agent]\nmodel = \"test\"\n[models.test]\napi_base_url = %q\napi_key = \"\"\nmodel = \"test-1\"\ncontext_limit = 100000\nprice_input = 10\nprice_output = 100\n", modeltest.Start(t, script).URL)
	if err := os.WriteFile(filepath.Join(dir, ".config/buddy/buddy.toml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "BUDDY_TMUX_SOCKET=" + dir + "/tmux",
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint, "OTEL_EXPORTER_OTLP_HEADERS=x-team=blue", "OTEL_METRIC_EXPORT_INTERVAL=300", "OTEL_EXPORTER_OTLP_TIMEOUT=2000",
	}
	t.Cleanup(func() {
		who := exec.Command("tmux", "-S", dir+"/tmux", "kill-server")
		who.Env = h.env
		_ = who.Run() // if it runs
		if t.Failed() {
			text, _ := os.ReadFile(dir + "/log")
			t.Logf("files are in %s\n%s", dir, text)
			return
		}
		_ = os.RemoveAll(dir)
	})
	return h
}

func (h *home) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(os.Getenv("BUDDY_TELEMETRY_BIN"), name), args...)
	cmd.Dir, cmd.Env = h.dir+"/work", h.env
	return cmd
}

// exec lets buddy answer a prompt.
func (h *home) exec(prompt string) {
	h.t.Helper()
	if out, err := h.command("buddy", "exec", "--approve", "all", prompt).CombinedOutput(); err != nil {
		h.t.Fatalf("%v\n%s", err, out)
	}
}

// follow starts the program and waits until it follows.
func (h *home) follow(args ...string) *exec.Cmd {
	h.t.Helper()
	cmd := h.command("buddy-telemetry", args...)
	log, err := os.OpenFile(h.dir+"/log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		h.t.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // the program has its own descriptor
	before := strings.Count(h.log(), "follows the sessions")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	h.until("the program follows", func() bool { return strings.Count(h.log(), "follows the sessions") > before })
	return cmd
}

func (h *home) log() string {
	text, _ := os.ReadFile(h.dir + "/log")
	return string(text)
}

// end ends the program as a service manager does.
func (h *home) end(cmd *exec.Cmd) {
	h.t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		h.t.Errorf("SIGTERM: %v", err)
	}
}

// until waits for other processes.
func (h *home) until(what string, holds func() bool) {
	h.t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// plays runs two commands, then answers.
func plays() modeltest.Script {
	return func(r modeltest.Request) modeltest.Answer {
		results := 0
		for _, m := range r.Messages {
			if m.Role == "tool" {
				results++
			}
		}
		switch results {
		case 0:
			return modeltest.Answer{modeltest.Call{ID: "c1", Name: "run_shell", Arguments: `{"command":"echo word-argument; echo word-$((40+2))-result"}`}, modeltest.Usage{Prompt: 1000, Completion: 20, Cached: 600}}
		case 1:
			return modeltest.Answer{modeltest.Call{ID: "c2", Name: "run_shell", Arguments: `{"command":"exit 3"}`}, modeltest.Usage{Prompt: 1100, Completion: 10}}
		}
		return modeltest.Answer{modeltest.Text("word-answer"), modeltest.Usage{Prompt: 1200, Completion: 5}}
	}
}

// words are in the prompt, the answer, the arguments and the results.
var words = []string{"word-prompt", "word-answer", "word-argument", "word-42-result"}

// A session arrives as a trace with the right parents, numbers and metrics, and without any content.
func TestSession(t *testing.T) {
	c := newCollector(t, nil)
	h := newHome(t, plays(), "http://"+c.addr)
	cmd := h.follow()
	h.exec("word-prompt")
	h.until("the exchange arrives", func() bool { return c.has("invoke_agent buddy", 1) })
	h.end(cmd)
	c.once()
	var root *trace.Span
	for _, s := range c.spans {
		if s.Name == "invoke_agent buddy" {
			root = s
		}
	}
	var got []string
	for _, s := range c.spans {
		if s != root && (!bytes.Equal(s.ParentSpanId, root.SpanId) || !bytes.Equal(s.TraceId, root.TraceId) || s.StartTimeUnixNano < root.StartTimeUnixNano || s.EndTimeUnixNano > root.EndTimeUnixNano) {
			t.Errorf("%s is not inside the exchange", s.Name)
		}
		line := []string{s.Name, s.Kind.String(), s.Status.GetCode().String()}
		for _, key := range []string{"provider.name", "request.model", "usage.input_tokens", "usage.output_tokens", "usage.cache_read.input_tokens", "tool.name", "tool.call.id"} {
			line = append(line, attributeOf(s.Attributes, "gen_ai."+key))
		}
		got = append(got, strings.Join(strings.Fields(strings.Join(append(line, attributeOf(s.Attributes, "error.type")), " ")), " "))
	}
	want := []string{
		"chat test-1 SPAN_KIND_CLIENT STATUS_CODE_UNSET test test-1 1000 20 600",
		"chat test-1 SPAN_KIND_CLIENT STATUS_CODE_UNSET test test-1 1100 10",
		"chat test-1 SPAN_KIND_CLIENT STATUS_CODE_UNSET test test-1 1200 5",
		"execute_tool run_shell SPAN_KIND_INTERNAL STATUS_CODE_ERROR run_shell c2 exit_code",
		"execute_tool run_shell SPAN_KIND_INTERNAL STATUS_CODE_UNSET run_shell c1",
		"invoke_agent buddy SPAN_KIND_INTERNAL STATUS_CODE_UNSET",
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got  %s", strings.Join(got, "\n     "))
	}
	if c.service != "buddy" || c.headers.Get("X-Team") != "blue" {
		t.Errorf("service %q, headers %v", c.service, c.headers)
	}
	c.checkMetrics()
	for _, w := range words {
		if bytes.Contains(c.raw.Bytes(), []byte(w)) {
			t.Errorf("%q was sent", w)
		}
	}
}

func (c *collector) checkMetrics() {
	c.t.Helper()
	sums := make(map[string]float64)
	counts := make(map[string]uint64)
	for name, m := range c.metrics {
		for _, p := range m.GetHistogram().GetDataPoints() {
			key := strings.TrimSpace(name + " " + attributeOf(p.Attributes, "gen_ai.token.type"))
			sums[key] += p.GetSum()
			counts[key] += p.Count
		}
		for _, p := range m.GetSum().GetDataPoints() {
			sums[name] += p.GetAsDouble()
		}
	}
	if sums["gen_ai.client.token.usage input"] != 3300 || sums["gen_ai.client.token.usage output"] != 35 {
		c.t.Errorf("tokens: %v", sums)
	}
	if counts["gen_ai.client.operation.duration"] != 3 || counts["gen_ai.execute_tool.duration"] != 2 || counts["gen_ai.invoke_agent.duration"] != 1 {
		c.t.Errorf("durations: %v", counts)
	}
	if got := sums["buddy.cost"]; got < 0.0364 || got > 0.0366 { // 3,300 tokens for $10 and 35 for $100 a million
		c.t.Errorf("cost: %v", got)
	}
}

// With -content, prompts, answers, arguments and results are sent.
func TestContent(t *testing.T) {
	c := newCollector(t, nil)
	h := newHome(t, plays(), "http://"+c.addr)
	cmd := h.follow("-content")
	h.exec("word-prompt")
	h.until("the exchange arrives", func() bool { return c.has("invoke_agent buddy", 1) })
	h.end(cmd)
	for _, w := range words {
		if !bytes.Contains(c.raw.Bytes(), []byte(w)) {
			t.Errorf("%q was not sent", w)
		}
	}
}

// Until the collector takes spans, they wait in the sessions' files, even if the program is restarted.
func TestCollectorDown(t *testing.T) {
	c := newCollector(t, nil)
	h := newHome(t, plays(), "http://"+c.addr)
	_ = c.server.Close()
	cmd := h.follow()
	h.exec("first")
	h.until("the failure is reported", func() bool { return strings.Contains(h.log(), "connection refused") })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	h.end(h.follow()) // it waits for the collector only for some seconds
	c.server = http.Server{}
	c.listen(c.addr)
	h.follow()
	h.until("the exchange arrives", func() bool { return c.has("invoke_agent buddy", 1) })
	c.once()
	if len(c.spans) != 6 || strings.Contains(h.log(), "lost") {
		t.Errorf("%d spans", len(c.spans))
	}
}

// What a collector refuses for now is sent again; what it refuses for good, or may have taken, is dropped with a count.
func TestCollectorRefuses(t *testing.T) {
	for _, tt := range []struct {
		status int
		again  bool
	}{{429, true}, {503, true}, {500, false}, {400, false}, {0, false}} {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			status := tt.status
			c := newCollector(t, func(path string) int {
				mu.Lock()
				defer mu.Unlock()
				return status
			})
			h := newHome(t, plays(), "http://"+c.addr)
			h.follow()
			h.exec("first")
			h.until("it is sent", func() bool { return c.requests() > 0 })
			if !tt.again {
				h.until("the loss is counted", func() bool { return strings.Contains(h.log(), "lost up to") })
			}
			mu.Lock()
			status = 200
			mu.Unlock()
			h.exec("second")
			arrive := 1
			if tt.again {
				arrive = 2
			}
			h.until("spans arrive", func() bool { return c.has("invoke_agent buddy", arrive) })
			c.once()
			if tt.again && (len(c.spans) != 12 || strings.Contains(h.log(), "lost")) {
				t.Errorf("%d spans", len(c.spans))
			}
		})
	}
}

// A program that is killed while the collector takes its spans, before the answer, sends nothing twice.
func TestKilled(t *testing.T) {
	var mu sync.Mutex
	answer := make(chan struct{})
	c := newCollector(t, func(path string) int {
		if path == "/v1/traces" {
			mu.Lock()
			wait := answer
			mu.Unlock()
			<-wait
		}
		return 200
	})
	h := newHome(t, plays(), "http://"+c.addr)
	const kills = 5
	for i := range kills {
		cmd, asked := h.follow(), c.requests()
		h.exec(fmt.Sprint("prompt ", i))
		h.until("the collector has a batch", func() bool { return c.requests() > asked })
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		mu.Lock()
		close(answer)
		answer = make(chan struct{})
		mu.Unlock()
	}
	close(answer)
	cmd := h.follow()
	h.exec("last")
	h.end(cmd)
	c.once()
	if len(c.spans) != 6*(kills+1) {
		t.Errorf("%d spans", len(c.spans))
	}
}
