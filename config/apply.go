package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"

	"buddy/agent/model"
)

// apply overlays the settings with those of a file, key by key.
func (l *loader) apply(f *file) error {
	entries, line, err := parse(f.data)
	if err != nil {
		return &Error{Place: place(f, line), Err: err}
	}
	entries = l.renew(f, entries)
	if f.project {
		return l.applyProject(f, entries)
	}
	for _, e := range entries {
		fld, err := find(e)
		if err == nil {
			err = l.set(f, e, fld)
		}
		if err != nil {
			return &Error{Place: place(f, e.line), Key: Path(e.path...), Err: err}
		}
	}
	l.confirmMode()
	return l.finishProfiles(f)
}

func isTable(k unstable.Kind) bool { return k == unstable.Table || k == unstable.InlineTable }

func place(f *file, line int) string { return f.name + ":" + strconv.Itoa(line) }

// find returns the field that an entry sets, nil for a known table.
func find(e entry) (*field, error) {
	i := slices.IndexFunc(sections, func(s section) bool { return s.name == e.path[0] })
	if i < 0 {
		return nil, unknownKey(e, sectionNames(), e.path[0])
	}
	s := sections[i]
	depth := 1 // number of parts before the field's name
	if s.named {
		depth = 2
	}
	if len(e.path) > 1 && s.named {
		if err := s.checkName(e.path[1]); err != nil {
			return nil, err
		}
	}
	if len(e.path) <= depth {
		return nil, s.checkTable(e)
	}
	if s.free != nil {
		if len(e.path) > depth+1 {
			return nil, fmt.Errorf("%s is not a table", e.path[depth])
		}
		return s.free, nil
	}
	j := slices.IndexFunc(s.fields, func(f field) bool { return f.name == e.path[depth] })
	if j < 0 {
		var names []string
		for _, f := range s.fields {
			if !f.old {
				names = append(names, f.name)
			}
		}
		return nil, unknownKey(e, names, e.path[depth])
	}
	if len(e.path) > depth+1 {
		return nil, fmt.Errorf("%s is not a table", s.fields[j].name)
	}
	return &s.fields[j], nil
}

// sectionNames returns the names of all sections, those of features last, so that an error with a shortened list stays
// the same when a feature is added.
func sectionNames() (all []string) {
	var owned []string
	for _, s := range sections {
		if s.owned {
			owned = append(owned, s.name)
		} else {
			all = append(all, s.name)
		}
	}
	return append(all, owned...)
}

// checkName rejects a key that is not the name of a table of the section.
func (s section) checkName(name string) error {
	if s.name == targetsSection.name {
		return checkTargetName(name)
	}
	if s.name == mcpSection.name {
		return CheckMCPName(name)
	}
	if s.name == lspSection.name {
		return CheckLSPName(name)
	}
	if err := checkID(name); err != nil {
		return fmt.Errorf("the profile's name %w", err)
	}
	return nil
}

// checkTable rejects a value where a table of the section is expected.
func (s section) checkTable(e entry) error {
	switch {
	case s.rules && e.kind != unstable.ArrayTable:
		return fmt.Errorf("must be an array of tables: write [[%s]]", s.name)
	case !s.rules && !isTable(e.kind):
		return fmt.Errorf("must be a table, not %s", kindName(e.kind))
	}
	return nil
}

// set stores one value of a trusted file.
func (l *loader) set(f *file, e entry, fld *field) error {
	var p *Profile
	if e.path[0] == "models" && len(e.path) > 1 {
		p = l.profile(e.path[1], place(f, e.line))
	}
	if e.path[0] == targetsSection.name && len(e.path) > 1 {
		l.target(e.path[1], place(f, e.line))
	}
	if e.path[0] == mcpSection.name && len(e.path) > 1 {
		l.mcpServer(e.path[1], place(f, e.line))
	}
	if e.path[0] == lspSection.name && len(e.path) > 1 {
		l.languageServer(e.path[1], place(f, e.line))
	}
	if fld == nil {
		if isRule(e.path[0]) {
			l.addRule(f, e)
		}
		return nil
	}
	if err := l.store(f, e, fld, p); err != nil {
		return err
	}
	if slices.Contains(keySources, fld.name) && p != nil {
		if p.keyPlace != "" {
			return fmt.Errorf("a second key source, the first is at %s (allowed: one of %s)",
				p.keyPlace, strings.Join(keySources, ", "))
		}
		p.keyPlace = place(f, e.line)
	}
	l.index[Path(e.path...)] = place(f, e.line)
	return nil
}

// store converts and checks a value. Errors name types but never the value, which may be a key.
func (l *loader) store(f *file, e entry, fld *field, p *Profile) error {
	switch to := fld.pointer(&l.cfg, p).(type) {
	case *int, seconds, *model.Money:
		return storeNumber(e, fld, to)
	case **float64:
		return storeFraction(e, fld, to)
	case *[]string:
		return l.storeList(f, e, fld, to)
	case *Secret, *string:
		return storeText(f, e, fld, to)
	default:
		return storeOther(e, to)
	}
}

func storeNumber(e entry, fld *field, to any) error {
	v, err := amount(e, to)
	if err != nil {
		return err
	}
	if fld.most > 0 && (v < 1 || v > int64(fld.most)) {
		return fmt.Errorf("%d is out of range (allowed: 1 to %d)", v, fld.most)
	}
	setNumber(to, v)
	return nil
}

// storeText sets a *string or a *Secret.
func storeText(f *file, e entry, fld *field, to any) error {
	if e.kind != unstable.String {
		return fmt.Errorf("must be a string, not %s", kindName(e.kind))
	}
	v, err := e.text, error(nil)
	switch to := to.(type) {
	case *Secret:
		if v, err = cleanKey(v); err == nil {
			*to = newSecret(v)
		}
	case *string:
		if fld.check != nil {
			v, err = fld.check(v, f)
		}
		if err == nil {
			*to = v
		}
	}
	return err
}

// number parses a non-negative integer.
func number(e entry) (int, error) {
	if e.kind != unstable.Integer {
		return 0, fmt.Errorf("must be an integer, not %s", kindName(e.kind))
	}
	v, err := strconv.ParseInt(e.text, 0, 0)
	if err != nil {
		return 0, fmt.Errorf("%s is out of range", e.text)
	}
	if v < 0 {
		return 0, fmt.Errorf("%d is negative (allowed: 0 or more)", v)
	}
	return int(v), nil
}

// seconds is the destination of a whole number of seconds.
type seconds struct{ *time.Duration }

func (s seconds) count() int { return int(*s.Duration / time.Second) }

// amount reads the value of a number field, a *int, seconds or a *model.Money, from a file.
func amount(e entry, to any) (int64, error) {
	if _, ok := to.(*model.Money); ok {
		v, err := dollars(e)
		return int64(v), err
	}
	v, err := number(e)
	return int64(v), err
}

// setNumber sets a field and returns its old value.
func setNumber(to any, v int64) (before int64) {
	switch to := to.(type) {
	case *int:
		before, *to = int64(*to), int(v)
	case seconds:
		before, *to.Duration = int64(to.count()), time.Duration(v)*time.Second
	case *model.Money:
		before, *to = int64(*to), model.Money(v)
	}
	return before
}

// tighten applies a project's value if it is stricter than the current one.
func (l *loader) tighten(f *file, e entry, fld *field) error {
	to := fld.pointer(&l.cfg, nil)
	if word, ok := to.(*string); ok {
		return l.tightenWord(f, e, fld, word)
	}
	v, err := amount(e, to)
	if err != nil {
		return err
	}
	user := setNumber(to, v)
	if fld.tighter(v, user) {
		l.index[Path(e.path...)] = place(f, e.line)
		return nil
	}
	loose := literal(to)
	setNumber(to, user)
	l.noticeLoose(f, e, literal(to), loose)
	return nil
}

// tightenWord is tighten for a field whose values are words.
func (l *loader) tightenWord(f *file, e entry, fld *field, to *string) error {
	user := *to
	if err := storeText(f, e, fld, to); err != nil {
		return err
	}
	if slices.Index(fld.strict, *to) <= slices.Index(fld.strict, user) {
		l.index[Path(e.path...)] = place(f, e.line)
		return nil
	}
	loose := literal(to)
	*to = user
	l.noticeLoose(f, e, literal(to), loose)
	return nil
}

func (l *loader) noticeLoose(f *file, e entry, user, loose string) {
	l.notice("%s: %s is ignored, because a project's file may not loosen %s to %s", place(f, e.line), Path(e.path...), user, loose)
}

// profile returns the profile of that name, adding it if it is new.
func (l *loader) profile(name, place string) *Profile {
	i := slices.IndexFunc(l.cfg.Models, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		i = len(l.cfg.Models)
		l.cfg.Models = append(l.cfg.Models, Profile{Name: name, Model: name, API: Completions})
		l.index[Path("models", name)] = place
	}
	return &l.cfg.Models[i]
}

// finishProfiles makes the checks that need the complete file.
func (l *loader) finishProfiles(f *file) error {
	for _, p := range l.cfg.Models {
		if err := p.check(); err != nil {
			return l.index.Error(Path("models", p.Name), err)
		}
	}
	l.noticeKeys(f)
	for _, s := range l.cfg.MCP {
		if err := s.Check(); err != nil {
			return l.index.Error(Path(mcpSection.name, s.Name), err)
		}
	}
	return l.checkTargets()
}

// check returns an error if a profile lacks a required key.
func (p Profile) check() error {
	if p.BaseURL == "" {
		return errors.New("api_base_url is missing (allowed: http://HOST/… or https://HOST/…)")
	}
	if (p.Login.Issuer == "") != (p.Login.ClientID == "") {
		return errors.New("login_issuer and login_client_id are needed together")
	}
	if p.Login.Auth == ByKey && p.Login.Issuer != "" {
		return fmt.Errorf("auth = %q contradicts login_issuer: remove one of them", ByKey)
	}
	if t := p.Temperature; p.API == Anthropic && t != nil && *t > 1 {
		return fmt.Errorf("temperature = %s is out of range with api = %q (allowed: 0 to 1)", decimal(*t), Anthropic)
	}
	return checkPrices(p.Prices)
}

// noticeKeys adds a notice if other users may read a file that contains keys.
func (l *loader) noticeKeys(f *file) {
	if slices.ContainsFunc(l.cfg.Models, func(p Profile) bool { return p.APIKey.String() != "" && strings.HasPrefix(p.keyPlace, f.name+":") }) {
		l.noticeOpenFile(f.name, f.info.Mode())
	}
}
