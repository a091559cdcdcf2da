package modeltest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
	. "buddy/agent/model/modeltest"
)

const (
	s       = time.Second
	minute  = time.Minute
	far     = "https://api.example.com/v1"
	nearby  = "http://192.168.0.7:8000/v1"
	forever = Pause(2 * time.Hour)
)

// pings returns n pings, the last one followed by silence.
func pings(n int, every time.Duration) KeepAlive { return KeepAlive{N: n, Every: every} }

// TestSilence: only silence ends an answer. Every byte ends a silence, also a ping's; thoughts and calls may be silent
// for longer than text; and an answer of only pings ends, too.
func TestSilence(t *testing.T) {
	for _, tt := range []struct {
		name    string
		base    string
		waits   endpoint.Waits
		delay   time.Duration // before the headers
		part    Answer
		read    time.Duration // the reader's time for each delta
		elapsed time.Duration
		kind    model.ErrorKind // 0: the answer is complete
		want    string          // in the error
	}{
		{"no headers", far, endpoint.Waits{}, time.Hour, nil, 0, 300 * s, model.TimeoutError, "no answer started within 5m0s"},
		{"no first byte", far, endpoint.Waits{}, minute, Answer{forever}, 0, 360 * s, model.TimeoutError, "no answer started within 5m0s"},
		{"a server nearby computes its prompt", nearby, endpoint.Waits{}, 599 * s, Answer{Text("a")}, 0, 599 * s, 0, ""},
		{"a server nearby is not asked again", nearby, endpoint.Waits{}, time.Hour, nil, 0, 600 * s, model.SlowError, "no answer started within 10m0s; the server may still be processing the prompt, so it is not sent again; first_byte_timeout in [models.work] allows more"},
		{"a text stalls", far, endpoint.Waits{}, 0, Answer{Text("a"), forever}, 0, 120 * s, model.StallError, "nothing came for 2m0s; stall_timeout in [models.work] allows more"},
		{"a text pauses", far, endpoint.Waits{}, 0, Answer{Text("a"), Pause(119 * s), Text("b")}, 0, 119 * s, 0, ""},
		{"a thought pauses for long", far, endpoint.Waits{}, 0, Answer{Reasoning{Text: "hm"}, Pause(299 * s), Text("b")}, 0, 299 * s, 0, ""},
		{"a thought stalls", far, endpoint.Waits{}, 0, Answer{Reasoning{Text: "hm"}, forever}, 0, 300 * s, model.StallError, "nothing came for 5m0s"},
		{"after a call", far, endpoint.Waits{}, 0, Answer{Call{"c1", "write", `{"text":"…"}`}, Pause(299 * s), Text("b")}, 0, 299 * s, 0, ""},
		{"pings for nine minutes", far, endpoint.Waits{}, 0, Answer{Text("a"), pings(36, 15*s), Text("b")}, 0, 540 * s, 0, ""},
		{"pings before the answer", far, endpoint.Waits{}, 0, Answer{pings(36, 15*s), Text("b")}, 0, 540 * s, 0, ""},
		{"pings without an end", far, endpoint.Waits{}, 0, Answer{Text("a"), pings(1000, 15*s)}, 0, 600 * s, model.StallError, "only keep-alives came for 10m0s; keepalive_timeout in [models.work] allows more"},
		{"pings end", far, endpoint.Waits{}, 0, Answer{Text("a"), pings(2, 15*s), forever}, 0, 135 * s, model.StallError, "nothing came for 2m0s"},
		{"set: stall", far, endpoint.Waits{Stall: 7 * s}, 0, Answer{Reasoning{Text: "hm"}, forever}, 0, 7 * s, model.StallError, "nothing came for 7s"},
		{"set: first byte", far, endpoint.Waits{FirstByte: 20 * minute}, 19 * minute, Answer{Text("a")}, 0, 19 * minute, 0, ""},
		{"set: keep-alives", far, endpoint.Waits{KeepAlive: 40 * s}, 0, Answer{pings(1000, 15*s)}, 0, 40 * s, model.StallError, "only keep-alives came for 40s"},
		{"a slow reader is nobody's fault", far, endpoint.Waits{}, 0, Answer{Text("a"), Text("b")}, time.Hour, 2 * time.Hour, 0, ""},
		{"one byte a second", far, endpoint.Waits{}, 0, Answer{Dribble{Every: s}, Text("slow")}, 0, 0, 0, ""},
	} {
		Each(t, func(t *testing.T, p Protocol) {
			t.Run(tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					defer time.Sleep(5 * time.Hour) // the server ends
					srv := New(func(Request) Answer { time.Sleep(tt.delay); return tt.part })
					m := p.New(t, Config{Profile: "work", BaseURL: tt.base, Access: endpoint.Access{Waits: tt.waits}, HTTPClient: &http.Client{Transport: srv.Transport()}})
					started, alive := time.Now(), 0
					var last error
					done := false
					for d, err := range m.Stream(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Content: "hello"}}}) {
						last, done = err, d.Kind == model.Done
						switch d.Kind {
						case model.Alive:
							alive++
						case model.Text:
							time.Sleep(tt.read)
						}
					}
					elapsed := time.Since(started)
					if done != (tt.kind == 0) || tt.elapsed > 0 && elapsed != tt.elapsed {
						t.Errorf("took %v, want %v; done %v, error %v", elapsed, tt.elapsed, done, last)
					}
					var e *model.Error
					if tt.kind != 0 && (!errors.As(last, &e) || e.Kind != tt.kind || !strings.Contains(last.Error(), tt.want)) {
						t.Errorf("error = %v, want %q", last, tt.want)
					}
					if strings.Contains(tt.name, "pings") && alive < 1 || alive > int(elapsed/s)+1 {
						t.Errorf("%d signs of life in %v", alive, elapsed)
					}
				})
			})
		})
	}
}
