package shell

import (
	"path"
	"slices"
	"strings"

	"buddy/texts"
)

// fetchers download; running their output unseen is harm.
var fetchers = []string{"curl", "wget", "fetch", "aria2c", "lynx", "http", "https", "xh"}

// readers execute the program on their input.
var readers = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "python", "python3", "perl", "ruby", "node", "php", "lua"}

// fetched reports whether one of the commands from index before on downloads.
func (r *Report) fetched(before int) bool {
	return slices.ContainsFunc(r.Commands[min(before, len(r.Commands)):], func(c Command) bool {
		return slices.Contains(fetchers, c.Name())
	})
}

// readsProgram reports whether c executes its input.
func (c Command) readsProgram() bool {
	if !slices.Contains(readers, c.Name()) {
		return slices.Contains(c.Via, "xargs") && (c.Name() == "sh" || c.Name() == "bash")
	}
	if len(c.Argv) == 1 {
		return true
	}
	first := c.Argv[1].Text
	return first == "-" || first == "/dev/stdin" || strings.HasPrefix(first, "-s") || (strings.HasPrefix(first, "-") && len(c.Argv) == 2 && first != "--version" && first != "-V")
}

// fetchRuns records a program that is downloaded and executed at once.
func (r *Report) fetchRuns(words []arg) {
	for _, w := range words {
		if w.fetches {
			r.harm("runs what it downloads, unseen", "download it to a file, read it, then run it")
		}
	}
}

// vital are folders that nobody deletes as a whole.
var vital = []string{
	"/", "/*", "/.", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root", "/sbin", "/srv",
	"/sys", "/usr", "/var", "/Users", "/System", "/Library", "/Applications", "/private", "~", "~/*", "~/.*",
}

// isVital reports whether one of the values of w is a vital folder.
func (d *folders) isVital(w arg) bool {
	return slices.ContainsFunc(w.vals, func(v val) bool {
		p := strings.ReplaceAll(v.text, `\`, "")
		switch {
		case v.kind == dynamic || v.kind == output || p == "":
			return false
		case p[0] == '/' || p[0] == '~':
		case strings.HasPrefix(p, "..") && d.env.Cwd != "":
			p = path.Join(d.env.Cwd, p)
		default:
			return false
		}
		p = path.Clean(p)
		if h := d.env.Home; h != "" && (strings.HasPrefix(h+"/", p+"/") || p == h+"/*" || p == h+"/.*") {
			return true
		}
		return slices.Contains(vital, p) || slices.Contains(vital, strings.TrimSuffix(p, "/*"))
	})
}

// stops lists the words with which a command stops the machine; none means always.
var stops = map[string][]string{
	"shutdown": nil, "reboot": nil, "poweroff": nil, "halt": nil, "init": {"0", "6"}, "telinit": {"0", "6"},
	"systemctl": {"poweroff", "reboot", "halt", "kexec", "soft-reboot"},
}

// harms records commands that destroy a machine or a home, in any mode.
func (a *analyser) harms(name string, words []arg) {
	kind, _, _ := strings.Cut(name, ".") // mkfs.ext4
	switch kind {
	case "rm", "unlink", "srm":
		a.rep.harm(a.folders.removes(words), "")
	case "mkfs", "mke2fs", "mkswap", "wipefs", "newfs", "mkdosfs":
		if len(words) > 1 {
			a.rep.harm(name+" makes a file system, which erases what was there", "")
		}
	case "dd", "tee", "cp", "mv", "shred", "truncate", "ddrescue":
		a.rep.overwrites(name, words)
	case "chmod", "chown", "chgrp":
		a.rep.harm(a.folders.owns(name, words), "")
	case "source", "":
		a.rep.fetchRuns(words)
	}
	if slices.Contains(readers, name) {
		a.rep.fetchRuns(words)
	}
	if when, ok := stops[name]; ok {
		second := ""
		if len(words) > 1 {
			second, _ = words[1].lit()
		}
		if slices.Contains(when, second) || when == nil && !slices.Contains([]string{"--help", "--version", "-c"}, second) {
			a.rep.harm(name+" stops the machine", "do it by hand")
		}
	}
}

// overwrites records commands that write to a disk device.
func (r *Report) overwrites(name string, words []arg) {
	for i, w := range words[1:] {
		for _, v := range w.vals {
			p, of := strings.CutPrefix(v.text, "of=")
			source := name == "dd" && !of || name == "cp" && i+2 < len(words)
			if blockDevice(p) && !source {
				r.harm(name+" overwrites the device "+texts.ClipBytes(p, 60), "")
			}
		}
	}
}

// removes returns what rm -r would erase of the vital folders, "" for nothing.
func (d *folders) removes(words []arg) string {
	recursive := false
	for _, w := range words[1:] {
		text, _ := w.lit()
		switch {
		case text == "--no-preserve-root":
			return "rm --no-preserve-root erases everything"
		case strings.HasPrefix(text, "--rec"), strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.ContainsAny(text, "rR"):
			recursive = true
		}
	}
	for _, w := range words[1:] {
		if recursive && d.isVital(w) {
			return "rm erases " + texts.ClipBytes(w.src, 60) + " with everything in it"
		}
	}
	return ""
}

// owns returns what chmod -R or chown -R would change of the vital folders, "" for nothing.
func (d *folders) owns(name string, words []arg) string {
	recursive := false
	for _, w := range words[1:] {
		text, _ := w.lit()
		recursive = recursive || strings.HasPrefix(text, "--rec") || strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.Contains(text, "R")
	}
	for _, w := range words[min(2, len(words)):] {
		if recursive && d.isVital(w) {
			return name + " -R changes " + texts.ClipBytes(w.src, 60) + " with everything in it"
		}
	}
	return ""
}
