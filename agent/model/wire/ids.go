package wire

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// CallID returns the id of a tool call as the server takes it, of at most limit bytes. Those of
// another model, after a switch, may not fit; different ones stay different.
func (c *Client) CallID(id string, limit int) string {
	switch {
	case c.mistral:
		return mistralID(id)
	case len(id) > limit:
		return Hashed(id, limit)
	}
	return id
}

// Hashed returns the beginning of an id, in the letters that all providers take, and a hash of all
// of it: at most limit bytes, of which the hash has nine.
func Hashed(id string, limit int) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // a hash takes everything
	begin := SafeLetters(id)
	return fmt.Sprintf("%s_%08x", begin[:min(len(begin), limit-9)], h.Sum32())
}

// mistrals are the beginnings of the names of Mistral's models, which other servers have, too.
var mistrals = []string{"mistral", "devstral", "codestral", "ministral", "magistral"}

// isMistral reports whether a server refuses the ids of calls that Mistral's models would not make.
func isMistral(p Provider, model string) bool {
	name := plainName(model)
	return p == Mistral || slices.ContainsFunc(mistrals, func(s string) bool { return strings.HasPrefix(name, s) })
}

// mistralID returns an id of the only form that Mistral takes: "Tool call id was call_1 but must be
// a-z, A-Z, 0-9, with a length of 9."
func mistralID(id string) string {
	if len(id) == 9 && !strings.ContainsAny(SafeLetters(id), "_-") {
		return id
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash takes everything
	return fmt.Sprintf("%09x", h.Sum64()>>28)
}
