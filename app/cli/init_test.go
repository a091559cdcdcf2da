package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"buddy/app/apptest"
	"buddy/app/compose"
)

// answering asks the questions of init with typed lines as answers; said returns the output.
func answering(t *testing.T, lines ...string) (s *setup, said func() string) {
	t.Helper()
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(typed, strings.Join(lines, "\n")+"\n"); err != nil {
		t.Fatal(err)
	}
	screen, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	_ = typed.Close()
	t.Cleanup(func() { _, _ = in.Close(), screen.Close() })
	return &setup{cli: newCLI(in, screen, screen)}, func() string {
		text, err := os.ReadFile(screen.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

func TestInitAsksTheServerForItsModels(t *testing.T) {
	apptest.Home(t)
	serve := func(key string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path != "/v1/models":
				http.NotFound(w, r)
			case key != "" && r.Header.Get("Authorization") != "Bearer "+key:
				http.Error(w, "no", http.StatusUnauthorized)
			default:
				_, _ = io.WriteString(w, `{"data":[{"id":"small"},{"id":"large\u001b[31m"},{"id":""}]}`)
			}
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	free, paid := serve(""), serve("secret-1")
	t.Setenv("LLM_KEY", "secret-1")
	t.Setenv("WRONG_KEY", "secret-2")
	for _, c := range []struct {
		name           string
		lines          []string
		url, key, want string // of the profile
		keyless        bool
		said, unsaid   string
	}{
		{"no key is needed", []string{free + "/v1", "2"}, free + "/v1", "", "large\x1b[31m", true, "  1  small", "variable"},
		{"its key", []string{paid + "/v1", "LLM_KEY", "1"}, paid + "/v1", "LLM_KEY", "small", false, "variable that holds the API key", "secret"},
		{"a wrong key, then the right one", []string{paid + "/v1", "WRONG_KEY", paid + "/v1", "LLM_KEY", "1"}, paid + "/v1", "LLM_KEY", "small", false, "the server needs a valid API key", "secret"},
		{"mistakes", []string{"", "ftp://x", free, free + "/v1", "7", "", "small"}, free + "/v1", "", "small", true, "lists no models: Not Found", ""},
		{"a server that can't be asked", []string{free, "", "", "own-model"}, free, "", "own-model", true, "Enter to use the address anyway", ""},
		{"a key in the place of a variable", []string{paid + "/v1", "sk-typed-key", "LLM_KEY", "1"}, paid + "/v1", "LLM_KEY", "small", false, "not a variable", "typed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, said := answering(t, c.lines...)
			p, all, err := s.server()
			if err == nil {
				p.Model, err = s.chooseModel(all, "")
			}
			if err != nil || p.BaseURL != c.url || p.KeyEnv != c.key || p.Model != c.want || p.Keyless() != c.keyless {
				t.Errorf("%+v, keyless %v, %v", p, p.Keyless(), err)
			}
			text := said()
			if !strings.Contains(text, c.said) || c.unsaid != "" && strings.Contains(text, c.unsaid) || strings.Contains(text, "\x1b") {
				t.Errorf("said %q", text)
			}
		})
	}
	s, _ := answering(t, free+"/v1")
	if _, _, err := s.server(); err != nil {
		t.Error(err)
	}
	if _, err := s.chooseModel([]string{"a", "b"}, ""); err != errCancelled { //nolint:errorlint // it is returned as it is
		t.Errorf("the end of input gave %v", err)
	}
}

// A model that does not answer is accepted only if the user confirms; otherwise the questions start again, and nothing
// is written.
func TestInitAsksAgainAfterAModelThatDoesNotAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/v1/models":
			_, _ = io.WriteString(w, `{"data":[{"id":"good"},{"id":"bad"}]}`)
		case strings.Contains(string(body), `"good"`):
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	url := server.URL + "/v1"
	for _, c := range []struct {
		name  string
		lines string // after the number of another server
		model string // of the new profile, "" for none
	}{
		{"it works", url + " good", "good"},
		{"taken all the same", url + " bad ", "bad"},
		{"asked again", url + " bad n other " + url + " good", "good"},
		{"given up", url + " bad n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			apptest.Home(t)
			settings, index, _, err := compose.LoadConfig(&compose.Options{})
			if err != nil {
				t.Fatal(err)
			}
			other := strconv.Itoa(len(compose.OffersOf(t.Context(), settings, index, true)) + 1)
			s, said := answering(t, strings.Split(strings.ReplaceAll("other "+c.lines, "other", other), " ")...)
			s.config, s.index = settings, index
			name, err := s.ask()
			if settings, _, _, err := compose.LoadConfig(&compose.Options{}); err != nil {
				t.Error(err)
			} else if p, found := settings.Profile("127-0-0-1"); found != (c.model != "") || p.Model != c.model {
				t.Errorf("the settings have %+v", p)
			}
			if taken := name == "127-0-0-1" && err == nil; taken != (c.model != "") {
				t.Errorf("%q, %v\n%s", name, err, said())
			}
		})
	}
}
