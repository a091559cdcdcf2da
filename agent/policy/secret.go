package policy

import (
	"path/filepath"
	"slices"
	"strings"
)

// secretNames are patterns, matched against every part of a path, of files and folders that
// usually hold credentials.
var secretNames = []string{
	".env", ".env.*", ".envrc", "*.key", "*.pem", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.keytab", "*.kdbx", "*.asc", "*.gpg",
	"secrets", "secrets.*", "secret.*", "credentials*", "*_credentials*", "*-credentials*", ".ssh", ".aws", ".azure", ".gnupg", ".password-store",
	".kube", "kubeconfig", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".git-credentials", ".vault-token",
	".s3cfg", ".boto", ".dockercfg", ".docker", "id_rsa*", "id_ed25519*", "id_ecdsa*", "id_dsa*", "ssh_host_*_key", "auth.json", "token", ".token",
	"*.token", "*.tfstate", "*.tfvars", "*_history", ".zhistory", "keyrings", "login.keychain*", "cookies.sqlite", "logins.json", "key4.db",
}

// secretPaths are parts of paths that hold credentials though no single name says so.
var secretPaths = []string{
	"etc/shadow", "etc/shadow-", "etc/gshadow", "etc/gshadow-", "etc/sudoers", "etc/sudoers.d", "etc/ssl/private", "etc/master.passwd",
	"etc/security/opasswd", ".config/gcloud", ".config/gh", ".config/git/credentials", ".config/op", ".config/hub", ".config/doctl",
	".terraform.d", "var/lib/docker", "var/db/dslocal", ".git/config", "library/keychains", ".local/share/fish", "etc/netplan", "etc/wireguard",
	".mozilla/firefox", "system-connections", "etc/ppp", "run/secrets",
}

// Secret returns the part of path that suggests secrets, or "".
func Secret(path string) string {
	path = strings.ToLower(filepath.ToSlash(path))
	for part := range strings.SplitSeq(path, "/") {
		for _, pattern := range secretNames {
			if ok, _ := filepath.Match(pattern, part); ok {
				return part
			}
		}
	}
	full := "/" + strings.Trim(path, "/") + "/"
	for _, secret := range secretPaths {
		if strings.Contains(full, "/"+secret+"/") {
			return secret
		}
	}
	return ""
}

// sourceEndings are file endings for which the start of a pattern does not suggest
// credentials: nobody means credentials.go by *.go.
var sourceEndings = []string{
	".go", ".js", ".jsx", ".ts", ".tsx", ".py", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".java", ".kt", ".rb", ".php", ".cs", ".swift", ".css",
	".scss", ".html", ".md", ".rst", ".sql", ".sh", ".proto", ".log", ".vue", ".svelte", ".mod", ".sum", ".screen", ".golden", ".tf", ".lua", ".mjs",
}

// SecretPattern returns the part of a glob pattern that could match a file with secrets, or
// "". In pattern \ escapes a literal character.
func SecretPattern(pattern string) string {
	pattern = strings.ToLower(pattern)
	parts := strings.Split(pattern, "/")
	source := slices.ContainsFunc(sourceEndings, func(e string) bool { return strings.HasSuffix(pattern, e) })
	for i, part := range parts {
		if !strings.ContainsAny(part, "*?[") {
			if s := Secret(strings.ReplaceAll(part, `\`, "")); s != "" {
				return s
			}
			continue
		}
		if source && (i == len(parts)-1 || !strings.HasPrefix(part, ".")) {
			continue
		}
		for _, name := range secretNames {
			if hidden(part) == strings.HasPrefix(name, ".") && overlap(tokens(part), tokens(name)) {
				return part
			}
		}
	}
	for _, secret := range secretPaths {
		if overlapPaths(parts, strings.Split(secret, "/")) {
			return pattern
		}
	}
	return ""
}

// hidden reports whether a pattern explicitly matches names that begin with a dot.
func hidden(part string) bool {
	return strings.HasPrefix(part, ".") || strings.HasPrefix(part, "[.")
}

// overlapPaths reports whether consecutive parts of a pattern match those of a path.
func overlapPaths(parts, secret []string) bool {
	for i := 0; i+len(secret) <= len(parts); i++ {
		ok, literal := true, 0
		for j, p := range secret {
			ok = ok && hidden(parts[i+j]) == strings.HasPrefix(p, ".") && overlap(tokens(parts[i+j]), tokens(p))
			if !strings.ContainsAny(parts[i+j], "*?[") {
				literal++
			}
		}
		if ok && (literal > 0 || hidden(parts[i])) {
			return true
		}
	}
	return false
}

// Tokens of a pattern: a character, any one, or any number of any.
const (
	anyOne  = -1
	anyMany = -2
	end     = -3 // the end of a name
)

// tokens splits a pattern; a set of characters in brackets counts as any character.
func tokens(pattern string) []rune {
	var out []rune
	r := []rune(pattern)
	for i := 0; i < len(r); i++ {
		switch r[i] {
		case '*':
			out = append(out, anyMany)
		case '?':
			out = append(out, anyOne)
		case '\\':
			if i++; i < len(r) {
				out = append(out, r[i])
			}
		case '[':
			end := slices.Index(r[min(i+2, len(r)):], ']')
			if end < 0 {
				out = append(out, r[i])
				continue
			}
			i += 2 + end
			out = append(out, anyOne)
		default:
			out = append(out, r[i])
		}
	}
	return out
}

// alike reports whether two tokens can match the same character, or both are the end.
func alike(x, y rune) bool {
	return x == y || x == anyOne && y != end || y == anyOne && x != end
}

// overlap reports whether some name matches both patterns.
func overlap(a, b []rune) bool {
	if len(a) > 200 || len(b) > 200 {
		return true
	}
	// can[j] holds whether a[i:] and b[j:] have a name in common; filled from the end.
	can := make([]bool, len(b)+2)
	next := make([]bool, len(b)+2)
	a, b = append(slices.Clone(a), end), append(slices.Clone(b), end)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			switch x, y := a[i], b[j]; {
			case x == anyMany:
				can[j] = next[j] || y != end && can[j+1]
			case y == anyMany:
				can[j] = can[j+1] || x != end && next[j]
			default:
				can[j] = alike(x, y) && (x == end || next[j+1])
			}
		}
		can, next = next, can
	}
	return next[0]
}

// SecretIn calls Secret, or SecretPattern with glob, as package shell expects it.
func SecretIn(path string, glob bool) string {
	if glob {
		return SecretPattern(path)
	}
	return Secret(path)
}
