// Package selection holds the user's current choices in a session: the model that answers, the tools that it is
// offered, and the target where tools run.
//
//	now := selection.New(m, registry)
//	now.SetModel(other) // from the next request on
package selection

import (
	"cmp"
	"slices"
	"sync"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/limits"
	"buddy/tools"
)

// Selection holds the current choices. It is safe for concurrent use; use New. A running request keeps the values that
// it started with.
type Selection struct {
	mu     sync.Mutex // guards the fields below
	model  model.Model
	tools  *tools.Registry
	target string
	needs  *needs
}

// needs holds the learnt requirements of models. It is safe for concurrent use.
type needs struct {
	mu  sync.Mutex // guards all
	all []model.Needs
}

// New returns a selection of a model and tools, on the first target.
func New(m model.Model, all *tools.Registry) *Selection {
	return &Selection{model: m, tools: all, needs: &needs{}}
}

// For returns a selection of another model and other tools in the same session.
func (s *Selection) For(m model.Model, all *tools.Registry) *Selection {
	return &Selection{model: m, tools: all, needs: s.needs}
}

// Learn replaces the known requirements of a model.
func (s *Selection) Learn(n model.Needs) {
	s.needs.mu.Lock()
	defer s.needs.mu.Unlock()
	i := slices.IndexFunc(s.needs.all, func(o model.Needs) bool { return o.Model == n.Model && o.BaseURL == n.BaseURL })
	if i < 0 {
		s.needs.all = append(s.needs.all, n)
		return
	}
	all := slices.Clone(s.needs.all) // requests use the old slice
	if n.Remedies != nil {
		all[i].Remedies = n.Remedies
	}
	all[i].Window = cmp.Or(n.Window, all[i].Window)
	s.needs.all = all
}

// Needs returns the learnt requirements of the session's models.
func (s *Selection) Needs() []model.Needs {
	s.needs.mu.Lock()
	defer s.needs.mu.Unlock()
	return slices.Clip(s.needs.all)
}

// Replay processes a stored event.
func (s *Selection) Replay(e event.Event) {
	if p, ok := e.(event.ContextHealed); ok {
		s.Learn(model.Needs(p))
	}
}

// Model returns the model that answers.
func (s *Selection) Model() model.Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model
}

// SetModel changes the model that answers, from the next request on.
func (s *Selection) SetModel(m model.Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = m
}

// Window returns the model's context window in tokens, and whether it is known or only assumed.
func (s *Selection) Window() (tokens int, known bool) {
	if w := s.KnownWindow(); w > 0 {
		return w, true
	}
	return limits.Default, false
}

// KnownWindow returns the model's context window in tokens, 0 if unknown. A smaller value from its server overrides
// the configured one.
func (s *Selection) KnownWindow() int {
	info := s.Model().Info()
	w := info.Window
	for _, n := range s.Needs() {
		if n.Of(info) && n.Window > 0 && (w == 0 || n.Window < w) {
			w = n.Window
		}
	}
	return w
}

// Tools returns the offered tools.
func (s *Selection) Tools() *tools.Registry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// SetTools changes the offered tools, from the next request on.
func (s *Selection) SetTools(all *tools.Registry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = all
}

// Target returns the target that the person last switched to, "" for the first one.
func (s *Selection) Target() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.target
}

// SetTarget records the target that the person switched to.
func (s *Selection) SetTarget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.target = name
}

// Overhead returns the number of characters that the tools' definitions take in each request.
func (s *Selection) Overhead() int {
	chars := 0
	for _, d := range s.Tools().Definitions() {
		chars += len(d.Name) + len(d.Description) + len(d.Parameters)
	}
	return chars
}
