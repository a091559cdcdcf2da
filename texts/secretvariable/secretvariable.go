// Package secretvariable recognizes by name the environment variables that hold secrets.
//
//	why := secretvariable.Find("DB_PASSWORD") // "a password"
package secretvariable

import (
	"slices"
	"strings"
)

// variableWords lists words in names of variables whose values are secrets.
var variableWords = []struct {
	words string // separated by spaces
	where wordPlace
	why   string
}{
	{"PASSWORD PASSWORDS PASSWD PASSPHRASE PASSCODE", inside, "a password"},
	{"PASS PW PSW PWD BINDPW ROOTPW PSK", atEnd, "a password"},
	{"SECRET SECRETS", inside, "a secret"},
	{"TOKEN TOKENS JWT BEARER MACAROON OTP TOTP", inside, "a token"},
	{"PAT", atEnd, "a token"},
	{"CREDENTIAL CREDENTIALS CREDS CRED", inside, "credentials"},
	{"AUTH OAUTH OAUTH2 AUTHORIZATION", inside, "a login header or token"},
	{"COOKIE COOKIES", inside, "a logged-in session"},
	{"DSN CONNSTR CONNECTIONSTRING CONNECTIONSTRINGS", inside, "the address of a service, with its password"},
	{"SALT PEPPER HMAC MNEMONIC", atEnd, "an ingredient of signatures and hashes"},
	{"APIKEY ACCESSKEY PRIVATEKEY SECRETKEY SSHKEY SIGNINGKEY ENCRYPTIONKEY APPKEY", inside, "a key"},
	{"KEY KEYS", atEnd, "a key"},
	{"WEBHOOK", inside, "an address at which anybody who knows it can post"},
}

// wordPlace defines where in a name a word counts.
type wordPlace int

const (
	inside wordPlace = iota // anywhere in the name
	atEnd                   // as the last word, ignoring qualifiers
)

// variableParts lists sequences of words that mark a secret anywhere in a variable's name.
var variableParts = []struct{ part, why string }{
	{"API_KEY", "a key"},
	{"ACCESS_KEY", "a key"},
	{"PRIVATE_KEY", "a key"},
	{"SIGNING_KEY", "a key"},
	{"ENCRYPTION_KEY", "a key"},
	{"MASTER_KEY", "a key"},
	{"SERVICE_ACCOUNT", "the key of an account"},
	{"CONNECTION_STRING", "the address of a service, with its password"},
	{"CONN_STR", "the address of a service, with its password"},
	{"ID_RSA", "a key"},
	{"ID_ED25519", "a key"},
	{"KUBECONFIG_B64", "the login to a cluster"},
	{"KUBECONFIG_BASE64", "the login to a cluster"},
	{"NETRC_CONTENT", "the login to a server"},
	{"OP_SESSION", "a logged-in session"},
	{"BW_SESSION", "a logged-in session"},
	{"KUBE_CONFIG_DATA", "the login to a cluster"},
	{"KUBECONFIG_DATA", "the login to a cluster"},
	{"OTLP_HEADERS", "a login header or token"},
	{"CUSTOM_HEADERS", "a login header or token"},
}

// gluedWords are endings of words that mark a secret: PGPASSWORD, SSHPASS, MYTOKEN.
var gluedWords = []string{"PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "APIKEY", "PASS", "AUTH", "DSN", "COOKIE"}

// qualifiers may follow a word that marks a secret.
var qualifiers = []string{"BASE64", "B64", "HEX", "PEM", "JSON", "DATA", "VALUE", "PROD", "PRODUCTION", "DEV", "STAGING", "TEST", "CI", "OLD", "NEW", "PRIMARY", "SECONDARY", "CONFIG"}

// endings are last words of names whose values describe a secret, or are the path of a file with one.
var endings = []string{
	"DIR", "DIRS", "FILE", "PATH", "PATHS", "SOCK", "SOCKET", "PROFILE", "STORE", "COMMAND", "CMD", "HELPER", "NAME", "TTY", "LENGTH", "SIZE", "TIMEOUT", "TTL", "EXPIRY",
	"EXPIRES", "TYPE", "METHOD", "MODE", "ENABLED", "DISABLED", "URL", "URI", "HOST", "PORT", "DOMAIN", "REGION", "ISSUER", "AUDIENCE", "ENDPOINT", "PROVIDER", "USER", "USERNAME",
	"EMAIL", "PREFIX", "SUFFIX", "FORMAT", "ALGORITHM", "ALG", "BACKEND", "LIMIT", "COUNT", "VERSION", "PARALLELISM", "INFO", "SAMESITE", "SECURE", "HTTPONLY", "SERVER", "AGE", "REALM", "SCHEME",
}

// before maps words to the words before them that make them harmless.
var before = map[string][]string{
	"KEY":    {"PUBLIC", "PUB", "PUBLISHABLE", "FOREIGN", "SORT", "PARTITION", "CACHE", "HOT", "SHORTCUT", "COMPOSE", "LEADER"},
	"KEYS":   {"PUBLIC", "PUB", "FOREIGN", "AUTHORIZED", "HOT"},
	"TOKENS": {"MAX", "MIN", "NUM", "OUTPUT", "INPUT", "THINKING", "CONTEXT", "TOTAL"},
	"AUTH":   {"NO", "DISABLE", "ENABLE", "SKIP", "REQUIRE", "WITH"},
	"PASS":   {"BY", "MULTI", "SINGLE"},
}

// falseFriends maps words that only look like words of secrets to their meanings.
var falseFriends = map[string]string{
	"ASKPASS": "a program that asks for a password", "GOAUTH": "the way in which go logs in, without a secret",
	"COMPASS": "another word", "BYPASS": "another word", "TRESPASS": "another word", "UNDERPASS": "another word", "OVERPASS": "another word", "ENCOMPASS": "another word",
}

// falseNames maps complete names that only look like names of secrets to their meanings.
var falseNames = map[string]string{
	"PWD": "the folder of the shell", "OLDPWD": "the folder of the shell", "GOOGLE_APPLICATION_CREDENTIALS": "the path of a file",
	"PASSWORD_STORE_ENABLE_EXTENSIONS": "a setting of pass", "PASSWORD_STORE_CLIP_TIME": "a setting of pass", "PASSWORD_STORE_UMASK": "a setting of pass",
	"PASSWORD_STORE_GENERATED_LENGTH": "a setting of pass",
}

// Find returns why a variable's name suggests that its value is a secret, or "".
func Find(name string) string {
	name = strings.ToUpper(name)
	words := wordsOf(name)
	if len(words) == 0 || falseNames[name] != "" {
		return ""
	}
	last := words[len(words)-1]
	if slices.Contains(endings, last) && (last != "URL" || !slices.Contains(words, "WEBHOOK")) {
		return ""
	}
	for _, p := range variableParts {
		if strings.Contains("_"+name, "_"+p.part) {
			return p.why
		}
	}
	end := len(words) - 1
	for end > 0 && slices.Contains(qualifiers, words[end]) {
		end--
	}
	for i, w := range words {
		if why := wordOfSecret(w, i == end); why != "" && (i == 0 || !slices.Contains(before[w], words[i-1])) {
			return why
		}
	}
	return ""
}

// wordsOf returns the words of a name in capitals, without numbers at their ends: TOKEN2.
func wordsOf(name string) []string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	for i, w := range words {
		if t := strings.TrimRight(w, "0123456789"); t != "" && !slices.Contains([]string{"OAUTH2", "BASE64", "B64"}, w) {
			words[i] = t
		}
	}
	return words
}

// wordOfSecret returns the secret that a word of a name indicates, or "".
func wordOfSecret(word string, last bool) string {
	if falseFriends[word] != "" {
		return ""
	}
	for _, row := range variableWords {
		if (last || row.where == inside) && slices.Contains(strings.Fields(row.words), word) {
			return row.why
		}
	}
	if slices.ContainsFunc(gluedWords, func(end string) bool { return word != end && strings.HasSuffix(word, end) }) {
		return "a secret"
	}
	return ""
}

// HoldsPassword reports whether a value is a URL with a password. URLs of proxies are exempt, because commands need
// them.
func HoldsPassword(name, value string) bool {
	if strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
		return false
	}
	for {
		_, rest, ok := strings.Cut(value, "://")
		if !ok {
			return false
		}
		host := rest
		if i := strings.IndexAny(host, "/ \t\n?#"); i >= 0 {
			host = host[:i]
		}
		if at := strings.LastIndexByte(host, '@'); at > 0 {
			if _, password, ok := strings.Cut(host[:at], ":"); ok && password != "" {
				return true
			}
		}
		value = rest
	}
}
