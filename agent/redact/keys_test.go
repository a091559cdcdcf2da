package redact

import (
	"strings"
	"testing"
)

// Characters of generated keys. The repository contains no keys: the tests generate them.
func mini(n int) string { return strings.Repeat("k3m8q1w6z9x2c5v7", n/16+1)[:n] }

func number(n int) string { return strings.Repeat("7410852963", n/10+1)[:n] }

func uuid() string {
	return lower(8) + "-" + lower(4) + "-" + lower(4) + "-" + lower(4) + "-" + lower(12)
}

// vectors holds keys in their issuers' formats: the visible prefix, and the rest.
var vectors = []struct{ provider, shown, key string }{
	{"1Password account", "A3-", caps(6) + "-" + caps(6) + "-" + caps(5) + "-" + caps(5) + "-" + caps(5) + "-" + caps(5)},
	{"1Password service", "ops_eyJ", body(250)},
	{"Adobe", "p8e-", mini(32)},
	{"age", "AGE-SECRET-KEY-1", caps(58)},
	{"Airtable", "pat", body(14) + "." + lower(64)},
	{"Aiven", "AVNS_", body(19)},
	{"Alibaba", "LTAI", body(20)},
	{"Anthropic", "sk-", "ant-api03-" + body(93) + "AA"},
	{"Anthropic admin", "sk-", "ant-admin01-" + body(93) + "AA"},
	{"Anthropic login", "sk-", "ant-oat01-" + body(86)},
	{"Artifactory", "AKCp", body(69)},
	{"Artifactory reference", "cmVmd", body(59)},
	{"Atlassian", "ATATT3", body(186)},
	{"Atlassian repository", "ATCTT3", body(180)},
	{"AWS", "AKIA", caps(16)},
	{"AWS session", "ASIA", caps(16)},
	{"AWS bearer", "ABIA", caps(16)},
	{"AWS Bedrock", "ABSK", body(120)},
	{"Bitbucket", "ATBB", body(32)},
	{"Brevo", "xkeysib-", lower(64) + "-" + body(16)},
	{"Buildkite", "bkua_", lower(40)},
	{"Cerebras", "csk-", mini(48)},
	{"CircleCI", "CCIPAT_", body(22) + "_" + lower(40)},
	{"ClickHouse", "4b1d", body(38)},
	{"Clojars", "CLOJARS_", lower(60)},
	{"Cloudflare user", "cfut_", body(48)},
	{"Cloudflare account", "cfat_", body(48)},
	{"Cloudflare origin", "v1.0-", lower(24) + "-" + lower(146)},
	{"crates.io", "cio", body(32)},
	{"Databricks", "dapi", lower(32)},
	{"Databricks with number", "dapi", lower(32) + "-2"},
	{"DeepSeek", "sk-", lower(32)},
	{"Defined Networking", "dnkey-", body(26) + "-" + body(52)},
	{"DigitalOcean", "dop_v1_", lower(64)},
	{"DigitalOcean refresh", "dor_v1_", lower(64)},
	{"Discord hook", "https://discord.com/api/webhooks/", number(19) + "/" + body(68)},
	{"Docker", "dckr_pat_", body(27)},
	{"Docker organization", "dckr_oat_", body(32)},
	{"Doppler", "dp.pt.", body(43)},
	{"Doppler service", "dp.st.", "prd." + body(43)},
	{"Dropbox", "sl.", body(135)},
	{"Duffel", "duffel_live_", body(43)},
	{"Dynatrace", "dt0c01.", caps(24) + "." + caps(64)},
	{"EasyPost", "EZAK", body(54)},
	{"ElevenLabs", "sk_", lower(48)},
	{"Facebook", "EAAC", body(120)},
	{"Figma", "figd_", body(43)},
	{"Firecrawl", "fc-", lower(32)},
	{"Fireworks", "fw_", body(22)},
	{"Flutterwave", "FLWSECK_TEST-", lower(32) + "-X"},
	{"Fly", "fm2_", body(120)},
	{"Frame.io", "fio-u-", body(64)},
	{"GitHub", "ghp_", body(36)},
	{"GitHub login", "gho_", body(36)},
	{"GitHub app", "ghs_", body(36)},
	{"GitHub user of an app", "ghu_", body(36)},
	{"GitHub refresh", "ghr_", body(76)},
	{"GitHub fine-grained", "github_pat_", body(22) + "_" + body(59)},
	{"GitLab", "glpat-", body(20)},
	{"GitLab routable", "glpat-", body(27) + ".01." + lower(9)},
	{"GitLab deploy", "gldt-", body(20)},
	{"GitLab trigger", "glptt-", lower(40)},
	{"GitLab runner", "GR1348941", body(20)},
	{"GitLab job", "glcbt-", "64_" + body(20)},
	{"GitLab agent", "glagent-", body(50)},
	{"GitLab application", "gloas-", lower(64)},
	{"Google", "AIza", body(35)},
	{"Google token", "ya29.", body(120)},
	{"Google refresh", "1//0", body(98)},
	{"Google client", "GOCSPX-", body(28)},
	{"Grafana", "glsa_", body(32) + "_" + lower(8)},
	{"Grafana cloud", "glc_", body(80) + "="},
	{"Groq", "gsk_", body(52)},
	{"Harness", "pat.", body(22) + "." + lower(24) + "." + body(20)},
	{"Heroku", "HRKU-", "AA" + body(58)},
	{"HubSpot", "pat-na1-", uuid()},
	{"Hugging Face", "hf_", body(34)},
	{"Hugging Face organization", "api_org_", body(34)},
	{"Infracost", "ico-", body(32)},
	{"Intercom", "dG9rO", body(54)},
	{"Jina", "jina_", body(60)},
	{"LangSmith", "lsv2_pt_", lower(32) + "_" + lower(10)},
	{"LaunchDarkly", "sdk-", uuid()},
	{"Linear", "lin_api_", body(40)},
	{"Lob", "live_", lower(35)},
	{"Mailgun", "key-", lower(32)},
	{"Mapbox", "sk.eyJ", body(80) + "." + body(22)},
	{"Neon", "napi_", mini(64)},
	{"Netlify", "nfp_", body(36)},
	{"New Relic", "NRAK-", caps(27)},
	{"New Relic insert", "NRII-", body(32)},
	{"Notion", "ntn_", number(11) + body(35)},
	{"Notion, earlier", "secret_", body(43)},
	{"npm", "npm_", body(36)},
	{"NuGet", "oy2", mini(43)},
	{"NVIDIA", "nvapi-", body(64)},
	{"Octopus Deploy", "API-", caps(26)},
	{"OpenAI", "sk-", body(20) + "T3Blbk" + "FJ" + body(20)},
	{"OpenAI project", "sk-", "proj-" + body(74) + "T3Blbk" + "FJ" + body(74)},
	{"OpenRouter", "sk-", "or-v1-" + lower(64)},
	{"OpenShift", "sha256~", body(43)},
	{"Ory", "ory_at_", body(43) + "." + body(43)},
	{"Packagist", "packagist_ort_", lower(68)},
	{"PayPal", "access_token$production$", mini(16) + "$" + lower(32)},
	{"Perplexity", "pplx-", body(48)},
	{"Pinecone", "pcsk_", body(5) + "_" + body(63)},
	{"Plaid", "access-sandbox-", uuid()},
	{"PlanetScale", "pscale_tkn_", body(43)},
	{"PlanetScale password", "pscale_pw_", body(43)},
	{"PostHog", "phx_", body(43)},
	{"Postman", "PMAK-", lower(24) + "-" + lower(34)},
	{"Prefect", "pnu_", body(36)},
	{"Pulumi", "pul-", lower(40)},
	{"PyPI", "pypi-", "AgEIcHlwaS5v" + "cmc" + body(120)},
	{"Razorpay", "rzp_live_", body(14)},
	{"ReadMe", "rdme_", mini(70)},
	{"Render", "rnd_", body(28)},
	{"Replicate", "r8_", body(37)},
	{"Resend", "re_", body(8) + "_" + body(24)},
	{"RubyGems", "rubygems_", lower(48)},
	{"Scalingo", "tk-us-", body(48)},
	{"SendGrid", "SG.", body(22) + "." + body(43)},
	{"Sentry", "sntryu_", lower(64)},
	{"Sentry organization", "sntrys_", body(120) + "_" + body(43)},
	{"Settlemint", "sm_aat_", body(16)},
	{"Shippo", "shippo_live_", lower(40)},
	{"Shopify", "shpat_", lower(32)},
	{"Shopify shared", "shpss_", lower(32)},
	{"Slack", "xoxb-", number(12) + "-" + number(12) + "-" + body(24)},
	{"Slack user", "xoxp-", number(12) + "-" + number(12) + "-" + number(12) + "-" + lower(32)},
	{"Slack app", "xapp-", "1-" + caps(11) + "-" + number(13) + "-" + lower(64)},
	{"Slack refresh", "xoxe-", "1-" + body(146)},
	{"Slack hook", "https://hooks.slack.com/services/", "T" + caps(8) + "/B" + caps(8) + "/" + body(24)},
	{"SonarQube", "squ_", lower(40)},
	{"Sourcegraph", "sgp_", lower(16) + "_" + lower(40)},
	{"Square", "sq0atp-", body(22)},
	{"Stripe", "sk_live_", body(24)},
	{"Stripe test", "sk_test_", body(99)},
	{"Stripe hook", "whsec_", body(32)},
	{"Supabase", "sbp_", lower(40)},
	{"Supabase project", "sb_secret_", body(31)},
	{"Tailscale", "tskey-", "auth-" + body(17) + "-" + body(32)},
	{"Tavily", "tvly-", body(32)},
	{"Teams hook", "https://x.webhook.office.com/webhookb2/", uuid() + "@" + uuid() + "/IncomingWebhook/" + lower(32) + "/" + uuid()},
	{"Telegram", number(10) + ":AA", body(33)},
	{"Terraform", body(14) + ".atlasv1.", body(67)},
	{"Together", "tgp_v1_", body(43)},
	{"Twilio", "SK0", lower(32)[1:]},
	{"Typeform", "tfp_", body(44) + "_" + body(14)},
	{"Vault", "hvs.", body(95)},
	{"Vault batch", "hvb.", body(140)},
	{"Vercel", "vcp_", body(56)},
	{"xAI", "xai-", body(80)},
	{"Yandex", "AQVN", body(36)},
	{"Yandex storage", "YCA", body(37)},
	{"JSON web token", "eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + body(43)},
	{"encrypted JSON web token", "eyJ", "hbGciOiJSU0EtT0FFUCJ9.eyJ" + body(40) + "." + body(16) + "." + body(60) + "." + body(22)},
	{"private key in base64", "LS0tLS1CRUdJTiBS" + "U0Eg", body(800)},
	{"OpenSSH key in base64", "b3BlbnNzaC1rZXkt" + "djE", body(800)},
	{"registry login in base64", "eyJhdXRo" + "cyI6", body(80)},
	{"bcrypt", "$2b$", "12$" + body(53)},
	{"sha512-crypt", "$6$", body(16) + "$" + body(86)},
	{"argon2", "$argon2id$", "v=19$m=65536,t=3,p=4$" + body(22) + "$" + body(43)},
}

// Every key is replaced anywhere in a text; its prefix and the text around it stay.
func TestVectors(t *testing.T) {
	for _, v := range vectors {
		for _, around := range [][2]string{
			{"", ""},
			{"a ", " b"},
			{"x\n", "\ny"},
			{`{"stdout":"a\n`, `\nb"}`},
			{"\x1b[01;31m", "\x1b[m"},
			{"('", "')"},
			{"see ", ". Then"},
			{"<a>", "</a>"},
			{"| ", " |"},
			{"`", "`,"},
			{"?x=", "&y=1"},
		} {
			text := around[0] + v.shown + v.key + around[1]
			if got, want := (*Redactor)(nil).Text(text), around[0]+v.shown+Mark+around[1]; got != want {
				t.Errorf("%s: Text(%q)\n = %q, want %q", v.provider, text, got, want)
			}
		}
	}
}

// A prefix with too few characters after it is an ordinary word and stays.
func TestPrefixes(t *testing.T) {
	for _, s := range shapes {
		for _, begin := range s.hints() {
			for _, rest := range []string{"", " ", "x", "name", "-of-the-", "_and_", "123", "=1", "\n"} {
				if len(rest) < s.least {
					if got := (*Redactor)(nil).Text(begin + rest); got != begin+rest {
						t.Errorf("%s: %q became %q", s.provider, begin+rest, got)
					}
				}
			}
		}
	}
}

// TestShapes checks the table for consistency and for the promised providers.
func TestShapes(t *testing.T) {
	providers, begins := map[string]bool{}, map[string]string{}
	for _, s := range shapes {
		if providers[s.provider] {
			t.Errorf("%s is there twice", s.provider)
		}
		providers[s.provider] = true
		if s.most > 0 && s.most < s.least || s.body == nil || s.least < 8 {
			t.Errorf("%s: from %d to %d characters", s.provider, s.least, s.most)
		}
		for _, b := range s.hints() {
			if len(b) < 3 {
				t.Errorf("%s: %q is too short for a hint", s.provider, b)
			}
			if other := begins[b]; other != "" {
				t.Errorf("%q begins keys of %s and of %s", b, other, s.provider)
			}
			begins[b] = s.provider
		}
	}
	if len(providers) < 90 || len(begins) < 150 {
		t.Errorf("%d providers with %d prefixes", len(providers), len(begins))
	}
}
