package compose

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/config"
)

// Rules returns the rules that apply now.
func (p *Program) Rules() ([]action.Rule, error) {
	rt := p.Live.runtime()
	if rt == nil {
		return nil, errors.New("the session is still being read")
	}
	return rt.Rules(), nil
}

// PlaceOf returns where a rule stood when the session began, file:line, or "".
func (s *Setup) PlaceOf(r action.Rule) string {
	i := slices.IndexFunc(s.Config.Rules, func(c config.Rule) bool { return reflect.DeepEqual(c.Rule, r) })
	if i < 0 {
		return ""
	}
	return s.Config.Rules[i].Place
}

// RemoveRule deletes a rule from the file in which it stands and returns its name. It does not
// end the rule.
func (s *Setup) RemoveRule(r action.Rule) (string, error) {
	var files []string
	if place := s.PlaceOf(r); place != "" {
		files = append(files, place[:strings.LastIndexByte(place, ':')])
	} else { // it came later
		for _, source := range config.Sources("", nil) {
			if source.Read && (source.Kind == "project") == (r.Source == action.FromProject) {
				files = append(files, source.Path)
			}
		}
	}
	for _, file := range files {
		switch err := config.RemoveRule(file, r); {
		case err == nil:
			return file, nil
		case !errors.Is(err, config.ErrNoRule):
			return "", err
		}
	}
	return "", fmt.Errorf("%s: no settings file has it any more; the next session begins without it", r)
}
