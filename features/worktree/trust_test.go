package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"buddy/config"
)

// The trust of the main checkout holds in buddy's worktrees while the trusted files are equal, and nowhere else: not in a
// folder that only claims to be a worktree of the same repository.
func TestTrustOfTheMainCheckout(t *testing.T) {
	repo := world(t)
	write(t, filepath.Join(repo, "buddy.toml"), "[worktree]\nsetup = \"true\"\n")
	run(t, repo, "add", ".")
	run(t, repo, "commit", "-qm", "settings")
	tree := enter(t, repo, "one")
	claims := filepath.Join(filepath.Dir(repo), "claims")
	run(t, repo, "worktree", "add", "-q", "-b", "claims", claims)
	alone := config.NewTrustStore(t.TempDir())
	shared := alone
	shared.Main = MainOf
	trusted := func(s config.TrustStore, dir string, want bool) {
		t.Helper()
		print, err := config.Fingerprint(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := s.Trusted(dir, print); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", dir, got, err, want)
		}
	}
	trusted(shared, tree.Dir(), false)
	print, err := config.Fingerprint(repo)
	if err != nil {
		t.Fatal(err)
	}
	if err := alone.Trust(repo, print); err != nil {
		t.Fatal(err)
	}
	trusted(shared, repo, true)
	trusted(shared, tree.Dir(), true)
	trusted(alone, tree.Dir(), false) // the control: the trust comes from the main checkout
	trusted(shared, claims, false)
	if err := os.Rename(claims, filepath.Join(tree.folder, "claims")); err != nil { // where buddy's worktrees are, without its record
		t.Fatal(err)
	}
	trusted(shared, filepath.Join(tree.folder, "claims"), false)
	write(t, filepath.Join(tree.Dir(), "buddy.toml"), "[worktree]\nsetup = \"touch other\"\n")
	trusted(shared, tree.Dir(), false)
}
