package shell

import (
	"path"
	"slices"
	"strings"
)

// fetchers download; what they print is not to be run unseen.
var fetchers = []string{"curl", "wget", "fetch", "aria2c", "lynx", "http", "https", "xh"}

// readers run the program that comes from their input.
var readers = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "python", "python3", "perl", "ruby", "node", "php", "lua"}

// fetched reports whether one of the commands since before downloads.
func (a *analyser) fetched(before int) bool {
	return slices.ContainsFunc(a.rep.Commands[min(before, len(a.rep.Commands)):], func(c Command) bool {
		return slices.Contains(fetchers, c.Name())
	})
}

// readsProgram reports whether c runs what it reads from its input.
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

// fetchRuns notes a program that is downloaded and run as it comes.
func (a *analyser) fetchRuns(words []arg) {
	for _, w := range words {
		if w.fetches {
			a.harm("runs what it downloads, unseen", "download it to a file, read it, then run it")
		}
	}
}

// vital are folders that nobody deletes as a whole.
var vital = []string{
	"/", "/*", "/.", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root", "/sbin", "/srv",
	"/sys", "/usr", "/var", "/Users", "/System", "/Library", "/Applications", "/private", "~", "~/*", "~/.*",
}

// isVital reports whether one of the values of w is such a folder.
func (a *analyser) isVital(w arg) bool {
	for _, v := range w.vals {
		p := strings.ReplaceAll(v.text, `\`, "")
		if v.kind == dynamic || v.kind == output || p == "" {
			continue
		}
		if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") {
			if !strings.HasPrefix(p, "..") || a.env.Cwd == "" {
				continue
			}
			p = path.Join(a.env.Cwd, p)
		}
		p = path.Clean(p)
		if h := a.env.Home; h != "" && (p == h || p == h+"/*" || p == h+"/.*" || strings.HasPrefix(h, p+"/")) {
			return true
		}
		if slices.Contains(vital, p) || slices.Contains(vital, strings.TrimSuffix(p, "/*")) {
			return true
		}
	}
	return false
}

// harms finds commands that destroy a machine or a home, whatever the mode.
func (a *analyser) harms(name string, words []arg) {
	switch {
	case name == "rm" || name == "unlink" || name == "srm":
		a.removes(words)
	case strings.HasPrefix(name, "mkfs") || slices.Contains([]string{"mke2fs", "mkswap", "wipefs", "newfs", "mkdosfs"}, name):
		if len(words) > 1 {
			a.harm(name+" makes a file system, which erases what was there", "")
		}
	case name == "dd" || name == "tee" || name == "cp" || name == "mv" || name == "shred" || name == "truncate" || name == "ddrescue":
		for _, w := range words[1:] {
			for _, v := range w.vals {
				p := strings.TrimPrefix(v.text, "of=")
				if blockDevice(p) && (name != "dd" || strings.HasPrefix(v.text, "of=")) && (name != "cp" || w.src == words[len(words)-1].src) {
					a.harm(name+" overwrites the device "+clip(p, 60), "")
				}
			}
		}
	case slices.Contains([]string{"shutdown", "reboot", "poweroff", "halt"}, name):
		if text, _ := second(words); text != "--help" && text != "--version" && text != "-c" {
			a.harm(name+" stops the machine", "do it by hand")
		}
	case name == "init" || name == "telinit":
		if text, _ := second(words); text == "0" || text == "6" {
			a.harm(name+" stops the machine", "do it by hand")
		}
	case name == "systemctl":
		if text, _ := second(words); slices.Contains([]string{"poweroff", "reboot", "halt", "kexec", "soft-reboot"}, text) {
			a.harm("systemctl "+text+" stops the machine", "do it by hand")
		}
	case name == "chmod" || name == "chown" || name == "chgrp":
		a.owns(name, words)
	case name == "source" || name == "." || slices.Contains(readers, name):
		a.fetchRuns(words)
	}
}

func second(words []arg) (string, bool) {
	if len(words) < 2 {
		return "", false
	}
	return words[1].lit()
}

// removes finds rm -r of a vital folder.
func (a *analyser) removes(words []arg) {
	recursive := false
	for _, w := range words[1:] {
		text, _ := w.lit()
		switch {
		case text == "--no-preserve-root":
			a.harm("rm --no-preserve-root erases everything", "")
		case strings.HasPrefix(text, "--rec"), strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.ContainsAny(text, "rR"):
			recursive = true
		}
	}
	for _, w := range words[1:] {
		if recursive && a.isVital(w) {
			a.harm("rm erases "+clip(w.src, 60)+" with everything in it", "")
		}
	}
}

// owns finds chmod -R and chown -R of a vital folder.
func (a *analyser) owns(name string, words []arg) {
	recursive := false
	for _, w := range words[1:] {
		text, _ := w.lit()
		recursive = recursive || strings.HasPrefix(text, "--rec") || strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.Contains(text, "R")
	}
	for _, w := range words[min(2, len(words)):] {
		if recursive && a.isVital(w) {
			a.harm(name+" -R changes "+clip(w.src, 60)+" with everything in it", "")
		}
	}
}
