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

// permissions returns the rules that apply now.
func (p *Program) permissions() ([]slash.Permission, error) {
	rt := p.Live.runtime()
	if rt == nil {
		return nil, errors.New("the session is still being read")
	}
	var all []slash.Permission
	for _, r := range rt.Rules() {
		all = append(all, slash.Permission{Rule: r, Place: p.placeOf(r)})
	}
	return all, nil
}

// placeOf returns where a rule stood when the session began, or "".
func (p *Program) placeOf(r action.Rule) string {
	i := slices.IndexFunc(p.Config.Rules, func(c config.Rule) bool { return reflect.DeepEqual(RuleOf(c), r) })
	if i < 0 {
		return ""
	}
	return p.Config.Rules[i].Place
}

// removeRule deletes a rule from the file in which it stands and returns its name. It does not
// end the rule.
func (p *Program) removeRule(gone slash.Permission) (string, error) {
	var files []string
	if i := strings.LastIndexByte(gone.Place, ':'); i > 0 {
		files = append(files, gone.Place[:i])
	} else { // it came later
		for _, s := range config.Sources("", nil) {
			if s.Read && (s.Kind == "project") == (gone.Rule.Source == action.FromProject) {
				files = append(files, s.Path)
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
