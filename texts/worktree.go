package texts

import "strings"

// worktrees is the folder below the user's data folder in which buddy makes git worktrees: REPOSITORY/NAME.
const worktrees = "/buddy/worktrees/"

// Worktree returns a short label for a folder in a git worktree that buddy made, such as "shop/web (worktree fix-tax)";
// "" for other folders. It reads only the path.
func Worktree(dir string) string {
	i := strings.LastIndex(dir, worktrees)
	if i < 0 {
		return ""
	}
	parts := strings.SplitN(strings.Trim(dir[i+len(worktrees):], "/"), "/", 3)
	if len(parts) < 2 || parts[0] == "" {
		return ""
	}
	label := parts[0]
	if len(parts) == 3 {
		label += "/" + parts[2]
	}
	return label + " (worktree " + parts[1] + ")"
}
