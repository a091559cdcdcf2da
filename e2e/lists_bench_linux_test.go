package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkLists measures the wait for the list of a command: from the bytes of Enter until the title of the list is on
// the terminal. The command runs in the process of the session. Medians and p95 of real processes.
func BenchmarkLists(b *testing.B) {
	for command, title := range map[string]string{"/memory": "Memory", "/mcp": "MCP servers", "/permissions": "Permission rules", "/model": "Models"} {
		b.Run(command[1:], func(b *testing.B) {
			d := converse(b, "xterm-256color")
			d.want("Enter")
			var waits []time.Duration
			for b.Loop() {
				d.types(command)
				time.Sleep(300 * time.Millisecond) // as long as a person takes; an immediate Enter would count as pasted
				d.mu.Lock()
				d.seen = d.text.Len()
				d.mu.Unlock()
				began := time.Now()
				d.types("\r")
				for d.since(title) == "" {
					if time.Since(began) > plainLimit {
						b.Fatalf("%s does not open %q", command, title)
					}
					time.Sleep(200 * time.Microsecond)
				}
				waits = append(waits, time.Since(began))
				d.types("\x1b")
				time.Sleep(300 * time.Millisecond) // the list is closed, and another Esc is not part of a double one
			}
			d.types("\x03\x03") // the session ends with its screen
			_ = d.code()
			slices.Sort(waits)
			for name, at := range map[string]int{"median-ms": len(waits) / 2, "p95-ms": len(waits) * 95 / 100} {
				b.ReportMetric(float64(waits[at].Microseconds())/1000, name)
			}
		})
	}
}

// since returns the output on the terminal after the last wait, "" until it contains a text.
func (d *dialog) since(text string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if rest := d.text.String()[d.seen:]; strings.Contains(rest, text) {
		return rest
	}
	return ""
}
