package fullscreen

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/model/local"
	"buddy/app/apptest"
	"buddy/app/compose"
)

var update = flag.Bool("update", false, "write golden files anew")

// TestFirstWelcome: the first screen of somebody who has nothing yet, before and
// after the look at this machine.
func TestFirstWelcome(t *testing.T) {
	ollama := local.Server{Place: local.Place{Name: "ollama"}, Models: []local.Model{{ID: "qwen3:8b"}, {ID: "llama4"}}}
	for _, tt := range []struct {
		name, problem string
		found         *machine
		cols, rows    int
	}{
		{"looking", "", nil, 80, 24},
		{"nothing", "", &machine{nil, "tmux 3.3a"}, 80, 24},
		{"server", "", &machine{[]local.Server{ollama}, "tmux 3.3a"}, 80, 24},
		{"narrow", "", &machine{[]local.Server{ollama}, "tmux 3.3a"}, 50, 20},
		{"problem", `no model can be used: model profile "a" has no key: A_KEY is not set`, &machine{nil, "tmux 3.3a"}, 80, 24},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := openScreen(t, tt.cols, tt.rows, &compose.Options{})
				x.later(func() { x.ui.SetWelcome(firstWelcome(tt.problem, tt.found)) })
				x.Settle()
				golden(t, "first-"+tt.name, x.Screen())
			})
		})
	}
	hostile := &machine{[]local.Server{{Place: local.Place{Name: "vllm"}, Models: []local.Model{{ID: "\x1b[31mred\x07"}}}}, "tmux \x1b[2J"}
	if text := strings.Join(firstWelcome("", hostile), ""); strings.ContainsAny(text, "\x1b\x07") {
		t.Errorf("%q", text)
	}
}

// golden compares a screen with a file; -update writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".screen")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s (%v)\ngot:\n%s\nwant:\n%s", path, err, got, want)
	}
}

// TestLookAround: it finds what serves models here, and says what tmux there is.
func TestLookAround(t *testing.T) {
	apptest.Home(t)
	apptest.ServeModels(t, "qwen3")
	m := lookAround(t.Context())
	if len(m.servers) != 1 || m.servers[0].Models[0].ID != "qwen3" || !strings.Contains(m.tmux, "tmux") {
		t.Errorf("%+v", m)
	}
}
