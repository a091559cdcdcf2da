package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2/unstable"

	"buddy/texts"
)

// Report collects all mistakes in one file. Packages that know more about a setting, such as the names of themes, add
// more mistakes.
type Report struct {
	File     string
	Config   Config // the file's valid settings over the defaults
	Index    Index
	Notices  []string // about valid settings
	mistakes []*Error
	data     []byte
	entries  []entry
	tables   [][]string // invalid tables, whose contents are not checked
}

// Check reads a file as one of the person's own and reports every mistake in it; after a syntax error it can read no
// further. Names of profiles that only other files define are valid if they are in known.
func Check(path string, known ...Profile) *Report {
	f, err := readFile(path)
	if err != nil {
		why := errors.Unwrap(err)
		if errors.Is(err, fs.ErrNotExist) && dangling(path) {
			why = errDangling
		}
		return &Report{File: path, mistakes: []*Error{{Place: path, Err: why}}}
	}
	return check(f, known)
}

func check(f *file, among []Profile) *Report {
	l := &loader{cfg: defaults(), index: Index{}}
	r := &Report{File: f.name, data: f.data}
	var offset int
	var syntax error
	r.entries, offset, syntax = scan(f.data)
	r.entries = l.renew(f, r.entries)
	for _, e := range r.entries {
		if r.below(e) {
			continue
		}
		fld, err := find(e)
		if err == nil {
			err = l.set(f, e, fld)
		}
		if err != nil {
			r.tables = append(r.tables, e.path)
			r.mistakes = append(r.mistakes, &Error{Place: r.placeOf(e.from), Key: Path(e.path...), Err: err})
		}
	}
	if syntax != nil {
		r.addSyntax(r.placeOf(offset), syntax)
	} else {
		r.finish(l, among)
	}
	l.noticeKeys(f)
	l.confirmMode()
	r.Config, r.Index, r.Notices = l.cfg, l.index, l.notices
	return r
}

// below reports whether an entry belongs to an invalid table.
func (r *Report) below(e entry) bool {
	return slices.ContainsFunc(r.tables, func(t []string) bool {
		return len(t) < len(e.path) && slices.Equal(t, e.path[:len(t)])
	})
}

// addSyntax adds an error of the parser, unless its line has an error already.
func (r *Report) addSyntax(place string, err error) {
	line := place[:strings.LastIndexByte(place, ':')+1]
	if !slices.ContainsFunc(r.mistakes, func(e *Error) bool { return strings.HasPrefix(e.Place, line) }) {
		r.mistakes = append(r.mistakes, &Error{Place: place, Err: err})
	}
}

// AddRule adds an error about a rule as a whole, unless one of the rule's keys has an error already.
func (r *Report) AddRule(rule Rule, err error) {
	own := false
	for _, e := range r.entries {
		switch {
		case isTable(e.kind) || e.kind == unstable.ArrayTable:
			own = e.path[0] == string(rule.Decision) && rule.Place == r.File+":"+strconv.Itoa(e.line)
		case own && slices.ContainsFunc(r.mistakes, func(m *Error) bool { return m.Place == r.placeOf(e.from) }):
			return
		}
	}
	r.Add(rule.Place, string(rule.Decision), err)
}

// finish makes the checks that need the complete file.
func (r *Report) finish(l *loader, known []Profile) {
	for _, p := range l.cfg.Models {
		key := Path("models", p.Name)
		if err := p.check(); err != nil && !r.wrong(key) {
			r.Add(l.index[key], key, err)
		}
	}
	for _, t := range l.cfg.Targets {
		key := Path("targets", t.Name)
		if err := t.check(); err != nil && !r.wrong(key) {
			r.Add(l.index[key], key, err)
		}
	}
	r.finishMCP(l)
	for _, e := range l.contextErrors() {
		r.Add(e.Place, e.Key, e.Err)
	}
	own := len(l.cfg.Models)
	l.cfg.Models = append(l.cfg.Models, known...)
	for key, name := range map[string]string{"agent.model": l.cfg.Agent.Model, "agent.fallback_model": l.cfg.Agent.FallbackModel, "agent.small_model": l.cfg.Agent.SmallModel} {
		_, ok := l.cfg.Lookup(name)
		if name != "" && !ok && (key != "agent.model" || name != Demo) {
			r.Add(l.index[key], key, l.noProfile(name))
		}
	}
	l.cfg.Models = l.cfg.Models[:own:own]
}

// finishMCP checks each server as a whole.
func (r *Report) finishMCP(l *loader) {
	for _, s := range l.cfg.MCP {
		key := Path(mcpSection.name, s.Name)
		if err := s.Check(); err != nil && !r.wrong(key) {
			r.Add(l.index[key], key, err)
		}
	}
}

// wrong reports whether something at or below a key is invalid.
func (r *Report) wrong(key string) bool {
	return slices.ContainsFunc(r.mistakes, func(e *Error) bool { return e.Key == key || strings.HasPrefix(e.Key, key+".") })
}

// Add adds a mistake in a setting; place is its position as in the Index or a Rule.
func (r *Report) Add(place, key string, err error) {
	for _, e := range r.entries {
		if place == r.File+":"+strconv.Itoa(e.line) && (Path(e.path...) == key || e.path[0] == key) {
			place = r.placeOf(e.from)
			break
		}
	}
	r.mistakes = append(r.mistakes, &Error{Place: place, Key: key, Err: err})
}

// Mistakes returns the mistakes in the order of the file. Each has its position as
// "file:line:column"; columns count characters from 1.
func (r *Report) Mistakes() []*Error {
	slices.SortStableFunc(r.mistakes, func(a, b *Error) int {
		return cmp.Or(slices.Compare(numbers(a.Place), numbers(b.Place)), strings.Compare(a.Key, b.Key))
	})
	return r.mistakes
}

// numbers returns line and column of a position.
func numbers(place string) []int {
	parts := strings.Split(place, ":")
	var at []int
	for _, p := range parts[max(0, len(parts)-2):] {
		n, _ := strconv.Atoi(p) // a position without numbers comes first
		at = append(at, n)
	}
	return at
}

// placeOf formats an offset as file:line:column.
func (r *Report) placeOf(offset int) string {
	before := r.data[:offset]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return fmt.Sprintf("%s:%d:%d", r.File, 1+bytes.Count(before, []byte{'\n'}), 1+utf8.RuneCount(line))
}

// NoticeProject adds notices about keys that a project's file may not set.
func (r *Report) NoticeProject() {
	var never []string
	for _, e := range r.entries {
		fld, err := find(e)
		if err == nil && !isTable(e.kind) && accessOf(e, fld) == personal {
			never = append(never, Path(e.path...))
		}
	}
	if len(never) > 0 {
		r.Notices = append(r.Notices, visible(fmt.Sprintf("%s: these settings are ignored, because a project's file may not set them: %s", r.File, texts.Some(never)), 1000))
	}
}

// Source is a possible settings file.
type Source struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"` // project, user or --config
	Exists bool   `json:"exists"`
	Read   bool   `json:"read"` // the file in use among those of its kind
	Note   string `json:"note,omitempty"`
}

// Sources returns the possible settings files, highest precedence first.
func Sources(explicit string, trust *TrustStore) []Source {
	if explicit != "" {
		there := exists(explicit)
		return []Source{{Path: explicit, Kind: "--config", Exists: there, Read: there}}
	}
	present, legacy := userPaths()
	all := []Source{{Path: fileName, Kind: "project"}, {Path: legacyName, Kind: "project"}}
	if present != "" {
		all = append(all, Source{Path: present, Kind: "user"})
	}
	if legacy != "" {
		all = append(all, Source{Path: legacy, Kind: "user"})
	}
	taken := map[string]string{} // the file in use, by kind
	for i := range all {
		s := &all[i]
		s.Exists = exists(s.Path)
		switch other := taken[s.Kind]; {
		case other != "" && s.Exists:
			s.Note = "not read, because " + other + " exists"
		case other != "" || !s.Exists:
		default:
			taken[s.Kind], s.Read = s.Path, true
			s.Note = s.noteRead(present, trust)
		}
	}
	return all
}

// noteRead returns the remark on a file in use.
func (s Source) noteRead(user string, trust *TrustStore) string {
	old := ""
	if s.Path != user && filepath.Base(s.Path) == legacyName {
		old = "an old name; "
	}
	if s.Kind != "project" {
		return strings.TrimSuffix(old, "; ")
	}
	l := &loader{}
	l.resolveTrust(trust, nil)
	switch p := l.cfg.Project; {
	case sameFile(s.Path, user):
		return "your own file"
	case p.Trusted:
		return old + "trusted"
	case p.Changed:
		return old + "can only make limits stricter: it changed since you trusted the folder"
	}
	return old + "can only make limits stricter: the folder is not trusted"
}

// exists reports whether a path exists; a dangling link counts.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// UserFile returns the person's settings file: that of --config, else the present or the legacy one; "" when the home
// folder is unknown. It need not exist.
func UserFile(explicit string) string {
	if explicit != "" {
		return explicit
	}
	present, legacy := userPaths()
	if legacy != "" && !exists(present) && exists(legacy) {
		return legacy
	}
	return present
}
