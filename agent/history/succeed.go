package history

import "maps"

// Succeed lets h take the place of an old history of the same session: it has the system prompt of that, what says where
// the model works, and the calibration, and knows all calls that were ever made, so that no id comes again.
func Succeed(h, old *History) {
	if old.system > 0 {
		h.SetSystem(old.msgs[0].Content)
	}
	if old.here {
		SetHere(h, old.msgs[hereAt(old)].Content)
	}
	for id := range old.ids {
		h.ids[id] = true
	}
	h.gauge.fixed, h.gauge.model, h.gauge.scales = old.gauge.fixed, old.gauge.model, maps.Clone(old.gauge.scales)
}
