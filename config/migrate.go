package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Migration is an old settings file and the file that replaces it.
type Migration struct{ From, To string }

// Migrations returns the old settings files that exist: the person's, then the project's.
func Migrations() (all []Migration) {
	present, legacy := userPaths()
	for _, m := range []Migration{{legacy, present}, {legacyName, fileName}} {
		if m.From == "" || !exists(m.From) || len(all) > 0 && sameFile(m.From, all[0].From) {
			continue
		}
		all = append(all, m)
	}
	return all
}

// Run writes the new file: the old text with the present keys. Lines that stay keep their comments. It returns what it
// changed, a line for each key. It never replaces a file, and does not remove the old file, which buddy no longer
// reads. The new file has the permissions of the old one, except that no other users may read it if it holds a key.
func (m Migration) Run() (did []string, err error) {
	if exists(m.To) {
		return nil, fmt.Errorf("%s was not migrated: %s exists; move the settings that you want to keep there, then delete %s", m.From, m.To, m.From)
	}
	f, err := readFile(m.From)
	if err != nil {
		return nil, err
	}
	entries, line, err := parse(f.data)
	if err != nil {
		return nil, &Error{Place: place(f, line), Err: err}
	}
	l := &loader{cfg: defaults(), index: Index{}}
	fresh := l.renew(f, entries)
	did = l.notices
	d := &Document{path: m.To, data: f.data, mode: f.info.Mode().Perm() &^ 0o022, eol: "\n"}
	if bytes.Contains(f.data, []byte("\r\n")) {
		d.eol = "\r\n"
	}
	d.migrate(fresh)
	confirmed := d.confirm()
	did = append(did, confirmed...)
	d.keepPaths(f.dir)
	if wrong := d.Check().Mistakes(); len(wrong) > 0 {
		return nil, fmt.Errorf("%s was not migrated: %w", m.From, check(f, nil).firstOr(wrong[0]))
	}
	return did, d.create()
}

// firstOr returns the first mistake of a report, whose position is in an existing file, or other if there is none.
func (r *Report) firstOr(other *Error) *Error {
	if all := r.Mistakes(); len(all) > 0 {
		return all[0]
	}
	return other
}

// migrate changes the text so that it has the entries that renew returned.
func (d *Document) migrate(fresh []entry) {
	for range maxKeys {
		entries, _, err := scan(d.data)
		i := slices.IndexFunc(entries, func(e entry) bool { return e.to > 0 && isOldKey(e) })
		if err != nil || i < 0 {
			break
		}
		if !d.renameIn(entries, entries[i]) {
			d.data = d.remove(entries[i])
		}
	}
	d.renameTables()
	for _, e := range fresh {
		entries, _, err := scan(d.data)
		if err != nil || isTable(e.kind) || e.kind == unstable.ArrayTable || isRule(e.path[0]) {
			continue
		}
		at := slices.IndexFunc(entries, func(o entry) bool { return slices.Equal(o.path, e.path) && o.to > 0 })
		if at < 0 || e.items != nil && !slices.Equal(entries[at].items, e.items) {
			d.data = d.insert(entries, e.path, e.literal())
		}
	}
}

// isOldKey reports whether an entry is an old key that has another place or name now. Keys of [display] that keep their
// name only need another table.
func isOldKey(e entry) bool {
	now, old := oldKeys[strings.Join(e.path, ".")]
	if e.table == 1 && strings.HasSuffix(now, "."+e.path[len(e.path)-1]) && oldTables[e.path[0]] != "" {
		return false
	}
	return old || oldFlag(e.path, e.kind) != "" && e.kind == unstable.Bool
}

// renameIn renames a key of [api] in its line, and reports whether it could.
func (d *Document) renameIn(all []entry, e entry) bool {
	now := oldKeys[strings.Join(e.path, ".")]
	path := strings.Split(now, ".")
	taken := slices.ContainsFunc(all, func(o entry) bool { return slices.Equal(o.path, path) })
	if e.table != 1 || e.path[0] != "api" || now == "" || taken {
		return false
	}
	value := string(d.data[e.value:e.to])
	if api, ok := oldProtocols[strings.ToLower(e.text)]; ok && path[2] == "api" {
		value = tomlString(string(api))
	}
	d.data = d.splice(e.from, e.to, path[2]+" = "+value)
	return true
}

// renameTables gives [display] and [api] their present names. If the file has the present tables as well, it removes
// the old ones, and migrate inserts their keys into the present ones.
func (d *Document) renameTables() {
	for old, now := range map[string]string{"display": "ui", "api": "models.api"} {
		entries, _, err := scan(d.data)
		i := slices.IndexFunc(entries, func(e entry) bool { return len(e.path) == 1 && e.path[0] == old && isTable(e.kind) })
		if err != nil || i < 0 {
			continue
		}
		if taken := slices.ContainsFunc(entries, func(e entry) bool { return strings.HasPrefix(Path(e.path...)+".", now+".") }); !taken {
			at := entries[i].from + bytes.Index(d.data[entries[i].from:], []byte(old))
			d.data = d.splice(at, at+len(old), now)
			continue
		}
		for j := len(entries) - 1; j >= i; j-- {
			switch e := entries[j]; {
			case e.path[0] != old:
			case e.to > 0:
				d.data = d.remove(e)
			default:
				d.data = d.splice(d.startOfLine(e.from), d.endOfLine(e.from), "")
			}
		}
	}
}

// confirm replaces tools.shell_confirm by agent.mode.
func (d *Document) confirm() (did []string) {
	entries, _, err := scan(d.data)
	i := slices.IndexFunc(entries, func(e entry) bool { return Path(e.path...) == "tools.shell_confirm" })
	if err != nil || i < 0 || entries[i].kind != unstable.Bool {
		return nil
	}
	mode := map[string]string{"true": "ask", "false": "all"}[entries[i].text]
	d.data = d.remove(entries[i])
	entries, _, err = scan(d.data)
	if err != nil || slices.ContainsFunc(entries, func(e entry) bool { return Path(e.path...) == "agent.mode" }) {
		return nil
	}
	d.data = d.insert(entries, []string{"agent", "mode"}, tomlString(mode))
	return []string{fmt.Sprintf("tools.shell_confirm is an old name: now mode = %q in [agent]", mode)}
}

// keepPaths makes relative paths absolute if the new file is in another folder, because they are relative to the folder
// of their file.
func (d *Document) keepPaths(from string) {
	if abs, err := filepath.Abs(filepath.Dir(d.path)); err == nil && abs == from {
		return
	}
	for _, name := range []string{"api_key_file", "ca_file"} {
		entries, _, err := scan(d.data)
		if err != nil {
			return
		}
		for _, e := range slices.Backward(entries) {
			last := e.path[len(e.path)-1]
			if last == name && e.kind == unstable.String && e.text != "" && !filepath.IsAbs(e.text) && !strings.HasPrefix(e.text, "~/") {
				d.data = d.splice(e.value, e.to, tomlString(filepath.Join(from, e.text)))
			}
		}
	}
}

// create writes a new file. It never replaces one.
func (d *Document) create() error {
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return fmt.Errorf("%q: %w", d.path, cause(err))
	}
	for _, p := range d.Check().Config.Models {
		if p.APIKey.String() != "" {
			d.mode &= 0o600
		}
	}
	f, err := os.OpenFile(d.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: nothing was written", d.path)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", d.path, cause(err))
	}
	_, err = f.Write(d.data)
	if err = errors.Join(err, f.Chmod(d.mode), f.Close()); err != nil {
		os.Remove(d.path) //nolint:errcheck // a partial file would be an error at the next start
		return fmt.Errorf("%q: %w", d.path, cause(err))
	}
	return nil
}

// literal formats the value of an entry as TOML.
func (e entry) literal() string {
	switch {
	case e.items != nil:
		return tomlList(e.items)
	case e.kind == unstable.String:
		return tomlString(e.text)
	}
	return e.text
}
