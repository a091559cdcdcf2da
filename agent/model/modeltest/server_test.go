package modeltest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"buddy/agent/model/modeltest"
)

// TestServerRefuses: a wrong request is a 400 with the reason, and is recorded.
func TestServerRefuses(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps())
	body := `{"model":"m","messages":[{"role":"robot","content":"x"}]}`
	for path, want := range map[string]string{"/chat/completions": `400 messages[0]: unknown role \"robot\"`, "/models": "404 no such route: POST /v1/models"} {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, srv.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		code, text, _ := strings.Cut(want, " ")
		if fmt.Sprint(resp.StatusCode) != code || !strings.Contains(string(got), text) {
			t.Errorf("%s: %d %s, want %s", path, resp.StatusCode, got, want)
		}
	}
	if r := srv.Requests(); len(r) != 1 || r[0].Refused == nil || string(r[0].Body) != body {
		t.Errorf("%+v", r)
	}
}

// TestStepsEnd: a request after the last step is an error.
func TestStepsEnd(t *testing.T) {
	if a := modeltest.Steps()(modeltest.Request{}); len(a) != 1 || !strings.Contains(a[0].(modeltest.Status).Body, "0 answers, this is request 1") {
		t.Errorf("%v", a)
	}
}
