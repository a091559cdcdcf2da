package compose

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"

	"github.com/adrg/xdg"

	"buddy/config"
	"buddy/tmux/pane/fence"
)

// FenceSettings returns the workspace sandbox according to the settings. work holds the workspace folders, own the
// files and folders with buddy's keys.
func FenceSettings(c config.Sandbox, work, own []string) *fence.Settings {
	s := &fence.Settings{
		Work: work, Write: c.Write, Hide: slices.Concat(c.Hide, own), Network: c.Network == "on", Hosts: c.AllowHosts,
		State: filepath.Join(xdg.StateHome, "buddy"), Marks: filepath.Join(xdg.StateHome, "buddy", "marks"),
	}
	for _, dir := range work { // sessions and memory
		s.Hide = append(s.Hide, filepath.Join(dir, ".buddyx"), filepath.Join(dir, ".agentx"))
	}
	if len(work) > 0 {
		sum := sha256.Sum256([]byte(work[0]))
		s.Cache = filepath.Join(xdg.CacheHome, "buddy", "fence", hex.EncodeToString(sum[:8]))
	}
	return s
}
