package wire

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// CallID returns the id of a tool call in a form that the server accepts, with at most limit bytes. The ids of other
// models may need a change. Different ids stay different.
func (c *Client) CallID(id string, limit int) string {
	switch {
	case c.mistral:
		return mistralID(id)
	case len(id) > limit:
		return Hashed(id, limit)
	}
	return id
}

// Hashed shortens an id to at most limit bytes: the start of the id, in letters that all providers accept, then "_" and
// a hash of the whole id.
func Hashed(id string, limit int) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // a hash accepts everything
	begin := SafeLetters(id)
	return fmt.Sprintf("%s_%08x", begin[:min(len(begin), limit-9)], h.Sum32())
}

// mistrals are the prefixes of the names of Mistral's models. Other providers also offer these models.
var mistrals = []string{"mistral", "devstral", "codestral", "ministral", "magistral"}

// isMistral reports whether a server may require ids of calls in Mistral's form.
func isMistral(p Provider, model string) bool {
	name := plainName(model)
	return p == Mistral || slices.ContainsFunc(mistrals, func(s string) bool { return strings.HasPrefix(name, s) })
}

// mistralID converts an id to the only form that Mistral accepts: "Tool call id was call_1 but must be a-z, A-Z, 0-9,
// with a length of 9."
func mistralID(id string) string {
	if len(id) == 9 && !strings.ContainsAny(SafeLetters(id), "_-") {
		return id
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash accepts everything
	return fmt.Sprintf("%09x", h.Sum64()>>28)
}
