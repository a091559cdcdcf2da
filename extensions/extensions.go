// Package extensions finds the files that extend the agent: skills, commands, subagents, output styles and workflows.
// They come from the user, a project, plugins and buddy itself.
//
//	found, err := extensions.Read(ctx, extensions.Skill, mine, theirs)
//	items, problems := extensions.Resolve(found.Items, reserved)
//
// The files may be hostile, and may be on another machine. Read leaves out files that are too long or not regular,
// files of other users, and links that lead out of a project, and returns the reason for each.
package extensions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"buddy/extensions/frontmatter"
	"buddy/texts"
)

// Limits of one Read.
const (
	maxItems   = 2000 // files per kind
	maxEntries = 2000 // entries per folder
	maxDepth   = 4    // nesting of command folders
	maxName    = 64   // characters of a name, or of each part of a command's name
)

// MaxWorkflow limits a workflow file, in bytes.
const MaxWorkflow = 64 << 10

// Kind is a kind of extension. Its value is the name of the folders that hold extensions of the kind.
type Kind string

// The kinds.
const (
	Skill   Kind = "skills"
	Command Kind = "commands"
	Style   Kind = "output-styles"
	Agent   Kind = "agents"
	// Workflow files are YAML, all others Markdown.
	Workflow Kind = "workflows"
)

// One returns the display name of one extension of the kind.
func (k Kind) One() string {
	if k == Style {
		return "style"
	}
	return strings.TrimSuffix(string(k), "s")
}

// suffix returns the suffix of file names of the kind.
func (k Kind) suffix() string {
	if k == Workflow {
		return ".yaml"
	}
	return ".md"
}

// parse parses a file of the kind. A workflow is not parsed here: it becomes the body.
func (k Kind) parse(data []byte) (frontmatter.Block, error) {
	if k != Workflow {
		return frontmatter.Parse(data)
	}
	return frontmatter.Block{Body: string(data), Line: 1}, nil
}

// max returns the maximal size of a file of the kind, in bytes.
func (k Kind) max() int64 {
	if k == Workflow {
		return MaxWorkflow
	}
	return frontmatter.MaxFile
}

// Origin names the source of an extension.
type Origin string

// The origins, in order of precedence for a shared name.
const (
	Person  Origin = "person"
	Project Origin = "project"
	Plugin  Origin = "plugin"
	BuiltIn Origin = "built-in"
)

var rank = map[Origin]int{Person: 0, Project: 1, Plugin: 2, BuiltIn: 3}

// Files reads files, on this machine, on a target or in the program.
type Files interface {
	// Peek returns the content of a regular file of at most max bytes, and its path without symbolic links. For a
	// missing file it returns fs.ErrNotExist.
	Peek(ctx context.Context, path string, max int64) (real string, data []byte, err error)
	// List returns at most max entries of a folder, and its path without symbolic links. For a missing folder it
	// returns fs.ErrNotExist.
	List(ctx context.Context, dir string, max int) (real string, entries []fs.DirEntry, err error)
}

// Source names folders to search. Each contains one folder per kind.
type Source struct {
	Origin Origin
	Files  Files
	Dirs   []string // in order of precedence
	Inside string   // real path of the folder that must contain a project's files; "" allows any folder
	// Prefix is the plugin's name, which precedes each name with a colon.
	Prefix string
	// Roots lists folders or files of a kind to use instead of those in Dirs.
	Roots map[Kind][]string
}

// roots returns the folders and files to search for a kind.
func (s Source) roots(k Kind) []string {
	all := s.Roots[k]
	for _, dir := range s.Dirs {
		if holds(dir, k) {
			all = append(all, path.Join(dir, string(k)))
		}
	}
	return all
}

// PersonDirs returns a person's folders: buddy's settings folder and the folders of other agents.
func PersonDirs(config, home string) []string {
	if home == "" {
		return []string{config}
	}
	return []string{config, path.Join(home, ".agents"), path.Join(home, ".claude"), path.Join(home, codex)}
}

// ProjectDirs returns the folders of a project; chain lists the folders from its root down to the working
// directory.
func ProjectDirs(chain []string) []string {
	var dirs []string
	for _, dir := range slices.Backward(chain) {
		for _, name := range append(slices.Clip(Holders), codex) {
			dirs = append(dirs, path.Join(dir, name))
		}
	}
	return dirs
}

// SkillFolders returns the folders below a project's folder that contain skills.
func SkillFolders(dir string) []string {
	var all []string
	for _, name := range Holders {
		all = append(all, path.Join(dir, name, string(Skill)))
	}
	return all
}

// Holders lists the names of the folders in a project that contain extensions.
var Holders = []string{".buddy", ".agents", ".claude"}

// codex is the folder of Codex, which may contain agents.
const codex = ".codex"

// holds reports whether a folder is searched for a kind: .agents only for skills, .codex only for agents, and only
// .buddy for workflows.
func holds(dir string, k Kind) bool {
	switch path.Base(dir) {
	case ".agents":
		return k == Skill
	case codex:
		return k == Agent
	case ".claude":
		return k != Workflow
	}
	return true
}

// Item is one extension.
type Item struct {
	Kind   Kind
	Name   string // the name to call it by; see Resolve
	Origin Origin
	File   string // its real path
	Dir    string // of a skill: its folder
	Sum    string // SHA-256 of the file, in hex
	Source string // the whole file
	Base   string // of a project's item: the folder that contains .buddy, .agents or .claude
	Part   string // unique name among those of its kind in Base: the name, or NAME#2 for the second one
	// Unlisted means that the list of skills for models leaves the skill out, because its agents/openai.yaml says so.
	Unlisted bool
	frontmatter.Block
}

// Problem is a file that was left out, or read only in part.
type Problem struct {
	Kind   Kind
	File   string
	Line   int // 0 is the whole file
	Reason string
	Used   bool // the file is used anyway
	// Limits means that the file contains a limit that is not understood: the person must know that it is left out.
	Limits bool
}

// String formats the problem on one line.
func (p Problem) String() string {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, p.Line)
	}
	if p.Used {
		return at + ": " + p.Reason
	}
	return at + ": left out: " + p.Reason
}

// Found is the result of a Read.
type Found struct {
	Items    []Item
	Problems []Problem
	Dirs     []string // folders that were read or do not exist yet: a change in them may change the result
}

// Read finds the extensions of a kind in order of precedence, each with the name from its path. An error means that
// the files of a source could not be read at all.
func Read(ctx context.Context, k Kind, sources ...Source) (Found, error) {
	r := reader{kind: k, seen: make(map[string]string)}
	var failed error
	for _, s := range sources {
		for _, dir := range s.roots(k) {
			r.base = path.Dir(path.Dir(dir))
			if err := r.root(ctx, s, dir); err != nil {
				failed = errors.Join(failed, err)
				break
			}
		}
	}
	return r.found, failed
}

// skillFile is the file that makes its folder a skill.
const skillFile = "SKILL.md"

type reader struct {
	kind  Kind
	base  string // the folder that contains the extensions
	found Found
	seen  map[string]string // names by real path; the first one wins
}

// root reads the folder of a kind. An error means that reading must stop.
func (r *reader) root(ctx context.Context, s Source, dir string) error {
	if name, one := strings.CutSuffix(path.Base(dir), r.kind.suffix()); one {
		return r.file(ctx, s, dir, name)
	}
	if r.kind == Skill {
		return r.skills(ctx, s, dir)
	}
	return r.tree(ctx, s, dir, "", 0)
}

// list returns the entries of a folder, none if it can't be read or is outside the project.
func (r *reader) list(ctx context.Context, s Source, dir string) (real string, entries []fs.DirEntry, err error) {
	r.found.Dirs = append(r.found.Dirs, dir)
	real, entries, err = s.Files.List(ctx, dir, maxEntries)
	switch {
	case ctx.Err() != nil:
		return "", nil, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, nil
	case err != nil:
		r.skip(dir, cause(err))
		return "", nil, nil
	case outside(s, real):
		r.skip(dir, "the link points outside "+s.Inside)
		return "", nil, nil
	case len(entries) >= maxEntries:
		r.skip(dir, fmt.Sprintf("buddy reads only the first %d names in this folder", maxEntries))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return real, entries, nil
}

// skills reads the skills in a folder: its subfolders with a SKILL.md.
func (r *reader) skills(ctx context.Context, s Source, dir string) error {
	_, entries, err := r.list(ctx, s, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		folder := path.Join(dir, e.Name())
		r.found.Dirs = append(r.found.Dirs, folder)
		if err := r.file(ctx, s, path.Join(folder, skillFile), e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// misspelt reports a file skill.md in lower case, if it exists in place of the missing SKILL.md.
func (r *reader) misspelt(ctx context.Context, s Source, missing string) {
	name := path.Join(path.Dir(missing), "skill.md")
	if _, _, err := s.Files.Peek(ctx, name, frontmatter.MaxFile); err == nil {
		r.skip(name, "the file must be named "+skillFile)
	}
}

// tree reads the files in and below a folder, with prefix before their names.
func (r *reader) tree(ctx context.Context, s Source, dir, prefix string, depth int) error {
	real, entries, err := r.list(ctx, s, dir)
	if err != nil || real == "" {
		return err
	}
	if at := real + "/"; r.seen[at] != "" {
		return nil // a loop of links, or a second link
	}
	r.seen[real+"/"] = dir
	if r.kind == Agent {
		r.foreign(dir, entries)
	}
	for _, e := range entries {
		name, ours := strings.CutSuffix(e.Name(), r.kind.suffix())
		at := path.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case path.Base(path.Dir(dir)) == codex: // agents of Codex are TOML
		case ours && !e.IsDir():
			err = r.file(ctx, s, at, prefix+name)
		case !e.IsDir() && e.Type()&fs.ModeSymlink == 0:
		case depth == maxDepth:
			r.skip(at, fmt.Sprintf("buddy reads folders only %d levels deep", maxDepth))
		default:
			err = r.tree(ctx, s, at, prefix+e.Name()+":", depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// foreign reports the agent definitions for Codex in a folder.
func (r *reader) foreign(dir string, entries []fs.DirEntry) {
	var names []string
	for _, e := range entries {
		if path.Ext(e.Name()) == ".toml" && !e.IsDir() {
			names = append(names, clip(e.Name()))
		}
	}
	if len(names) > 0 {
		r.skip(dir, "buddy doesn't read agents in TOML: "+texts.Some(names))
	}
}

// file reads one file.
func (r *reader) file(ctx context.Context, s Source, name, called string) error {
	real, data, err := s.Files.Peek(ctx, name, r.kind.max())
	if called = normal(called); s.Prefix != "" {
		called = s.Prefix + ":" + called
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		if path.Base(name) == skillFile {
			r.misspelt(ctx, s, name)
		}
		return nil
	case err != nil:
		r.skip(name, cause(err))
		return nil
	case outside(s, real):
		r.skip(name, "the link points outside "+s.Inside)
		return nil
	case r.seen[real] != "":
		return nil // the same file under another path
	case len(r.found.Items) == maxItems:
		r.skip(name, fmt.Sprintf("there are more than %d %s", maxItems, r.kind))
		return nil
	}
	r.seen[real] = name
	if why := r.kind.wrongName(called); why != "" {
		r.skip(name, why)
		return nil
	}
	block, ok := r.parse(name, data)
	if !ok {
		return nil
	}
	if w := block.Warning; w != nil {
		r.found.Problems = append(r.found.Problems, Problem{Kind: r.kind, File: name, Line: w.Line, Reason: w.Reason, Used: true})
	}
	sum := sha256.Sum256(data)
	item := Item{Kind: r.kind, Name: called, Origin: s.Origin, File: real, Sum: hex.EncodeToString(sum[:]), Source: string(data), Base: r.base, Block: block}
	item.Part = r.part(called)
	if r.kind == Skill {
		item.Dir = path.Dir(real)
		item.Unlisted = r.unlisted(ctx, s, item.Dir)
	}
	r.found.Items = append(r.found.Items, item)
	return nil
}

// parse parses the text of a file, and reports a problem if it can't be used.
func (r *reader) parse(name string, data []byte) (block frontmatter.Block, ok bool) {
	block, err := r.kind.parse(data)
	if err == nil {
		err = r.kind.lostLimit(block)
	}
	if err == nil && strings.TrimSpace(block.Body) == "" {
		err = errors.New("the file has no text")
	}
	if limit, lost := errors.AsType[*frontmatter.LimitError](err); lost {
		r.found.Problems = append(r.found.Problems, Problem{Kind: r.kind, File: name, Line: limit.Line, Reason: limit.Reason, Limits: true})
	} else if err != nil {
		r.skip(name, err.Error())
	}
	return block, err == nil
}

// unlisted reports whether agents/openai.yaml in a skill's folder prevents models from loading the skill on their
// own.
func (r *reader) unlisted(ctx context.Context, s Source, dir string) bool {
	if s.Origin == BuiltIn {
		return false
	}
	name := path.Join(dir, "agents", "openai.yaml")
	real, data, err := s.Files.Peek(ctx, name, frontmatter.MaxBlock)
	switch {
	case errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil: // the next read reports it
		return false
	case err == nil && outside(s, real):
		err = errors.New("the link points outside " + s.Inside)
	}
	var block frontmatter.Block
	if err == nil {
		r.found.Dirs = append(r.found.Dirs, path.Dir(name))
		block, err = frontmatter.Settings(data)
	}
	if err != nil {
		r.skip(name, cause(err)+"; until you fix it, models can't load the skill by themselves")
	}
	return err != nil || !block.Within("policy").Bool("allow_implicit_invocation", true)
}

// part returns a name that is unique among the items of a folder, so that trust in one of them does not count for
// others: the item's name, or NAME#2 for the second one.
func (r *reader) part(called string) string {
	n := 1
	for _, it := range r.found.Items {
		if it.Base == r.base && it.Name == called {
			n++
		}
	}
	if n > 1 {
		return fmt.Sprintf("%s#%d", called, n)
	}
	return called
}

func (r *reader) skip(file, why string) {
	r.found.Problems = append(r.found.Problems, Problem{Kind: r.kind, File: file, Reason: why})
}

// cause returns the text of an error without the file name, which the problem contains anyway.
func cause(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return err.Error()
}

// outside reports whether a file is outside the project.
func outside(s Source, real string) bool {
	return s.Inside != "" && s.Inside != "/" && real != s.Inside && !strings.HasPrefix(real, s.Inside+"/")
}
