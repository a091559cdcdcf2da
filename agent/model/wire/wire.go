// Package wire is what the adapters have in common: the configuration, the way of one
// request and its answer, and, for OpenAI's two protocols, the parts of their JSON that
// are alike.
//
//	c, err := wire.New(config, "responses")
//	m := c.Model(wire.Protocol{Open: open, Answer: newAnswer, Opaque: opaque}) // a model.Model
//
// It does not know the SDK; the adapters do.
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

// grace is the longest wait for what may follow the end of an answer: usage, [DONE].
const grace = 5 * time.Second

// Config says which model to talk to and where.
type Config struct {
	Profile   string // the name under [models]
	BaseURL   string // http or https; a trailing slash does not matter; required
	Model     string // the provider's name of the model; empty: Profile
	Window    int    // context window in tokens; 0 = unknown
	Server    string // who owns the model, as the list of models of a server on this machine says, such as "llamacpp"
	Effort    Effort // reasoning_effort: none, minimal, low, medium or high; empty: the provider's own
	MaxTokens int    // limit of one answer in tokens, thinking included, where the protocol wants one; 0 = the adapter's
	MaxOutput int    // what is documented of the model for it; 0 = nothing
	Free      bool   // the model takes tools whose calls are free text, if the protocol is Responses
	endpoint.Access
	HTTPClient *http.Client // nil: one of its own. Redirects are never followed.
}

// key names a key of the profile as people find it in the configuration.
func (c Config) key(name string) string {
	if c.Profile == "" {
		return name
	}
	return "models." + c.Profile + "." + name
}

// Client is one model behind one endpoint. It is safe for concurrent use.
type Client struct {
	info     model.Info
	provider Provider
	mistral  bool // see isMistral
	effort   Effort
	sampling Sampling
	key      string
	endpoint *endpoint.Endpoint
	pictures fitter
	memory   memory // what its server has refused
}

// New checks c without any I/O. api is the value of the api key in the configuration.
// Its errors name the key of the configuration.
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
	info := model.Info{Profile: c.Profile, Model: name, API: api, BaseURL: e.Shown(), Window: c.Window, Effort: string(effort), Auth: "no key"}
	if c.Key != "" {
		info.Auth = "a key"
	}
	client := &Client{info: info, provider: provider, mistral: isMistral(provider, name), effort: effort, key: c.Key, endpoint: e, pictures: fitter{takes: takenAt(e.Shown())}}
	if f, ok := familyOf(name); ok && f.textOnly {
		client.memory.know(model.Remedy{Name: NoPictures})
	}
	return client, nil
}

// Info describes the model. Its BaseURL has no credentials; TextOnly may become true.
func (c *Client) Info() model.Info {
	info := c.info
	info.TextOnly = model.TextOnly(c.memory.know())
	return info
}

// Origin tells whose answer a message is: what only one provider understands, such as encrypted
// reasoning, goes back to the same model at the same address alone.
func (c *Client) Origin() string { return c.info.Model + " " + c.info.BaseURL }

// Key returns the key that requests are signed with.
func (c *Client) Key() string { return c.key }

// BaseURL is for requests and may hold credentials.
func (c *Client) BaseURL() string { return c.endpoint.BaseURL() }

// maxAnswer is the most text that one answer may have, in bytes of all deltas together: a
// server that never ends must not fill the memory. The largest outputs that models are
// sold with, 128,000 tokens, are a hundredth of it.
const maxAnswer = 64 << 20

// Emit hands one delta to the reader of a stream. After its error nothing may be
// emitted; return it as it is.
type Emit func(model.Delta) error

// errLeft means that the reader of the deltas has had enough.
var errLeft = errors.New("left")

// Protocol says how an adapter asks its server.
type Protocol struct {
	// Open sends a request over the call. It returns when the answer begins.
	Open func(call *endpoint.Call, req model.Request, with *Remedied) error
	// Answer returns what takes the answer to a request apart.
	Answer func(emit Emit, req model.Request) Answer
	// Opaque reports whether an answer holds something that only its model understands, and gets back.
	Opaque func(model.Message) bool
}

// Model is a model.Model: a Client that speaks a protocol. It is safe for concurrent use.
type Model struct {
	*Client
	protocol Protocol
}

// Model returns the model behind the client.
func (c *Client) Model(p Protocol) *Model { return &Model{c, p} }

// Stream sends one request, and what is refused again in another form. Errors are [model.Error] or the cause of the cancelled ctx.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return stream(func(emit Emit) error { return m.heal(ctx, emit, m.pictures.fit(req)) })
}

// stream returns what f emits, and its error as the last element.
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

// clean gives calls names that every provider takes and arguments that are JSON, as far as it is clear what was meant: what a
// model makes up goes into the history, and one bad name would have each later request refused.
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

// maxToolName limits the name of a tool, in bytes: OpenAI takes the fewest.
const maxToolName = 64

// toolName returns a name in the letters that all providers take.
func toolName(name string) string {
	name = SafeLetters(name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), maxToolName)]
}

// SafeLetters replaces what not all providers take in a name or an id by underscores.
func SafeLetters(s string) string {
	return strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, s)
}

// Answer takes an answer apart. It is made for one request, with the Emit of that.
type Answer interface {
	// Take adds one event.
	Take(event []byte) error
	// Ended reports whether nothing that matters much can follow.
	Ended() bool
	// Over reports whether the protocol has said that nothing follows.
	Over() bool
	// Done emits the rest, or says why the answer is not complete. marked means that
	// the body itself said that it is whole, see [endpoint.Call.Finished].
	Done(marked bool) error
}

// ask sends a request once and emits its answer. Errors are [model.Error], the cause of the
// cancelled ctx or what emit returned.
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

// aliveEvery is the least time between two deltas that say only that the server lives.
const aliveEvery = time.Second

// reading is an answer while it is read.
type reading struct {
	call   *endpoint.Call
	answer Answer
	emit   Emit
	said   bool      // the event that was taken last emitted something
	alive  time.Time // of the last delta that says so, or of the beginning
	read   time.Time // of the last delta that says how much of the request is processed

	kept model.Delta // text that is emitted together with what follows
	text []byte      // of kept
}

// content emits a delta of the answer. Text is kept as long as there are events that may go on with
// it: pieces that came together are one delta.
func (r *reading) content(d model.Delta) error {
	r.said = true
	if d.Kind == model.Reading {
		return r.reading(d)
	}
	if d.Kind == model.Done && d.Usage != nil && d.Usage.Cost == 0 {
		d.Usage.Cost = r.call.Cost()
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

// readingEvery is the least time between two deltas that say how much of the request is processed.
const readingEvery = 200 * time.Millisecond

// reading emits that the server processes the request, unless it has just said so.
func (r *reading) reading(d model.Delta) error {
	r.call.Working()
	now := time.Now()
	if now.Sub(r.read) < readingEvery && d.Prompt.Done < d.Prompt.Total {
		return nil
	}
	r.read = now
	return r.emit(d)
}

// release emits what was kept.
func (r *reading) release() error {
	if len(r.text) == 0 {
		return nil
	}
	r.kept.Text, r.text = string(r.text), r.text[:0]
	return r.emit(r.kept)
}

// heard emits that the server lives, though it said nothing.
func (r *reading) heard() error {
	now := time.Now()
	if now.Sub(r.alive) < aliveEvery {
		return nil
	}
	r.alive = now
	return r.emit(model.Delta{Kind: model.Alive})
}

// all takes every event of the answer.
func (r *reading) all(ctx context.Context) error {
	for {
		event, err := r.call.Next()
		switch {
		case errors.Is(err, io.EOF):
			return r.answer.Done(r.call.Finished())
		case err != nil && r.answer.Ended() && ctx.Err() == nil && !reportedError(err):
			return r.answer.Done(false) // only the end of the connection went wrong
		case err != nil:
			return err
		}
		if err := r.take(event); err != nil {
			return err
		}
		if r.answer.Over() {
			r.call.Finish()
			return r.answer.Done(true)
		}
	}
}

// take takes one event, or nil for bytes that were none.
func (r *reading) take(event []byte) error {
	if r.said = false; event != nil {
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
	if r.said {
		return nil
	}
	return r.heard()
}

func reportedError(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Kind == model.ReportedError
}

// Bad is the error of an event that is not what the protocol says.
func Bad(what string, event []byte, err error) error {
	return model.Malformed(what, event, err)
}

// Sender is the SDK's HTTP client for one request: it puts our own encoding of the
// conversation in, since the SDK's types drop what they do not know.
type Sender struct {
	Call  *endpoint.Call
	Key   string  // the member that the SDK encodes as null
	Value []byte  // JSON
	Extra Members // more members, which the SDK does not know
}

// Do sends the request. It expects that before Key the SDK writes nothing in which a
// quote is not escaped.
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
	for _, k := range slices.Sorted(maps.Keys(s.Extra)) { // the same bytes in every request
		parts = append(parts, []byte(`,"`+k+`":`), s.Extra[k])
	}
	body = bytes.Join(append(parts, []byte("}")), nil)
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
	return s.Call.Do(req)
}
