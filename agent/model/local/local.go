// Package local finds model servers on this machine, such as Ollama.
//
//	for _, s := range local.Find(ctx, []local.Place{{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1"}}) {
//		fmt.Println(s.Name, s.Models)
//	}
//
// Find asks all addresses at the same time. It must never send anything to another machine, so it connects only to
// loopback addresses, follows no redirects and uses no proxy.
package local

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Limit is the time limit of Find, of Describe, and of the query that a Watched model makes.
const Limit = 300 * time.Millisecond

// Limits on what a server may answer.
const (
	maxBody   = 1 << 20 // bytes
	maxModels = 100
	maxName   = 200 // bytes
)

// Place names an address where a server may be.
type Place struct {
	Name    string
	BaseURL string // base URL of OpenAI's protocol, such as http://127.0.0.1:11434/v1
}

// Server is a server that answered.
type Server struct {
	Place
	Models []Model // the models that it lists; none if no model is loaded
}

// Model describes a model on a server.
type Model struct {
	ID         string
	Window     int     // tokens; 0 = not stated
	Parameters float64 // 0 = not stated
	Owner      string  // such as "llamacpp"; "" = not stated
}

// Find asks the servers at all places for their models, within Limit, and returns the servers that answered, in the
// order of places. It ignores servers that don't speak OpenAI's protocols.
func Find(ctx context.Context, places []Place) []Server {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	return find(ctx, places)
}

// find is like Find, but has no time limit.
func find(ctx context.Context, places []Place) []Server {
	client := newClient()
	found := make([]*Server, len(places))
	var all sync.WaitGroup
	for i, p := range places {
		all.Go(func() {
			if models, err := ask(ctx, client, p.BaseURL); err == nil {
				found[i] = &Server{p, models}
			}
		})
	}
	all.Wait()
	var servers []Server
	for _, s := range found {
		if s != nil {
			servers = append(servers, *s)
		}
	}
	return servers
}

// newClient returns a client that never connects to another machine.
func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DialContext: dial, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// dial connects to loopback addresses only.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%s is not on this machine", host)
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

func ask(ctx context.Context, client *http.Client, base string) ([]Model, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return nil, err
	}
	data, err := fetch(client, req)
	if err != nil {
		return nil, err
	}
	return parse(data)
}

// parse reads a server's list of models. The window is in max_model_len (vLLM) or meta.n_ctx (llama.cpp), and the
// number of parameters in meta.n_params (llama.cpp).
func parse(data []byte) ([]Model, error) {
	var list struct {
		Object string
		Data   *[]struct {
			ID     string
			Window int    `json:"max_model_len"`
			Owner  string `json:"owned_by"`
			Meta   struct {
				Window     int     `json:"n_ctx"`
				Parameters float64 `json:"n_params"`
			}
		}
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	if list.Data == nil {
		if list.Object != "list" { // Ollama without a model sends {"object":"list","data":null}
			return nil, fmt.Errorf("not a list of models")
		}
		return nil, nil
	}
	var models []Model
	for _, m := range *list.Data {
		if m.ID == "" || len(m.ID) > maxName || strings.Contains(strings.ToLower(m.ID), "embed") || len(models) == maxModels {
			continue // skip embedding models: they cannot answer prompts
		}
		models = append(models, Model{m.ID, max(m.Window, m.Meta.Window, 0), max(m.Meta.Parameters, 0), m.Owner})
	}
	return models, nil
}
