package fallback_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/anthropic"
	"buddy/agent/model/completions"
	"buddy/agent/model/fallback"
	"buddy/agent/model/responses"
	"buddy/agent/model/wire"
)

// TestOpaqueFieldsStayHome: an adapter's notes, such as signatures and encrypted reasoning, are sent to no other
// provider.
func TestOpaqueFieldsStayHome(t *testing.T) {
	apis := map[string]func(url string) (model.Model, error){
		completions.Name: func(url string) (model.Model, error) {
			return completions.New(wire.Config{Profile: "p", BaseURL: url, Model: "m"})
		},
		responses.Name: func(url string) (model.Model, error) {
			return responses.New(wire.Config{Profile: "p", BaseURL: url, Model: "m"})
		},
		anthropic.Name: func(url string) (model.Model, error) {
			return anthropic.New(anthropic.Config{Profile: "p", BaseURL: url, Model: "m"})
		},
	}
	said := model.Message{Role: model.Assistant, Content: "let me see", ToolCalls: []model.ToolCall{{ID: "c1", Name: "look", Arguments: "{}"}}, Extra: map[string]json.RawMessage{}}
	for api := range apis {
		said.Extra[model.Note+api] = json.RawMessage(fmt.Sprintf(`{"opaque":%q}`, "secret of "+api))
	}
	req := model.Request{Messages: []model.Message{
		{Role: model.User, Content: "go"}, said, {Role: model.Tool, ToolCallID: "c1", Content: "nothing"},
	}}
	for from, first := range apis {
		for to, second := range apis {
			t.Run(from+" to "+to, func(t *testing.T) {
				busy, other := listen(t, 529), listen(t, 400)
				a, errA := first(busy.url)
				b, errB := second(other.url)
				if errA != nil || errB != nil {
					t.Fatal(errA, errB)
				}
				switched := false
				for d := range fallback.New(a, b).Stream(t.Context(), req) {
					switched = switched || d.Kind == model.Fallback
				}
				body := other.read()
				if !switched || !strings.Contains(body, "let me see") {
					t.Fatalf("switched %v, the fallback was sent %q", switched, body)
				}
				if strings.Contains(body, model.Note) || strings.Contains(body, "secret of ") {
					t.Errorf("the fallback was sent %s", body)
				}
			})
		}
	}
}

// listener answers with a status and keeps the requests.
type listener struct {
	url  string
	mu   sync.Mutex
	body string
}

func listen(t *testing.T, status int) *listener {
	l := &listener{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body) // a torn body fails the test by what it lacks
		l.mu.Lock()
		l.body += string(b)
		l.mu.Unlock()
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	l.url = s.URL + "/v1"
	return l
}

func (l *listener) read() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.body
}
