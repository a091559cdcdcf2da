// Package seatbelt runs commands in the sandbox of macOS. It implements the read-only sandbox and the workspace
// sandbox there, as Landlock and bubblewrap do on Linux.
//
//	held, err := seatbelt.Rules{Read: []string{"/Users/ann/shop"}, Temp: temp}.Hold()
//	err = held.Start(cmd)
//
// The [Rules] become a profile in SBPL, the language of sandbox-exec(1). The profile denies everything that no rule
// allows; the last matching rule counts. Because Apple documents neither the language nor the kernel's checks,
// [Store.Usable] tests the profile with commands that try to break out.
package seatbelt

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"buddy/texts"
	"buddy/tmux/pane/gitfiles"
)

// Rules hold what a command may do besides running and reading the system's programs. All paths are absolute; they may
// be missing, and links are followed.
type Rules struct {
	Run   []string // folders of programs
	Read  []string // files and folders
	Write []string // folders: to read, write and run programs
	Temp  string   // the writable folder for temporary files

	// These override all of the above.
	Hidden []string // may be neither read nor written; their names are visible
	Shown  []string // may be read, also within Hidden
	Kept   []string // may be read and written, also within Hidden
	Fixed  []string // may not be written

	Network bool // all networks, but no Unix sockets
	Proxy   int  // a port of this machine; 0 is none
	Limited bool // each process has limits
}

// program starts a command under a profile. Tests replace it.
var program = "/usr/bin/sandbox-exec"

// argsMax limits the arguments of a sandboxed command, in bytes; macOS allows 1 MiB including the environment.
const argsMax = 512 << 10

// base holds the permissions that each program needs. Stat is allowed everywhere, as on Linux. The only system service
// that programs can use is the one for names of users and groups, because others, which start programs, store settings
// or hold the clipboard, work outside of the sandbox.
const base = `(version 1)
(deny default)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read
	(sysctl-name-prefix "hw.") (sysctl-name-prefix "machdep.") (sysctl-name-prefix "vm.") (sysctl-name-prefix "kern.os")
	(sysctl-name "kern.argmax") (sysctl-name "kern.boottime") (sysctl-name "kern.hostname") (sysctl-name "kern.maxfilesperproc")
	(sysctl-name "kern.maxproc") (sysctl-name "kern.ngroups") (sysctl-name "kern.secure_kernel") (sysctl-name "kern.usrstack64")
	(sysctl-name "kern.version") (sysctl-name "sysctl.proc_cputype"))
(allow mach-lookup
	(global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.opendirectoryd.membership"))
(allow file-read-metadata file-test-existence file-map-executable)
(allow file-read* (literal "/") (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom") (subpath "/dev/fd"))
(allow file-write-data (literal "/dev/null") (subpath "/dev/fd"))
(allow file-ioctl (literal "/dev/null"))
`

// network allows the internet protocols, and the services for looking up names and checking certificates.
const network = `(allow network-outbound (remote ip "*:*") (literal "/private/var/run/mDNSResponder"))
(allow network-bind network-inbound (local ip "*:*"))
(allow system-socket)
(allow mach-lookup
	(global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.SystemConfiguration.DNSConfiguration")
	(global-name "com.apple.trustd.agent"))
`

// The system: programs and their data. None of it is the user's.
var (
	programs = []string{
		"/usr", "/bin", "/sbin", "/System", "/opt", "/nix/store", "/Applications", "/private/preboot/Cryptexes",
		"/Library/Apple", "/Library/Developer", "/Library/Frameworks", "/Library/Java", "/Library/Perl", "/Library/Python", "/Library/Ruby",
	}
	readable = []string{
		"/private/etc", "/private/var/db/dyld", "/private/var/db/timezone", "/private/var/db/xcode_select_link", "/private/var/select", "/private/var/log",
	}
	// unreadable lists the parts of these folders that commands may not read: a second path to all files of the disk,
	// and the data of services.
	unreadable = []string{"/System/Volumes/Data", "/usr/local/var", "/opt/homebrew/var", "/opt/local/var"}
)

// Held runs commands under rules.
type Held struct {
	Rules
	Profile string   // in SBPL
	params  []string // the paths in it, by number
}

// limits sets limits for each process in sh: no core, 64 MB per file, 30 minutes of processor time.
const limits = `ulimit -c 0; ulimit -f 131072; ulimit -t 1800; exec "$@"`

// Hold compiles the rules. Paths are parameters of the profile, so that no name can add a rule.
func (r Rules) Hold() (*Held, error) {
	for _, path := range slices.Concat(r.Run, r.Read, r.Write, []string{r.Temp}, r.Hidden, r.Shown, r.Kept, r.Fixed) {
		if !filepath.IsAbs(path) || filepath.Clean(path) == "/" {
			return nil, fmt.Errorf("macOS's sandbox can't have a rule for the path %q: it must be absolute, and not the whole disk", path)
		}
	}
	h := &Held{Rules: r}
	real := realPaths()
	h.Temp = real(r.Temp)
	for _, list := range []*[]string{&h.Run, &h.Read, &h.Write, &h.Hidden, &h.Shown, &h.Kept, &h.Fixed} {
		all := *list
		*list = nil
		for _, path := range all {
			*list = append(*list, real(path))
		}
	}
	var p profile
	p.text.WriteString(base)
	const read, run, write = "file-read*", "file-read* process-exec*", "file-read* file-write* process-exec*"
	p.system("allow", run, programs)
	p.system("allow", read, readable)
	p.system("deny", "file-read-data process-exec*", unreadable)
	p.rule("allow", run, "subpath", h.Run)
	p.rule("allow", read, "subpath", h.Read)
	p.rule("allow", write, "subpath", h.Write)
	p.rule("allow", "file-read* file-write*", "subpath", []string{h.Temp})
	p.rule("deny", "file-read-data file-read-xattr file-write* process-exec*", "subpath", h.Hidden)
	p.rule("allow", read, "subpath", h.Shown)
	p.rule("allow", "file-read* file-write*", "subpath", h.Kept)
	p.rule("deny", "file-write*", "subpath", h.Fixed)
	p.rule("deny", "file-write-create file-write-unlink", "literal", h.pins())
	if r.Network {
		p.text.WriteString(network)
	}
	if r.Proxy > 0 {
		fmt.Fprintf(&p.text, "(allow network-outbound (remote ip \"localhost:%d\"))\n", r.Proxy)
	}
	p.text.WriteString("(deny file-write-setugid)\n")
	h.Profile, h.params = p.text.String(), p.params
	if n := len(h.Profile) + len(strings.Join(h.params, "-DP0000=\x00")); n > argsMax {
		return nil, fmt.Errorf("%d paths are too many for macOS's sandbox: %d bytes of arguments, at most %d", len(h.params), n, argsMax)
	}
	return h, nil
}

// pins returns the folders that a command must not move, because the rules refer to paths: the writable folders, and in
// them each folder above a path that is not writable.
func (h *Held) pins() (all []string) {
	roots := append(slices.Clone(h.Write), h.Temp)
	all = slices.Clone(roots)
	for _, path := range slices.Concat(h.Hidden, h.Fixed) {
		for dir := filepath.Dir(path); slices.ContainsFunc(roots, func(root string) bool { return texts.Below(dir, root) }); dir = filepath.Dir(dir) {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// profile collects the text of a profile, which refers to paths by number, and these paths.
type profile struct {
	text   strings.Builder
	params []string
}

// rule adds a rule about paths.
func (p *profile) rule(action, operations, filter string, paths []string) {
	if len(paths) == 0 {
		return
	}
	fmt.Fprintf(&p.text, "(%s %s", action, operations)
	for _, path := range paths {
		fmt.Fprintf(&p.text, "\n\t(%s (param \"P%d\"))", filter, len(p.params))
		p.params = append(p.params, path)
	}
	p.text.WriteString(")\n")
}

// system adds a rule about system folders, whose names need no escaping.
func (p *profile) system(action, operations string, paths []string) {
	fmt.Fprintf(&p.text, "(%s %s\n\t(subpath \"%s\"))\n", action, operations, strings.Join(paths, "\") (subpath \""))
}

// args returns the program, with its arguments, that runs a command in the sandbox.
func (h *Held) args(command ...string) []string {
	args := []string{program, "-p", h.Profile}
	if h.Limited {
		args = append([]string{"/bin/sh", "-c", limits, "sh"}, args...)
	}
	for i, path := range h.params {
		args = append(args, "-D", "P"+strconv.Itoa(i)+"="+path)
	}
	return append(append(args, "--"), command...)
}

// Start starts cmd in the sandbox. It leaves cmd itself unchanged, so that callers can still compare it with other
// commands.
func (h *Held) Start(cmd *exec.Cmd) error {
	path, args := cmd.Path, cmd.Args
	defer func() { cmd.Path, cmd.Args = path, args }()
	cmd.Args = h.args(append([]string{path}, args[1:]...)...)
	cmd.Path = cmd.Args[0]
	return cmd.Start()
}

// Reads reports whether commands may list a folder, following links.
func (h *Held) Reads(dir string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	in := func(all ...[]string) bool {
		return slices.ContainsFunc(slices.Concat(all...), func(root string) bool { return texts.Below(dir, root) })
	}
	return err == nil && (in(h.Shown, h.Kept) || !in(h.Hidden) && (in(h.Run, h.Read, h.Write) || in(programs, readable) && !in(unreadable)))
}

// realPaths returns a function that returns a path as the kernel spells it: without links, with the case of the
// folder's entries. This is necessary because most disks of Macs ignore case, but rules do not.
func realPaths() func(path string) string {
	known := make(map[string][]string)
	list := func(dir string) []string {
		if names, ok := known[dir]; ok {
			return names
		}
		var names []string
		if f, err := os.Open(dir); err == nil {
			names, _ = f.Readdirnames(-1) // unreadable names keep their spelling
			_ = f.Close()
		}
		known[dir] = names
		return names
	}
	return func(path string) string {
		_, real := gitfiles.Links(path)
		return spelled(real, list)
	}
}

// spelled returns a path with the case of the names that list returns for each folder.
func spelled(path string, list func(dir string) []string) string {
	at := "/"
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		names := list(at)
		if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 && !slices.Contains(names, name) {
			name = names[i]
		}
		at = filepath.Join(at, name)
	}
	return at
}
