// Package instructions reads instruction files, in which people tell an agent how to work.
//
// In each folder it reads AGENTS.md, or CLAUDE.md if there is no AGENTS.md, and CLAUDE.local.md. It also reads a
// project's rules, which can be limited to certain files.
//
//	set, err := instructions.Read(ctx,
//		instructions.Source{From: instructions.Person, Files: mine, Dirs: []string{config}, Inside: home},
//		instructions.Source{From: instructions.Project, Files: there, Dirs: chain, Inside: chain[0]},
//	)
//	system += "\n\n" + set.Text()
//
// A line @path in a file imports another file. A project's files may be hostile, so they are marked and scanned for
// prompt injection, and they can't import files from outside the project.
package instructions

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"buddy/agent/inject"
	"buddy/agent/reminder"
)

// Limits of one Read.
const (
	MaxAll     = 24_000 // bytes of all files together in the model's context
	maxDepth   = 5      // nested imports
	maxImports = 32     // names after an @ that are looked up
	maxDirs    = 32     // folders between the repository's root and the working directory
	maxSize    = 1 << 20
)

// names lists the file names; the first existing one in a folder is used.
var names = []string{"AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"}

// ownName is a person's own file in a project, usually ignored by git. It is read in addition to the others.
const ownName = "CLAUDE.local.md"

// Origin is the owner of a file.
type Origin string

// The origins.
const (
	Person  Origin = "person"
	Project Origin = "project"
)

// Files accesses files, on this machine or on a target.
type Files interface {
	// Peek returns the content of a regular file of at most max bytes, and its path without symbolic links. For a
	// missing file it returns fs.ErrNotExist.
	Peek(ctx context.Context, path string, max int64) (real string, data []byte, err error)
	// Exists reports whether path exists.
	Exists(ctx context.Context, path string) (bool, error)
	// List returns at most max entries of a folder, and its path without symbolic links. For a missing folder it
	// returns fs.ErrNotExist.
	List(ctx context.Context, dir string, max int) (real string, entries []fs.DirEntry, err error)
}

// Source describes a group of folders in which instruction files are searched.
type Source struct {
	From   Origin
	Files  Files
	Dirs   []string // absolute; later ones take precedence
	Inside string   // real path of the folder that imports must stay in
	Home   string   // replaces ~ in an import; "" for none
}

// File is one instruction file.
type File struct {
	Path  string
	From  Origin
	Bytes int    // size of the file
	Text  string // sent to the model; "" if nothing
	Why   string // why Text is not the whole file, for display
	Minor bool   // a name after an @ that may not be a file name, so Why needs no warning
	// Found lists the high-severity prompt injections in the file.
	Found []inject.Finding
}

// Set holds the instruction files of a session, most general first.
type Set struct {
	Files []File
	Rules []Rule // rules for certain files only
}

// Chain returns the folders from the root of dir's repository down to dir. Outside a repository it returns only dir.
func Chain(ctx context.Context, files Files, dir string) ([]string, error) {
	var chain []string
	for at := path.Clean(dir); len(chain) < maxDirs; at = path.Dir(at) {
		chain = append([]string{at}, chain...)
		found, err := files.Exists(ctx, path.Join(at, ".git"))
		switch {
		case err != nil:
			return nil, err
		case found:
			return chain, nil
		case at == "/":
			return []string{path.Clean(dir)}, nil
		}
	}
	return []string{path.Clean(dir)}, nil
}

// Exist reports whether one of the folders has an instruction file.
func Exist(ctx context.Context, files Files, dirs []string) bool {
	for _, dir := range dirs {
		for _, name := range append(slices.Clone(names), ownName) {
			if found, err := files.Exists(ctx, path.Join(dir, name)); found && err == nil {
				return true
			}
		}
	}
	return false
}

// Below returns the folders below root that contain a file, outermost first; none if the file is not below root.
func Below(root, file string) []string {
	if root == "" || !inside(root, file) {
		return nil
	}
	var dirs []string
	for dir := path.Dir(file); dir != root && inside(root, dir) && len(dirs) < maxDirs; dir = path.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}

// Read reads the files of all sources. For an unreadable file, the Set has an entry without text; missing files have
// none. Read returns an error if a source is not accessible at all.
func Read(ctx context.Context, sources ...Source) (Set, error) {
	r := reader{seen: make(map[string]bool)}
	var failed error
	for _, s := range sources {
		for _, dir := range s.Dirs {
			if err := r.folder(ctx, s, dir); err != nil {
				failed = errors.Join(failed, err)
				break
			}
		}
	}
	r.fit()
	return r.set, failed
}

type reader struct {
	set     Set
	seen    map[string]bool // origins and real paths
	imports int
	ruled   int // number of files with rules
}

// folder reads the instruction file and the rules of one folder.
func (r *reader) folder(ctx context.Context, s Source, dir string) error {
	for _, name := range names {
		err := r.file(ctx, s, path.Join(dir, name), 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		break
	}
	if err := r.file(ctx, s, path.Join(dir, ownName), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.From != Project {
		return nil
	}
	for _, name := range ruleDirs {
		if err := r.rules(ctx, s, dir, path.Join(dir, name), 0); err != nil {
			return err
		}
	}
	return nil
}

// file reads one file and its imports. An error means that the file is missing or nothing can be read.
func (r *reader) file(ctx context.Context, s Source, name string, depth int) error {
	f, ok, err := r.load(ctx, s, name, depth)
	if !ok || err != nil {
		return err
	}
	r.set.Files = append(r.set.Files, f)
	return r.follow(ctx, s, f, depth)
}

// load reads one file. ok is false if the file is not used; then the file is recorded with the reason, unless it was
// read already. The error is as in file.
func (r *reader) load(ctx context.Context, s Source, name string, depth int) (f File, ok bool, err error) {
	real, data, err := s.Files.Peek(ctx, name, maxSize)
	switch {
	case ctx.Err() != nil:
		return f, false, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return f, false, err
	case err != nil:
		why := strings.TrimSuffix(err.Error(), "; list_dir shows what is in it") // a hint for models
		if rest, ok := strings.CutPrefix(why, fmt.Sprintf("%q ", name)); ok {
			why = "it " + rest
		}
		r.skip(s, name, why)
		r.set.Files[len(r.set.Files)-1].Minor = depth > 0
		return f, false, nil
	case r.seen[string(s.From)+real]:
		return f, false, nil
	}
	r.seen[string(s.From)+real] = true
	if (depth > 0 || s.From == Project) && !inside(s.Inside, real) {
		r.skip(s, name, "the file is outside "+s.Inside)
		return f, false, nil
	}
	text := strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\ufeff"))
	why := ""
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")):
		why = "the file is UTF-16: save it as UTF-8"
	case strings.ContainsRune(text, 0):
		why = "the file is not text"
	case text == "" && depth == 0:
		why = "the file is empty"
	}
	if why != "" {
		r.skip(s, name, why)
		return f, false, nil
	}
	f = File{Path: name, From: s.From, Bytes: len(data), Text: strings.ToValidUTF8(text, "\ufffd")}
	f.scan()
	return f, true, nil
}

// scan searches a file of the project for prompt injections.
func (f *File) scan() {
	if f.From != Project {
		return
	}
	if found := inject.Scan(f.Text); inject.Worst(found) >= inject.High {
		f.Found = found
	}
}

func (r *reader) skip(s Source, name, why string) {
	r.set.Files = append(r.set.Files, File{Path: name, From: s.From, Why: why})
}

// follow reads the imports of a file. If the file that a name refers to does not exist, the name is not an import, but
// an ordinary mention.
func (r *reader) follow(ctx context.Context, s Source, f File, depth int) error {
	for _, name := range Mentions(f.Text) {
		if r.imports++; r.imports > maxImports {
			return nil
		}
		target, ok := s.locate(path.Dir(f.Path), name)
		switch {
		case depth == maxDepth:
			r.skip(s, name, fmt.Sprintf("the import is more than %d files deep", maxDepth))
			continue
		case !ok: // not even looked up
			r.skip(s, name, "the file is outside "+s.Inside)
			r.set.Files[len(r.set.Files)-1].Minor = true
			continue
		}
		if err := r.file(ctx, s, target, depth+1); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// locate returns the path of an import, and reports whether the source permits the import.
func (s Source) locate(dir, name string) (string, bool) {
	switch {
	case strings.HasPrefix(name, "~/") && s.Home == "":
		return "", false
	case strings.HasPrefix(name, "~/"):
		name = path.Join(s.Home, name[2:])
	case !path.IsAbs(name):
		name = path.Join(dir, name)
	}
	name = path.Clean(name)
	return name, inside(s.Inside, name)
}

// inside reports whether a clean path is in a folder.
func inside(folder, name string) bool {
	return folder == "/" || name == folder || strings.HasPrefix(name, folder+"/")
}

// Mentions returns the paths after an @ in a Markdown text, except those in code.
func Mentions(text string) []string {
	var all []string
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if mark := fenceOf(trimmed); mark != "" && (fence == "" || strings.HasPrefix(trimmed, fence)) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			continue
		}
		if fence == "" && strings.Contains(line, "@") {
			all = append(all, mentionsIn(line)...)
		}
	}
	return all
}

func fenceOf(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}

// mentionsIn returns the words of a line after an @ that may be paths.
func mentionsIn(line string) []string {
	var all []string
	for i, part := range strings.Split(line, "`") {
		if i%2 == 1 {
			continue // code
		}
		for _, word := range strings.Fields(part) {
			name, ok := strings.CutPrefix(strings.TrimLeft(word, "(["), "@")
			name = strings.TrimRight(name, ".,;:!?)]")
			if ok && name != "" && len(name) < 1024 && strings.ContainsAny(name, "./") && !strings.Contains(name, "@") {
				all = append(all, name)
			}
		}
	}
	return all
}

// fit cuts files so that all of them together keep the size limit. The most general ones, which come first, are cut
// first.
func (r *reader) fit() {
	room := MaxAll
	for i := len(r.set.Files) - 1; i >= 0; i-- {
		f := &r.set.Files[i]
		if len(f.Text) > room {
			f.Text, f.Why = cut(f.Text, room), fmt.Sprintf("the first %d bytes of %d", room, f.Bytes)
		}
		room -= len(f.Text)
	}
}

// cut returns the start of s, at most n bytes. It ends with a whole line, unless that would drop more than half of the
// bytes.
func cut(s string, n int) string {
	s = s[:n]
	if i := strings.LastIndexByte(s, '\n'); i > n/2 {
		s = s[:i]
	}
	return strings.ToValidUTF8(s, "")
}

//go:embed intro.md
var intro string

// Text returns the text for the model, "" for none. It is the same for the same files.
func (s Set) Text() string {
	body := s.body()
	if body == "" {
		return ""
	}
	return strings.TrimSpace(intro) + "\n" + body
}

// Reminder returns the text of instructions that buddy found later, for the files that the model works on.
func (s Set) Reminder() string {
	body := s.body()
	if body == "" {
		return ""
	}
	return reminder.Wrap("The files you work on have their own instructions. The rules for instructions from files apply to them.\n" + body)
}

func (s Set) body() string {
	var b strings.Builder
	for _, f := range s.Files {
		if f.Text == "" && (f.Why == "" || f.Bytes == 0) {
			continue
		}
		text := inert(f.Text)
		if len(f.Found) > 0 {
			text = inject.Defuse(text, f.Found)
		}
		if f.Why != "" {
			text += "\n[buddy: this is only " + f.Why + "; read_file has the rest]"
		}
		fmt.Fprintf(&b, "\n<instructions from=%q file=%q>\n%s\n</instructions>\n", f.From, f.Path, text)
	}
	return b.String()
}

// inert escapes the markers of instructions and reminders in a file's text.
func inert(s string) string {
	return reminder.Inert(strings.NewReplacer("<instructions", "< instructions", "</instructions", "< /instructions").Replace(s))
}

// Injection describes the prompt injections in the files, "" if none.
func (s Set) Injection() string {
	for _, f := range s.Files {
		if len(f.Found) > 0 && f.Text != "" {
			return fmt.Sprintf("prompt injection in %s, which came with the project: it %s: %q", f.Path, f.Found[0].Reason, f.Found[0].Excerpt)
		}
	}
	return ""
}
