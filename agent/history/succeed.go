package history

import "maps"

// Succeed prepares h to replace an old history of the same session: it copies the system prompt, the message about
// where the model works and the calibration, and all known call ids, so that ids stay unique.
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
