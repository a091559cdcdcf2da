// Package modeltest runs a model server for tests. It answers with a script, in the wire format of Chat Completions,
// Responses or Anthropic's Messages, depending on the request. The script can contain the faults of real servers, and
// the server refuses requests that a real one would refuse.
//
//	srv := modeltest.Start(t, modeltest.Steps(
//		modeltest.Answer{modeltest.Call{ID: "c1", Name: "time", Arguments: "{}"}},
//		modeltest.Answer{modeltest.Status{Code: 503}},
//		modeltest.Answer{modeltest.Text("It is noon."), modeltest.Usage{Prompt: 9, Completion: 3}},
//	))
//	m, err := completions.New(completions.Config{BaseURL: srv.URL, Model: "test"})
//	// … then look at srv.Requests()
package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"buddy/agent/model"
)

// Script returns the answer to a request. Several goroutines may call it at the same time.
type Script func(Request) Answer

// Request holds a client's request.
type Request struct {
	Header   http.Header
	Body     []byte // unchanged
	Model    string
	Messages []model.Message
	Tools    []model.ToolDef
	// Refused says why the server has answered 400 instead of playing the script, see Check and CheckResponses.
	Refused error

	stream, usage bool
}

// Answer is a list of parts, which are sent in order. Unless a fault ends the answer, the server adds a finish reason,
// the usage and [DONE].
type Answer []Part

// Part is one of the types below.
type Part interface{ part() }

// The parts of a valid answer.
type (
	// Text is a piece of the answer's text.
	Text string
	// Reasoning is a piece of a reasoning trace; an empty Field means reasoning_content. In Responses it becomes an
	// item: a summary, or the full reasoning if Field is reasoning_text.
	Reasoning struct{ Field, Text string }
	// Call is a tool call. Its arguments are sent in pieces.
	Call struct{ ID, Name, Arguments string }
	// Headers are sent as HTTP headers of the answer.
	Headers map[string]string
	// Usage is sent at the end, if the client has asked for it or the protocol always has it.
	Usage struct{ Prompt, Completion, Cached, CacheWrite int }
	// Compaction is the server's summary of everything before it. Only Responses and Messages have it. An answer may
	// consist of nothing else.
	Compaction string
	// Finish replaces the default finish reason, which depends on the parts.
	Finish string
	// Pause waits for this duration.
	Pause time.Duration
	// Until waits until the channel is closed.
	Until <-chan struct{}
	// Chunks sets how many bytes each of the following deltas has, and how long the server waits after each. If Bytes
	// is 0, each part is one delta.
	Chunks struct {
		Bytes int
		Every time.Duration
	}
	// Event is sent as one event. It must be JSON.
	Event string
	// Plain sends the answer as one JSON document instead of a stream. It must be the first part.
	Plain struct{}
	// KeepAlive sends N comments, and waits for Every after each.
	KeepAlive struct {
		N     int
		Every time.Duration
	}
)

// The faults.
type (
	// Status answers with an error status. It must be the only part.
	Status struct {
		Code   int
		Header map[string]string
		Body   string
	}
	// HTML answers with a web page and status 200. It must be the only part.
	HTML string
	// Raw is sent unchanged; it need not be a valid event.
	Raw string
	// LongLine sends a line of this many bytes that does not end.
	LongLine int
	// ErrorObject is sent as an error in the stream, and ends the answer. It must be JSON.
	ErrorObject string
	// End ends the answer without an error, but with no finish reason and no [DONE].
	End struct{}
	// Cut breaks the connection.
	Cut struct{}
	// Hang sends nothing more until the client disconnects.
	Hang struct{}
	// Dribble sends every following byte separately, and waits after each.
	Dribble struct{ Every time.Duration }
)

func (Text) part()        {}
func (Reasoning) part()   {}
func (Call) part()        {}
func (Headers) part()     {}
func (Usage) part()       {}
func (Compaction) part()  {}
func (Finish) part()      {}
func (Pause) part()       {}
func (Until) part()       {}
func (Chunks) part()      {}
func (Event) part()       {}
func (Plain) part()       {}
func (KeepAlive) part()   {}
func (Status) part()      {}
func (HTML) part()        {}
func (Raw) part()         {}
func (LongLine) part()    {}
func (ErrorObject) part() {}
func (End) part()         {}
func (Cut) part()         {}
func (Hang) part()        {}
func (Dribble) part()     {}

// Steps plays one of the answers per request, in their order; further requests get a 400.
func Steps(answers ...Answer) Script {
	var mu sync.Mutex
	n := 0
	return func(Request) Answer {
		mu.Lock()
		defer mu.Unlock()
		if n++; n > len(answers) {
			return Answer{Status{Code: 400, Body: fmt.Sprintf("the script has %d answers, this is request %d", len(answers), n)}}
		}
		return answers[n-1]
	}
}

// Server is an http.Handler that plays a script. Create it with New or Start.
type Server struct {
	URL    string // the base URL for clients; set by Start
	script Script

	mu       sync.Mutex
	requests []Request
}

// New returns a server for net/http.
func New(script Script) *Server { return &Server{script: script} }

// Start serves on a loopback port until the test ends.
func Start(t testing.TB, script Script) *Server {
	t.Helper()
	s := New(script)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		h.CloseClientConnections() // a Hang would wait for its client
		h.Close()
	})
	s.URL = h.URL + "/v1"
	return s
}

// Requests returns the requests so far, including refused ones.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// maxBody limits the size of a request, in bytes.
const maxBody = 64 << 20

// protocol reads requests and writes answers in one protocol.
type protocol struct {
	name   string
	read   func(http.Header, []byte) Request
	format func() format // for one answer
}

// protocols holds the protocols, by the last part of their paths.
var protocols = map[string]protocol{
	"/completions": {"completions", readChat, func() format { return chat{} }},
	"/responses":   {"responses", readResponses, func() format { return &itemFormat{} }},
	"/messages":    {"anthropic", readMessages, func() format { return &messages{} }},
}

// ServeHTTP answers POST …/chat/completions, …/responses and …/messages.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	speaks, ok := protocols[r.URL.Path[max(strings.LastIndexByte(r.URL.Path, '/'), 0):]]
	if r.Method != http.MethodPost || !ok {
		refuse(w, http.StatusNotFound, fmt.Sprintf("no such route: %s %s", r.Method, r.URL.Path))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	req := speaks.read(r.Header, body)
	if req.Refused == nil {
		req.Refused = checkBody(speaks.name, body)
	}
	s.mu.Lock()
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	if req.Refused != nil {
		refuse(w, http.StatusBadRequest, req.Refused.Error())
		return
	}
	p := &wire{ctx: r.Context(), w: w, req: req, format: speaks.format()}
	p.answer(s.script(req))
}

func refuse(w http.ResponseWriter, code int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": why, "type": "invalid_request_error"}})
}

func readChat(h http.Header, body []byte) Request {
	req := Request{Header: h, Body: body, Refused: Check(body)}
	if req.Refused != nil {
		return req
	}
	var b struct {
		Model    string
		Messages []json.RawMessage
		Stream   bool
		Options  struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
		Tools []struct{ Function model.ToolDef }
	}
	if req.Refused = json.Unmarshal(body, &b); req.Refused != nil {
		return req
	}
	for _, raw := range b.Messages {
		m, err := chatMessage(raw)
		if req.Refused = err; err != nil {
			return req
		}
		req.Messages = append(req.Messages, m)
	}
	req.Model, req.stream, req.usage = b.Model, b.Stream, b.Options.Usage
	for _, t := range b.Tools {
		req.Tools = append(req.Tools, t.Function)
	}
	return req
}

// chatMessage reads a message whose content may be a list of parts.
func chatMessage(raw json.RawMessage) (m model.Message, err error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return m, err
	}
	parts, ok := chatParts(o["content"])
	if !ok {
		return m, json.Unmarshal(raw, &m)
	}
	o["content"] = json.RawMessage(`""`)
	if err := json.Unmarshal([]byte(encode(o)), &m); err != nil {
		return m, err
	}
	for _, p := range parts {
		m.Content += p.Text
		if p.Type != "image_url" {
			continue
		}
		i, err := dataURL(p.Image.URL)
		if err != nil {
			return m, err
		}
		m.Images = append(m.Images, i)
	}
	return m, nil
}

type chatPart struct {
	Type, Text string
	Image      struct{ URL string } `json:"image_url"`
}

// chatParts returns the parts of a content; ok is false if it is not a list.
func chatParts(content json.RawMessage) (parts []chatPart, ok bool) {
	return parts, len(content) > 0 && content[0] == '[' && json.Unmarshal(content, &parts) == nil
}

// dataURL decodes and checks the image in a data URL.
func dataURL(s string) (model.Image, error) {
	kind, data, ok := strings.Cut(strings.TrimPrefix(s, "data:"), ";base64,")
	if !ok {
		return model.Image{}, fmt.Errorf("not a data URL with base64: %.40q", s)
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return model.Image{}, err
	}
	i := model.Image{MediaType: kind, Data: b}
	return i, i.Check()
}
