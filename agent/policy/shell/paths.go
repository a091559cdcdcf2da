package shell

import (
	"path"
	"slices"
	"strings"

	"buddy/texts"
)

// folders tracks the folders in which a script may be at each point, and judges the files that it names relative to
// them.
type folders struct {
	env     Env
	cwds    []string // possible current folders
	entered []string // possible folders after the last cd
	started []string // possible folders in which the last command was started
	adrift  bool     // the repository in which git works is unknown
	// at is the current folder if the last cd succeeded; "" is unknown. It is used to find harm to files with relative
	// names.
	at        string
	visited   []string          // the start folder, and every value of at
	downloads map[string]bool   // base names of files that the program downloads
	written   map[string]string // texts that it writes into files, by their base names
}

// reads returns why reading the file that w names needs approval, or "". The kernel guards against computed names.
func (d *folders) reads(w arg) string {
	for _, v := range w.vals {
		if why := d.opens(v, false); why != "" {
			return why
		}
	}
	return ""
}

// outside returns why reading the path v, relative to one of the possible current folders, needs approval, or "".
func (d *folders) outside(v val) string {
	if d.env.Border == nil || safeDevice().MatchString(v.text) {
		return ""
	}
	text := v.text
	if v.kind == pattern {
		text = fixed(text)
	}
	if text == "" {
		text = "."
	}
	for _, full := range d.fulls(text) {
		if why := d.border(full); why != "" {
			return why
		}
	}
	return ""
}

// fulls returns the absolute paths that a text may mean. Names before .. are kept, because they may be links.
func (d *folders) fulls(text string) []string {
	if strings.HasPrefix(text, "/") {
		return []string{text}
	}
	if strings.HasPrefix(text, "~") && (len(text) == 1 || text[1] == '/') && d.env.Home != "" {
		return []string{d.env.Home + text[1:], text}
	}
	var list []string
	for _, dir := range d.cwds {
		if dir == "" {
			list = append(list, text)
			continue
		}
		list = append(list, dir+"/"+text)
	}
	return list
}

// border resolves the links of a path and returns why reading it needs approval, or "". A path with .. whose links
// can't be resolved needs approval.
func (d *folders) border(full string) string {
	if d.env.Resolve != nil {
		full = d.env.Resolve(full)
	} else if slices.Contains(strings.Split(full, "/"), "..") {
		return "it is unknown where the path leads: " + texts.ClipBytes(full, 60)
	}
	full = path.Clean(full)
	if why := d.env.Border(full); why != "" {
		return texts.ClipBytes(full, 80) + " is " + why
	}
	return ""
}

// fixed returns the folder of a pattern before its first wildcard, or the root if .. after a wildcard can lead
// anywhere.
func fixed(pattern string) string {
	source := fixedSource(pattern)
	if slices.Contains(strings.Split(pattern[len(source):], "/"), "..") {
		return "/"
	}
	return unescape(source)
}

// sourceRegexp matches the start of a pattern up to the last / before a wildcard.
var sourceRegexp = texts.Regexp(`^([^*?\[\\]|\\.)*/`)

func fixedSource(pattern string) string { return sourceRegexp().FindString(pattern) }

// secret returns why reading a path needs approval, because of secrets or a device, or "".
func (d *folders) secret(v val) string {
	glob := v.kind == pattern
	if why := device(v.text, glob); why != "" {
		return why
	}
	for _, piece := range strings.FieldsFunc(v.text, func(r rune) bool { return strings.ContainsRune("=:,@ \"'", r) }) {
		if why := d.secretPath(piece, glob); why != "" {
			return why
		}
	}
	return d.secretPath(v.text, glob)
}

func (d *folders) secretPath(text string, glob bool) string {
	if d.env.Secret == nil || text == "" {
		return ""
	}
	if s := d.env.Secret(text, glob); s != "" {
		return secretReason(s, glob)
	}
	if glob {
		return ""
	}
	for _, full := range d.fulls(text) {
		all := []string{path.Clean(full)}
		if d.env.Resolve != nil && strings.HasPrefix(full, "/") {
			all = append(all, d.env.Resolve(full))
		}
		for _, full := range all {
			if s := d.env.Secret(full, false); s != "" {
				return secretReason(s, false)
			}
			if why := device(full, false); why != "" {
				return why
			}
		}
	}
	return ""
}

func secretReason(s string, glob bool) string {
	if glob {
		return texts.ClipBytes(s, 60) + " may match a file with secrets"
	}
	return texts.ClipBytes(s, 60) + " may hold secrets"
}

// safeDevice matches devices that are safe to read: they are empty, or reading has no side effect and ends. Descriptor
// 63 belongs to <(…).
var safeDevice = texts.Regexp(`^/dev/(null|stdin|stdout|stderr|fd/(0|1|2|63)|shm/([^.]|\.[^.])*\.?)$`)

// device returns why a path under /dev, /proc or /sys may not be read, or "".
func device(p string, glob bool) string {
	p = path.Clean(p)
	root, rest, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	switch {
	case !strings.HasPrefix(p, "/"), safeDevice().MatchString(p):
	case glob && strings.ContainsAny(root, "*?["):
		return "a pattern that may match devices"
	case rest == "":
	case root == "dev":
		return "reads the device " + texts.ClipBytes(p, 60)
	case root == "sys", root == "proc" && (glob || strings.Contains(rest, "/") || kernelMemory().MatchString(rest)):
		return "reads " + texts.ClipBytes(p, 60) + ", which may hold secrets"
	}
	return ""
}

// kernelMemory matches files of /proc that expose the kernel's memory or have side effects when read.
var kernelMemory = texts.Regexp(`^(kcore|kmsg|kpage.*|sysrq-trigger)$`)

// blockDevice matches disks and other devices that must not be overwritten.
var blockDevice = texts.Regexp(`^/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|dm-|md|loop|mem|kmem|port|mtd|zd|ram)`)

// systemDirs are the folders with the system's programs.
var systemDirs = []string{"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/"}

// baseName returns the name of a program, without the folder if that is one of systemDirs.
func baseName(p string) string {
	if dir, name := path.Split(p); slices.Contains(systemDirs, dir) {
		return name
	}
	return p
}
