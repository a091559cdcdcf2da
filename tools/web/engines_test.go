package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"buddy/tools"
	"buddy/tools/toolstest"
)

const testKey = "key-4711-secret"

// engineServer is a server that speaks an engine's protocol, until answer replaces its answers.
type engineServer struct {
	*httptest.Server
	t      *testing.T
	engine string
	answer http.HandlerFunc
	asked  int
	client *Client
}

// newEngine returns a server and the tool that asks it.
func newEngine(t *testing.T, engine string, answer http.HandlerFunc) (*engineServer, toolstest.Bench) {
	t.Helper()
	s := &engineServer{t: t, engine: engine, answer: answer}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	key := testKey
	if engine == "searxng" {
		key = ""
	}
	s.client = NewClient(Options{Search: Search{Engine: engine, URL: s.URL, Hits: 2, KeyName: "THE_KEY", Key: func() (string, error) { return key, nil }}})
	return s, toolstest.Bench{T: t, Tools: tools.NewRegistry(NewWebSearch(s.client))}
}

func (s *engineServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked++
	if s.answer != nil {
		s.answer(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	got := fmt.Sprintf("%s %s %s token=%s bearer=%s", r.Method, r.URL, body, r.Header.Get("X-Subscription-Token"), r.Header.Get("Authorization"))
	const found = `[{"title":"Go &\n lang","url":"https://go.dev/","%[1]s":"A language."},{"title":"no web page","url":"javascript:alert(1)"},` +
		`{"title":"","url":"https://untitled.example/"},{"title":"Go again","url":"https://go.dev/"},` +
		`{"title":"X","url":"https://x.example/?uddg=https://y.example/","%[1]s":null,"score":1},{"title":"third","url":"https://z.example/"}]`
	want, page := "", ""
	switch s.engine {
	case "searxng":
		want = "GET /search?format=json&q=go+%26+lang  token= bearer="
		page = fmt.Sprintf(`{"query":"go","number_of_results":0,"results":`+found+`,"unresponsive_engines":[]}`, "content")
	case "brave":
		want = "GET /res/v1/web/search?count=2&q=go+%26+lang&text_decorations=false  token=" + testKey + " bearer="
		page = fmt.Sprintf(`{"type":"search","mixed":{},"web":{"type":"search","results":`+found+`}}`, "description")
	case "tavily":
		want = `POST /search {"max_results":2,"query":"go \u0026 lang"} token= bearer=Bearer ` + testKey
		page = fmt.Sprintf(`{"query":"go","answer":null,"results":`+found+`,"response_time":1}`, "content")
	}
	if got != want {
		s.t.Errorf("%s got\n%s, want\n%s", s.engine, got, want)
	}
	fmt.Fprint(w, page)
}

// All engines have one form of results, each with its own protocol, on this machine.
func TestEngines(t *testing.T) {
	for name := range engines {
		t.Run(name, func(t *testing.T) {
			s, b := newEngine(t, name, nil)
			got := b.OK("web_search", toolstest.Args{"query": "go & lang"})
			want := "1. Go & lang\n   https://go.dev/\n   A language.\n2. X\n   https://x.example/?uddg=https://y.example/\n"
			if got.Text != want || got.Outcome != "2 results" {
				t.Errorf("search = %v, want %s", got, want)
			}
			call, _ := b.Plan("web_search", toolstest.Args{"query": "go & lang"})
			if act := call.Planned; act.Host != "127.0.0.1" || act.Preview != "go & lang" || strings.Contains(fmt.Sprintf("%+v", act), testKey) {
				t.Errorf("Plan = %+v", act)
			}
			s.answer = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"type":"search","results":[]}`) }
			if got := b.OK("web_search", toolstest.Args{"query": "x"}); got.Note != "nothing was found" {
				t.Errorf("search = %v", got)
			}
		})
	}
	if got, err := parseHits([]byte(`{"type":"search"}`), 8); got != nil || err != nil { // Brave's without results
		t.Errorf("parseHits = %v, %v", got, err)
	}
}

// Without its own server, an engine with a key has one address.
func TestEngineURL(t *testing.T) {
	for engine, want := range map[string]string{
		"brave":  "https://api.search.brave.com/res/v1/web/search?count=20&q=a+b&text_decorations=false",
		"tavily": "https://api.tavily.com/search",
	} {
		if u, err := NewClient(Options{Search: Search{Engine: engine, Hits: 30}}).SearchURL("a b"); err != nil || u.String() != want {
			t.Errorf("%s: %v, %v, want %s", engine, u, err, want)
		}
	}
	if _, err := NewClient(Options{Search: Search{Engine: "searxng", URL: "http://169.254.169.254"}}).SearchURL("x"); err == nil || !strings.Contains(err.Error(), "SearXNG: the address 169.254.169.254 is not public") {
		t.Errorf("a metadata service: %v", err)
	}
	missing := func() (string, error) { return "", fmt.Errorf("has no key") }
	b := toolstest.Bench{T: t, Tools: tools.NewRegistry(NewWebSearch(NewClient(Options{Search: Search{Engine: "brave", Key: missing}})))}
	if _, err := b.Plan("web_search", toolstest.Args{"query": "x"}); !strings.Contains(err, "has no key") {
		t.Errorf("Plan = %s", err)
	}
}

// Each refusal names the engine, the cause and the next step, and repeats nothing that may hold the key.
func TestEngineRefusals(t *testing.T) {
	answer := func(status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body, r.Header.Get("X-Subscription-Token"), r.Header.Get("Authorization"))
		}
	}
	for _, tt := range []struct {
		engine string
		answer http.HandlerFunc
		want   string
	}{
		{"searxng", answer(403, "<h1>Forbidden</h1>"), "refuses to answer with JSON (status 403); add json to formats under search in its settings.yml and restart it"},
		{"searxng", answer(200, "<html>results</html>", "Content-Type", "text/html"), "the answer is not the JSON of a search; check that it runs and that search_url in [tools] is its address"},
		{"searxng", answer(200, `{"error":"\u001b[2J"}`), "the answer is not the JSON of a search"},
		{"searxng", answer(200, `{"results":"none"}`), "the answer is not the JSON of a search"},
		{"searxng", answer(200, `{"results":[{"title":"`+strings.Repeat("x", MaxBody)), "more than the 2097152 bytes that are read"},
		{"searxng", answer(429, ""), "accepts no more searches for now (status 429); search again later, or choose another search_engine in [tools]"},
		{"searxng", answer(308, "", "Location", "https://other.example/"), `redirects to "https://other.example/" (status 308), which is not followed; check that it runs and that search_url`},
		{"brave", answer(401, "no"), "refuses the key in THE_KEY (status 401); check the key, then start buddy again"},
		{"brave", answer(422, `{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID"}}`), "refuses the key in THE_KEY (status 422)"},
		{"brave", answer(422, `{"error":{"code":"VALIDATION"}}`), "answers with status 422; check the network"},
		{"brave", answer(429, "", "X-RateLimit-Remaining", "1, 0", "X-RateLimit-Reset", "1, 7200"), "(status 429); search again in 2h0m0s"},
		{"brave", answer(429, "", "X-RateLimit-Remaining", "0, 9", "X-RateLimit-Reset", "1, 7200"), "(status 429); search again in 1s"},
		{"brave", answer(503, "down"), "answers with status 503"},
		{"tavily", answer(401, "no"), "refuses the key in THE_KEY (status 401)"},
		{"tavily", answer(432, "plan"), "accepts no more searches for now (status 432); search again later"},
		{"tavily", answer(433, "plan"), "(status 433)"},
		{"tavily", answer(429, "", "Retry-After", "90"), "(status 429); search again in 1m30s"},
		{"tavily", answer(429, "", "Retry-After", "-1e9"), "(status 429); search again later"},
	} {
		s, _ := newEngine(t, tt.engine, tt.answer)
		u, err := s.client.SearchURL("x")
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.client.Search(t.Context(), u, "x")
		text := fmt.Sprint(err)
		if at := engines[tt.engine].name + " at " + u.Host; !strings.HasPrefix(text, at) || !strings.Contains(text, tt.want) {
			t.Errorf("Search = %s, want %s %s", text, at, tt.want)
		}
		if strings.Contains(text, testKey) || strings.Contains(text, "\x1b") || s.asked != 1 {
			t.Errorf("after %d requests: %s", s.asked, text)
		}
	}
	s, b := newEngine(t, "searxng", nil)
	s.Close()
	b.Fails("web_search", toolstest.Args{"query": "x"}, "SearXNG at 127.0.0.1:", "refused; check that it runs and that search_url in [tools] is its address")
}

// A redirection, to another host or the same, gets no key. A client that follows it does send the key.
func TestRedirectGetsNoKey(t *testing.T) {
	for _, engine := range []string{"brave", "tavily"} {
		var leaked []string
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			leaked = append(leaked, fmt.Sprint(r.Header))
		}))
		t.Cleanup(other.Close)
		to, _ := url.Parse(other.URL)
		for _, status := range []int{301, 302, 303, 307, 308} {
			s, b := newEngine(t, engine, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://127.0.0.1:"+to.Port()+"/search", status)
			})
			b.Fails("web_search", toolstest.Args{"query": "x"}, "redirects to", "which is not followed")
			if leaked != nil || s.asked != 1 {
				t.Fatalf("%s: after %d the other server got %v", engine, status, leaked)
			}
			req, _ := http.NewRequest(http.MethodGet, s.URL, nil)
			for name := range engines[engine].key {
				req.Header.Set(name, testKey)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil || !strings.Contains(fmt.Sprint(leaked), testKey) {
				t.Fatalf("%s: the control leaks nothing after %d: %v, %v", engine, status, leaked, err)
			}
			_ = res.Body.Close()
			leaked = nil
		}
	}
}

// Only the server of the settings may be on this machine; fetch_url still does not reach it.
func TestEngineHostIsLocalForSearchesOnly(t *testing.T) {
	s, b := newEngine(t, "searxng", nil)
	b.OK("web_search", toolstest.Args{"query": "go & lang"})
	client := NewClient(Options{Search: Search{Engine: "searxng", URL: s.URL}})
	if _, err := client.Check(s.URL); err == nil || !strings.Contains(err.Error(), "is not public: this machine") {
		t.Errorf("Check = %v", err)
	}
	u, _ := url.Parse(s.URL)
	if _, err := client.Get(t.Context(), u); err == nil || s.asked != 1 {
		t.Errorf("Get = %v after %d requests", err, s.asked)
	}
}
