package history

import "buddy/agent/model"

// charsPerToken is the average that estimates count with.
const charsPerToken = 4

// gauge measures a history.
type gauge struct {
	chars  int // of all messages
	fixed  int // of what goes with every request besides
	sent   int // the estimate of the last request, in tokens; 0 = it was calibrated
	model  string
	scales map[string]scale
}

// scale corrects the estimate for one model.
type scale struct {
	ratio   float64
	samples int
}

// imageChars is what a picture counts, whatever its size: providers scale it down to
// about 1,600 tokens at most.
const imageChars = 1600 * charsPerToken

// size is what a message counts in characters.
func size(m model.Message) int {
	n := 16 + len(m.Content) + len(m.ToolCallID) + imageChars*len(m.Images)
	for _, c := range m.ToolCalls {
		n += len(c.Name) + len(c.Arguments)
	}
	for k, v := range m.Extra {
		n += len(k) + len(v)
	}
	return n
}

// SetFixed says how many characters go with every request besides the messages, such
// as the definitions of the tools. They count in the estimate.
func (h *History) SetFixed(chars int) { h.gauge.fixed = max(0, chars) }

// SetModel says which model the next requests go to: each has its own calibration.
func (h *History) SetModel(id string) { h.gauge.model = id }

// Estimate is the size in tokens without any calibration: 16 characters a message
// and all its text, four characters a token. It takes the same time for any history.
func (h *History) Estimate() int { return (h.gauge.chars + h.gauge.fixed) / charsPerToken }

// Tokens is the size in tokens as the current model counts, by all that Calibrate learnt.
func (h *History) Tokens() int { return h.gauge.scaled(h.Estimate()) }

// Sent remembers the estimate: the history goes to the current model now.
func (h *History) Sent() { h.gauge.sent = h.Estimate() }

// Calibrate compares the estimate of what was Sent last with the tokens that the model
// counted for it, 0 when it did not say. The ratio is held between 0.5 and 2.5; the first
// four samples weigh 0.35, later ones 0.15. It is not kept between sessions.
func (h *History) Calibrate(observed int) {
	g := &h.gauge
	estimated := g.sent
	if estimated <= 0 || observed <= 0 {
		return
	}
	g.sent = 0
	s, ok := g.scales[g.model]
	if !ok {
		s.ratio = 1
	}
	weight := 0.15
	if s.samples < 4 {
		weight = 0.35
	}
	sample := min(max(float64(observed)/float64(estimated), 0.5), 2.5)
	s.ratio += weight * (sample - s.ratio)
	s.samples++
	if g.scales == nil {
		g.scales = make(map[string]scale)
	}
	g.scales[g.model] = s
}

func (g *gauge) scaled(tokens int) int {
	if s, ok := g.scales[g.model]; ok {
		return int(float64(tokens) * s.ratio)
	}
	return tokens
}
