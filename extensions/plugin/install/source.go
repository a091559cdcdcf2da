package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"buddy/texts"
)

// Source names a git repository and what to fetch from it.
type Source struct {
	URL string // https, ssh, USER@HOST:PATH, or an absolute path
	Ref string // a tag, a branch or a full commit; "" is the default branch
}

// String returns the source as [ParseSource] reads it.
func (s Source) String() string {
	if s.Ref == "" {
		return s.URL
	}
	return s.URL + "@" + s.Ref
}

// local reports whether the repository is a folder of this machine.
func (s Source) local() bool { return filepath.IsAbs(s.URL) }

var (
	onGitHub = regexp.MustCompile(`^[A-Za-z0-9][\w-]*/[A-Za-z0-9][\w.-]*$`)
	scpForm  = regexp.MustCompile(`^([A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9][\w.-]*:[^:]`)
	password = regexp.MustCompile(`://([^/@:]*):[^/]*@`)
	goodRef  = regexp.MustCompile(`^[^-+^~:?*\[\\\s][^~^:?*\[\\\s]*$`)
)

const otherTransport = "buddy fetches only over https and ssh, or from a folder; other transports can run programs"

// ParseSource reads URL, URL@REF or OWNER/REPO[@REF] of GitHub. Only https, ssh and absolute paths are accepted: over
// other transports, somebody on the network could replace the plugin, or git would run a program.
func ParseSource(text string) (Source, error) {
	var s Source
	why := ""
	strange := strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	switch {
	case strings.HasPrefix(text, "-"):
		why = "an address can't start with a hyphen, because git would read it as an option"
	case filepath.IsAbs(text):
		s = Source{URL: text}
		if _, err := os.Stat(text); err != nil {
			s = cutRef(text, 0)
		}
	case strange:
		why = "an address has no spaces or control characters"
	case strings.Contains(text, "://"):
		s, why = parseURL(text)
	case strings.Contains(text, "::"):
		why = otherTransport
	case onGitHub.MatchString(strings.SplitN(text, "@", 2)[0]):
		s = cutRef("https://github.com/"+text, len("https://github.com/"))
	case scpForm.MatchString(text):
		s = cutRef(text, strings.Index(text, ":"))
	default:
		why = "use https://…, ssh://…, USER@HOST:PATH, OWNER/REPO for GitHub, or the absolute path of a folder"
	}
	if why != "" {
		return Source{}, fmt.Errorf("the repository %q: %s", texts.Clip(password.ReplaceAllString(text, "://$1:…@"), 200), why)
	}
	return s, s.checkRef()
}

// parseURL reads an address with a scheme; why is the reason for a refusal.
func parseURL(text string) (s Source, why string) {
	scheme, rest, _ := strings.Cut(text, "://")
	host, _, _ := strings.Cut(rest, "/")
	user, name, found := strings.Cut(host, "@")
	if !found {
		user, name = "", host
	}
	switch {
	case scheme == "http" || scheme == "git":
		return s, scheme + " is not encrypted, so anybody on the network could replace the plugin; use https or ssh"
	case scheme == "file":
		return s, "use the absolute path of the folder, without file://"
	case scheme != "https" && scheme != "ssh":
		return s, otherTransport
	case strings.Contains(user, ":"):
		return s, "it contains a password, which buddy would save and show; remove it and let a credential helper of git supply it"
	case name == "" || strings.HasPrefix(name, "-"):
		return s, "it has no valid host name"
	}
	return cutRef(text, len(scheme)+len("://")+len(host)), ""
}

// cutRef splits at the first @ or # after the position from.
func cutRef(text string, from int) Source {
	i := strings.IndexAny(text[from:], "@#")
	if i < 0 {
		return Source{URL: text}
	}
	return Source{URL: text[:from+i], Ref: text[from+i+1:]}
}

// checkRef refuses what git would read as an option or as more than one name.
func (s Source) checkRef() error {
	if s.Ref != "" && (!goodRef.MatchString(s.Ref) || strings.Contains(s.Ref, "..") || len(s.Ref) > 250) {
		return fmt.Errorf("%q is not the name of a tag, a branch or a commit", texts.Clip(s.Ref, 200))
	}
	return nil
}

// remote is [ParseSource] for an address in an index, which must not name folders of this machine.
func remote(url, ref string) (Source, error) {
	if filepath.IsAbs(url) {
		return Source{}, errors.New("its address is a folder of this machine; an index may only name https and ssh addresses")
	}
	s, err := ParseSource(url)
	if err == nil && ref != "" {
		s.Ref = ref
		err = s.checkRef()
	}
	return s, err
}
