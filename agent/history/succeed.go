package history

import "maps"

// Succeed lets h take the place of an old history of the same session: it has the system prompt and the
// calibration of that, and knows all calls that were ever made, so that no id comes again.
func Succeed(h, old *History) {
	if old.system > 0 {
		h.SetSystem(old.msgs[0].Content)
	}
	for id := range old.ids {
		h.ids[id] = true
	}
	h.gauge.fixed, h.gauge.model, h.gauge.scales = old.gauge.fixed, old.gauge.model, maps.Clone(old.gauge.scales)
}
