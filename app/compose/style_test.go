package compose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/app/apptest"
	"buddy/app/project"
	"buddy/app/slash"
	"buddy/config"
)

// TestStyleOfAProject: a project's style is listed, and used only while it is unchanged since the user trusted it.
// Otherwise a notice explains the default style.
func TestStyleOfAProject(t *testing.T) {
	apptest.Home(t)
	dir := apptest.Project(t, map[string]string{".claude/output-styles/theirs.md": "Answer in verse."})
	choose := func() (string, string) {
		s := &Setup{Target: slash.ThisMachine}
		s.Config.Project.Dir, s.Config.Agent.Style = dir, "theirs"
		chosen := s.chooseStyle()
		return chosen.Text, strings.Join(s.Notices, " ")
	}
	if text, said := choose(); text != "" || !strings.Contains(said, "you don't trust it") {
		t.Errorf("%q, %q", text, said)
	}
	parts := project.Parts(dir, config.Config{}).Parts
	if err := project.TrustStore().TrustParts(dir, parts[0].Part); err != nil {
		t.Fatal(err)
	}
	if text, said := choose(); text != "Answer in verse." || said != "" {
		t.Errorf("%q, %q", text, said)
	}
	if err := os.WriteFile(filepath.Join(dir, ".claude/output-styles/theirs.md"), []byte("Answer in prose."), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, said := choose(); text != "" || !strings.Contains(said, "changed since you trusted it") {
		t.Errorf("%q, %q", text, said)
	}
}
