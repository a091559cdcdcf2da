package local

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// muteServer accepts connections and never answers.
func muteServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return "http://" + l.Addr().String() + "/v1"
}

// TestFind: servers are found in the order of the places; a server that never answers delays nothing beyond the limit.
func TestFind(t *testing.T) {
	outside := false
	other := serve(t, func(http.ResponseWriter, *http.Request) { outside = true })
	places := []Place{
		{"refused", "http://127.0.0.1:1/v1"},
		{"vllm", serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" {
				t.Errorf("asked for %s", r.URL.Path)
			}
			fmt.Fprint(w, `{"object":"list","data":[{"id":"qwen3","max_model_len":40960,"owned_by":"vllm"},{"id":"text-embedding-3"},{"id":""}]}`)
		})},
		{"empty", serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"object":"list","data":null}`) })},
		{"html", serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `<html>`) })},
		{"redirect", serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusFound) })},
		{"outside", "http://192.0.2.1:80/v1"},
		{"named", "http://localhost:80/v1"},
	}
	t.Setenv("HTTP_PROXY", other)
	got := find(t.Context(), places) // without the limit, which a busy machine may exceed
	want := []Server{{places[1], []Model{{ID: "qwen3", Window: 40960, Owner: "vllm"}}}, {places[2], nil}}
	if !reflect.DeepEqual(got, want) || outside {
		t.Errorf("found %+v, want %+v; another was asked: %v", got, want, outside)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Find(ctx, places); got != nil {
		t.Errorf("found %+v after the end", got)
	}
	begin := time.Now()
	if got := Find(t.Context(), []Place{{"mute", muteServer(t)}}); got != nil || time.Since(begin) > time.Minute {
		t.Errorf("found %+v after %v", got, time.Since(begin))
	}
}

// TestParse: long or wrong values are bounded.
func TestParse(t *testing.T) {
	many := `{"data":[` + strings.TrimSuffix(strings.Repeat(`{"id":"m"},`, 2*maxModels), ",") + `]}`
	if got, err := parse([]byte(many)); len(got) != maxModels || err != nil {
		t.Error(len(got), err)
	}
	if got, err := parse([]byte(`{"data":[{"id":"` + strings.Repeat("x", maxName+1) + `"},{"id":"a","meta":{"n_ctx":5}},{"id":"b","max_model_len":-1}]}`)); err != nil || !reflect.DeepEqual(got, []Model{{ID: "a", Window: 5}, {ID: "b"}}) {
		t.Error(got, err)
	}
	for _, bad := range []string{``, `{}`, `[]`, `{"error":"x"}`, `{"data":{}}`} {
		if got, err := parse([]byte(bad)); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"object":"list","data":[{"id":"qwen3","meta":{"n_ctx":1}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		models, err := parse(data)
		if err != nil && models != nil || len(models) > maxModels {
			t.Error(models, err)
		}
	})
}
