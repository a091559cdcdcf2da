package shell

// gitRow is a row of gitActs, the table of git commands' effects.
type gitRow struct {
	name string // the words of the subcommand
	// with lists words; the row applies if the command contains one of them, or always if with is "". Some words stand
	// for others: * for any operand, + and : for an operand that may start with that character, and x:y for an operand
	// after the first that may write to a branch or tag of this repository.
	with string
	less bool // the words in with weaken the effect of later rows: the flag must be certain and not abbreviated
	kind GitKind
	does string // continues a sentence about the command
	loss GitLoss
}

// gitActs lists the effects of git commands on history and uncommitted work, for each subcommand the worst first. The
// first row that applies to a command decides. Kind "" means no such effect, just as for a command without a row.
var gitActs = []gitRow{
	{name: "commit", with: "--amend", kind: GitRewrites, does: "replaces the last commit"},
	{name: "commit", kind: GitRecords, does: "creates a commit"},
	{name: "merge", with: "--abort", kind: GitLoses, does: "discards changes that are not committed", loss: LosesChanges},
	{name: "merge", kind: GitRecords, does: "merges, which creates a commit or moves the branch"},
	{name: "cherry-pick", with: "--abort --skip", kind: GitLoses, does: "discards changes that are not committed", loss: LosesChanges},
	{name: "cherry-pick", kind: GitRecords, does: "creates commits"},
	{name: "revert", with: "--abort --skip", kind: GitLoses, does: "discards changes that are not committed", loss: LosesChanges},
	{name: "revert", kind: GitRecords, does: "creates commits"},
	{name: "am", with: "--abort --skip", kind: GitLoses, does: "discards changes that are not committed", loss: LosesChanges},
	{name: "am", kind: GitRecords, does: "creates commits"},
	{name: "pull", with: "--upload-pack", kind: GitRuns, does: "may run a program named in its options"},
	{name: "pull", with: "+ x:y -f --force --refmap", kind: GitRewrites, does: "gets commits and moves branches in this repository"},
	{name: "pull", with: "-r --rebase", kind: GitRewrites, does: "gets commits and rewrites the branch's commits"},
	{name: "pull", kind: GitRecords, does: "gets commits and merges them"},
	{name: "tag", with: "-d --delete -f --force", kind: GitRewrites, does: "deletes or moves a tag"},
	{name: "tag", kind: GitRecords, does: "creates a tag"},
	{name: "bisect run", kind: GitRuns, does: "runs a program repeatedly"},
	{name: "bisect", kind: GitRecords, does: "checks out other commits"},
	{name: "stash drop", kind: GitLoses, does: "deletes a stash", loss: LosesStash},
	{name: "stash clear", kind: GitLoses, does: "deletes all stashes", loss: LosesStash},
	{name: "stash", kind: GitRecords, does: "stashes or restores changes"},

	{name: "push", with: "-f --force --force-with-lease --mirror -d --delete --prune + :", kind: GitReplaces, does: "replaces or deletes published commits"},
	{name: "push", with: "--receive-pack --exec", kind: GitRuns, does: "may run a program named in its options"},
	{name: "push", kind: GitPublishes, does: "publishes commits"},
	{name: "fetch", with: "--upload-pack", kind: GitRuns, does: "may run a program named in its options"},
	{name: "fetch", with: "+ x:y -f --force --refmap --stdin -P --prune-tags", kind: GitRewrites, does: "moves or deletes branches or tags in this repository"},
	{name: "clone", with: "-u --upload-pack -c --config --template", kind: GitRuns, does: "may run a program named in its options"},
	{name: "ls-remote", with: "--upload-pack --exec", kind: GitRuns, does: "may run a program named in its options"},
	{name: "archive", with: "--exec", kind: GitRuns, does: "may run a program named in its options"},
	{name: "remote"},
	{name: "send-pack", with: "--receive-pack --exec", kind: GitRuns, does: "may run a program named in its options"},
	{name: "send-pack", kind: GitReplaces, does: "may replace published commits"},
	{name: "lfs push", kind: GitPublishes, does: "publishes files"},

	{name: "rebase", with: "-x --exec", kind: GitRuns, does: "rewrites commits and runs a program for each"},
	{name: "rebase", with: "--abort --skip", kind: GitLoses, does: "discards changes that are not committed", loss: LosesChanges},
	{name: "rebase", kind: GitRewrites, does: "rewrites commits"},
	{name: "reset", with: "--hard --merge", kind: GitLoses, does: "discards changes that are not committed", loss: LosesChanges},
	{name: "reset", kind: GitRewrites, does: "moves the branch or unstages changes"},
	{name: "branch", with: "-D -f --force -M -C", kind: GitLoses, does: "drops the branch or its old position, with commits that may exist nowhere else", loss: LosesBranch},
	{name: "branch", with: "-d --delete", kind: GitRewrites, does: "deletes a branch"},
	{name: "update-ref", kind: GitRewrites, does: "moves or deletes a branch"},
	{name: "symbolic-ref", kind: GitRewrites, does: "changes which branch is checked out"},
	{name: "replace", kind: GitRewrites, does: "replaces commits"},
	{name: "filter-branch", kind: GitRuns, does: "rewrites commits and runs programs"},
	{name: "filter-repo", kind: GitRewrites, does: "rewrites all commits"},
	{name: "fast-import", kind: GitRewrites, does: "writes commits and moves branches"},
	{name: "reflog", kind: GitRewrites, does: "may delete the record of where branches were"},
	{name: "gc", with: "--prune", kind: GitRewrites, does: "deletes commits that no branch reaches"},
	{name: "prune", kind: GitRewrites, does: "deletes commits that no branch reaches"},

	{name: "checkout", with: "--", kind: GitLoses, does: "discards changes in files", loss: LosesPaths},
	{name: "checkout", with: "-f --force", kind: GitLoses, does: "discards changes that are not committed", loss: LosesChanges},
	{name: "checkout", with: "-B", kind: GitRewrites, does: "moves a branch and checks it out"},
	{name: "checkout", with: "-b --orphan --detach --track -t", less: true, kind: GitRecords, does: "changes the branch"},
	{name: "checkout", with: "* --pathspec-from-file", kind: GitLoses, does: "changes the branch, or discards changes in the named files", loss: LosesPaths},
	{name: "checkout", kind: GitRecords, does: "changes the branch"},
	{name: "switch", with: "-f --force --discard-changes", kind: GitLoses, does: "discards changes that are not committed", loss: LosesChanges},
	{name: "switch", with: "-C --force-create", kind: GitRewrites, does: "moves a branch and checks it out"},
	{name: "switch", kind: GitRecords, does: "changes the branch"},
	{name: "restore", with: "-W --worktree", kind: GitLoses, does: "discards changes in files", loss: LosesPaths},
	{name: "restore", with: "-S --staged", less: true, kind: GitRecords, does: "unstages changes"},
	{name: "restore", kind: GitLoses, does: "discards changes in files", loss: LosesPaths},
	{name: "clean", with: "-n --dry-run", less: true},
	{name: "clean", with: "-x", kind: GitLoses, does: "deletes files that are not in git, including ignored ones", loss: LosesIgnored},
	{name: "clean", with: "-X", kind: GitLoses, does: "deletes files that git ignores", loss: LosesOnlyIgnored},
	{name: "clean", kind: GitLoses, does: "deletes files that are not in git", loss: LosesUntracked},
	{name: "rm", with: "-f --force", kind: GitLoses, does: "deletes files with their changes", loss: LosesPaths},
	{name: "mv", with: "-f --force", kind: GitLoses, does: "overwrites a file", loss: LosesPaths},
	{name: "read-tree", kind: GitLoses, does: "may discard changes that are not committed", loss: LosesChanges},
	{name: "checkout-index", kind: GitLoses, does: "may discard changes that are not committed", loss: LosesChanges},
	{name: "worktree remove", with: "-f --force", kind: GitLoses, does: "deletes a worktree with its changes", loss: LosesWorktree},
	{name: "submodule foreach", kind: GitRuns, does: "runs a program in each submodule"},
	{name: "submodule update", with: "-f --force", kind: GitLoses, does: "discards changes in submodules", loss: LosesUnknown},
	{name: "submodule deinit", kind: GitLoses, does: "deletes the files of submodules", loss: LosesUnknown},
}

// gitValues lists flags of subcommands whose value may be the next word.
var gitValues = map[string]string{
	"commit": "-m -F -C -c -t --message --file --author --date --template --reuse-message --reedit-message --fixup --squash --trailer --cleanup",
	"merge":  "-m -F -s -X --file --strategy --strategy-option", "cherry-pick": "-m -s -X --mainline --strategy --strategy-option",
	"revert": "-m -s -X --mainline --strategy --strategy-option", "tag": "-m -F -u --message --file --local-user",
	"push": "-o --push-option --repo --receive-pack --exec", "rebase": "-s -X -C --onto --strategy --strategy-option",
	"pull": "-s -X -o --strategy --strategy-option --server-option --depth --deepen --shallow-since --shallow-exclude --refmap --negotiation-tip --upload-pack --cleanup", "checkout": "-b -B --orphan", "switch": "-c -C --create --force-create --orphan",
	"restore": "-s --source", "clean": "-e --exclude", "branch": "-u --set-upstream-to", "stash": "-m --message",
	"fetch":     "-j -o --jobs --server-option --depth --deepen --shallow-since --shallow-exclude --refmap --negotiation-tip --filter --upload-pack --submodule-prefix --recurse-submodules-default",
	"clone":     "-o -b -u -c -j --origin --branch --upload-pack --config --jobs --template --reference --reference-if-able --separate-git-dir --depth --shallow-since --shallow-exclude --server-option --filter --bundle-uri",
	"ls-remote": "-o --server-option --sort --upload-pack --exec", "archive": "-o --output --format --prefix --add-file --add-virtual-file --exec --remote",
	"send-pack": "--receive-pack --exec --remote",
}

// gitPlain lists subcommands that change neither history nor uncommitted work, in addition to the read-only ones. A
// name in no table may be an alias or another program.
const gitPlain = "add apply bundle commit-graph commit-tree config format-patch fsck hash-object init lfs " +
	"maintenance multi-pack-index mktree mktag notes pack-refs range-diff repack rerere sparse-checkout stage update-index write-tree"
