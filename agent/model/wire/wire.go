// Package wire holds the code that the clients of the model protocols share: their configuration, sending a request,
// reading the answer, and the parts of the JSON that OpenAI's two protocols have in common.
//
//	c, err := wire.New(config, "responses")
//	m := c.Model(wire.Protocol{Open: open, Answer: newAnswer, Opaque: opaque}) // a model.Model
//
// The package does not depend on go-openai, which only the clients of OpenAI's protocols need.
package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
)

// grace limits the wait for what may follow the end of an answer: usage and [DONE].
const grace = 5 * time.Second

// Config holds the model and its address.
type Config struct {
	Profile   string // the name under [models]
	BaseURL   string // http or https; a trailing slash does not matter; required
	Model     string // the provider's name of the model; empty: Profile
	Window    int    // context window in tokens; 0 = unknown
	Server    string // the owner of the model in the list of a server on this machine, such as "llamacpp"
	Effort    Effort // reasoning_effort; empty: the provider's default
	MaxTokens int    // limit of one answer in tokens, thinking included, if the protocol requires one; 0 = the adapter's default
	MaxOutput int    // the documented maximum of MaxTokens; 0 = unknown
	Compact   int    // size of a request in tokens from which the server summarizes the conversation, if it can; 0 = never
	Free      bool   // the model supports tools whose calls are free text, with the protocol Responses
	endpoint.Access
	HTTPClient *http.Client // nil: a default client. Redirects are never followed.
}

// key returns the full name of a setting of the profile.
func (c Config) key(name string) string {
	if c.Profile == "" {
		return name
	}
	return "models." + c.Profile + "." + name
}

// Client accesses one model at one endpoint. It is safe for concurrent use.
type Client struct {
	info     model.Info
	provider Provider
	mistral  bool // see isMistral
	effort   Effort
	compact  int
	sampling Sampling
	key      string
	endpoint *endpoint.Endpoint
	pictures fitter
	memory   memory // remedies for what its server has refused
}

// New returns a client for c. It does no I/O. Its errors name the setting that is wrong. api is the value of the
// setting "api".
func New(c Config, api string) (*Client, error) {
	e, err := endpoint.New(endpoint.Config{
		Profile: c.Profile, API: api, Model: strings.TrimSpace(cmp.Or(c.Model, c.Profile)), BaseURL: c.BaseURL, Access: c.Access, Client: c.HTTPClient,
	})
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(c.Model)
	if name == "" {
		name = c.Profile
	}
	if name == "" {
		return nil, errors.New("model is empty: the provider's name of a model is required")
	}
	provider := cmp.Or(owners[c.Server], providerAt(e.Shown()))
	effort, err := checkEffort(c, api, provider)
	if err != nil {
		return nil, err
	}
	if c.Compact > 0 && api == "completions" {
		return nil, fmt.Errorf("%s = %d: the protocol completions has no compaction on the server (have: anthropic, responses)", c.key("server_compaction"), c.Compact)
	}
	info := model.Info{Profile: c.Profile, Model: name, API: api, BaseURL: e.Shown(), Window: c.Window, Effort: string(effort), Auth: "no key"}
	if c.Key != "" {
		info.Auth = "a key"
	}
	client := &Client{info: info, provider: provider, mistral: isMistral(provider, name), effort: effort, compact: c.Compact, key: c.Key, endpoint: e, pictures: fitter{takes: takenAt(e.Shown())}}
	if f, ok := familyOf(name); ok && f.textOnly {
		client.memory.know(model.Remedy{Name: NoPictures})
	}
	return client, nil
}

// Info describes the model. Its BaseURL has no credentials. TextOnly becomes true if the server refuses pictures
// because the model takes none.
func (c *Client) Info() model.Info {
	info := c.info
	info.TextOnly = model.TextOnly(c.memory.know())
	return info
}

// Origin identifies the model and its address. Data that only one provider understands, such as encrypted reasoning, is
// stored with its origin, and is sent back only if the current model has the same origin.
func (c *Client) Origin() string { return c.info.Model + " " + c.info.BaseURL }

// Compacts returns the number of tokens above which the server is asked to summarize the conversation, or 0 if it never
// is.
func (c *Client) Compacts(with *Remedied) int {
	if c.compact == 0 || with.With(NoCompaction) {
		return 0
	}
	return c.compact
}

// Key returns the key that requests authenticate with.
func (c *Client) Key() string { return c.key }

// BaseURL returns the URL for requests, which may hold credentials.
func (c *Client) BaseURL() string { return c.endpoint.BaseURL() }

// maxAnswer limits the size of one answer, in bytes of all deltas together, so that a server that never stops can't
// fill the memory. It is about a hundred times the longest answer of any model on sale, 128,000 tokens.
const maxAnswer = 64 << 20

// Emit passes a delta to the reader of a stream. If it returns an error, emit nothing more and return that error
// unchanged.
type Emit func(model.Delta) error

// errLeft means that the reader of the deltas has stopped.
var errLeft = errors.New("left")

// Protocol holds what differs between the APIs of providers.
type Protocol struct {
	// Open sends a request with call. It returns when the answer starts.
	Open func(call *endpoint.Call, req model.Request, with *Remedied) error
	// Answer returns a parser for the answer to a request.
	Answer func(emit Emit, req model.Request) Answer
	// Opaque reports whether an answer has data that only the model that wrote it understands and must get back.
	Opaque func(model.Message) bool
	// AnyOrder means that the protocol allows consecutive messages of the same role. They are joined only if a server
	// refuses them.
	AnyOrder bool
}

// Model implements model.Model with a Client and a Protocol. It is safe for concurrent use.
type Model struct {
	*Client
	protocol Protocol
}

// Model returns a model that uses the client.
func (c *Client) Model(p Protocol) *Model { return &Model{c, p} }

// Stream sends a request. If the server refuses the form of the request, Stream changes it and tries again. Its errors
// are [model.Error] or the cancellation cause of ctx.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return stream(func(emit Emit) error { return m.heal(ctx, emit, m.pictures.fit(req)) })
}

// stream returns the sequence of the deltas that f emits. If f returns an error, that is the last element.
func stream(f func(Emit) error) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		size := 0
		err := f(func(d model.Delta) error {
			clean(&d)
			if size += len(d.Text); size > maxAnswer {
				return &model.Error{Kind: model.FormatError, What: fmt.Sprintf("the answer is longer than %d MiB", maxAnswer>>20)}
			}
			if !yield(d, nil) {
				return errLeft
			}
			return nil
		})
		if err != nil && !errors.Is(err, errLeft) {
			yield(model.Delta{}, err)
		}
	}
}

// clean makes the names of calls valid for every provider, and their arguments valid JSON if the meaning is clear.
// Calls become part of the history, so a single invalid one would make the server refuse every later request.
func clean(d *model.Delta) {
	if d.Call != nil {
		cleanCall(d.Call)
	}
	if d.Message != nil {
		for i := range d.Message.ToolCalls {
			cleanCall(&d.Message.ToolCalls[i])
		}
	}
}

func cleanCall(c *model.ToolCall) {
	c.Name, c.Arguments = toolName(model.CallName(c.Name)), model.CallArguments(c.Arguments)
}

// maxToolName limits the name of a tool, in bytes: OpenAI has the lowest limit.
const maxToolName = 64

// toolName returns a tool's name in a form that is valid for all providers.
func toolName(name string) string {
	name = SafeLetters(name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), maxToolName)]
}

// SafeLetters returns a name or an id with an underscore in place of each character that some providers refuse.
func SafeLetters(s string) string {
	return strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, s)
}

// Answer parses the answer to one request.
type Answer interface {
	// Take parses the next event.
	Take(event []byte) error
	// Ended reports whether the answer itself is complete; usage may still follow.
	Ended() bool
	// Over reports whether the protocol's end mark has arrived.
	Over() bool
	// Done emits the remaining deltas, or returns an error that explains why the answer is incomplete. marked means
	// that the body was marked as complete, see [endpoint.Call.Finished].
	Done(marked bool) error
}

// ask sends a request once and emits the answer. It returns a [model.Error], the cancellation cause of ctx, or the
// error that emit returned.
func (m *Model) ask(ctx context.Context, emit Emit, req model.Request, with *Remedied) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	call := m.endpoint.Call(ctx)
	defer call.Close()
	err := m.protocol.Open(call, req, with)
	var known *model.Error
	switch {
	case err == nil:
	case errors.As(err, &known), call.Context().Err() != nil:
		return call.Explain(err)
	default:
		return call.Refused(err, false)
	}
	in := &reading{call: call, emit: emit, alive: time.Now()}
	in.answer = m.protocol.Answer(in.content, req)
	err = in.all(ctx)
	if err == nil || errors.Is(err, errLeft) {
		return err
	}
	return call.Explain(err)
}

// aliveEvery is the minimum time between two deltas without content.
const aliveEvery = time.Second

type reading struct {
	call    *endpoint.Call
	answer  Answer
	emit    Emit
	emitted bool      // the last event emitted something
	alive   time.Time // time of the last Alive, or of the start
	read    time.Time // time of the last Reading

	kept model.Delta // text that is emitted together with the text after it
	text []byte      // the text of kept
}

// content emits a delta of the answer. While more events can be read without waiting, it keeps text back, so that
// pieces that arrived together become one delta.
func (r *reading) content(d model.Delta) error {
	r.emitted = true
	if d.Kind == model.Reading {
		return r.reading(d)
	}
	if d.Kind == model.Done {
		d.Limits = r.call.Limits()
		if d.Usage != nil && d.Usage.Cost == 0 {
			d.Usage.Cost = r.call.Cost()
		}
	}
	r.call.Content(d.Kind)
	if d.Kind != r.kept.Kind || d.Field != r.kept.Field || d.CallID != r.kept.CallID {
		if err := r.release(); err != nil {
			return err
		}
	}
	growing := d.Kind == model.Text || d.Kind == model.Reasoning || d.Kind == model.CallDelta
	if !growing || len(r.text) == 0 && !r.call.More() {
		return r.emit(d)
	}
	r.kept, r.text = d, append(r.text, d.Text...)
	return nil
}

// readingEvery is the minimum time between two Reading deltas.
const readingEvery = 200 * time.Millisecond

// reading emits how much of the request the server has processed, at most once every readingEvery until it is done.
func (r *reading) reading(d model.Delta) error {
	r.call.Working()
	now := time.Now()
	if now.Sub(r.read) < readingEvery && d.Prompt.Done < d.Prompt.Total {
		return nil
	}
	r.read = now
	return r.emit(d)
}

// release emits the text that content has kept back.
func (r *reading) release() error {
	if len(r.text) == 0 {
		return nil
	}
	r.kept.Text, r.text = string(r.text), r.text[:0]
	return r.emit(r.kept)
}

// reportAlive emits a delta which shows that the server is alive although no content has arrived.
func (r *reading) reportAlive() error {
	now := time.Now()
	if now.Sub(r.alive) < aliveEvery {
		return nil
	}
	r.alive = now
	return r.emit(model.Delta{Kind: model.Alive})
}

// all handles every event of the answer.
func (r *reading) all(ctx context.Context) error {
	for {
		event, err := r.call.Next()
		switch {
		case errors.Is(err, io.EOF):
			return r.answer.Done(r.call.Finished())
		case err != nil && r.answer.Ended() && ctx.Err() == nil && !reportedError(err):
			return r.answer.Done(false) // only the connection failed, after the end
		case err != nil:
			return err
		}
		if err := r.handle(event); err != nil {
			return err
		}
		if r.answer.Over() {
			r.call.Finish()
			return r.answer.Done(true)
		}
	}
}

// handle handles one event. A nil event means that bytes arrived which form no event.
func (r *reading) handle(event []byte) error {
	if r.emitted = false; event != nil {
		err := r.answer.Take(event)
		if err != nil || !r.call.More() {
			err = cmp.Or(r.release(), err)
		}
		if err != nil {
			return err
		}
		if r.answer.Ended() {
			r.call.Expect(grace)
		}
	}
	if r.emitted {
		return nil
	}
	return r.reportAlive()
}

func reportedError(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Kind == model.ReportedError
}

// Bad returns the error for an event that violates the protocol.
func Bad(what string, event []byte, err error) error {
	return model.Malformed(what, event, err)
}

// Sender is an HTTP client that the SDK uses for one request. It inserts buddy's own encoding of the conversation,
// because the SDK's types drop unknown fields.
type Sender struct {
	Call  *endpoint.Call
	Key   string  // the member that the SDK encodes as null
	Value []byte  // JSON
	Extra Members // more members, unknown to the SDK
}

// Do sends the request with Value in place of null under Key, and with Extra. It replaces the first match in the SDK's
// JSON, so no string before it may contain the same text.
func (s Sender) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	key := []byte(`"` + s.Key + `":`)
	head, tail, ok := bytes.Cut(body, append(bytes.Clone(key), "null"...))
	if !ok {
		return nil, fmt.Errorf("the request has no place for %q", s.Key)
	}
	tail = bytes.TrimSuffix(bytes.TrimSpace(tail), []byte("}"))
	parts := [][]byte{head, key, s.Value, tail}
	for _, k := range slices.Sorted(maps.Keys(s.Extra)) { // sorted: the same bytes in every request
		parts = append(parts, []byte(`,"`+k+`":`), s.Extra[k])
	}
	body = bytes.Join(append(parts, []byte("}")), nil)
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
	return s.Call.Do(req)
}
