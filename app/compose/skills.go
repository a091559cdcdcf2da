package compose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/event"
	"buddy/agent/instructions"
	"buddy/agent/policy"
	"buddy/agent/skills"
	"buddy/app/slash"
	"buddy/config"
	"buddy/extensions"
	"buddy/extensions/skill"
	"buddy/extensions/subagent"
	"buddy/tools/file"
)

// extensionFiles reads the extensions of a session: the person's on this machine, the project's
// where the session works, and those in the program.
type extensionFiles struct {
	there *file.Workspace // of the target where the session begins; nil reads no project
	local bool            // that target is this machine
	// plugins returns the texts of plugins, and of which of them the person trusts all; nil reads none.
	plugins func() (texts []extensions.Source, acts map[string]bool, err error)

	mu    sync.Mutex      // guards what follows
	acts  map[string]bool // whether a plugin may act
	dirs  []string        // of this machine whose changes may change what was read
	began time.Time       // when the latest reading did
	below []string        // folders below the working directory that hold skills, sorted

	read chan struct{} // gets a value after each reading
}

func newExtensionFiles(there *file.Workspace, local bool) *extensionFiles {
	return &extensionFiles{there: there, local: local, read: make(chan struct{}, 1)}
}

// sources returns where extensions are. An error means that the target can't be read.
func (x *extensionFiles) sources(ctx context.Context) ([]extensions.Source, error) {
	all := []extensions.Source{extensions.BuiltInSource()}
	if mine, ok := personExtensions(); ok {
		all = append(all, mine)
	}
	if x.plugins != nil {
		texts, acts, err := x.plugins()
		if err != nil {
			return all, err
		}
		all = append(all, texts...)
		x.mu.Lock()
		x.acts = acts
		x.mu.Unlock()
	}
	if x.there == nil {
		return all, nil
	}
	_, err := x.there.Home(ctx) // finds the root of a target, too
	if err != nil {
		return all, err
	}
	chain, err := instructions.Chain(ctx, x.there, x.there.Root())
	if err != nil {
		return all, err
	}
	project := extensions.Source{Origin: extensions.Project, Files: x.there, Dirs: extensions.ProjectDirs(chain), Inside: chain[0]}
	return append(all, project, x.nested(chain[0])), nil
}

// nested returns the source of the skills that lie below the working directory, as far as they were found.
// They come after those of the project, so that no name means something else when a file is read.
func (x *extensionFiles) nested(inside string) extensions.Source {
	x.mu.Lock()
	defer x.mu.Unlock()
	var roots []string
	for _, dir := range x.below {
		roots = append(roots, extensions.SkillFolders(dir)...)
	}
	return extensions.Source{Origin: extensions.Project, Files: x.there, Inside: inside, Roots: map[extensions.Kind][]string{extensions.Skill: roots}}
}

// lookBelow notes which of some folders below the working directory hold skills, and reports
// whether there is one that was not known.
func (x *extensionFiles) lookBelow(ctx context.Context, dirs []string) (found bool, err error) {
	for _, dir := range dirs {
		for _, folder := range extensions.SkillFolders(dir) {
			there, err := x.there.Exists(ctx, folder)
			if err != nil {
				return found, err
			}
			found = there && x.keepBelow(dir) || found
		}
	}
	return found, nil
}

// isFile reports whether a path that a text names leads to something where the session works.
func (x *extensionFiles) isFile(ctx context.Context, name string) bool {
	if x.there == nil {
		return false
	}
	home, err := x.there.Home(ctx) // finds the root of a target, too
	switch rest, ok := strings.CutPrefix(name, "~/"); {
	case err != nil || ok && home == "":
		return false
	case ok:
		name = path.Join(home, rest)
	case !path.IsAbs(name):
		name = path.Join(x.there.Root(), name)
	}
	there, err := x.there.Exists(ctx, name)
	return there && err == nil
}

// keepBelow notes a folder and reports whether it is new.
func (x *extensionFiles) keepBelow(dir string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	i, known := slices.BinarySearch(x.below, dir)
	if !known {
		x.below = slices.Insert(x.below, i, dir)
	}
	return !known
}

// personExtensions returns the source of a person's extensions; ok is false without a home.
func personExtensions() (extensions.Source, bool) {
	home, err := os.UserHomeDir()
	if err != nil {
		return extensions.Source{}, false
	}
	files, err := file.NewWorkspace(home, policy.Secret)
	if err != nil {
		return extensions.Source{}, false
	}
	file.RefuseForeign(files)
	return extensions.Source{Origin: extensions.Person, Files: files, Dirs: extensions.PersonDirs(filepath.Join(xdg.ConfigHome, "buddy"), home)}, true
}

// find reads the extensions of some kinds, and gives them their names.
func (x *extensionFiles) find(ctx context.Context, reserved func(string) bool, kinds ...extensions.Kind) ([]extensions.Item, []extensions.Problem, error) {
	began := time.Now()
	items, problems, dirs, failed := x.readKinds(ctx, kinds...)
	if slices.Contains(kinds, extensions.Skill) { // what concerns agents is said with them
		_, _, more, _ := x.readKinds(ctx, extensions.Agent)
		dirs = append(dirs, more...)
	}
	x.mu.Lock()
	x.dirs, x.began = dirs, began
	x.mu.Unlock()
	select {
	case x.read <- struct{}{}:
	default:
	}
	items, clashes := extensions.Resolve(once(items), reserved)
	return items, append(problems, clashes...), failed
}

// findAgents reads the definitions of subagents, which have no names yet.
func (x *extensionFiles) findAgents(ctx context.Context) ([]extensions.Item, []extensions.Problem, error) {
	items, problems, _, err := x.readKinds(ctx, extensions.Agent)
	return once(items), problems, err
}

// readKinds reads the extensions of some kinds, and returns the folders of this machine whose changes
// may change that.
func (x *extensionFiles) readKinds(ctx context.Context, kinds ...extensions.Kind) (items []extensions.Item, problems []extensions.Problem, dirs []string, failed error) {
	sources, failed := x.sources(ctx)
	for _, kind := range kinds {
		for _, s := range sources {
			found, err := extensions.Read(ctx, kind, s)
			failed = errors.Join(failed, err)
			items, problems = append(items, found.Items...), append(problems, found.Problems...)
			if s.Origin == extensions.Person || s.Origin == extensions.Plugin || s.Origin == extensions.Project && x.local {
				dirs = append(dirs, found.Dirs...)
			}
		}
	}
	return items, problems, dirs, failed
}

// once returns the items without those that another source, which comes first in the order of
// names, has as well: a project in the person's home has the person's files.
func once(items []extensions.Item) []extensions.Item {
	person := make(map[string]bool)
	for _, it := range items {
		if it.Origin == extensions.Person {
			person[it.File] = true
		}
	}
	return slices.DeleteFunc(items, func(it extensions.Item) bool { return it.Origin == extensions.Project && person[it.File] })
}

// isCommand reports whether a name is one of buddy's own commands.
func isCommand(name string) bool {
	if name == "review" { // models load the skill by this name; who types it gets the command all the same
		return false
	}
	_, ok := slash.Find(name)
	_, alias := slash.Aliases[name]
	return ok || alias
}

// skillOptions returns how the session finds its skills.
func (p *Program) skillOptions() skills.Options {
	o := skills.Options{Read: p.readSkills, Below: p.files.lookBelow, IsFile: p.files.isFile, Off: p.Config.Skills.Off, Fill: skill.Facts{Project: p.Env.Dir, Session: p.ID}}
	if !p.files.local {
		o.NoCommands = "the project is on " + p.Dest.Name
	}
	return o
}

// readSkills reads the skills and the custom commands.
func (p *Program) readSkills(ctx context.Context) (skills.Set, error) {
	items, problems, err := p.files.find(ctx, isCommand, extensions.Skill, extensions.Command)
	set := skills.Set{Problems: problems}
	for _, it := range items {
		s := skill.New(it)
		set.Skills, set.Problems = append(set.Skills, s), append(set.Problems, unfollowed(s)...)
	}
	p.files.letPluginsAct(set.Skills)
	if p.files.local {
		err = errors.Join(err, trustSkills(set.Skills))
	}
	return set, err
}

// unfollowed says which settings of a skill do not do what they say.
func unfollowed(s skill.Skill) (all []extensions.Problem) {
	say := func(format string, args ...any) {
		all = append(all, extensions.Problem{Kind: s.Kind, File: s.File, Reason: fmt.Sprintf(format, args...), Used: true})
	}
	if wrong := s.WrongPaths(); len(wrong) > 0 {
		say("paths has no pattern of files: %s", strings.Join(wrong, ", "))
	}
	return all
}

// Commands returns the skills and custom commands that the person may call, once they are read;
// none before the session is there.
func (p *Program) Commands(ctx context.Context) []event.CustomCommand {
	rt := p.Live.runtime()
	if rt == nil {
		return nil
	}
	return rt.Commands(ctx)
}

// letPluginsAct lets the skills of plugins act that the person trusts.
func (x *extensionFiles) letPluginsAct(all []skill.Skill) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, s := range all {
		if plugin, _, ok := strings.Cut(s.Name, ":"); ok && s.Origin == extensions.Plugin {
			all[i].Acts = x.acts[plugin]
		}
	}
}

// trustSkills lets the skills of a project act that the person has trusted as they are.
func trustSkills(all []skill.Skill) error {
	var failed error
	for i := range all {
		part, ok := skillPart(all[i])
		if !ok {
			continue
		}
		var err error
		all[i].Acts, all[i].Changed, err = TrustStore().PartTrusted(all[i].Base, part)
		failed = errors.Join(failed, err)
	}
	return failed
}

// skillPart returns what a person has to trust before a skill of a project may act, and whether
// there is anything.
func skillPart(s skill.Skill) (config.Part, bool) {
	if s.Origin != extensions.Project || !s.WantsTrust() {
		return config.Part{}, false
	}
	return config.Part{Kind: s.Kind.One(), Name: s.Part, Definition: s.Source, Files: config.FilesNamed(s.Base, s.CommandLines()...)}, true
}

// extensionParts are the skills, commands and styles of a folder that run or grant something.
func extensionParts(dir string) (found FoundParts) {
	there, err := file.NewWorkspace(dir, policy.Secret)
	if err != nil {
		found.leaveOut(dir, "%v", err)
		return found
	}
	ctx, cancel := context.WithTimeout(context.Background(), styleTime)
	defer cancel()
	for _, kind := range []extensions.Kind{extensions.Skill, extensions.Command, extensions.Style} {
		all, err := extensions.Read(ctx, kind, extensions.Source{Origin: extensions.Project, Files: there, Dirs: extensions.ProjectDirs([]string{dir}), Inside: dir})
		if err != nil {
			found.leaveOut(dir, "%v", err)
		}
		for _, it := range all.Items {
			if p, ok := extensionPart(it); ok {
				found.Parts = append(found.Parts, p)
			}
		}
	}
	return found
}

// extensionPart returns an extension as a part that has to be trusted, and whether it has to be.
func extensionPart(it extensions.Item) (ProjectPart, bool) {
	p := ProjectPart{File: strings.TrimPrefix(it.File, it.Base+"/")}
	if it.Kind == extensions.Style {
		p.Part, p.Runs, p.When = stylePart(it.Part, it.Source), "says how answers are written", "applies when you choose it as your style"
		return p, true
	}
	s := skill.New(it)
	part, ok := skillPart(s)
	if !ok {
		return p, false
	}
	p.Part, p.When = part, "applies when you call "+s.Call()+", or the model loads it"
	runs := s.CommandLines()
	if len(s.Allowed) > 0 {
		runs = append(runs, "allows until your next prompt: "+strings.Join(s.Allowed, ", "))
	}
	if s.Model != "" {
		runs = append(runs, "lets this model answer until your next prompt: "+s.Model)
	}
	p.Runs = strings.Join(runs, "\n")
	return p, true
}

// ExtensionCount says how many extensions there are on this machine, and what was left out.
type ExtensionCount struct {
	Skills, Agents, Styles int // skills with commands
	Problems               []extensions.Problem
}

// FindExtensions counts the extensions that a session in a folder of this machine would have.
func FindExtensions(ctx context.Context, dir string) (ExtensionCount, error) {
	there, err := file.NewWorkspace(dir, policy.Secret)
	if err != nil {
		return ExtensionCount{}, err
	}
	files := newExtensionFiles(there, true)
	items, problems, failed := files.find(ctx, isCommand, extensions.Skill, extensions.Command)
	for _, it := range items {
		s := skill.New(it)
		problems = append(problems, unfollowed(s)...)
		if s.Withheld != "" {
			problems = append(problems, extensions.Problem{Kind: s.Kind, File: s.File, Reason: "description withheld: " + s.Withheld, Used: true})
		}
	}
	agents, unread, err := files.findAgents(ctx)
	failed = errors.Join(failed, err)
	defs, left := subagent.All(agents)
	problems = slices.Concat(problems, unread, left)
	styles, wrong, err := stylesIn(ctx, dir, nil)
	return ExtensionCount{len(items), len(defs), len(styles), append(problems, wrong...)}, errors.Join(failed, err)
}
