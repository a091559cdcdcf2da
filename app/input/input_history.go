package input

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"buddy/sessions"
)

const (
	maxLines    = 1000    // offered lines
	maxLineFile = 4 << 20 // bytes of the file before it is shortened
)

// History keeps the lines typed at the prompt in a file that only its owner can read, with one JSON string per line. It
// ignores errors, because it is only a convenience.
type History struct{ path string }

// OpenHistory returns the user's history on this machine.
func OpenHistory() *History {
	return &History{filepath.Join(xdg.StateHome, "buddy", "history")}
}

// Load returns the latest lines, oldest first.
func (h *History) Load() []string {
	f, err := sessions.OpenPlain(h.path, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	var lines []string
	in := bufio.NewScanner(f)
	in.Buffer(nil, maxLineFile)
	for in.Scan() {
		var text string
		if json.Unmarshal(in.Bytes(), &text) == nil {
			lines = append(lines, text)
		}
	}
	return lines[max(0, len(lines)-maxLines):]
}

// Add appends a line.
func (h *History) Add(text string) {
	data, err := json.Marshal(text)
	if err != nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return
	}
	if fi, err := os.Lstat(h.path); err == nil && fi.Size() > maxLineFile {
		h.shorten()
	}
	f, err := sessions.OpenPlain(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	_, _ = f.Write(append(data, '\n'))
}

// shorten keeps the latest lines only.
func (h *History) shorten() {
	lines := h.Load()
	if err := os.Remove(h.path); err != nil {
		return
	}
	for _, l := range lines {
		h.Add(l)
	}
}
