package endpoint

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"buddy/agent/model"
	"buddy/texts"
)

const (
	listWait  = 5 * time.Second // for the list of models: a hint is not worth a longer wait
	listLimit = 4 << 20         // bytes of the list
	maxNames  = 3               // names in a hint
)

// unknownModel adds the most similar names of the server's models to an error about an unknown model. It returns other
// errors unchanged.
func (c *Call) unknownModel(failed *http.Request, e *model.Error, head []byte) error {
	name := c.e.config.Model
	if name == "" || e.Kind != model.StatusError || e.Status != http.StatusNotFound && e.Status != http.StatusBadRequest {
		return e
	}
	if !bytes.Contains(head, []byte(name)) || !texts.HasAny(string(head), "model") {
		return e
	}
	all := c.models(failed)
	if slices.Contains(all, name) {
		return e // the model exists: something else is wrong
	}
	e.Hint = "choose another with /model, or set model in " + c.section()
	if near := nearestNames(name, all); len(near) > 0 {
		e.Hint = "nearest: " + strings.Join(near, ", ") + "; " + e.Hint
	}
	return e
}

// models asks the server for its models; nil if it does not list them.
func (c *Call) models(failed *http.Request) []string {
	ctx, cancel := context.WithTimeout(c.ctx, listWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.e.base+"/models", http.NoBody)
	if err != nil {
		return nil
	}
	for name, values := range failed.Header { // the key, and the protocol's version
		if !strings.HasPrefix(name, "Content-") && name != "Accept" {
			req.Header[name] = values
		}
	}
	names, err := c.e.list(req)
	if err != nil {
		return nil
	}
	return names
}

// nearestNames returns the names most similar to a wrong name, the nearest first. It considers names that differ from
// the wrong one in at most half of its characters, contain it, or are a prefix of it.
func nearestNames(wrong string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	const longest = 200 // bytes; comparing takes time
	var near []candidate
	low := strings.ToLower(wrong)
	for _, name := range names {
		other := strings.ToLower(name)
		if len(name) > longest || len(wrong) > longest {
			continue
		}
		d := texts.Distance(low, other)
		if strings.Contains(other, low) || strings.HasPrefix(low, other) {
			d = min(d, len(low)/2)
		}
		if d <= len(low)/2 {
			near = append(near, candidate{model.Excerpt([]byte(name)), d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.distance - b.distance })
	var best []string
	for _, n := range near[:min(len(near), maxNames)] {
		best = append(best, n.name)
	}
	return best
}
