package tmux_test

import (
	"strings"
	"testing"

	"buddy/tmux"
	"buddy/tmux/tmuxtest"
)

func TestLoadBuffer(t *testing.T) {
	srv := tmuxtest.New(t)
	srv.Tmux("new-session", "-d", "-s", "own", "sleep 100")
	t.Setenv("TMUX", srv.Socket+",1,0")
	text := strings.Repeat("func Tax() {}\n", 10_000) + "#{pid} end"
	if err := tmux.LoadBuffer(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	if got := srv.Tmux("show-buffer"); got != text {
		t.Errorf("the buffer has %d bytes, want %d", len(got), len(text))
	}
	t.Setenv("TMUX", srv.Dir+"/none,1,0")
	if err := tmux.LoadBuffer(t.Context(), text); err == nil || !strings.Contains(err.Error(), "tmux load-buffer of 140010 bytes") {
		t.Errorf("without a server: %v", err)
	}
	t.Setenv("TMUX", "")
	if err := tmux.LoadBuffer(t.Context(), text); err == nil || !strings.Contains(err.Error(), "$TMUX is not set") {
		t.Errorf("outside of tmux: %v", err)
	}
}
