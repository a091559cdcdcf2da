package local

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"buddy/agent/model"
)

// Watched wraps a model on this machine. After the first answer, when the server has loaded the model, it asks the
// server whether the window is smaller than the model's maximum. Create it with Watch.
type Watched struct {
	next  model.Model
	base  string
	limit time.Duration // for the questions
	asked atomic.Bool
}

// Watch wraps next; base is the server's base URL of OpenAI's protocol. It exists because Ollama often loads a model
// with a window of only 4,096 tokens, silently drops the start of a longer request
// (github.com/ollama/ollama/blob/main/docs/context-length.mdx), and reports the window only while the model is loaded.
func Watch(next model.Model, base string) *Watched {
	return &Watched{next: next, base: base, limit: Limit}
}

// Info describes the wrapped model.
func (w *Watched) Info() model.Info { return w.next.Info() }

// Stream sends req to the wrapped model. After the first answer, it yields a [model.Healed] if the server has loaded
// the model with a smaller window than the model's maximum, and req does not have that window yet.
func (w *Watched) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		for d, err := range w.next.Stream(ctx, req) {
			if err == nil && d.Kind == model.Done && w.asked.CompareAndSwap(false, true) {
				if needs := w.needs(ctx, req); needs != nil && !yield(model.Delta{Kind: model.Healed, Needs: needs}, nil) {
					return
				}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// needs returns the window with which the server has loaded the model. It returns nil if that is the model's maximum,
// or if the request's Needs already contain the window.
func (w *Watched) needs(ctx context.Context, req model.Request) *model.Needs {
	ctx, cancel := context.WithTimeout(ctx, w.limit)
	defer cancel()
	info := w.Info()
	loaded, most := loadedWindow(ctx, w.base, info.Model)
	if loaded == 0 || loaded >= most {
		return nil
	}
	for _, n := range req.Needs {
		if n.Of(info) && n.Window == loaded {
			return nil
		}
	}
	return &model.Needs{
		Model: info.Model, BaseURL: info.BaseURL, Window: loaded,
		Text: fmt.Sprintf("Ollama runs %s with a context window of %d tokens, but the model supports %d: set OLLAMA_CONTEXT_LENGTH for ollama serve, or num_ctx in a Modelfile", info.Model, loaded, most),
	}
}

// loadedWindow returns the window with which Ollama has loaded a model, and the model's maximum. Unknown values are 0.
func loadedWindow(ctx context.Context, base, name string) (loaded, most int) {
	a := asking{ctx, newClient(), strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1"), name}
	if loaded = a.running().Window; loaded == 0 {
		return 0, 0
	}
	var m struct {
		Info map[string]any `json:"model_info"`
	}
	a.get(a.root+"/api/show", map[string]string{"model": name}, &m)
	return loaded, madeFor(m.Info)
}

// madeFor returns the maximum window that Ollama's description of a model states, or 0 if it states none.
func madeFor(info map[string]any) int {
	for k, v := range info {
		if n, ok := v.(float64); ok && strings.HasSuffix(k, ".context_length") && n > 0 && n < 1<<31 {
			return int(n)
		}
	}
	return 0
}
