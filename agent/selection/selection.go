// Package selection holds what a session works with at the moment: the model that answers,
// the tools that are offered and the target that calls work on.
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

// Selection is safe for concurrent use; use New. Each value is taken as a whole: a request
// that has begun keeps what it began with.
type Selection struct {
	mu     sync.Mutex // guards all below
	model  model.Model
	tools  *tools.Registry
	target string
	needs  *needs
}

// needs holds what requests to the models of a session need. It is safe for concurrent use.
type needs struct {
	mu  sync.Mutex // guards all
	all []model.Needs
}

// New returns a selection of a model and tools, on the first target.
func New(m model.Model, all *tools.Registry) *Selection {
	return &Selection{model: m, tools: all, needs: &needs{}}
}

// For returns a selection of another model and other tools of the same session.
func (s *Selection) For(m model.Model, all *tools.Registry) *Selection {
	return &Selection{model: m, tools: all, needs: s.needs}
}

// Learn keeps what requests to a model need, in place of what was known of it.
func (s *Selection) Learn(n model.Needs) {
	s.needs.mu.Lock()
	defer s.needs.mu.Unlock()
	i := slices.IndexFunc(s.needs.all, func(o model.Needs) bool { return o.Model == n.Model && o.BaseURL == n.BaseURL })
	if i < 0 {
		s.needs.all = append(s.needs.all, n)
		return
	}
	all := slices.Clone(s.needs.all) // requests have them
	if n.Remedies != nil {
		all[i].Remedies = n.Remedies
	}
	all[i].Window = cmp.Or(n.Window, all[i].Window)
	s.needs.all = all
}

// Needs returns what requests to the models of the session need, as far as it was learnt.
func (s *Selection) Needs() []model.Needs {
	s.needs.mu.Lock()
	defer s.needs.mu.Unlock()
	return slices.Clip(s.needs.all)
}

// Replay feeds a stored event of an earlier process.
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

// SetModel changes who answers, from the next request on.
func (s *Selection) SetModel(m model.Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = m
}

// Window returns the model's window in tokens, and whether it is known or only assumed.
func (s *Selection) Window() (tokens int, known bool) {
	if w := s.KnownWindow(); w > 0 {
		return w, true
	}
	return limits.Default, false
}

// KnownWindow returns the model's window in tokens, 0 if it is not known. What its server has said of it counts more than
// what is configured, if that is more.
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

// Tools returns the tools that are offered.
func (s *Selection) Tools() *tools.Registry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// SetTools changes what is offered, from the next request on.
func (s *Selection) SetTools(all *tools.Registry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = all
}

// Target returns the target that the person switched to last, "" for the first one.
func (s *Selection) Target() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.target
}

// SetTarget notes the target that the person switched to.
func (s *Selection) SetTarget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.target = name
}

// Overhead returns how many characters each request has because of the tools.
func (s *Selection) Overhead() int {
	chars := 0
	for _, d := range s.Tools().Definitions() {
		chars += len(d.Name) + len(d.Description) + len(d.Parameters)
	}
	return chars
}
