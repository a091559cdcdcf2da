package redact

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	r := New("hunter2-hunter2", "short", "", "  padded-value\n")
	tests := []struct{ name, text, want string }{
		{"known value", "key=hunter2-hunter2;", "key=[redacted];"},
		{"known value, padded in its file", "x padded-value y", "x [redacted] y"},
		{"too short to know", "a short text", "a short text"},
		{"OpenAI", "OPENAI_API_KEY=sk-proj-" + strings.Repeat("a1B2", 8), "OPENAI_API_KEY=[redacted]"},
		{"Anthropic", "sk-ant-api03-" + strings.Repeat("x", 30), "sk-[redacted]"},
		{"GitHub", "ghp_" + strings.Repeat("a", 36), "ghp_[redacted]"},
		{"AWS", "id AKIA" + "IOSFODNN7EXAMPLE.", "id AKIA[redacted]."},
		{"header", "Authorization: Bearer abcdef0123456789", "Authorization: Bearer [redacted]"},
		{"URL", "postgres://ann:s3cret@db/x", "postgres://ann:[redacted]@db/x"},
		{"PEM", "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb", "a\n-----BEGIN RSA PRIVATE KEY-----[redacted]\nb"},
		{"PEM in JSON", `-----BEGIN PRIVATE KEY-----\nMII+/=\n-----END PRIVATE KEY-----`, "-----BEGIN PRIVATE KEY-----[redacted]"},
		{"public key", "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----"},
		{"hash", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8"},
		{"words", "risk-free and task-based", "risk-free and task-based"},
		{"time in a URL", "http://host:8080/a@b", "http://host:8080/a@b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.Text(tt.text); got != tt.want {
				t.Errorf("Text(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
	if got := (*Redactor)(nil).Text("sk-" + strings.Repeat("a1", 15)); got != "sk-"+Mark {
		t.Errorf("nil Redactor: %q", got)
	}
}

// body returns n bytes that mix upper case, lower case and digits.
func body(n int) string { return strings.Repeat("aB3dE5gH7jK9mN1p", n/16+1)[:n] }

func lower(n int) string { return strings.Repeat("0a1b2c3d4e5f6789", n/16+1)[:n] }

func caps(n int) string { return strings.Repeat("A2B3C4D5E6F7G3H2", n/16+1)[:n] }

// secrets holds texts with one secret each.
var secrets = []struct{ name, text, secret string }{
	{"OpenAI", "sk-" + body(48), body(48)},
	{"OpenAI project", "sk-proj-" + body(120), body(120)},
	{"Anthropic", "sk-ant-api03-" + body(90), body(90)},
	{"OpenRouter", "sk-or-v1-" + lower(64), lower(64)},
	{"xAI", "xai-" + body(80), body(80)},
	{"Groq", "gsk_" + body(52), body(52)},
	{"Hugging Face", "hf_" + body(34), body(34)},
	{"Replicate", "r8_" + body(37), body(37)},
	{"Perplexity", "pplx-" + body(48), body(48)},
	{"Cerebras", "csk-" + body(48), body(48)},
	{"NVIDIA", "nvapi-" + body(64), body(64)},
	{"Together", "tgp_v1_" + body(43), body(43)},
	{"Google", "AIza" + body(35), body(35)},
	{"Google token", "ya29." + body(120), body(120)},
	{"Google client", "GOCSPX-" + body(28), body(28)},
	{"AWS id", "AKIA" + caps(16), caps(16)},
	{"AWS session id", "ASIA" + caps(16), caps(16)},
	{"AWS Bedrock", "ABSK" + body(120), body(120)},
	{"AWS secret", "aws_secret_access_key = " + body(40), body(40)},
	{"AWS secret, JSON", `"SecretAccessKey": "` + body(40) + `"`, body(40)},
	{"AWS secret, environment", "AWS_SECRET_ACCESS_KEY=" + body(40), body(40)},
	{"AWS session", "aws_session_token = " + body(200), body(200)},
	{"Azure storage", "AccountName=x;AccountKey=" + body(86) + "==;EndpointSuffix=core", body(86)},
	{"Azure bus", "SharedAccessKey=" + body(43) + "=", body(43)},
	{"Azure SAS", "https://x.blob/?sv=1&sig=" + body(43) + "%3D", body(43)},
	{"GitHub", "ghp_" + body(36), body(36)},
	{"GitHub app", "ghs_" + body(36), body(36)},
	{"GitHub fine-grained", "github_pat_" + body(22) + "_" + body(59), body(59)},
	{"GitLab", "glpat-" + body(20), body(20)},
	{"GitLab runner", "glrt-" + body(20), body(20)},
	{"npm", "npm_" + body(36), body(36)},
	{".npmrc", "//registry.example/:_authToken=" + body(36), body(36)},
	{"PyPI", "pypi-AgEIcHlwaS5vcmc" + body(100), body(100)},
	{"RubyGems", "rubygems_" + lower(48), lower(48)},
	{"Docker", "dckr_pat_" + body(27), body(27)},
	{"Slack", "xoxb-1234567890-" + body(24), body(24)},
	{"Slack app", "xapp-1-A0-" + body(60), body(60)},
	{"Slack hook", "https://hooks.slack.com/services/T0000/B0000/" + body(24), body(24)},
	{"Stripe", "sk_live_" + body(24), body(24)},
	{"Stripe restricted", "rk_live_" + body(24), body(24)},
	{"Stripe hook", "whsec_" + body(32), body(32)},
	{"SendGrid", "SG." + body(22) + "." + body(43), body(43)},
	{"DigitalOcean", "dop_v1_" + lower(64), lower(64)},
	{"Shopify", "shpat_" + lower(32), lower(32)},
	{"Linear", "lin_api_" + body(40), body(40)},
	{"Notion", "ntn_" + body(46), body(46)},
	{"Vault", "hvs." + body(95), body(95)},
	{"Databricks", "dapi" + lower(32), lower(32)},
	{"Grafana", "glsa_" + body(32) + "_a1b2c3d4", body(32)},
	{"Supabase", "sbp_" + lower(40), lower(40)},
	{"Tailscale", "tskey-auth-" + body(30), body(30)},
	{"age", "AGE-SECRET-KEY-1" + caps(58), caps(58)},
	{"JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + body(43), body(43)},
	{"header", "Authorization: Bearer " + body(30), body(30)},
	{"header in JSON", `"authorization": "Basic ` + body(24) + `="`, body(24)},
	{"header of a key", "x-api-key: " + body(32), body(32)},
	{"URL", "postgres://ann:" + body(12) + "@db/x", body(12)},
	{"URL without user", "redis://:" + body(12) + "@db/0", body(12)},
	{".netrc", "machine example.com login ann password " + body(12), body(12)},
	{".netrc in lines", "machine example.com\n  login ann\n  password " + body(12) + "\n", body(12)},
	{"environment", "DB_PASSWORD=" + body(12), body(12)},
	{"environment, quoted", `export MY_TOKEN="` + body(20) + `"`, body(20)},
	{"PEM", key("RSA "), "MIIEow"},
	{"OpenSSH", key("OPENSSH "), "MIIEow"},
	{"PEM, encrypted", strings.Replace(key("RSA "), "-----\nM", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\nM", 1), "MIIEow"},
	{"PGP", strings.ReplaceAll(strings.Replace(key(""), "-----\nM", "-----\nVersion: GnuPG v2\n\nM", 1), "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"), "MIIEow"},
	{"PEM without its end", strings.TrimSuffix(key("RSA "), "-----END RSA PRIVATE KEY-----"), "MIIEow"},
	{"PEM in JSON", strings.ReplaceAll(key(""), "\n", `\n`), "MIIEow"},
	{"known value", "hunter2-hunter2", "hunter2-hunter2"},
}

// key returns a private key in PEM.
func key(kind string) string {
	line := "MIIEow" + body(58) + "\n"
	return "-----BEGIN " + kind + "PRIVATE KEY-----\n" + strings.Repeat(line, 20) + "-----END " + kind + "PRIVATE KEY-----"
}

// ordinary holds texts without secrets, which must stay unchanged.
var ordinary = []string{
	"commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
	"risk-free and task-based, desk-management-of-many-things-in-the-office-2",
	"class sk-toggleable__content-arrow of the page",
	"sk-short1", "ghp_short", "npm_config_registry=https://registry.example", "npm_lifecycle_script=build and test",
	"AKIA is how ids begin", "the AIza prefix",
	"hf_transfer", "hf_hub_download(repo_id)", "r8_unorm texture", "pypi-server 2.0", "sbp_", "dapigateway",
	"xoxo-hugs", "xoxb-", "SG.1", "SG. and the rest of the world is far away from here, said the man of few words",
	"eyJ is the beginning of JSON in base64", "eyJhbGciOiJIUzI1NiJ9 alone",
	"Authorization: required", "the authorization of the user", "authorization: none at all",
	"x-api-key: $KEY", "x-api-key header is missing",
	"http://host:8080/a@b", "http://localhost:8080", "https://ann@example.com/x", "ssh://git@host:22/x", "see http://a:b",
	"postgres://ann:${PASSWORD}@db/x", "postgres://ann:$PASSWORD@db/x",
	"the machine learns a password from the login form", "machine room",
	"token=getToken(request)", "TOKEN=$(cat file)", "PASSWORD=", "PASSWORD=secret", "API_KEY=your_key_here", "MAX_TOKEN=4096",
	"const apiKey = readKey(path)", "password: required field", "func (p *Parser) password(s string) error",
	"aws_secret_access_key = ${AWS_SECRET}", "AccountKey=<key>", "&sig=abc",
	"-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEF\n-----END PUBLIC KEY-----",
	"-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEF\n-----END CERTIFICATE-----",
	`strings.Contains(s, "-----BEGIN RSA PRIVATE KEY-----") || more`,
	"a line of -----BEGIN PRIVATE KEY----- says that a key follows",
	"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGx ann@host", "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
	"123e4567-e89b-12d3-a456-426614174000", "glc_name is a word", "tskey-", "whsec_short",
}

// TestSecrets checks every kind at the start of a line and inside results.
func TestSecrets(t *testing.T) {
	r := New("hunter2-hunter2")
	for _, tt := range secrets {
		for _, around := range [][2]string{{"", ""}, {"a ", " b"}, {"x\n", "\ny"}, {`{"stdout":"a\n`, `\nb"}`}, {"\x1b[01;31m", "\x1b[m"}, {"('", "')"}} {
			got := r.Text(around[0] + tt.text + around[1])
			if strings.Contains(got, tt.secret) || strings.Contains(got, tt.secret[:6]) && tt.name != "known value" || !strings.Contains(got, Mark) {
				t.Errorf("%s: Text(%q) = %q", tt.name, around[0]+tt.text+around[1], got)
			}
			if !strings.HasPrefix(got, around[0]) || !strings.HasSuffix(got, around[1]) && tt.name != "PEM without its end" {
				t.Errorf("%s: what is around went, too: %q", tt.name, got)
			}
			if again := r.Text(got); again != got {
				t.Errorf("%s: the second time %q becomes %q", tt.name, got, again)
			}
		}
	}
}

func TestOrdinary(t *testing.T) {
	r := New("hunter2-hunter2")
	for _, text := range ordinary {
		if got := r.Text(text); got != text {
			t.Errorf("Text(%q) = %q", text, got)
		}
		if got := r.Text("a\n" + text + "\nb"); got != "a\n"+text+"\nb" {
			t.Errorf("in lines: Text(%q) = %q", text, got)
		}
	}
}

// A key cut in two by a truncated result shows neither part.
func TestCutKey(t *testing.T) {
	k := key("RSA ")
	got := (*Redactor)(nil).Text(k[:600] + "\n...[truncated] 900 bytes\n" + k[len(k)-500:] + "\nend")
	if strings.Contains(got, "MIIE") || !strings.Contains(got, "...[truncated] 900 bytes") || !strings.HasSuffix(got, "\nend") {
		t.Errorf("%q", got)
	}
}

// A given value is also found with JSON escapes.
func TestEscapedValue(t *testing.T) {
	if got := New(`pass"word\1<&>`).Text(`{"stdout":"pass\"word\\1<&>"}`); got != `{"stdout":"[redacted]"}` {
		t.Errorf("%q", got)
	}
}

func TestEntropy(t *testing.T) {
	for _, text := range []string{"kJ8fLq2Zx9Vb4Nn7Tw1R", "x=Zk3/9fQw+7Lp2Xc8Vb1Nm5Tr6Yh4Jd0Sg=", `"t": "a8Kd0Lq3Zp7Xw2Vn6Bm4"`} {
		if got := Entropy(text); got == text || !strings.Contains(got, Mark) {
			t.Errorf("Entropy(%q) = %q", text, got)
		}
	}
	for _, text := range []string{
		"", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "123e4567-e89b-12d3-a456-426614174000",
		"TestThatManyWordsInOneNameStay2And3", "/usr/lib/x86_64-linux-gnu/Qt5/libQt5Core.so.5.15.2",
		"buddy/agent/model/completions", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "2026-11-21T14:01:22.000Z", "--no-verify-Host-Key-Checking",
	} {
		if got := Entropy(text); got != text {
			t.Errorf("Entropy(%q) = %q", text, got)
		}
	}
}

var log = strings.Repeat("2026/11/20 14:01:22 [info] GET https://example.invalid/a?b=c 200 in 12 ms\n", 1000)

func BenchmarkText(b *testing.B) {
	r := New("hunter2-hunter2")
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		r.Text(log)
	}
}

func BenchmarkEntropy(b *testing.B) {
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		Entropy(log)
	}
}

func BenchmarkStream(b *testing.B) {
	s := New("hunter2-hunter2").Stream()
	b.SetBytes(4096)
	b.ReportAllocs()
	for b.Loop() {
		s.Write(log[:4096])
	}
}

// source is program text with names of secrets but no secrets.
var source = strings.Repeat("func (p *Parser) next(token Token, key string) (*Node, error) {\n\tif password, ok := p.values[key]; ok && p.author != \"\" {\n\t\treturn p.node(token, password), nil\n\t}\n}\n", 400)

func BenchmarkSource(b *testing.B) {
	r := New("hunter2-hunter2")
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		r.Text(source)
	}
}
