package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// oldKeys maps the keys of files named agent.toml to the present ones; "" means that buddy needs no such setting. Keys
// that have kept their name are not listed.
var oldKeys = map[string]string{
	"display.color":           "ui.color",
	"display.show_tokens":     "ui.show_tokens",
	"display.show_tool_calls": "ui.show_tool_calls",
	"display.persist_history": "",

	"api.base_url":      "models.api.api_base_url",
	"api.api_base_url":  "models.api.api_base_url",
	"api.protocol":      "models.api.api",
	"api.api":           "models.api.api",
	"api.model":         "models.api.model",
	"api.auth":          "models.api.auth",
	"api.api_key":       "models.api.api_key",
	"api.api_key_env":   "models.api.api_key_env",
	"api.api_key_file":  "models.api.api_key_file",
	"api.context_limit": "models.api.context_limit",

	"agent.name":        "",
	"agent.temperature": "models.NAME.temperature",
	"agent.top_p":       "models.NAME.top_p",
}

// oldTables maps the tables of files named agent.toml to the present ones.
var oldTables = map[string]string{"display": "ui", "api": "models.NAME"}

// oldProtocols maps the names that protocols had in [api].
var oldProtocols = map[string]API{
	"chat": Completions, "chat_completions": Completions, "chat-completions": Completions, "openai": Completions, "messages": Anthropic,
}

// oldFlags maps names in the old switches of tools, such as fetch_enabled, to entries of tools.off. Other names are the
// entries themselves.
var oldFlags = map[string]string{
	"read": "read_file", "write": "write_file", "edit": "edit_file", "patch": "apply_patch", "fetch": "fetch_url", "search": "web_search",
	"search_web": "web_search", "current_time": "time", "list": "list_dir", "tmux_tools": "tmux",
}

// oldTools are the tools whose old switches may have no suffix.
var oldTools = strings.Fields("shell run_shell tmux files web read_file write_file edit_file apply_patch list_dir glob grep fetch_url web_search time")

// oldBase is the endpoint of an [api] without base_url.
const oldBase = "https://api.openai.com/v1"

// isOld reports whether a file may use the old keys.
func (f *file) isOld() bool { return filepath.Base(f.name) == legacyName }

// oldFlag returns the tool or group of tools that an old switch is about, "" for other keys.
func oldFlag(path []string, kind unstable.Kind) string {
	if len(path) != 2 || path[0] != "tools" {
		return ""
	}
	name, switched := strings.CutSuffix(path[1], "_enabled")
	now := oldFlags[name]
	if !switched && (kind != unstable.Bool || now == "" && !slices.Contains(oldTools, name)) {
		return ""
	}
	return cmp.Or(now, name)
}

// oldHint returns what to write instead of an old key, "" for other keys.
func oldHint(path []string, kind unstable.Kind) string {
	now, known := oldKeys[strings.Join(path, ".")]
	table := oldTables[path[0]]
	switch {
	case len(path) == 1 && table != "":
		return "write [" + table + "]"
	case known && now == "":
		return "it has no effect any more: remove it"
	case known:
		return "write " + now
	}
	if tool := oldFlag(path, kind); tool != "" {
		return fmt.Sprintf("write off = [%q] in [tools] to switch it off", tool)
	}
	return ""
}

// unknownKey returns the error about a key that does not exist. For an old key, the error names the present one.
func unknownKey(e entry, names []string, wrong string) error {
	if hint := oldHint(e.path, e.kind); hint != "" {
		return errors.New("an old name: " + hint)
	}
	if len(e.path) > 1 && oldTables[e.path[0]] != "" {
		names, wrong = nil, e.path[1]
		for key, now := range oldKeys {
			if table, name, _ := strings.Cut(key, "."); table == e.path[0] && now != "" {
				names = append(names, name)
			}
		}
		slices.Sort(names)
	}
	return errors.New("unknown key " + list(names, wrong))
}

// renewing replaces the old keys of a file.
type renewing struct {
	l       *loader
	f       *file
	entries []entry // the result
	chance  []entry // agent.temperature and agent.top_p
	off     []string
	offAt   entry
}

// renew returns the entries of a file, those of a file named agent.toml with the present keys. It adds a notice for each
// key that it replaces.
func (l *loader) renew(f *file, entries []entry) []entry {
	if !f.isOld() {
		return entries
	}
	r := &renewing{l: l, f: f}
	for _, e := range entries {
		r.add(e, entries)
	}
	r.finish(entries)
	return r.entries
}

// add replaces one entry.
func (r *renewing) add(e entry, all []entry) {
	switch table := len(e.path) == 1 && isTable(e.kind); {
	case table && e.path[0] == "display":
		return
	case table && e.path[0] == "api":
		e.path = []string{"models", "api"}
		r.entries = append(r.entries, e)
		return
	}
	if tool := oldFlag(e.path, e.kind); tool != "" && e.kind == unstable.Bool {
		r.flag(e, tool)
		return
	}
	key := strings.Join(e.path, ".")
	now, old := oldKeys[key]
	switch {
	case !old:
		r.entries = append(r.entries, e)
	case now == "":
		r.note(e, "has no effect any more")
	case strings.HasPrefix(now, "models.NAME."):
		r.chance = append(r.chance, e)
	default:
		r.rename(e, now, all)
	}
}

// flag collects an old switch of a tool.
func (r *renewing) flag(e entry, tool string) {
	if e.text == "true" {
		r.note(e, "is an old name; tools are on by default, and [tools] off lists those that are off")
		return
	}
	r.note(e, fmt.Sprintf("is an old name: now off = [%q] in [tools]", tool))
	if r.off = append(r.off, tool); r.offAt.path == nil {
		r.offAt = e
	}
}

// rename gives an entry its present key, unless the file has that as well.
func (r *renewing) rename(e entry, now string, all []entry) {
	path := strings.Split(now, ".")
	if slices.ContainsFunc(all, func(o entry) bool { return slices.Equal(o.path, path) }) {
		r.note(e, "is ignored, because "+now+" is set")
		return
	}
	r.note(e, "is an old name: now "+now)
	if api, ok := oldProtocols[strings.ToLower(e.text)]; ok && path[2:] != nil && path[len(path)-1] == "api" {
		e.text = string(api)
	}
	e.path = path
	r.entries = append(r.entries, e)
}

// finish adds the entries that replace several old ones, and copies an old entry that now belongs in every profile to
// each of them.
func (r *renewing) finish(all []entry) {
	if len(r.off) > 0 {
		i := slices.IndexFunc(r.entries, func(e entry) bool { return slices.Equal(e.path, []string{"tools", "off"}) })
		if i < 0 {
			i = len(r.entries)
			off := r.offAt
			off.path, off.kind, off.text, off.items = []string{"tools", "off"}, unstable.Array, "", []string{}
			r.entries = append(r.entries, off)
		}
		r.entries[i].items = append(slices.Clip(r.entries[i].items), r.off...)
	}
	var names []string
	for _, e := range r.entries {
		if e.path[0] == "models" && len(e.path) > 1 && !slices.Contains(names, e.path[1]) {
			names = append(names, e.path[1])
		}
	}
	r.base(names)
	for _, e := range r.chance {
		r.spread(e, names, all)
	}
}

// base adds the default endpoint for an [api] table that names none.
func (r *renewing) base(profiles []string) {
	at := slices.IndexFunc(r.entries, func(e entry) bool { return Path(e.path...) == "models.api" })
	if !slices.Contains(profiles, "api") || slices.ContainsFunc(r.entries, func(e entry) bool { return Path(e.path...) == "models.api.api_base_url" }) {
		return
	}
	e := r.entries[max(at, 0)]
	e.path, e.kind, e.text = []string{"models", "api", "api_base_url"}, unstable.String, oldBase
	r.entries = append(r.entries, e)
}

// spread sets an old key of [agent] in every profile of the file that does not set it.
func (r *renewing) spread(e entry, profiles []string, all []entry) {
	key := e.path[1]
	if len(profiles) == 0 {
		r.note(e, fmt.Sprintf("is an old name, and has no effect without a profile: write %s in [models.NAME]", key))
		return
	}
	r.note(e, fmt.Sprintf("is an old name: now %s in [models.NAME], for each profile", key))
	for _, name := range profiles {
		path := []string{"models", name, key}
		if !slices.ContainsFunc(all, func(o entry) bool { return slices.Equal(o.path, path) }) {
			e.path = path
			r.entries = append(r.entries, e)
		}
	}
}

func (r *renewing) note(e entry, text string) {
	r.l.notice("%s: %s %s", place(r.f, e.line), Path(e.path...), text)
}
