// Package extensions finds the files with which a person, a project and buddy itself extend what
// an agent can do: skills, commands, subagents, output styles. It says where they lie, which name each one
// has, and which were left out and why.
//
//	found, err := extensions.Read(ctx, extensions.Skill, mine, theirs)
//	items, problems := extensions.Resolve(found.Items, reserved)
//
// The files may be hostile, and may lie on another machine: links out of a project, files of
// other users, what is no regular file and what is too long are left out, and everything that is
// read is bounded.
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
	maxItems   = 2000 // files of a kind
	maxEntries = 2000 // names in a folder
	maxDepth   = 4    // folders in folders of commands
	maxName    = 64   // characters of a name, of each part of a command's
)

// MaxWorkflow limits the file of a workflow, in bytes.
const MaxWorkflow = 64 << 10

// Kind is a kind of extensions. Its value is the name of the folder that holds them.
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

// One returns what one of the kind is called.
func (k Kind) One() string {
	if k == Style {
		return "style"
	}
	return strings.TrimSuffix(string(k), "s")
}

// suffix returns the end that the names of files of the kind have.
func (k Kind) suffix() string {
	if k == Workflow {
		return ".yaml"
	}
	return ".md"
}

// parse reads a file of the kind. That of a workflow is all text here.
func (k Kind) parse(data []byte) (frontmatter.Block, error) {
	if k != Workflow {
		return frontmatter.Parse(data)
	}
	return frontmatter.Block{Body: string(data), Line: 1}, nil
}

// max returns how long a file of the kind may be, in bytes.
func (k Kind) max() int64 {
	if k == Workflow {
		return MaxWorkflow
	}
	return frontmatter.MaxFile
}

// Origin names the source of an extension.
type Origin string

// The origins, in the order in which they get a name that several have.
const (
	Person  Origin = "person"
	Project Origin = "project"
	Plugin  Origin = "plugin"
	BuiltIn Origin = "built-in"
)

var rank = map[Origin]int{Person: 0, Project: 1, Plugin: 2, BuiltIn: 3}

// Files reads files, on this machine, on a target or in the program.
type Files interface {
	// Peek returns the content of a regular file of at most max bytes, and its path without
	// symbolic links. For a missing file the error is fs.ErrNotExist.
	Peek(ctx context.Context, path string, max int64) (real string, data []byte, err error)
	// List returns the entries of a folder, at most max, and its path without symbolic links. For
	// a missing folder the error is fs.ErrNotExist.
	List(ctx context.Context, dir string, max int) (real string, entries []fs.DirEntry, err error)
}

// Source names folders to search. Each of them holds one folder for each kind.
type Source struct {
	Origin Origin
	Files  Files
	Dirs   []string // the one that takes precedence first
	Inside string   // real path of the folder that a project's files must be in; "" is anywhere
	// Prefix stands before each name, with a colon: that of a plugin.
	Prefix string
	// Roots are folders, or files, of a kind instead of those in Dirs.
	Roots map[Kind][]string
}

// roots returns where files of a kind are.
func (s Source) roots(k Kind) []string {
	all := s.Roots[k]
	for _, dir := range s.Dirs {
		if holds(dir, k) {
			all = append(all, path.Join(dir, string(k)))
		}
	}
	return all
}

// PersonDirs returns the folders of a person: of buddy's settings, and of other agents.
func PersonDirs(config, home string) []string {
	if home == "" {
		return []string{config}
	}
	return []string{config, path.Join(home, ".agents"), path.Join(home, ".claude"), path.Join(home, codex)}
}

// ProjectDirs returns the folders of a project, of which chain lists the folders from its root
// down to where the work is.
func ProjectDirs(chain []string) []string {
	var dirs []string
	for _, dir := range slices.Backward(chain) {
		for _, name := range append(slices.Clip(Holders), codex) {
			dirs = append(dirs, path.Join(dir, name))
		}
	}
	return dirs
}

// SkillFolders returns the folders of a project's folder in which skills lie.
func SkillFolders(dir string) []string {
	var all []string
	for _, name := range Holders {
		all = append(all, path.Join(dir, name, string(Skill)))
	}
	return all
}

// Holders are the names of the folders in a project that hold extensions.
var Holders = []string{".buddy", ".agents", ".claude"}

// codex is the folder of Codex, in which there may be agents.
const codex = ".codex"

// holds reports whether files of a kind are looked for in a folder: of .agents only skills are
// known, of .codex only agents, and workflows are buddy's own.
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

// Item is an extension that was found.
type Item struct {
	Kind   Kind
	Name   string // what it is called by; see Resolve
	Origin Origin
	File   string // its real path
	Dir    string // of a skill: the folder that belongs to it
	Sum    string // SHA-256 of the file, in hex
	Source string // all of the file
	Base   string // of a project's: the folder that holds .buddy, .agents or .claude
	Part   string // unique among those of its kind in Base: the name, or NAME#2 for the second with it
	// Unlisted means that no model is to be told of a skill: the file that Codex reads beside it says so.
	Unlisted bool
	frontmatter.Block
}

// Problem is a file that was left out, or that could be read in part only.
type Problem struct {
	Kind   Kind
	File   string
	Line   int // 0 is the whole file
	Reason string
	Used   bool // it is used all the same
	// Limits means that the file limits something in a way that is not understood: a person has to know that
	// it is out.
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
	Dirs     []string // that were read, or do not exist yet: a change in them may change the result
}

// Read finds the extensions of a kind, those that take precedence first, each with the name that
// its path gives it. An error says that files of a source could not be read at all.
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

// skillFile is the file that makes a folder a skill.
const skillFile = "SKILL.md"

type reader struct {
	kind  Kind
	base  string // the folder of which something is read
	found Found
	seen  map[string]string // real paths, to the first name
}

// root reads the folder of a kind. Its error means that nothing can be read any more.
func (r *reader) root(ctx context.Context, s Source, dir string) error {
	if name, one := strings.CutSuffix(path.Base(dir), r.kind.suffix()); one {
		return r.file(ctx, s, dir, name)
	}
	if r.kind == Skill {
		return r.skills(ctx, s, dir)
	}
	return r.tree(ctx, s, dir, "", 0)
}

// list returns the entries of a folder, none if it can't be read or is outside of the project.
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

// skills reads the skills of a folder: the folders in it that have a SKILL.md.
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

// misspelt names the file beside a missing SKILL.md that has its name in small letters.
func (r *reader) misspelt(ctx context.Context, s Source, missing string) {
	name := path.Join(path.Dir(missing), "skill.md")
	if _, _, err := s.Files.Peek(ctx, name, frontmatter.MaxFile); err == nil {
		r.skip(name, "the file must be named "+skillFile)
	}
}

// tree reads the files of a folder and those below it, whose names begin with prefix.
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
		case path.Base(path.Dir(dir)) == codex: // whose agents are TOML
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

// foreign names the definitions of agents in a folder that are written for Codex.
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
		return nil // the same file by another way
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

// parse reads the text of a file, and names one that can't be used.
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

// unlisted reports whether agents/openai.yaml in the folder of a skill keeps models from loading it by themselves.
func (r *reader) unlisted(ctx context.Context, s Source, dir string) bool {
	if s.Origin == BuiltIn {
		return false
	}
	name := path.Join(dir, "agents", "openai.yaml")
	real, data, err := s.Files.Peek(ctx, name, frontmatter.MaxBlock)
	switch {
	case errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil: // which the next reading says
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

// part returns the name under which an item of the folder is trusted.
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

// cause strips what names the file, which a problem names itself.
func cause(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return err.Error()
}

// outside reports whether a file of a project is not in it.
func outside(s Source, real string) bool {
	return s.Inside != "" && s.Inside != "/" && real != s.Inside && !strings.HasPrefix(real, s.Inside+"/")
}
