package compose

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/app/slash"
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

// Permissions says where the rules stand that apply now.
func (s *Setup) Permissions(rules []action.Rule) []slash.Permission {
	var all []slash.Permission
	for _, r := range rules {
		all = append(all, slash.Permission{Rule: r, Place: s.placeOf(r)})
	}
	return all
}

// placeOf returns where a rule stood when the session began, or "".
func (s *Setup) placeOf(r action.Rule) string {
	i := slices.IndexFunc(s.Config.Rules, func(c config.Rule) bool { return reflect.DeepEqual(RuleOf(c), r) })
	if i < 0 {
		return ""
	}
	return s.Config.Rules[i].Place
}

// removeRule deletes a rule from the file in which it stands and returns its name. It does not
// end the rule.
func (s *Setup) removeRule(gone slash.Permission) (string, error) {
	var files []string
	if i := strings.LastIndexByte(gone.Place, ':'); i > 0 {
		files = append(files, gone.Place[:i])
	} else { // it came later
		for _, source := range config.Sources("", nil) {
			if source.Read && (source.Kind == "project") == (gone.Rule.Source == action.FromProject) {
				files = append(files, source.Path)
			}
		}
	}
	r := gone.Rule
	rule := config.Rule{Decision: string(r.Decision), Tool: r.Tool, Prefix: r.Prefix, Path: r.Path, Host: r.Host, Target: r.Target}
	for _, file := range files {
		switch err := config.RemoveRule(file, rule); {
		case err == nil:
			return file, nil
		case !errors.Is(err, config.ErrNoRule):
			return "", err
		}
	}
	return "", fmt.Errorf("%s: no settings file has it any more; the next session begins without it", r)
}
