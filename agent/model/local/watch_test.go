package local

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"buddy/agent/model"
)

// quiet is a model with one answer.
type quiet struct{ base string }

func (q quiet) Info() model.Info { return model.Info{Model: "qwen3", BaseURL: q.base} }

func (quiet) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if yield(model.Delta{Kind: model.Text, Text: "hello"}, nil) {
			yield(model.Delta{Kind: model.Done, Message: &model.Message{Content: "hello"}}, nil)
		}
	}
}

// TestWindowThatOllamaChose: after the first answer, a window smaller than the model's is reported with the setting
// that enlarges it.
func TestWindowThatOllamaChose(t *testing.T) {
	const shown = `{"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`
	for name, tt := range map[string]struct {
		ps, show string
		knows    int // learnt earlier in the session
		want     int
	}{
		"smaller":        {`{"models":[{"name":"qwen3:latest","context_length":4096}]}`, shown, 0, 4096},
		"another is set": {`{"models":[{"name":"qwen3:latest","context_length":4096}]}`, shown, 8192, 4096},
		"known":          {`{"models":[{"name":"qwen3:latest","context_length":4096}]}`, shown, 4096, 0},
		"all of it":      {`{"models":[{"name":"qwen3:latest","context_length":40960}]}`, shown, 0, 0},
		"another model":  {`{"models":[{"name":"llama3:latest","context_length":4096}]}`, shown, 0, 0},
		"not described":  {`{"models":[{"name":"qwen3:latest","context_length":4096}]}`, `{}`, 0, 0},
		"no Ollama":      {"", "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				switch {
				case r.URL.Path == "/api/ps" && tt.ps != "":
					fmt.Fprint(w, tt.ps)
				case r.URL.Path == "/api/show" && tt.show != "":
					fmt.Fprint(w, tt.show)
				default:
					w.WriteHeader(http.StatusNotFound)
				}
			})
			m := Watch(quiet{base}, base)
			m.limit = time.Minute // a busy machine may exceed the real one
			req := model.Request{Needs: []model.Needs{{Model: "qwen3", BaseURL: base, Window: tt.knows}}}
			for turn := range 2 {
				var kinds []model.DeltaKind
				for d, err := range m.Stream(t.Context(), req) {
					if err != nil {
						t.Fatal(err)
					}
					kinds = append(kinds, d.Kind)
					if d.Kind == model.Healed && (d.Needs.Window != tt.want || !d.Needs.Of(m.Info()) || !strings.Contains(d.Needs.Text, "OLLAMA_CONTEXT_LENGTH") || strings.Contains(d.Needs.Text, "\n")) {
						t.Errorf("told %+v", d.Needs)
					}
				}
				want := []model.DeltaKind{model.Text, model.Done}
				if tt.want > 0 && turn == 0 {
					want = []model.DeltaKind{model.Text, model.Healed, model.Done}
				}
				if !slices.Equal(kinds, want) {
					t.Errorf("turn %d: deltas %v, want %v", turn, kinds, want)
				}
			}
			if n := asked.Load(); n > 2 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}
