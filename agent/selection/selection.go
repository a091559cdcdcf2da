// Package selection holds what a session works with at the moment: the model that answers,
// the tools that are offered and the target that calls work on.
//
//	now := selection.New(m, registry)
//	now.SetModel(other) // from the next request on
package selection

import (
	"sync"

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
}

// New returns a selection of a model and tools, on the first target.
func New(m model.Model, all *tools.Registry) *Selection { return &Selection{model: m, tools: all} }

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
	if w := s.Model().Info().Window; w > 0 {
		return w, true
	}
	return limits.Default, false
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
