package file

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/tmux/host"
	"buddy/tmux/host/hosttest"
	"buddy/tmux/tmuxtest"
	"buddy/tools"
	"buddy/tools/fs"
	"buddy/tools/toolstest"
)

// onTarget creates the benches of tests that run on a target; nil for this machine.
var onTarget func(t testing.TB) *bench

// keptTests are the tests of file attributes that only some systems support.
var keptTests map[string]func(*testing.T)

// outside returns a folder outside the workspace of b, which its target has as well.
func (b *bench) outside() string {
	if onTarget == nil {
		return b.T.(*testing.T).TempDir()
	}
	dir := b.root + "-outside"
	must(b.T, os.MkdirAll(dir, 0o755))
	return dir
}

// TestOnTargets runs the tests of the file tools with files on a target: over ssh, in a container with the GNU tools
// and in one with BusyBox. The targets share a folder with this machine, where the tests check the files.
func TestOnTargets(t *testing.T) {
	container := func(kind string) func(t *testing.T) (*host.Host, string) {
		return func(t *testing.T) (*host.Host, string) {
			c := hosttest.NewContainer(t, kind)
			return c.Host(t), c.Dir
		}
	}
	targets := map[string]func(t *testing.T) (*host.Host, string){
		"ssh": func(t *testing.T) (*host.Host, string) {
			s := hosttest.NewSSHD(t, "")
			return s.Host(t), s.Dir
		},
		"bash": container(hosttest.Bash), "busybox": container(hosttest.NoTmux),
	}
	tests := map[string]func(*testing.T){
		"Arguments": TestArgumentsOfEveryTool, "Plan": TestPlanTellsTheTruth, "Nowhere": TestPathsThatLeadNowhere,
		"Swapped": TestLinkSwappedBetweenPlanAndRun, "Turned": TestLinkTurnedBetweenPlanAndRun, "Odd": TestOddFilesAreRefusedAtOnce,
		"PatchFiles": TestApplyPatchSeveralFiles, "PatchSections": TestApplyPatchSections, "PatchAll": TestApplyPatchAllOrNothing,
		"PatchShown": TestApplyPatchNotWhatWasShown, "PatchBack": TestApplyPatchTakesBack, "PatchLink": TestApplyPatchThroughLink,
		"PatchRisk": TestApplyPatchRisk, "Edit": TestEditFile, "EditChanged": TestEditFileChangedSinceRead, "EditOften": TestEditFileConcurrently,
		"Read": TestReadFile, "Pages": TestReadFileInPages, "Refuses": TestReadFileRefuses, "Cancelled": TestReadStopsWhenCancelled,
		"Picture": TestReadPicture, "List": TestListDir, "LongNames": TestLongNamesAreBounded, "Glob": TestGlob,
		"GlobBounded": TestGlobIsBounded, "Grep": TestGrep, "GrepGroups": TestGrepContextGroups,
		"GrepBounded": TestGrepIsBounded, "GrepDecodes": TestGrepDecodesFiles, "Encodings": TestToolsInEveryEncoding, "GrepEncodings": TestGrepFindsTextInEveryEncoding, "BadBytes": TestBytesThatAreNoTextStay, "State": TestFileState, "Changed": TestChangedFilesAreToldOnce, "Several": TestSeveralEdits,
		"Write": TestWriteFile, "Rights": TestWriteFileKeepsRights, "Restore": TestRestore, "HardNames": TestHardNames, "AfterCd": TestChangesAskWhichOneAfterCd,
		"LookAlikes": TestReadsWhatLooksTheSame, "GlobNamed": TestGlobFindsWhatIsNamedAndSaysWhatIsNot,
		"GrepNamed": TestGrepFindsWhatIsNamedAndSaysWhatIsNot, "LinksOut": TestSearchesThroughLinksAskAboutWhereTheyLead, "LinkLoops": TestLinkLoops,
	}
	maps.Copy(tests, keptTests)
	for name, start := range targets {
		t.Run(name, func(t *testing.T) {
			h, dir := start(t)
			n := 0
			onTarget = func(t testing.TB) *bench {
				n++
				root := filepath.Join(dir, fmt.Sprintf("w%d", n))
				must(t, os.Mkdir(root, 0o777))
				ws := NewTargetWorkspace(h, h.Name(), root, dotEnv)
				if _, _, err := ws.find(t.Context()); err != nil {
					t.Fatal(err)
				}
				KeepOldBytes(ws, fs.Recovery(t.TempDir()))
				return &bench{toolstest.Bench{T: t, Tools: tools.NewRegistry(Tools(ws)...)}, ws, root}
			}
			defer func() { onTarget = nil }()
			for what, test := range tests {
				t.Run(what, test)
			}
		})
	}
}

// TestLostTarget: the error for an unreachable target is one line with the next step, and calls work again when it is
// back.
func TestLostTarget(t *testing.T) {
	s := hosttest.NewSSHD(t, "")
	ws := NewTargetWorkspace(s.Host(t), "there", "", dotEnv)
	b := &bench{toolstest.Bench{T: t, Tools: tools.NewRegistry(Tools(ws)...)}, ws, s.Dir}
	b.put("a.txt", "one\n")
	read := args{"path": b.path("a.txt")}
	s.Wire.Refuse(true)
	b.Fails("read_file", read, "target (ssh): ", "; ")
	if ws.Root() != "" {
		t.Errorf("root %q of a target that was never reached", ws.Root())
	}
	s.Wire.Refuse(false)
	b.OK("read_file", read)
	if root := ws.Root(); !strings.HasPrefix(root, "/") {
		t.Errorf("root %q, want the home folder", root)
	}
	s.Wire.Cut()
	s.Wire.Refuse(true)
	b.Fails("edit_file", args{"path": b.path("a.txt"), "old_string": "one", "new_string": "two"}, "target (ssh): ")
	s.Wire.Refuse(false)
	tmuxtest.Until(t, "the edit", func() bool { // the end of a connection is noticed late
		_, err := b.Do("edit_file", args{"path": b.path("a.txt"), "old_string": "one", "new_string": "two"})
		return err == ""
	})
	if got := b.content("a.txt"); got != "two\n" {
		t.Errorf("the file is %q", got)
	}
}

// BenchmarkTargetSearch searches 1000 files in 100 folders over ssh.
func BenchmarkTargetSearch(b *testing.B) {
	s := hosttest.NewSSHD(b, "")
	root := filepath.Join(s.Dir, "w")
	for i := range 1000 {
		dir := filepath.Join(root, fmt.Sprintf("d%02d", i%100))
		must(b, os.MkdirAll(dir, 0o755))
		text := strings.Repeat("a line of text\n", 100) + fmt.Sprintf("number %d\n", i)
		must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i)), []byte(text), 0o644))
	}
	ws := NewTargetWorkspace(s.Host(b), "there", root, dotEnv)
	w := &bench{toolstest.Bench{T: b, Tools: tools.NewRegistry(Tools(ws)...)}, ws, root}
	for _, c := range []struct {
		tool, name string
		a          args
	}{
		{"grep", "grep-one", args{"pattern": "number 777$"}},
		{"grep", "grep-all", args{"pattern": "^[a-z]+ [0-9]+$"}},
		{"glob", "glob", args{"pattern": "**/*.txt"}},
		{"list_dir", "list", args{}},
		{"read_file", "read", args{"path": "d01/f1.txt"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.OK(c.tool, c.a)
			}
		})
	}
}
