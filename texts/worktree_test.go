package texts

import "testing"

func TestAFolderInAWorktreeIsNamedAfterItsRepository(t *testing.T) {
	for dir, want := range map[string]string{
		"/home/ann/.local/share/buddy/worktrees/shop/fix-tax":         "shop (worktree fix-tax)",
		"/home/ann/.local/share/buddy/worktrees/shop/fix-tax/web/src": "shop/web/src (worktree fix-tax)",
		"/home/ann/.local/share/buddy/worktrees/shop":                 "",
		"/home/ann/.local/share/buddy/worktrees":                      "",
		"/home/ann/shop":                                              "",
		"":                                                            "",
	} {
		if got := Worktree(dir); got != want {
			t.Errorf("Worktree(%q) = %q, want %q", dir, got, want)
		}
	}
}
