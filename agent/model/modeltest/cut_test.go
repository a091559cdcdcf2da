package modeltest_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"testing"

	"buddy/agent/model"
	. "buddy/agent/model/modeltest"
)

// recorded is a transport that records a server's answers.
type recorded struct {
	from http.RoundTripper
	body bytes.Buffer
}

func (r *recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.from.RoundTrip(req)
	if err == nil {
		resp.Body = readCloser{io.TeeReader(resp.Body, &r.body), resp.Body}
	}
	return resp, err
}

type readCloser struct {
	io.Reader
	io.Closer
}

// pieces is a transport that answers with a body in pieces of random sizes.
type pieces struct {
	body []byte
	rng  *rand.Rand
}

func (p pieces) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(&p), Request: req}, nil
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.body) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), 1+p.rng.IntN(40))], p.body)
	p.body = p.body[n:]
	return n, nil
}

// streams returns complete answers of a protocol as servers send them.
func streams(t testing.TB, p Protocol) (all [][]byte) {
	t.Helper()
	for _, a := range []Answer{
		{Reasoning{Text: "I think é"}, KeepAlive{N: 1}, Chunks{Bytes: 3}, Text("half an answer"), Call{"c1", "run", `{"command":"ls -l"}`}, Call{"c2", "look", `{}`}, Usage{Prompt: 9, Completion: 3}},
		{Text("漢字"), Reasoning{Text: "again"}, Call{"c1", "write", `{"text":"a\nb"}`}},
	} {
		r := &recorded{from: New(Steps(a)).Transport()}
		if got := Collect(t.Context(), p.New(t, Config{BaseURL: "http://x/v1", HTTPClient: &http.Client{Transport: r}}), question); got.Err != nil {
			t.Fatal(got.Err)
		}
		all = append(all, bytes.Clone(r.body.Bytes()))
	}
	return all
}

// answerOf returns an adapter's result for a body in pieces.
func answerOf(t *testing.T, p Protocol, body []byte, seed uint64) Result {
	t.Helper()
	through := pieces{body, rand.New(rand.NewPCG(seed, 0))}
	r := Collect(t.Context(), p.New(t, Config{BaseURL: "http://x/v1", HTTPClient: &http.Client{Transport: through}}), question)
	var e *model.Error
	switch {
	case r.Err != nil && (!errors.As(r.Err, &e) || r.Done != nil):
		t.Fatalf("%q: error = %v, done = %v", body, r.Err, r.Done)
	case r.Err == nil && (r.Done == nil || len(r.Ready) > len(r.Done.Message.ToolCalls)):
		t.Fatalf("%q: %+v", body, r)
	}
	return r
}

// TestCutEverywhere: an answer cut off at any byte is an error, or lacks nothing.
func TestCutEverywhere(t *testing.T) {
	Each(t, func(t *testing.T, p Protocol) {
		for i, body := range streams(t, p) {
			whole := answerOf(t, p, body, 0)
			done := 0
			for cut := range len(body) {
				r := answerOf(t, p, body[:cut], uint64(cut))
				if r.Err != nil {
					continue
				}
				done++
				if r.Text != whole.Text || !reflect.DeepEqual(r.Done.Message.ToolCalls, whole.Done.Message.ToolCalls) {
					t.Fatalf("stream %d, cut at %d of %d: %+v is not an error", i, cut, len(body), r)
				}
			}
			if done > len(body)/2 {
				t.Errorf("stream %d: %d of %d cuts passed for an answer", i, done, len(body))
			}
		}
	})
}

// FuzzJoined: the start of one answer and the end of another, of any protocol, with anything between, give an error or
// a message that agrees with its deltas.
func FuzzJoined(f *testing.F) {
	var all [][]byte
	for _, p := range Protocols {
		all = append(all, streams(f, p)...)
	}
	for i := range all {
		f.Add(uint8(i), uint8(i+1), uint16(len(all[i])/2), uint16(100), []byte("\n\n"), uint64(i))
	}
	f.Fuzz(func(t *testing.T, a, b uint8, from, to uint16, between []byte, seed uint64) {
		x, y := all[int(a)%len(all)], all[int(b)%len(all)]
		body := append(bytes.Clone(x[:int(from)%(len(x)+1)]), between...)
		body = append(body, y[int(to)%(len(y)+1):]...)
		for _, p := range Protocols {
			answerOf(t, p, body, seed)
		}
	})
}
