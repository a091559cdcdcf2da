package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/google/renameio/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"buddy/agent/model"
	"buddy/texts"
)

// Document edits a settings file and keeps comments and order. It is not safe for concurrent use.
type Document struct {
	path string
	data []byte
	mode fs.FileMode
	eol  string
	new  bool // the file does not exist yet
	lock *os.File
}

// OpenDocument reads a file, or starts with the template if the file does not exist. Anything but a regular file is an
// error. Other processes that edit the file wait until Close, which the caller must call.
func OpenDocument(path string) (*Document, error) {
	if path == "" {
		return nil, errors.New("can't find your home folder: give the settings file with --config FILE")
	}
	d := &Document{path: path, mode: 0o600, eol: "\n", lock: lockFolder(filepath.Dir(path))}
	if err := d.read(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// lockFolder waits for other processes that edit files in a folder, and locks it. It returns nil if the folder does not
// exist or can't be locked.
func lockFolder(dir string) *os.File {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil { // not every file system supports locks
		_ = f.Close()
		return nil
	}
	return f
}

// Close unlocks the file.
func (d *Document) Close() {
	if d.lock != nil {
		_ = d.lock.Close() // nothing is written to it
	}
}

func (d *Document) read() error {
	path := d.path
	f, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !dangling(path):
		d.data, d.new = []byte(Template()), true
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Place: path, Err: errDangling}
	case err != nil:
		return &Error{Place: path, Err: errors.Unwrap(err)}
	}
	d.data, d.mode = f.data, f.info.Mode().Perm()
	if bytes.Contains(d.data, []byte("\r\n")) {
		d.eol = "\r\n"
	}
	return nil
}

// Check reports the mistakes in the current text.
func (d *Document) Check(known ...Profile) *Report {
	abs, err := filepath.Abs(d.path)
	if err != nil {
		abs = d.path
	}
	return check(&file{name: d.path, dir: filepath.Dir(abs), data: d.data, info: permissions{mode: d.mode}}, known)
}

// permissions is the FileInfo of a text without a file.
type permissions struct {
	fs.FileInfo
	mode fs.FileMode
}

// Mode returns the permissions.
func (p permissions) Mode() fs.FileMode { return p.mode }

// splitKey splits a key as written in a file: models."gpt 5".model.
func splitKey(key string) ([]string, error) {
	entries, _, err := scan([]byte(key + " = 0"))
	if err != nil || len(entries) != 1 || entries[0].kind != unstable.Integer || strings.ContainsAny(key, "=#") {
		return nil, fmt.Errorf("%q is not a key (such as ui.theme or models.NAME.model)", key)
	}
	return entries[0].path, nil
}

// fieldOf returns the field that a key sets.
func fieldOf(path []string) (*field, error) {
	fld, err := find(entry{path: path, kind: unstable.Table})
	switch {
	case err != nil:
	case isRule(path[0]):
		err = errors.New("is a list of rules: use buddy config edit")
	case fld == nil:
		err = errors.New("is a section (buddy config show prints all of them)")
	}
	if err != nil {
		return nil, &Error{Key: Path(path...), Err: err}
	}
	return fld, nil
}

// Set sets a key: a string as it is, a list from its entries or from TOML. Check reports whether the value is valid.
func (d *Document) Set(key string, values []string) error {
	path, err := splitKey(key)
	if err != nil {
		return err
	}
	fld, err := fieldOf(path)
	if err != nil {
		return err
	}
	text, err := fld.literalOf(values)
	if err != nil {
		return &Error{Key: Path(path...), Err: err}
	}
	return d.change(path, func(entries []entry) []byte { return d.insert(entries, path, text) })
}

// Unset removes a key and reports whether the key existed.
func (d *Document) Unset(key string) (bool, error) {
	path, err := splitKey(key)
	if err != nil {
		return false, err
	}
	if _, err := fieldOf(path); err != nil {
		return false, err
	}
	found := false
	err = d.change(path, func(entries []entry) []byte {
		i := slices.IndexFunc(entries, func(e entry) bool { return slices.Equal(e.path, path) && e.to > 0 })
		if found = i >= 0; !found {
			return d.data
		}
		return d.remove(entries[i])
	})
	return found, err
}

// literalOf formats a person's values as TOML.
func (f *field) literalOf(values []string) (string, error) {
	at := f.pointer(&Config{}, &Profile{})
	switch at.(type) {
	case *[]string, *map[string][]string:
		return listOf(values)
	}
	if len(values) != 1 {
		return "", fmt.Errorf("takes one value, not %d", len(values))
	}
	switch at.(type) {
	case *int, seconds, *model.Money, **float64:
		return f.numberOf(values[0], at)
	case *bool:
		if v := values[0]; v != "true" && v != "false" {
			return "", fmt.Errorf("%q is neither true nor false", v)
		}
		return values[0], nil
	}
	return tomlString(values[0]), nil
}

// listOf accepts the entries of a list, or the list in TOML.
func listOf(values []string) (string, error) {
	if len(values) != 1 || !strings.HasPrefix(strings.TrimSpace(values[0]), "[") {
		return tomlList(values), nil
	}
	entries, _, err := scan([]byte("x = " + values[0]))
	if err != nil || len(entries) != 1 || entries[0].items == nil {
		return "", fmt.Errorf(`%s is not an array of strings (such as ["a", "b"])`, values[0])
	}
	return tomlList(entries[0].items), nil
}

func (f *field) numberOf(v string, at any) (string, error) {
	switch at.(type) {
	case *int, seconds:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return "", fmt.Errorf("%q is not an integer (allowed: %s)", v, f.short)
		}
		return strconv.FormatInt(n, 10), nil
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		what := "an amount"
		if isFraction(at) {
			what = "a number"
		}
		return "", fmt.Errorf("%q is not %s (allowed: %s)", v, what, f.short)
	}
	return decimal(n), nil
}

// decimal formats a number as a TOML float.
func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// change edits the text, and reverts the edit if it changed anything except the key at path.
func (d *Document) change(path []string, edit func([]entry) []byte) error {
	before, offset, err := scan(d.data)
	if err != nil {
		r := &Report{File: d.path, data: d.data}
		return &Error{Place: r.placeOf(offset), Err: err}
	}
	data := edit(before)
	after, _, err := scan(data)
	if err != nil || !slices.Equal(otherEntries(before, path), otherEntries(after, path)) {
		return &Error{Place: d.path, Key: Path(path...), Err: errors.New("can't be changed here without changing the rest: use buddy config edit")}
	}
	d.data = data
	return nil
}

// otherEntries returns the contents of a file except for one key and the tables above it.
func otherEntries(entries []entry, path []string) []string {
	var all []string
	for _, e := range entries {
		if isTable(e.kind) && len(e.path) < len(path) && slices.Equal(e.path, path[:len(e.path)]) || slices.Equal(e.path, path) {
			continue
		}
		all = append(all, fmt.Sprintf("%s %v %q %q", Path(e.path...), e.kind, e.text, e.items))
	}
	return all
}

// insert returns the text with a key set.
func (d *Document) insert(entries []entry, path []string, value string) []byte {
	if i := slices.IndexFunc(entries, func(e entry) bool { return slices.Equal(e.path, path) && e.to > 0 }); i >= 0 {
		return d.splice(entries[i].value, entries[i].to, value)
	}
	last := len(path) - 1
	dotted := -1
	for i, e := range entries {
		switch {
		case slices.Equal(e.path, path[:last]) && e.kind == unstable.InlineTable:
			return d.insertInline(e, tomlPath(path[last:])+" = "+value)
		case slices.Equal(e.path, path[:last]) && e.kind == unstable.Table:
			return d.insertLine(d.endOfTable(entries, i, path[last]), tomlPath(path[last:])+" = "+value)
		case !isTable(e.kind) && len(e.path) == len(path) && e.table < last && slices.Equal(e.path[:last], path[:last]):
			dotted = i
		}
	}
	if dotted >= 0 {
		e := entries[dotted]
		return d.insertLine(d.endOfLine(e.to), tomlPath(path[e.table:])+" = "+value)
	}
	text := header(path[:last]...) + d.eol + tomlPath(path[last:]) + " = " + value
	if len(bytes.TrimSpace(d.data)) > 0 {
		text = d.eol + text
	}
	return d.insertLine(len(d.data), text)
}

// splice replaces a part of the text.
func (d *Document) splice(from, to int, text string) []byte {
	return slices.Concat(d.data[:from], []byte(text), d.data[to:])
}

// endOfLine returns the end of the line around an offset.
func (d *Document) endOfLine(at int) int {
	if i := bytes.IndexByte(d.data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.data)
}

// startOfLine returns the start of the line around an offset.
func (d *Document) startOfLine(at int) int { return bytes.LastIndexByte(d.data[:at], '\n') + 1 }

// insertLine inserts a line before the one at an offset.
func (d *Document) insertLine(at int, line string) []byte {
	if at > 0 && d.data[at-1] != '\n' {
		line = d.eol + line
	}
	return d.splice(at, at, line+d.eol)
}

// insertInline appends a key to an inline table.
func (d *Document) insertInline(e entry, text string) []byte {
	end := e.to - 1
	before := bytes.TrimRight(d.data[:end], " \t\r\n")
	switch before[len(before)-1] {
	case '{', ',':
		text = " " + text + " "
	default:
		text = ", " + text
	}
	return d.splice(len(before), len(before), text)
}

// endOfTable returns the position for a new key of a table: after the line with the key as a comment, as in the
// template, else after the table's last key.
func (d *Document) endOfTable(entries []entry, table int, name string) int {
	last, end := entries[table].from, len(d.data)
	for _, e := range entries[table+1:] {
		if e.kind == unstable.Table || e.kind == unstable.ArrayTable {
			end = d.startOfLine(e.from)
			break
		}
		last = max(last, e.to)
	}
	for at := d.endOfLine(entries[table].from); at < end; at = d.endOfLine(at) {
		text, comment := bytes.CutPrefix(d.data[at:d.endOfLine(at)], []byte{'#'})
		text = bytes.TrimSpace(text)
		if comment && bytes.HasPrefix(text, []byte{'['}) {
			break
		}
		if key, _, ok := bytes.Cut(text, []byte{'='}); comment && ok && string(bytes.TrimSpace(key)) == tomlPath([]string{name}) {
			return d.endOfLine(at)
		}
	}
	return d.endOfLine(last)
}

// remove returns the text without a key, and without its line if nothing else is on it.
func (d *Document) remove(e entry) []byte {
	start, end := d.startOfLine(e.from), d.endOfLine(e.to)
	rest := bytes.TrimSpace(d.data[e.to:end])
	alone := len(bytes.TrimSpace(d.data[start:e.from])) == 0 && (len(rest) == 0 || rest[0] == '#')
	if alone {
		return d.splice(start, end, "")
	}
	// In an inline table the comma after the key is removed as well, else the one before it.
	after := d.data[e.to:]
	if trimmed := bytes.TrimLeft(after, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == ',' {
		to := len(d.data) - len(bytes.TrimLeft(trimmed[1:], " \t"))
		return d.splice(e.from, to, "")
	}
	before := bytes.TrimRight(d.data[:e.from], " \t\r\n")
	return d.splice(len(bytes.TrimSuffix(before, []byte{','})), e.to, "")
}

// Save replaces the file atomically, following a link. A new file gets mode 0600. An existing file keeps its mode, but
// other users lose access to a file with a key.
func (d *Document) Save() error {
	path := texts.RealPath(d.path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("%q: %w", d.path, cause(err))
	}
	for _, p := range d.Check().Config.Models {
		if p.APIKey.String() != "" {
			d.mode &= 0o600
		}
	}
	if err := replaceFile(path, d.data, d.mode); err != nil {
		return fmt.Errorf("%q: %w", d.path, cause(err))
	}
	if d.new {
		writeSchema(path)
	}
	return nil
}

func replaceFile(path string, data []byte, mode fs.FileMode) error {
	// The temporary file is in the same folder: a key must not be written elsewhere, and the rename must stay on one
	// disk.
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(mode))
	if err != nil {
		return err
	}
	defer f.Cleanup() //nolint:errcheck // no effect after the replacement
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// Describe returns the meaning of a key's setting, in Markdown, and its allowed values if they are limited. A setting
// that can't be set alone is an error.
func Describe(key string) (doc string, values []string, err error) {
	path, err := splitKey(key)
	if err != nil {
		return "", nil, err
	}
	fld, err := fieldOf(path)
	if err != nil {
		return "", nil, err
	}
	return fld.doc, fld.words(), nil
}
