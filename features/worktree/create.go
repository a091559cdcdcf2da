package worktree

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"buddy/texts"
)

// Request describes a worktree to work in.
type Request struct {
	Name    string                        // "" makes one up
	Prompt  string                        // whose first words may become the name
	Setup   string                        // a command that runs once in a new worktree; "" is none
	Environ []string                      // environment of Setup
	Trusted func(main string) bool        // whether the person trusts the main checkout; nil trusts none
	Say     func(format string, a ...any) // shows progress; nil is silent
}

// Enter returns the worktree with the requested name for the repository around dir, and the folder in it that
// corresponds to dir. It makes the worktree if there is none. The caller releases the lock once the session holds its
// own.
func Enter(ctx context.Context, dir string, q Request) (t *Tree, within string, err error) {
	if q.Name != "" {
		if err := CheckName(q.Name); err != nil {
			return nil, "", err
		}
	}
	if q.Say == nil {
		q.Say = func(string, ...any) {}
	}
	r, err := find(ctx, dir, q.Trusted)
	if err == nil {
		err = r.claim()
	}
	if err != nil {
		return nil, "", err
	}
	if q.Name == "" {
		t, err = r.madeUp(ctx, q)
	} else {
		t, err = r.named(ctx, q.Name, q)
	}
	if err != nil {
		t.Release()
		return nil, "", err
	}
	rel, err := filepath.Rel(r.top, texts.RealPath(dir))
	if err != nil || !filepath.IsLocal(rel) {
		rel = "."
	}
	within = filepath.Join(t.Dir(), rel)
	if info, err := os.Stat(within); err != nil || !info.IsDir() { // it is not in the commit
		within = t.Dir()
	}
	return t, within, nil
}

// maxMadeUp limits the names that are tried.
const maxMadeUp = 100

// madeUp makes a worktree with a made-up name: the prompt's first words, or two random words.
func (r *repository) madeUp(ctx context.Context, q Request) (*Tree, error) {
	base := slug(q.Prompt)
	for i := range maxMadeUp {
		name := base
		switch {
		case base == "":
			name = firstWords[rand.IntN(len(firstWords))] + "-" + secondWords[rand.IntN(len(secondWords))]
		case i > 0:
			name = fmt.Sprintf("%s-%d", base, i+1)
		}
		t := &Tree{Name: name, folder: r.folder}
		if exists(t.Dir()) || exists(t.file(".json")) {
			continue
		}
		err := t.hold(syscall.LOCK_EX | syscall.LOCK_NB)
		if errors.Is(err, errBusy) || err == nil && (exists(t.Dir()) || exists(t.file(".json"))) {
			t.Release()
			continue
		}
		if err == nil {
			err = r.create(ctx, t, q)
		}
		return t, err
	}
	return nil, fmt.Errorf("all worktree names that buddy tried are taken; choose one: --worktree NAME")
}

var (
	firstWords  = strings.Fields("amber brisk calm clear cosy crisp early fair fine fresh gentle glad golden keen light lucky neat plain quick quiet sharp silver swift warm")
	secondWords = strings.Fields("ash bay birch brook cedar cliff cove dune elm field fjord glade grove harbor hill lake maple meadow oak pine reef river stone valley")
)

const maxSlugWords, maxSlug = 4, 32

// slug returns the first words of a prompt as a name, "" if it has none.
func slug(prompt string) string {
	words := strings.FieldsFunc(strings.ToLower(texts.ClipBytes(prompt, 400)), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	name := ""
	for _, w := range words[:min(len(words), maxSlugWords)] {
		if len(name)+len(w) >= maxSlug {
			break
		}
		name = strings.TrimPrefix(name+"-"+w, "-")
	}
	return name
}

// named returns the worktree with a name, and makes it if there is none.
func (r *repository) named(ctx context.Context, name string, q Request) (*Tree, error) {
	t := &Tree{Name: name, folder: r.folder}
	for {
		if err := t.hold(syscall.LOCK_SH); err != nil {
			return t, err
		}
		if before := open(r.folder, name); before != nil && before.Ready && before.Main == r.main && exists(filepath.Join(t.Dir(), ".git")) {
			before.lock = t.lock
			return before, nil
		}
		t.Release()
		if err := t.hold(syscall.LOCK_EX); err != nil {
			return t, err
		}
		before := open(r.folder, name)
		switch {
		case before != nil && before.Ready && before.Main == r.main && exists(filepath.Join(t.Dir(), ".git")):
			t.Release() // another process has just made it
			continue
		case before != nil:
			t.note = before.note
			t.Main = r.main
			err := r.mend(ctx, t, q)
			return t, err
		case exists(t.Dir()):
			return t, fmt.Errorf("the folder %s exists, but buddy did not make it as a worktree; choose another name", t.Dir())
		}
		return t, r.create(ctx, t, q)
	}
}

// create makes a new worktree. The caller holds the exclusive lock, which becomes a shared one.
func (r *repository) create(ctx context.Context, t *Tree, q Request) error {
	base, into, err := r.head(ctx)
	if err != nil {
		_ = os.Remove(t.file(".lock"))
		return err
	}
	t.note = note{Main: r.main, Base: base, Into: into, Made: time.Now().UTC().Truncate(time.Second)}
	for i := 1; ; i++ {
		if t.Branch = "buddy/" + t.Name; i > 1 {
			t.Branch = fmt.Sprintf("buddy/%s-%d", t.Name, i)
		}
		if r.git.ok(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+t.Branch) && i < maxMadeUp {
			continue
		}
		if err := t.save(); err != nil { // before the worktree, so that a killed process leaves no unlisted worktree
			return err
		}
		q.Say("making the worktree %s (branch %s)", t.Name, t.Branch)
		_, err := r.git.run(ctx, "worktree", "add", "--quiet", "--no-track", "-b", t.Branch, "--", t.Dir(), base)
		if err == nil {
			return r.complete(ctx, t, q)
		}
		if i < maxMadeUp && strings.Contains(err.Error(), "already exists") && !exists(t.Dir()) {
			continue // another process was faster
		}
		if !exists(t.Dir()) {
			_ = t.forget() // nothing was made
		}
		return fmt.Errorf("the worktree %s can't be made: %w", t.Name, err)
	}
}

// mend completes a worktree whose making was interrupted, whose folder was deleted, or whose main checkout was moved.
func (r *repository) mend(ctx context.Context, t *Tree, q Request) error {
	switch {
	case !exists(t.Dir()):
		_, _ = r.git.run(ctx, "worktree", "prune") // forgets worktrees whose folder is gone
		if !r.git.ok(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+t.Branch) {
			return r.create(ctx, t, q)
		}
		t.Ready, t.Put = false, nil
		if err := t.save(); err != nil {
			return err
		}
		if _, err := r.git.run(ctx, "worktree", "add", "--quiet", "--", t.Dir(), t.Branch); err != nil {
			return fmt.Errorf("the worktree %s can't be made again on its branch %s: %w", t.Name, t.Branch, err)
		}
		t.Unsaid = append(t.Unsaid, fmt.Sprintf("The folder of the worktree %s was gone. buddy made it again on the branch %s.", t.Name, t.Branch))
		return r.complete(ctx, t, q)
	case t.Ready: // the main checkout is at another path now
		if _, err := r.git.run(ctx, "worktree", "repair", t.Dir()); err != nil {
			return fmt.Errorf("the worktree %s no longer belongs to %s: %w", t.Name, r.main, err)
		}
		return r.share(t)
	}
	if _, err := r.git.run(ctx, "worktree", "repair", t.Dir()); err != nil {
		return fmt.Errorf("the worktree %s was not completed, and git can't repair it: %w", t.Name, err)
	}
	_, _ = r.git.run(ctx, "worktree", "unlock", t.Dir()) // git locks a worktree while it makes it
	there := r.git.in(t.Dir())
	if !r.git.ok(ctx, "cat-file", "-e", t.Branch) {
		return fmt.Errorf("the worktree %s was not completed; to start over, run: buddy worktrees remove %s", t.Name, t.Name)
	}
	_, err := there.run(ctx, "reset", "--quiet")
	if err == nil {
		_, err = there.run(ctx, "checkout-index", "--all", "--quiet", "-u")
	}
	if err != nil && !strings.Contains(err.Error(), "already exists") {
		return fmt.Errorf("the worktree %s was not completed: %w", t.Name, err)
	}
	return r.complete(ctx, t, q)
}

// complete copies the files that .worktreeinclude lists to a new worktree, runs its setup, and marks it as ready.
func (r *repository) complete(ctx context.Context, t *Tree, q Request) error {
	_ = os.Chmod(t.Dir(), 0o700)
	t.git = r.git.in(t.Dir())
	notes, err := r.include(ctx, t)
	if err != nil {
		notes = append(notes, fmt.Sprintf("Files of .worktreeinclude were not copied: %v", err))
	}
	if subs := t.submodules(ctx); len(subs) > 0 {
		notes = append(notes, fmt.Sprintf("Submodules are empty in the worktree (%s). To fill them: git submodule update --init --recursive", texts.Some(subs)))
	}
	if q.Setup != "" {
		q.Say("running [worktree] setup: %s", texts.Clip(texts.OneLine(q.Setup), 200))
		if said := setup(ctx, t.Dir(), q); said != "" {
			notes = append(notes, said)
		}
	}
	if t.Put, err = t.ignored(ctx); err != nil {
		t.Put = nil
	}
	t.Unsaid = append(t.Unsaid, notes...)
	return r.share(t)
}

// share marks a worktree as ready and turns the exclusive lock into a shared one.
func (r *repository) share(t *Tree) error {
	t.Ready, t.git = true, r.git.in(t.Dir())
	if err := t.save(); err != nil {
		return err
	}
	return t.hold(syscall.LOCK_SH)
}

// submodules returns the paths of the submodules in a worktree's commit.
func (t *Tree) submodules(ctx context.Context) (all []string) {
	lines, _ := t.git.list(ctx, "ls-files", "--stage", "-z")
	for _, l := range lines {
		if what, path, ok := strings.Cut(l, "\t"); ok && strings.HasPrefix(what, "160000 ") {
			all = append(all, path)
		}
	}
	return all
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
