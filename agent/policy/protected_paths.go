package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"buddy/texts"
)

// protected lists the system folders in which file tools can change a file only if a rule allows its path.
var protected = []string{
	"/etc", "/bin", "/sbin", "/lib", "/lib64", "/usr", "/boot", "/dev", "/proc", "/sys", "/System", "/Library", "/private/etc",
}

// keyFolders lists names of folders, at any depth, that hold keys.
var keyFolders = []string{".ssh", ".gnupg", ".aws"}

// protectedReason returns why a file must not be changed, or "".
func (p Policy) protectedReason(path string) string {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if slices.Contains(keyFolders, strings.ToLower(part)) {
			return "keys are in " + part
		}
	}
	for _, dir := range protected {
		own := func(folder string) bool { return texts.Below(folder, dir) && texts.Below(path, folder) }
		if texts.Below(path, dir) && !own(p.Workspace) && !slices.ContainsFunc(p.Also, own) {
			return dir + " belongs to the system"
		}
	}
	return ""
}
