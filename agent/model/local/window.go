package local

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Window asks the server on this machine at a base URL of OpenAI's protocol how many tokens a
// model of it takes in, within Limit; 0 = it does not say. What is loaded counts before what
// the model could take. The questions are those of vLLM and llama.cpp, then of each alone:
// docs.vllm.ai/en/latest/serving/openai_compatible_server (max_model_len),
// github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (/props),
// docs.ollama.com/api (/api/ps, /api/show), lmstudio.ai/docs/developer/rest (/api/v0/models).
func Window(ctx context.Context, base, model string) int {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	return window(ctx, base, model)
}

// window is Window without a limit of its own.
func window(ctx context.Context, base, model string) int {
	base = strings.TrimRight(base, "/")
	a := asking{ctx, newClient(), strings.TrimSuffix(base, "/v1"), model}
	for _, question := range []func() int{
		func() int { return a.listed(base) }, a.props, a.running, a.shown, a.loaded,
	} {
		if n := question(); n > 0 {
			return n
		}
		if ctx.Err() != nil {
			break
		}
	}
	return 0
}

// asking is one server and one model of it.
type asking struct {
	ctx    context.Context
	client *http.Client
	root   string // the base URL without /v1
	model  string
}

// get decodes a JSON answer into to, which stays empty without one; body is sent if it is
// not nil.
func (a asking) get(url string, body, to any) {
	method, data := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		data, _ = json.Marshal(body) // of a map of strings
	}
	req, err := http.NewRequestWithContext(a.ctx, method, url, bytes.NewReader(data))
	if err != nil {
		return
	}
	if answer, err := fetch(a.client, req); err == nil {
		_ = json.Unmarshal(answer, to) // what is no such JSON tells no window
	}
}

func fetch(client *http.Client, req *http.Request) ([]byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxBody))
}

func (a asking) listed(base string) int {
	models, err := ask(a.ctx, a.client, base)
	for _, m := range models {
		if err == nil && m.ID == a.model {
			return m.Window
		}
	}
	return 0
}

func (a asking) props() int {
	var p struct {
		Settings struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	a.get(a.root+"/props", nil, &p)
	return p.Settings.Window
}

// running is the window of a model that Ollama has loaded.
func (a asking) running() int {
	var list struct {
		Models []struct {
			Name, Model string
			Window      int `json:"context_length"`
		}
	}
	a.get(a.root+"/api/ps", nil, &list)
	for _, m := range list.Models {
		if m.Name == a.model || m.Model == a.model || m.Name == a.model+":latest" {
			return m.Window
		}
	}
	return 0
}

// shown returns the window that Ollama's description of a model says: num_ctx is what it will be loaded
// with, else the length that it was made for.
func (a asking) shown() int {
	var m struct {
		Parameters string
		Info       map[string]any `json:"model_info"`
	}
	a.get(a.root+"/api/show", map[string]string{"model": a.model}, &m)
	for line := range strings.Lines(m.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			if n, err := strconv.Atoi(f[1]); err == nil && n > 0 {
				return n
			}
		}
	}
	return madeFor(m.Info)
}

// loaded returns the window of the model in LM Studio, in tokens, 0 if it does not tell.
func (a asking) loaded() int {
	var list struct {
		Data []struct {
			ID     string
			Loaded int `json:"loaded_context_length"`
			Most   int `json:"max_context_length"`
		}
	}
	a.get(a.root+"/api/v0/models", nil, &list)
	for _, m := range list.Data {
		if m.ID == a.model {
			return max(0, cmp.Or(m.Loaded, m.Most))
		}
	}
	return 0
}
