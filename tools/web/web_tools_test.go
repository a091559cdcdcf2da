package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/tools"
	"buddy/tools/toolstest"
)

// netBench has the tools for the web, with a server to fetch from.
func netBench(t *testing.T, h http.HandlerFunc) (b toolstest.Bench, url string) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	client := NewClient(Options{Loopback: true, Search: Search{URL: srv.URL + "/search"}})
	return toolstest.Bench{T: t, Tools: tools.NewRegistry(NewFetchURL(client), NewWebSearch(client))}, srv.URL
}

func TestFetchURL(t *testing.T) {
	requests := 0
	b, url := netBench(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>T</title><p>Hello <a href=next>next</a>")
		case "/long":
			fmt.Fprint(w, strings.Repeat("é", 10_000))
		case "/huge":
			fmt.Fprint(w, strings.Repeat("x", MaxBody+1))
		case "/away":
			http.Redirect(w, r, "https://other.example/x", http.StatusMovedPermanently)
		case "/png":
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, "\x89PNG")
		default:
			http.Error(w, "no such page", http.StatusNotFound)
		}
	})
	got := b.OK("fetch_url", toolstest.Args{"url": url + "/page#part"})
	if got.Text != "# T\n\nHello [next]("+url+"/next)\n" || got.Note != "" || got.Outcome != "3 lines" {
		t.Errorf("page = %v", got)
	}
	got = b.OK("fetch_url", toolstest.Args{"url": url + "/missing"})
	if got.Text != "no such page\n" || got.Note != "status 404" {
		t.Errorf("missing = %v", got)
	}
	got = b.OK("fetch_url", toolstest.Args{"url": url + "/away"})
	if !strings.HasPrefix(got.Note, "status 301; it redirects to https://other.example/x, which was not followed") {
		t.Errorf("away = %v", got)
	}

	requests = 0
	var all strings.Builder
	offset := 0
	for range 5 {
		got = b.OK("fetch_url", toolstest.Args{"url": url + "/long", "offset": offset})
		text := strings.TrimSuffix(got.Text, tools.Truncated)
		if all.WriteString(text); len(text) > tools.MinPage {
			t.Errorf("%d bytes", len(text))
		}
		_, next, more := strings.Cut(got.Note, " of 20000; continue with offset ")
		if !more {
			break
		}
		offset, _ = strconv.Atoi(next)
	}
	if all.String() != strings.Repeat("é", 10_000) || requests != 1 {
		t.Errorf("%d bytes in %d requests", all.Len(), requests)
	}
	b.Fails("fetch_url", toolstest.Args{"url": url + "/long", "offset": 20_000}, "invalid arguments: offset: 20000, but the text has 20000 bytes")
	if got = b.OK("fetch_url", toolstest.Args{"url": url + "/huge", "offset": MaxBody - 10}); got.Note != "the page is longer than the 2097152 bytes that are read" {
		t.Errorf("huge = %v", got)
	}
	b.Fails("fetch_url", toolstest.Args{"url": url + "/png"}, "is not text: 4 bytes of image/png")
	b.Fails("fetch_url", toolstest.Args{"url": "http://169.254.169.254/"}, "invalid arguments: url: the address 169.254.169.254 is not public: local to the link")
	b.Fails("fetch_url", toolstest.Args{"url": "/etc/passwd"}, "must begin with https://")
	b.Fails("fetch_url", toolstest.Args{"url": "http://127.0.0.1:1/"}, "execution failed: 127.0.0.1:1: ", "refused")

	call, err := b.Plan("fetch_url", toolstest.Args{"url": "https://GO.dev:8443/x#y"})
	want := action.Action{Kind: action.Network, Tool: "fetch_url", Target: "local", URL: "https://go.dev:8443/x", Host: "go.dev", Method: "GET", Preview: "GET https://go.dev:8443/x", Why: "a test", Risk: action.Low}
	if err != "" || fmt.Sprint(call.Planned) != fmt.Sprint(want) {
		t.Errorf("Plan = %+v, %s, want %+v", call.Planned, err, want)
	}
}

// TestFetchURLPart: 8000 bytes come in one piece, one byte more makes a second piece.
func TestFetchURLPart(t *testing.T) {
	b, url := netBench(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		fmt.Fprint(w, strings.Repeat("x", n))
	})
	if got := b.OK("fetch_url", toolstest.Args{"url": url + "/?n=8000"}); got.Text != strings.Repeat("x", 8000) || got.Note != "" {
		t.Errorf("of 8000 bytes %d, note %v", len(got.Text), got.Note)
	}
	got := b.OK("fetch_url", toolstest.Args{"url": url + "/?n=8001"})
	if got.Text != strings.Repeat("x", 8000)+tools.Truncated || got.Note != "bytes 0-8000 of 8001; continue with offset 8000" {
		t.Errorf("of 8001 bytes %d, note %v", len(got.Text), got.Note)
	}
}

func TestWebSearch(t *testing.T) {
	page := `<div class="result"><a class="result__a" href="https://go.dev/">Go</a><a class="result__snippet">A language.</a></div><div class="result"><a class="result__a" href="https://x.example/">X</a></div>`
	b, url := netBench(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) })
	got := b.OK("web_search", toolstest.Args{"query": "go lang"})
	if got.Outcome != "2 results" || got.Text != "1. Go\n   https://go.dev/\n   A language.\n2. X\n   https://x.example/\n" {
		t.Errorf("search = %v", got)
	}
	call, _ := b.Plan("web_search", toolstest.Args{"query": "go lang"})
	if act := call.Planned; act.URL != url+"/search?q=go+lang" || act.Host != "127.0.0.1" || act.Preview != "go lang" || act.Kind != action.Network {
		t.Errorf("Plan = %+v", act)
	}
	page = `<div class="no-results">`
	if got := b.OK("web_search", toolstest.Args{"query": "x"}); got.Text != "" || got.Note != "nothing was found" {
		t.Errorf("search = %v", got)
	}
	page = "<p>something else</p>"
	b.Fails("web_search", toolstest.Args{"query": "x"}, "has an unknown layout")
	b.Fails("web_search", toolstest.Args{"query": strings.Repeat("x", maxQuery+1)}, "invalid arguments: query: longer than 500 bytes")
}
