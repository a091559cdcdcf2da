package history

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"buddy/agent/model"
)

// Cleared replaces a result that MicroCompact removed.
const Cleared = "[Result compacted]"

const (
	keepResults = 5    // newest results that are never cleared
	bulkyBytes  = 2000 // a listing or a search of at least this size is bulky
	leastGain   = 4096 // characters; a smaller gain does not justify a new prefix, which is not cached
	leastShare  = 2    // the gain must be at least 1/leastShare of the characters that then are not cached
)

// result holds what compaction needs to know about a tool result.
type result struct {
	id      string
	size    int // of the content, in bytes
	failed  bool
	bulky   bool   // a large listing or search
	read    string // what was read: path and lines; "" for other tools
	cleared bool
}

// judge classifies a result once, on arrival. An empty result counts as failed.
func judge(c model.ToolCall, content string, end End) result {
	r := result{id: c.ID, size: len(content), failed: end != Worked || content == ""}
	if r.failed {
		return r
	}
	switch c.Name {
	case "glob", "grep", "list_dir":
		r.bulky = len(content) >= bulkyBytes
	case "read_file":
		r.read = readKey(c.Arguments)
	}
	return r
}

func readKey(arguments string) string {
	a := reading(arguments)
	if a.Path == "" {
		return ""
	}
	return fmt.Sprintf("%s\x00%s\x00%d\x00%d", a.Target, path.Clean(a.Path), a.Offset, a.Limit)
}

type readArgs struct {
	Path   string
	Target string
	Offset int
	Limit  int
}

func reading(arguments string) readArgs {
	var a readArgs
	if err := json.Unmarshal([]byte(arguments), &a); err != nil {
		return readArgs{}
	}
	return a
}

// MicroCompact clears results that no longer matter, and returns their call ids in order, or none if clearing would
// save too little. It clears bulky listings and searches, and reads that were repeated later, but not the newest five
// results, failures, pinned messages and unanswered results. The provider's cache then loses everything from the first
// cleared result on; unless room is needed, the saving must be large compared with that.
func (h *History) MicroCompact(needed bool) []string {
	pinned := h.pinnedCalls()
	again := make(map[string]bool) // reads repeated by a later one
	var ids []string
	gain := 0
	for i := len(h.results) - 1; i >= 0; i-- {
		r := h.results[i]
		useless := r.bulky || again[r.read]
		if r.read != "" && !r.cleared {
			again[r.read] = true
		}
		old := i < h.seen && i < len(h.results)-keepResults
		if useless && old && !r.cleared && !pinned[r.id] && r.size > len(Cleared) {
			ids = append(ids, r.id)
			gain += r.size - len(Cleared)
		}
	}
	if gain < leastGain {
		return nil
	}
	slices.Reverse(ids)
	if !needed && gain*leastShare < sizeFrom(h.msgs, ids[0]) {
		return nil
	}
	h.ApplyMicro(ids)
	return ids
}

// ClearResults clears results of h, oldest first, until h has at most target tokens, and returns their call ids. It
// is the last resort, because it also clears results that the model has not read.
func ClearResults(h *History, target int) []string {
	pinned := h.pinnedCalls()
	var ids []string
	for _, r := range slices.Clone(h.results) {
		if h.Tokens() <= target {
			break
		}
		if !r.cleared && !pinned[r.id] && r.size > len(Cleared) {
			h.ApplyMicro([]string{r.id})
			ids = append(ids, r.id)
		}
	}
	return ids
}

// sizeFrom returns the characters of the result of a call and of all messages after it.
func sizeFrom(msgs []model.Message, id string) int {
	n := 0
	for _, m := range slices.Backward(msgs) {
		n += size(m)
		if m.ToolCallID == id {
			break
		}
	}
	return n
}

// ApplyMicro clears the results of these calls, as MicroCompact did. Unknown ids and cleared results are skipped.
// Slices that Messages returned earlier do not change.
func (h *History) ApplyMicro(ids []string) { replaceResults(h, ids, Cleared) }

// replaceResults replaces the results of these calls by a text.
func replaceResults(h *History, ids []string, text string) {
	if len(ids) == 0 {
		return
	}
	gone := make(map[string]bool)
	for _, id := range ids {
		gone[id] = true
	}
	msgs := make([]model.Message, len(h.msgs))
	for i, m := range h.msgs {
		if m.Role == model.Tool && gone[m.ToolCallID] {
			h.gauge.chars += len(text) - len(m.Content)
			m.Content = text
		}
		msgs[i] = m
	}
	h.msgs = msgs
	for i := range h.results {
		if r := &h.results[i]; gone[r.id] {
			r.cleared, r.size = true, len(text)
		}
	}
}

// pinnedCalls returns the ids of the calls in pinned messages.
func (h *History) pinnedCalls() map[string]bool {
	ids := make(map[string]bool)
	for i := range h.pins {
		for _, c := range h.msgs[i].ToolCalls {
			ids[c.ID] = true
		}
	}
	return ids
}
