package turn

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/event"
	"buddy/agent/stream"
	"buddy/tools"
)

func TestOutputKeepsCharactersWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := stream.New("s1", time.Now, nil)
		seen := events.Subscribe(t.Context())
		out := newLive(events, nil, 1, 1, "c").write
		text := "a→漢😀b\xff\xfe"
		for i := range len(text) {
			out(tools.Chunk{Stream: tools.Stdout, Text: []byte{text[i]}, Total: int64(i + 1)})
		}
		events.Close()
		var got strings.Builder
		for env := range seen {
			if p, ok := env.Payload.(event.ToolOutput); ok {
				got.WriteString(p.Text)
			}
		}
		if got.String() != text {
			t.Errorf("output %q, want %q", got.String(), text)
		}
	})
}
