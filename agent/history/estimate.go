package history

import "buddy/agent/model"

// CharsPerToken is the number of characters that estimates count as one token.
const CharsPerToken = 4

// gauge estimates the size of a history.
type gauge struct {
	chars  int // of all messages
	fixed  int // of the rest of every request
	sent   int // estimate of the last request, in tokens; 0 once calibrated
	model  string
	scales map[string]scale
}

type scale struct {
	ratio   float64
	samples int
}

// imageChars is the estimate for a picture of any size: providers scale it down to about 1,600
// tokens at most.
const imageChars = 1600 * CharsPerToken

// size returns the estimate for a message, in characters.
func size(m model.Message) int {
	n := 16 + len(m.Content) + imageChars*len(m.Images)
	for _, c := range m.ToolCalls {
		n += len(c.Name) + len(c.Arguments)
	}
	for k, v := range m.Extra {
		n += len(k) + len(v)
	}
	return n
}

// SetFixed sets the number of characters that every request contains besides the messages,
// such as tool definitions. They are part of the estimate.
func (h *History) SetFixed(chars int) { h.gauge.fixed = max(0, chars) }

// SetModel sets the model of the next requests. Each model has its own calibration.
func (h *History) SetModel(id string) { h.gauge.model = id }

// Estimate returns the uncalibrated size in tokens: 16 characters per message and all its
// text, four characters per token. It takes constant time.
func (h *History) Estimate() int { return (h.gauge.chars + h.gauge.fixed) / CharsPerToken }

// Tokens returns the size in tokens of the current model, corrected by Calibrate.
func (h *History) Tokens() int { return h.gauge.scaled(h.Estimate()) }

// Sent stores the estimate of the request that goes to the current model now.
func (h *History) Sent() { h.gauge.sent = h.Estimate() }

// Calibrate compares the estimate stored by Sent with the tokens that the model reported, 0 for none, and corrects
// later estimates by the ratio. The ratio is limited to 0.5 to 2.5 and is not kept between sessions; the first four
// samples weigh 0.35, later ones 0.15.
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
