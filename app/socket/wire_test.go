package socket

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"buddy/app/live"
	"buddy/app/version"
)

// A screen that speaks another version of the protocol is told which side is the older one, and what
// to do.
func TestOtherProtocols(t *testing.T) {
	h := listen(t)
	for protocol, age := range map[int]string{live.Protocol - 1: "a newer", live.Protocol + 98: "an older"} {
		conn := raw(t, h)
		if _, err := fmt.Fprintf(conn, `{"type":"hello","payload":{"protocol":%d,"version":"9"}}`+"\n", protocol); err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(conn)
		want := fmt.Sprintf("the session runs in %s buddy (%s, protocol %d; this one is 9, protocol %d); end it with that one, then resume it with this one",
			age, version.Number, live.Protocol, protocol)
		if err != nil || !strings.Contains(string(said), want) {
			t.Errorf("%q, %v; want %q", said, err, want)
		}
	}
}
