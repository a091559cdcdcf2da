package redact

import "strings"

// known finds secrets by their shape.
var known = newFinder()

func newFinder() *finder {
	f := &finder{}
	for _, s := range shapes {
		f.add(s)
	}
	for _, k := range []kind{pem{}, jwt{}, scheme{}, cookie{}, password{}, login{}, named{}} {
		f.add(k)
	}
	return f
}

// after returns prefixes for a shape: text with each character of next appended, separated by spaces.
func after(text, next string) string {
	var b strings.Builder
	for _, c := range next {
		b.WriteString(text + string(c) + " ")
	}
	return b.String()
}

// shapes lists the key formats that issuers document. Lengths exclude the prefix. least is the documented length, or
// the lower end of a range.
var shapes = []shape{
	// Models.
	{"OpenAI, Anthropic, OpenRouter, DeepSeek and others", "sk-", dashed, 20, 0, true},
	{"xAI", "xai-", alnum, 60, 0, false},
	{"Groq", "gsk_", alnum, 40, 0, false},
	{"Hugging Face", "hf_", alnum, 30, 0, false},
	{"Hugging Face, of an organization", "api_org_", alnum, 30, 0, false},
	{"Replicate", "r8_", alnum, 35, 0, false},
	{"Perplexity", "pplx-", alnum, 40, 0, false},
	{"Cerebras", "csk-", alnum, 40, 0, false},
	{"NVIDIA", "nvapi-", dashed, 50, 0, false},
	{"Together", "tgp_v1_", dashed, 40, 0, false},
	{"Fireworks", "fw_", alnum, 22, 48, true},
	{"Pinecone", "pcsk_", word, 40, 0, false},
	{"LangSmith", "lsv2_pt_ lsv2_sk_ ls__", word, 32, 0, true},
	{"Langfuse", "pk-lf- sk-lf-", dashed, 30, 0, true},
	{"Voyage", "pa-", dashed, 43, 48, true},
	{"Jina", "jina_", dashed, 40, 0, true},
	{"Tavily", "tvly-", dashed, 24, 0, true},
	{"Firecrawl", "fc-", hex, 32, 32, true},
	{"ElevenLabs", "sk_", hex, 48, 48, true},

	// Clouds.
	{"Google", "AIza", dashed, 35, 0, false},
	{"Google, short-lived", "ya29.", dashed, 40, 0, false},
	{"Google, of a client", "GOCSPX-", dashed, 24, 0, false},
	{"Google, refresh", "1//0", dashed, 40, 0, true},
	{"AWS, the id", "AKIA ASIA ABIA ACCA", upper, 16, 16, false},
	{"AWS Bedrock", "ABSK bedrock-api-key-", base64, 100, 0, false},
	{"AWS, a signature", "X-Amz-Signature= X-Amz-Security-Token=", query, 40, 0, false},
	{"Azure", "AccountKey= SharedAccessKey=", base64, 40, 0, false},
	{"Azure, a signature", "&sig= ?sig=", query, 40, 0, false},
	{"Alibaba, the id", "LTAI", alnum, 12, 24, true},
	{"Tencent, the id", "AKID", alnum, 32, 48, true},
	{"DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", hex, 64, 0, false},
	{"Yandex", "AQVN", dashed, 35, 38, false},
	{"Yandex, of storage", "YCA YCM YCP", dashed, 37, 38, true},
	{"Heroku", "HRKU-", dashed, 32, 0, true},
	{"Fly", "fo1_", dashed, 43, 0, false},
	{"Fly, of an application", "fm1a_ fm1r_ fm2_", base64, 100, 0, false},
	{"Cloudflare", "cfk_ cfut_ cfat_", alnum, 40, 0, false},
	{"Cloudflare, of an origin", "v1.0-", dashed, 160, 180, true},
	{"Vercel", "vcp_ vci_ vca_ vcr_ vck_", alnum, 24, 0, true},
	{"Netlify", "nfp_ nfc_ nfo_ nfu_", alnum, 36, 0, true},
	{"Render", "rnd_", alnum, 24, 0, true},
	{"Scalingo", "tk-us-", dashed, 48, 0, false},
	{"Supabase", "sbp_", hex, 40, 0, false},
	{"Supabase, of a project", "sb_secret_", dashed, 22, 0, false},
	{"PlanetScale", "pscale_tkn_ pscale_oauth_ pscale_pw_", dotted, 32, 0, false},
	{"Neon", "napi_", alnum, 40, 0, true},
	{"ClickHouse", "4b1d", alnum, 38, 38, false},
	{"Databricks", "dapi", chars("09afAF--"), 32, 0, false},
	{"Databricks, of an application", "dose", hex, 32, 32, true},
	{"Aiven", "AVNS_", dashed, 15, 0, false},

	// Code and packages.
	{"GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", word, 36, 0, false},
	{"GitHub, fine-grained", "github_pat_", word, 40, 0, false},
	{"GitLab", "glpat- gldt- glrt- glrtr- glptt- glcbt- gloas- glsoat- glft- glffct- glimt- glagent- glwt-", dotted, 20, 0, false},
	{"GitLab, of a runner", "GR1348941", dashed, 20, 0, false},
	{"GitLab, a session", "_gitlab_session=", alnum, 32, 0, false},
	{"Bitbucket", "ATBB", alnum, 28, 36, true},
	{"Bitbucket, of a repository", "ATCTT3", header, 100, 0, false},
	{"Atlassian", "ATATT3", header, 100, 0, false},
	{"npm", "npm_", alnum, 36, 0, false},
	{"npm, in its settings", "_authToken= _password=", header, 8, 0, false},
	{"PyPI", "pypi-", dashed, 50, 0, false},
	{"RubyGems", "rubygems_", hex, 48, 0, false},
	{"crates.io", "cio", alnum, 32, 32, true},
	{"NuGet", "oy2", chars("az09"), 43, 43, true},
	{"Clojars", "CLOJARS_", alnum, 60, 0, false},
	{"Packagist", "packagist_ort_ packagist_out_ packagist_uut_ packagist_ouf_", hex, 60, 0, false},
	{"Docker", "dckr_pat_ dckr_oat_", dashed, 20, 0, false},
	{"Artifactory", "AKCp", alnum, 64, 72, true},
	{"Artifactory, a reference", "cmVmd", alnum, 59, 59, false},
	{"OpenShift", "sha256~", dashed, 43, 0, false},
	{"Buildkite", "bkua_ bkct_", alnum, 40, 0, true},
	{"CircleCI", "CCIPAT_ CCIPRJ_", word, 40, 0, true},
	{"Octopus Deploy", "API-", upper, 25, 36, true},
	{"Pulumi", "pul-", hex, 40, 0, false},
	{"Terraform", ".atlasv1.", dashed, 60, 0, false},
	{"Doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", dotted, 40, 0, false},
	{"Infisical", "st.", dotted, 60, 120, true},
	{"Vault", "hvs. hvb. hvr.", dashed, 24, 0, false},
	{"1Password", "ops_eyJ", base64, 100, 0, false},
	{"1Password, of an account", "A3-", chars("AZ09--"), 32, 40, true},
	{"Postman", "PMAK-", dashed, 59, 0, false},
	{"ReadMe", "rdme_", alnum, 64, 0, false},
	{"Prefect", "pnu_", alnum, 36, 0, false},
	{"Sourcegraph", "sgp_", word, 40, 0, true},
	{"SonarQube", "sqp_ squ_ sqa_", hex, 40, 40, true},
	{"Snyk", "snyk_uat.", dotted, 30, 0, true},
	{"Infracost", "ico-", alnum, 32, 0, true},
	{"Figma", "figd_ figu_ figo_", dashed, 40, 0, false},
	{"JetBrains", "perm:", header, 40, 0, true},

	// Services.
	{"Slack", "xoxb- xoxa- xoxp- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe. xapp- xwfp-", dotted, 10, 0, true},
	{"Slack, a hook", "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/", chars("AZaz09//"), 30, 0, false},
	{"Discord, a hook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", chars("AZaz09//__--"), 60, 0, true},
	{"Teams, a hook", ".webhook.office.com/webhookb2/", chars("AZaz09//__--@@"), 60, 0, true},
	{"Telegram", ":AA", dashed, 33, 33, false},
	{"Stripe", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_", alnum, 16, 0, false},
	{"Square", "sq0atp- sq0csp- sq0idp- EAAAE", dashed, 22, 64, true},
	{"PayPal", "access_token$production$ access_token$sandbox$", chars("AZaz09$$"), 40, 0, true},
	{"Shopify", "shpat_ shpca_ shppa_ shpss_ shpua_", hex, 32, 0, false},
	{"Flutterwave", "FLWSECK- FLWSECK_TEST- FLWSECK_LIVE-", dashed, 12, 0, false},
	{"Plaid", "access-sandbox- access-development- access-production-", dashed, 32, 0, true},
	{"Razorpay", "rzp_live_ rzp_test_", alnum, 14, 0, false},
	{"Lob, GoCardless", "live_", dashed, 35, 44, true},
	{"SendGrid", "SG.", dotted, 60, 0, false},
	{"Mailgun", "key-", hex, 32, 32, true},
	{"Mailgun, signing", "pubkey-", hex, 32, 32, true},
	{"Brevo", "xkeysib- xsmtpsib-", dashed, 64, 0, false},
	{"Resend", "re_", word, 30, 40, true},
	{"Twilio", after("SK", "0123456789abcdef"), hex, 31, 31, false},
	{"Facebook", "EAAC EAAM EAAG EAAB", alnum, 90, 0, true},
	{"Twitter", "AAAAAAAAAAAAAAAAAAAAA", chars("AZaz09%%"), 60, 120, true},
	{"Dropbox", "sl.", dashed, 130, 0, false},
	{"Notion", "ntn_", alnum, 40, 0, false},
	{"Notion, earlier", "secret_", alnum, 43, 43, true},
	{"Linear", "lin_api_ lin_oauth_", alnum, 40, 0, false},
	{"Airtable", "pat", chars("AZaz09.."), 77, 82, true},
	{"Typeform", "tfp_", dotted, 40, 0, false},
	{"HubSpot", "pat-na1- pat-na2- pat-eu1- pat-ap1-", dashed, 36, 0, true},
	{"Intercom", "dG9rO", base64, 50, 60, true},
	{"Frame.io", "fio-u-", dashed, 60, 0, false},
	{"Duffel", "duffel_test_ duffel_live_", dashed, 43, 0, false},
	{"EasyPost", "EZAK EZTK", alnum, 54, 54, false},
	{"Shippo", "shippo_live_ shippo_test_", hex, 40, 0, false},
	{"Adobe", "p8e-", alnum, 32, 0, false},
	{"Mapbox", "sk.eyJ tk.eyJ", dotted, 40, 0, false},
	{"Cloudinary", "cloudinary://", chars("AZaz09::__--"), 20, 0, true},
	{"Settlemint", "sm_aat_ sm_pat_ sm_sat_", alnum, 16, 0, false},
	{"Harness", "pat. sat.", dotted, 64, 80, true},
	{"Ory", "ory_at_ ory_rt_ ory_ac_ ory_pat_", dotted, 30, 0, true},

	// Monitoring and networks.
	{"Datadog", "ddpat_ ddapp_", alnum, 32, 0, true},
	{"Dynatrace", "dt0c01. dt0s01. dt0s16.", dotted, 80, 0, false},
	{"New Relic", "NRAK- NRII- NRJS- NRSP- NRRA-", dashed, 19, 0, true},
	{"Grafana", "glsa_ glc_", header, 32, 0, true},
	{"Grafana, earlier", "eyJrIjoi", base64, 60, 0, false},
	{"Sentry", "sntrys_ sntryu_ sntryi_ sntrya_", header, 40, 0, false},
	{"PostHog", "phx_ phs_", alnum, 40, 0, false},
	{"Honeycomb", "hcaik_ hcbik_ hcamk_ hcxik_", alnum, 50, 0, true},
	{"PagerDuty", "pdus+", dashed, 20, 0, true},
	{"LaunchDarkly", "sdk- mob- api-", chars("09af--"), 36, 36, true},
	{"Tailscale", "tskey-", dashed, 20, 0, true},
	{"Defined Networking", "dnkey-", dashed, 70, 0, false},

	// Formats that several issuers use.
	{"age", "AGE-SECRET-KEY-1", upper, 58, 0, false},
	{"age, post-quantum", "AGE-SECRET-KEY-PQ-1", upper, 58, 0, false},
	{"WireGuard, in a file", "PrivateKey=", base64, 43, 44, false},
	{"a private key in base64", "LS0tLS1CRUdJTiBQUklWQVRF LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBPUEVO LS0tLS1CRUdJTiBFQyBQ LS0tLS1CRUdJTiBEU0Eg LS0tLS1CRUdJTiBFTkNS", base64, 40, 0, false},
	{"a login of a registry in base64", "eyJhdXRocyI6", base64, 24, 0, false},
	{"a private key of PuTTY or SSH in base64", "b3BlbnNzaC1rZXktdjE", base64, 60, 0, false},
	{"a hashed password", "$1$ $2a$ $2b$ $2y$ $5$ $6$ $7$ $y$ $gy$ $apr1$ $argon2i$ $argon2d$ $argon2id$ $scrypt$ $pbkdf2-", crypt, 30, 0, false},
}
