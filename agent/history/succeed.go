package history

import "maps"

// Succeed prepares h, an earlier state of a session, to replace old, the current one. It copies the system prompt, the
// message about where the model works, the calibration and all known call ids, so that new ids stay unique.
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
