package fullscreen

import (
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/model/local"
	"buddy/app/apptest"
	"buddy/app/compose"
	"buddy/app/ui"
	"buddy/views/viewtest"
)

// TestFirstWelcome: the first screen of a user without settings, before and after this machine is checked.
func TestFirstWelcome(t *testing.T) {
	ollama := local.Server{Place: local.Place{Name: "ollama"}, Models: []local.Model{{ID: "qwen3:8b"}, {ID: "llama4"}}}
	for _, tt := range []struct {
		name, problem string
		found         *machine
		cols, rows    int
	}{
		{"looking", "", nil, 80, 24},
		{"nothing", "", &machine{}, 80, 24},
		{"server", "", &machine{servers: []local.Server{ollama}}, 80, 24},
		{"one-model", "", &machine{servers: []local.Server{{Place: local.Place{Name: "llamacpp"}, Models: []local.Model{{ID: "model.gguf"}}}}}, 80, 24},
		{"narrow", "", &machine{servers: []local.Server{ollama}, lacks: []string{"No usable tmux found: commands run without panes."}}, 50, 20},
		{"problem", `no model can be used: model profile "a" has no key: A_KEY is not set`, &machine{}, 80, 24},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := openScreen(t, tt.cols, tt.rows, &compose.Options{})
				x.later(func() { ui.SetFirst(x.ui, firstRun(tt.problem, tt.found)) })
				x.Settle()
				viewtest.GoldenText(t, "first-"+tt.name, x.Screen())
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		x := openScreen(t, 80, 24, &compose.Options{})
		hostile := &machine{servers: []local.Server{{Place: local.Place{Name: "vllm"}, Models: []local.Model{{ID: "\x1b[31mred\x07"}}}}}
		x.later(func() { ui.SetFirst(x.ui, firstRun("", hostile)) })
		x.Settle()
		if text := x.Screen(); strings.ContainsAny(text, "\x1b\x07") {
			t.Errorf("%q", text)
		}
	})
}

// TestLookAround: it finds local model servers, and reports a missing tmux.
func TestLookAround(t *testing.T) {
	apptest.Home(t)
	apptest.ServeModels(t, "qwen3")
	m := lookAround(t.Context())
	if len(m.servers) != 1 || m.servers[0].Models[0].ID != "qwen3" || len(m.lacks) > 0 {
		t.Errorf("%+v", m)
	}
}
