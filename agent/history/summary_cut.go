package history

import (
	"slices"

	"buddy/agent/model"
)

// Older plans a cut that keeps the newest messages: as many as fit into the given number of tokens, and at most the
// given number of messages (0: any number), but always the last answer with its results. The cut may be between two
// answers of a long exchange; then the user's messages of that exchange are kept. The first prompt and pinned messages
// are kept, too. Older changes nothing: the caller adds a summary of the removed messages to the cut and applies it. If
// removed is empty, nothing can be cut.
func (h *History) Older(tokens, messages int) (c Cut, removed []model.Message) {
	body := h.body()
	c.Boundary = h.gauge.border(body, tokens, messages)
	asked := askedBefore(body, c.Boundary)
	for i := range c.Boundary {
		if h.stays(i) || i >= asked && prompted(body[i]) {
			c.Kept = append(c.Kept, i)
			continue
		}
		removed = append(removed, body[i])
	}
	return c, removed
}

// Size returns the estimate for messages, in characters.
func Size(msgs []model.Message) int {
	n := 0
	for _, m := range msgs {
		n += size(m)
	}
	return n
}

// Earlier returns the summary of messages removed before, "" when there is none.
func (h *History) Earlier() string {
	if !h.summary {
		return ""
	}
	return h.msgs[h.system].Content
}

// border returns the index of the first message to keep, so that the newest messages fit into the limits. A call and
// its result are on the same side.
func (g *gauge) border(body []model.Message, tokens, messages int) int {
	border := len(body)
	chars, first := 0, true
	for i := len(body) - 1; i >= 0; i-- {
		chars += size(body[i])
		full := g.scaled(chars/CharsPerToken) > tokens || messages > 0 && len(body)-i > messages
		if full && !first {
			break
		}
		if body[i].Role != model.Tool {
			border, first = i, false
		}
	}
	return border
}

// askedBefore returns the index of the prompt that opened the exchange with message i, or of the first one if several
// prompts in a row did. It returns i if message i itself opens an exchange, or if no prompt precedes it.
func askedBefore(body []model.Message, i int) int {
	if i == len(body) || opens(body[i]) {
		return i
	}
	from := i - 1
	for from >= 0 && !opens(body[from]) {
		from--
	}
	if from < 0 {
		return i
	}
	for from > 0 && body[from-1].Role == model.User {
		from--
	}
	return from
}

// Read is a file that the model has read.
type Read struct {
	Path   string // as in the call
	Target string // named by the call; "" for none
	Times  int
}

// Reads returns the files in the read calls of msgs, which must be messages of this history; the latest is last.
func (h *History) Reads(msgs []model.Message) []Read {
	var all []Read
	for _, m := range msgs {
		for _, c := range m.ToolCalls {
			if c = h.meant.of(c); c.Name != "read_file" {
				continue
			}
			args := reading(c.Arguments)
			if args.Path == "" {
				continue
			}
			r := Read{Path: args.Path, Target: args.Target, Times: 1}
			if i := slices.IndexFunc(all, r.same); i >= 0 {
				r.Times += all[i].Times
				all = slices.Delete(all, i, i+1)
			}
			all = append(all, r)
		}
	}
	return all
}

func (r Read) same(other Read) bool { return r.Path == other.Path && r.Target == other.Target }

// After returns the messages from the cut's boundary on.
func (h *History) After(c Cut) []model.Message { return h.body()[c.Boundary:] }

// Turns counts the exchanges whose prompts a cut removes.
func (h *History) Turns(c Cut) int {
	n, body := 0, h.body()
	for i := range min(c.Boundary, len(body)) {
		if opens(body[i]) && !slices.Contains(c.Kept, i) {
			n++
		}
	}
	return n
}
