package tmux

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// Text typed into a pane may be a password: it is never logged.
func TestLoggedHidesWhatIsTyped(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	logged(t.Context(), "send-keys -t %1 -- hunter2", time.Now(), nil)
	logged(t.Context(), "send-keys -H -t %1 68 75", time.Now(), nil)
	logged(t.Context(), "list-panes -s", time.Now(), nil)
	// The time of a line may have any digits.
	if got := out.String(); strings.Contains(got, "hunter2") || strings.Contains(got, "68 75") || !strings.Contains(got, "list-panes") {
		t.Errorf("the log has %s", got)
	}
}
