package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"buddy/agent/model"
)

// Setting is one value in effect.
type Setting struct {
	Key    string `json:"key"` // as [Path] writes it; a rule has a number: allow[0].tool
	Value  any    `json:"value"`
	Source string `json:"source"` // as in the Index, or "default"
	Secret bool   `json:"secret,omitempty"`

	Table string `json:"-"` // header of its table: "[ui]", "[[deny]]"
	Name  string `json:"-"` // in that table
	TOML  string `json:"-"` // the value, "" for a secret
	first bool   // the first setting of its table
}

// Text returns the value for scripts: a string as it is, a list with one entry per line.
func (s Setting) Text() string {
	switch v := s.Value.(type) {
	case string:
		return v
	case []string:
		return strings.Join(v, "\n")
	}
	return s.TOML
}

// Default is the source of a default value.
const Default = "default"

// tableSettings returns the settings of targets, MCP servers or language servers.
func (c *Config) tableSettings(s section, index Index) (all []Setting) {
	one, n := c.targetSettings, len(c.Targets)
	switch s.name {
	case mcpSection.name:
		one, n = c.mcpSettings, len(c.MCP)
	case lspSection.name:
		one, n = c.lspSettings, len(c.LSP)
	}
	for i := range n {
		all = append(all, one(s, i, index)...)
	}
	return all
}

// Settings returns every value in effect, in the order of the reference. For profiles and rules it returns only the
// values that are set. Secrets are replaced by a placeholder.
func (c *Config) Settings(index Index) []Setting {
	c = c.inEffect(index)
	var all []Setting
	for _, s := range sections {
		switch {
		case s.name == targetsSection.name, s.name == mcpSection.name, s.name == lspSection.name:
			all = append(all, c.tableSettings(s, index)...)
		case s.named:
			for i := range c.Models {
				all = append(all, c.profileSettings(s, &c.Models[i], index)...)
			}
		case s.rules:
			all = append(all, c.rulesSettings(s)...)
		case s.free != nil:
			for _, action := range slices.Sorted(maps.Keys(c.Keys)) {
				list := c.Keys[action]
				all = append(all, newSetting("["+s.name+"]", index, &list, s.name, action))
			}
		default:
			all = append(all, c.sectionSettings(s, index)...)
		}
	}
	for i := range all {
		all[i].first = all[i].first || i == 0 || all[i].Table != all[i-1].Table
	}
	return all
}

// sectionSettings returns the values of a section. It leaves out deprecated names that are not used.
func (c *Config) sectionSettings(s section, index Index) (all []Setting) {
	for _, f := range s.fields {
		if set := newSetting("["+s.name+"]", index, f.pointer(c, nil), s.name, f.name); !f.old || set.Source != Default {
			all = append(all, set)
		}
	}
	return all
}

// inEffect returns c with the overrides by the command line and the environment, see
// [Config.Active].
func (c *Config) inEffect(index Index) *Config {
	now := *c
	if from := index["agent.model"]; from == "--model" || from == envModel.name || from == envModel.legacy {
		now.Agent.Model = Demo
		if c.Active != nil {
			now.Agent.Model = c.Active.Name
		}
	}
	if c.Active != nil {
		if _, ok := c.Profile(c.Active.Name); !ok {
			now.Models = append(slices.Clip(c.Models), *c.Active)
		}
	}
	return &now
}

// profileSettings returns a profile in effect: the active one includes its overrides.
func (c *Config) profileSettings(s section, p *Profile, index Index) []Setting {
	active := c.Active != nil && c.Active.Name == p.Name
	if active {
		p = c.Active
	}
	var all []Setting
	for _, f := range s.fields {
		at := f.pointer(c, p)
		if secret, ok := at.(*Secret); ok {
			if _, name := envKey.lookup(); active && name != "" {
				key := newSetting(header(s.name, p.Name), index, &Secret{&name}, s.name, p.Name, f.name)
				key.Source = name
				all = append(all, key)
				continue
			}
			if secret.value == nil {
				continue
			}
		} else if v := literal(at); v == `""` || v == "0" && !isFraction(at) || v == "[]" {
			continue
		}
		all = append(all, newSetting(header(s.name, p.Name), index, at, s.name, p.Name, f.name))
	}
	return all
}

// targetSettings returns the settings of a target.
func (c *Config) targetSettings(s section, i int, index Index) []Setting {
	one := &Config{Targets: c.Targets[i : i+1]}
	name := one.Targets[0].Name
	var all []Setting
	for _, f := range s.fields {
		if v := literal(f.pointer(one, nil)); v != `""` && v != "false" {
			all = append(all, newSetting(header(s.name, name), index, f.pointer(one, nil), s.name, name, f.name))
		}
	}
	return all
}

// rulesSettings returns the rules of one decision.
func (c *Config) rulesSettings(s section) []Setting {
	var all []Setting
	for i, r := range c.Rules {
		if string(r.Decision) == s.name {
			all = append(all, ruleSettings(s, i, r)...)
		}
	}
	return all
}

func ruleSettings(s section, i int, r Rule) []Setting {
	one := &Config{Rules: []Rule{r}}
	var all []Setting
	for _, f := range s.fields {
		at := f.pointer(one, nil)
		if v := literal(at); v == `""` || v == "[]" {
			continue
		}
		set := newSetting("[["+s.name+"]]", nil, at, fmt.Sprintf("%s[%d]", s.name, i), f.name)
		set.Key = fmt.Sprintf("%s[%d].%s", s.name, i, f.name)
		set.Source = r.Place
		set.first = len(all) == 0
		all = append(all, set)
	}
	return all
}

func header(parts ...string) string { return "[" + tomlPath(parts) + "]" }

// tomlPath is Path with quoting that TOML can read.
func tomlPath(parts []string) string {
	quoted := make([]string, len(parts))
	for i, p := range parts {
		if quoted[i] = p; p == "" || strings.IndexFunc(p, notBare) >= 0 {
			quoted[i] = tomlString(p)
		}
	}
	return strings.Join(quoted, ".")
}

func newSetting(table string, index Index, at any, path ...string) Setting {
	s := Setting{Key: Path(path...), Table: table, Name: tomlPath(path[len(path)-1:]), TOML: literal(at), Source: Default}
	if place, ok := index[s.Key]; ok {
		s.Source = place
	}
	switch v := at.(type) {
	case *string:
		s.Value = *v
	case *int:
		s.Value = *v
	case seconds:
		s.Value = v.count()
	case *bool:
		s.Value = *v
	case *model.Money:
		s.Value = json.Number(s.TOML)
	case **float64:
		if s.Value = ""; *v != nil {
			s.Value = json.Number(s.TOML)
		}
	case *[]string:
		s.Value = append([]string{}, *v...)
	case *Secret:
		s.Value, s.Secret = v.String(), v.String() != ""
	}
	return s
}

// Format writes settings as a TOML file with the same values. note returns a comment for the end of each line; a nil
// note adds none. Secrets become comments.
func Format(settings []Setting, note func(Setting) string) string {
	var lines [][2]string
	width := 0
	for _, s := range settings {
		if s.first {
			if len(lines) > 0 {
				lines = append(lines, [2]string{})
			}
			lines = append(lines, [2]string{s.Table})
		}
		line := [2]string{s.Name + " = " + s.TOML}
		if s.Secret {
			line[0] = "# " + s.Name + " = " + redacted
		}
		if note != nil {
			line[1] = note(s)
		}
		if n := utf8.RuneCountInString(line[0]); n <= 48 {
			width = max(width, n)
		}
		lines = append(lines, line)
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l[0])
		if l[1] != "" {
			b.WriteString(strings.Repeat(" ", max(0, width-utf8.RuneCountInString(l[0]))) + "  # " + visible(l[1], 1000))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Lookup returns the setting of a key that a person wrote. The error lists the valid keys.
func Lookup(settings []Setting, key string) (Setting, error) {
	path, err := splitKey(key)
	if err != nil {
		return Setting{}, err
	}
	name := Path(path...)
	if i := slices.IndexFunc(settings, func(s Setting) bool { return s.Key == name }); i >= 0 {
		return settings[i], nil
	}
	fld, err := fieldOf(path)
	if err != nil {
		return Setting{}, err
	}
	if path[0] == "models" && !slices.ContainsFunc(settings, func(s Setting) bool { return s.Table == header("models", path[1]) }) {
		return Setting{}, &Error{Key: name, Err: fmt.Errorf("there is no profile %q", path[1])}
	}
	return newSetting("", nil, fld.pointer(&Config{}, &Profile{}), path...), nil // a key of a profile that is not set
}

// tomlString formats a string as TOML.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xffff && unprintable(r):
			b.WriteString(`\U` + fmt.Sprintf("%08X", r))
		case unprintable(r):
			b.WriteString(`\u` + fmt.Sprintf("%04X", r))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func tomlList(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = tomlString(item)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// literal formats a value as TOML, "" for a secret.
func literal(v any) string {
	switch v := v.(type) {
	case *string:
		return tomlString(*v)
	case *int:
		return strconv.Itoa(*v)
	case seconds:
		return strconv.Itoa(v.count())
	case *bool:
		return strconv.FormatBool(*v)
	case *model.Money:
		return inDollars(*v)
	case *[]string:
		return tomlList(*v)
	case **float64:
		if *v != nil {
			return decimal(**v)
		}
	}
	return `""`
}
