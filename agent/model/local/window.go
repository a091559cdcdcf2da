package local

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Facts holds what a local server reports about a model.
type Facts struct {
	Window     int     // maximum input in tokens; 0 = not stated
	Parameters float64 // 0 = not stated
	NoTools    bool    // the model takes no tools
}

// Describe asks the server on this machine at base, a base URL of OpenAI's protocol, about a model, within Limit. If
// the model is loaded, its window is the one in use instead of the maximum. Describe reads the list of models, for vLLM
// and llama.cpp, and then sends requests that only one kind of server answers:
// docs.vllm.ai/en/latest/serving/openai_compatible_server (max_model_len),
// github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (meta, /props), docs.ollama.com/api (/api/ps,
// /api/show), lmstudio.ai/docs/developer/rest (/api/v0/models).
func Describe(ctx context.Context, base, model string) Facts {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	return describe(ctx, base, model)
}

// describe is like Describe, but has no time limit.
func describe(ctx context.Context, base, model string) Facts {
	base = strings.TrimRight(base, "/")
	a := asking{ctx, newClient(), strings.TrimSuffix(base, "/v1"), model}
	all := a.listed(base)
	for _, question := range []func() Facts{a.props, a.running, a.shown, a.loaded} {
		if ctx.Err() != nil {
			break
		}
		f := question()
		all.Window, all.Parameters = cmp.Or(all.Window, f.Window), cmp.Or(all.Parameters, f.Parameters)
		all.NoTools = all.NoTools || f.NoTools
	}
	return all
}

type asking struct {
	ctx    context.Context
	client *http.Client
	root   string // the base URL without /v1
	model  string
}

// get requests a URL and decodes the JSON in the answer into to. If the request fails, to stays unchanged. If body is
// not nil, get sends it as JSON in a POST request.
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
		_ = json.Unmarshal(answer, to) // other answers state no window
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

func (a asking) listed(base string) Facts {
	models, err := ask(a.ctx, a.client, base)
	for _, m := range models {
		if err == nil && m.ID == a.model {
			return Facts{Window: m.Window, Parameters: m.Parameters}
		}
	}
	return Facts{}
}

// props returns what llama.cpp's server reports about the model that it has loaded.
func (a asking) props() Facts {
	var p struct {
		Settings struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Template struct {
			Tools *bool `json:"supports_tools"`
		} `json:"chat_template_caps"`
	}
	a.get(a.root+"/props", nil, &p)
	return Facts{Window: p.Settings.Window, NoTools: p.Template.Tools != nil && !*p.Template.Tools}
}

// running returns the window of the model, if Ollama has loaded it.
func (a asking) running() Facts {
	var list struct {
		Models []struct {
			Name, Model string
			Window      int `json:"context_length"`
		}
	}
	a.get(a.root+"/api/ps", nil, &list)
	for _, m := range list.Models {
		if m.Name == a.model || m.Model == a.model || m.Name == a.model+":latest" {
			return Facts{Window: m.Window}
		}
	}
	return Facts{}
}

// shown returns what Ollama's description of the model states. The window is num_ctx, with which Ollama will load the
// model, or the model's maximum if num_ctx is not set.
func (a asking) shown() Facts {
	var m struct {
		Parameters   string
		Info         map[string]any `json:"model_info"`
		Capabilities []string
		Details      struct {
			Parameters string `json:"parameter_size"`
		}
	}
	a.get(a.root+"/api/show", map[string]string{"model": a.model}, &m)
	f := Facts{Parameters: parameters(m.Details.Parameters), NoTools: len(m.Capabilities) > 0 && !slices.Contains(m.Capabilities, "tools")}
	if n, ok := m.Info["general.parameter_count"].(float64); ok && n > 0 {
		f.Parameters = n
	}
	for line := range strings.Lines(m.Parameters) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == "num_ctx" {
			if n, err := strconv.Atoi(words[1]); err == nil && n > 0 {
				f.Window = n
				return f
			}
		}
	}
	f.Window = madeFor(m.Info)
	return f
}

// parameters parses a number of parameters as Ollama writes it: "1.5B", "270.3M"; 0 for other text.
func parameters(text string) float64 {
	for unit, factor := range map[string]float64{"K": 1e3, "M": 1e6, "B": 1e9} {
		if digits, ok := strings.CutSuffix(text, unit); ok {
			if n, err := strconv.ParseFloat(digits, 64); err == nil && n > 0 {
				return n * factor
			}
		}
	}
	return 0
}

// loaded returns the window of the model in LM Studio, in tokens; 0 if unknown.
func (a asking) loaded() Facts {
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
			return Facts{Window: max(0, cmp.Or(m.Loaded, m.Most))}
		}
	}
	return Facts{}
}
