package endpoint_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
)

// words is an answer of n events at a fixed interval. A read returns all that have arrived.
func words(n int, every time.Duration, size int) io.ReadCloser {
	come := make(chan []byte, n) // the kernel's buffer
	go func() {
		defer close(come)
		for i := range n {
			if i > 0 {
				time.Sleep(every)
			}
			come <- fmt.Appendf(nil, "data: %d %s\n\n", i, strings.Repeat("x", size))
		}
	}()
	return io.NopCloser(&arriving{come: come})
}

type arriving struct {
	come  <-chan []byte
	there []byte
}

func (a *arriving) Read(p []byte) (int, error) {
	if len(a.there) == 0 {
		event, ok := <-a.come
		if !ok {
			return 0, io.EOF
		}
		a.there = event
	}
	for len(a.come) > 0 {
		a.there = append(a.there, <-a.come...)
	}
	n := copy(p, a.there)
	a.there = a.there[n:]
	return n, nil
}

type answers func() io.ReadCloser

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: a()}, nil
}

func begin(t *testing.T, ctx context.Context, body answers) *endpoint.Call {
	t.Helper()
	e, err := endpoint.New(endpoint.Config{BaseURL: "http://x.invalid", Client: &http.Client{Transport: body}})
	if err != nil {
		t.Fatal(err)
	}
	call := e.Call(ctx)
	req, err := http.NewRequestWithContext(call.Context(), http.MethodPost, e.BaseURL(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call.Do(req); err != nil { //nolint:bodyclose // Close does
		t.Fatal(err)
	}
	return call
}

// TestWordsAreGathered: the first word of slow text arrives at once, later words in groups, in order, at most 50 ms
// late, and the last is not lost. Calls and fast text are read as they arrive.
func TestWordsAreGathered(t *testing.T) {
	const n, every = 400, 5 * time.Millisecond
	for _, tt := range []struct {
		name     string
		kind     model.DeltaKind
		every    time.Duration
		size     int
		moments  [2]int // the number of reads: minimum, maximum
		lateness time.Duration
	}{
		{"text", model.Text, every, 4, [2]int{36, 44}, 50 * time.Millisecond},
		{"a thought", model.Reasoning, every, 4, [2]int{36, 44}, 50 * time.Millisecond},
		{"a call", model.CallDelta, every, 4, [2]int{n, n}, 0},
		{"text at full speed", model.Text, 0, 4, [2]int{1, 1}, 0},
		{"large pieces of text", model.Text, every, 9000, [2]int{n, n}, 0},
		{"text that comes slowly", model.Text, time.Second, 4, [2]int{n, n}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				call := begin(t, t.Context(), func() io.ReadCloser { return words(n, tt.every, tt.size) })
				defer call.Close()
				moments, last := 0, time.Time{}
				for i := 0; ; i++ {
					got, err := call.Next()
					if errors.Is(err, io.EOF) {
						if i != n {
							t.Errorf("%d events were read, want %d", i, n)
						}
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					call.Content(tt.kind)
					if want := fmt.Sprint(i, " "); !strings.HasPrefix(string(got), want) {
						t.Fatalf("event %d is %.10q", i, got)
					}
					now := time.Now()
					if late := now.Sub(began) - time.Duration(i)*tt.every; late > tt.lateness || i == 0 && late > 0 {
						t.Errorf("event %d was read %v after it came", i, late)
					}
					if now.After(last) {
						moments, last = moments+1, now
					}
				}
				if moments < tt.moments[0] || moments > tt.moments[1] {
					t.Errorf("was read at %d moments, want %v", moments, tt.moments)
				}
			})
		})
	}
}

// TestCancelEndsGathering: cancelling does not wait for more words.
func TestCancelEndsGathering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		call := begin(t, ctx, func() io.ReadCloser { return words(3, 5*time.Millisecond, 4) })
		defer call.Close()
		for range 2 {
			if _, err := call.Next(); err != nil {
				t.Fatal(err)
			}
			call.Content(model.Text)
		}
		began := time.Now()
		time.AfterFunc(7*time.Millisecond, cancel)
		if got, err := call.Next(); err != nil || string(got) != "2 xxxx" {
			t.Errorf("%q, error %v", got, err)
		}
		if took := time.Since(began); took != 7*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		time.Sleep(time.Second) // the server ends
	})
}
