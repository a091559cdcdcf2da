package form

import (
	"slices"
	"strings"
	"unicode"
)

// secretWords name secrets as single words, secretPairs as two words in a row.
var (
	secretWords = []string{
		"password", "passwords", "passwd", "pwd", "passphrase", "passcode", "secret", "secrets", "credential", "credentials",
		"token", "apikey", "apitoken", "authtoken", "accesstoken", "otp", "totp", "cvv", "cvc", "cvv2",
	}
	secretPairs = []string{
		"api key", "access key", "private key", "secret key", "ssh key", "pgp key", "gpg key", "signing key", "encryption key",
		"license key", "auth key", "account key", "master key", "recovery key", "seed phrase", "recovery phrase", "recovery code", "security code",
		"pin code", "credit card", "debit card", "bank card", "payment card", "card number", "time code", "pass word", "pass phrase",
	}
)

// secretField returns the label of the first field that asks for a password, token, key or card. Fields with given
// values, such as yes/no, can't hold one. The single words "key", "pin" and "card" count as a name or title, but not in
// a description.
func secretField(fields []Field) (label string, found bool) {
	for _, f := range fields {
		if f.Kind == YesNo || f.Kind == OneOf || f.Kind == SomeOf {
			continue
		}
		if slices.ContainsFunc([]string{f.Name, f.Title, f.About}, namesSecret) ||
			slices.ContainsFunc([]string{f.Name, f.Title}, func(s string) bool {
				return slices.Contains([]string{"key", "pin", "card"}, strings.Join(wordsOf(s), " "))
			}) {
			return f.label(), true
		}
	}
	return "", false
}

func namesSecret(text string) bool {
	words := wordsOf(text)
	for i, w := range words {
		if slices.Contains(secretWords, w) || i > 0 && slices.Contains(secretPairs, words[i-1]+" "+w) {
			return true
		}
	}
	return false
}

// wordsOf splits a text into lower-case words, also at camelCase.
func wordsOf(text string) []string {
	var spaced strings.Builder
	before := ' '
	for _, r := range text {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.FieldsFunc(spaced.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
