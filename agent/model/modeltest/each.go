package modeltest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/anthropic"
	"buddy/agent/model/completions"
	"buddy/agent/model/responses"
	adapter "buddy/agent/model/wire"
)

// Config is the configuration of all adapters.
type Config = adapter.Config

// Effort is a value of reasoning_effort.
type Effort = adapter.Effort

// Protocol is one of the three wire protocols with its adapter.
type Protocol struct {
	Name  string // the value of the api key in the configuration
	Path  string // below the base URL
	Other string // the protocol that the hint for a 404 names
	make  func(Config) (model.Model, error)
}

// Protocols lists all protocols, for tests whose results must not depend on the protocol, such as tests of the turn
// loop. What is specific to one protocol is tested in its package.
var Protocols = []Protocol{
	{completions.Name, "/chat/completions", responses.Name, func(c Config) (model.Model, error) { return completions.New(c) }},
	{responses.Name, "/responses", completions.Name, func(c Config) (model.Model, error) { return responses.New(c) }},
	{anthropic.Name, "/messages", completions.Name, func(c Config) (model.Model, error) { return anthropic.New(c) }},
}

// Each runs a test once per protocol. Each run must start its own server, because a script can be played only once:
//
//	modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
//		srv := modeltest.Start(t, modeltest.Steps(…))
//		m := p.Connect(t, srv.URL)
//		…
//	})
func Each(t *testing.T, f func(t *testing.T, p Protocol)) {
	for _, p := range Protocols {
		t.Run(p.Name, func(t *testing.T) { f(t, p) })
	}
}

// Connect returns a model of the protocol at a base URL, without a key.
func (p Protocol) Connect(t testing.TB, baseURL string) model.Model {
	t.Helper()
	return p.New(t, Config{BaseURL: baseURL})
}

// New returns a model of the protocol. By default, the model's name is "test-1".
func (p Protocol) New(t testing.TB, c Config) model.Model {
	t.Helper()
	if c.Model == "" {
		c.Model = "test-1"
	}
	m, err := p.make(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Repeat is an http.RoundTripper that uses no network. It answers every request with Head, then N times Event, then
// Tail, without holding the whole answer in memory.
type Repeat struct {
	Head, Event string
	N           int
	Tail        string
}

// RoundTrip answers every request with status 200.
func (r Repeat) RoundTrip(req *http.Request) (*http.Response, error) {
	const block = 100
	events := &repeated{block: strings.Repeat(r.Event, min(block, r.N)), remaining: r.N * len(r.Event)}
	body := io.MultiReader(strings.NewReader(r.Head), events, strings.NewReader(r.Tail))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body), Request: req}, nil
}

// repeated is an io.Reader that returns the same block again and again.
type repeated struct {
	block         string
	at, remaining int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.remaining == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.remaining)], r.block[r.at:])
	r.remaining -= n
	r.at = (r.at + n) % len(r.block)
	return n, nil
}
