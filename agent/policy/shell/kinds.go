package shell

import "strings"

// Kind classifies commands whose purpose tells the user more than their effect does. The policy has a risk and a
// consequence for each kind.
type Kind string

// The kinds; "" is any other command.
const (
	SecurityScan  Kind = "security scan"
	VulnLookup    Kind = "vulnerability look-up"
	Compliance    Kind = "compliance check"
	Inference     Kind = "model inference"
	Training      Kind = "model training"
	DataPipeline  Kind = "data pipeline"
	GUIAutomation Kind = "GUI automation"
)

// purpose describes a command that has a Kind. Such commands always need approval.
type purpose struct {
	kind   Kind
	effect Effect // [Unknown] for those that only examine; never [Reads], which would need no approval
	does   string
}

// purposes maps commands to their purpose. A key is a program's name, alone or followed by its first argument, a later
// flag, or both. The entry with the most words applies.
var purposes = map[string]purpose{
	"trivy": {SecurityScan, Network, "scans for vulnerabilities, secrets and wrong settings, and gets its database"}, "trivy plugin": {SecurityScan, RunsCode, "installs or runs a program from the network"},
	"trivy clean": {SecurityScan, Deletes, "deletes its own database and cache"}, "trivy server": {SecurityScan, Network, "serves scans to other machines"},
	"semgrep": {SecurityScan, Network, "scans code with rules from its service"}, "semgrep ci": {SecurityScan, Network, "scans code and sends the findings to its service"}, "opengrep": {SecurityScan, Network, "scans code with rules"},
	"gosec": {SecurityScan, RunsCode, "scans Go code, which it builds"}, "bandit": {SecurityScan, Unknown, "scans Python code"}, "brakeman": {SecurityScan, Unknown, "scans Ruby code"},
	"gitleaks": {SecurityScan, Unknown, "searches files and history for secrets"}, "trufflehog": {SecurityScan, Network, "searches for secrets and tries them at their services"}, "detect-secrets": {SecurityScan, Unknown, "searches files for secrets"},
	"clamscan": {SecurityScan, Unknown, "scans files for malware"}, "clamscan --remove": {SecurityScan, Deletes, "deletes files that it takes for malware"}, "rkhunter": {SecurityScan, Unknown, "scans this machine for rootkits"}, "chkrootkit": {SecurityScan, Unknown, "scans this machine for rootkits"},
	"nikto": {SecurityScan, Remote, "probes a web server"}, "nuclei": {SecurityScan, Remote, "probes other machines"}, "sqlmap": {SecurityScan, Remote, "attacks a web service and may change its database"}, "zap-baseline.py": {SecurityScan, Remote, "probes a web service"}, "testssl.sh": {SecurityScan, Network, "examines the TLS settings of a server"},

	"npm audit": {VulnLookup, Network, "looks up known vulnerabilities of the packages"}, "npm audit fix": {VulnLookup, RunsCode, "installs other versions of packages and may run their scripts"},
	"pnpm audit": {VulnLookup, Network, "looks up known vulnerabilities of the packages"}, "pnpm audit --fix": {VulnLookup, Writes, "changes package.json"}, "yarn audit": {VulnLookup, Network, "looks up known vulnerabilities of the packages"},
	"cargo audit": {VulnLookup, Network, "looks up known vulnerabilities of the packages"}, "cargo audit fix": {VulnLookup, Writes, "changes Cargo.toml"}, "composer audit": {VulnLookup, Network, "looks up known vulnerabilities of the packages"},
	"govulncheck": {VulnLookup, RunsCode, "builds the code and looks up vulnerabilities that it can reach"}, "pip-audit": {VulnLookup, Network, "looks up known vulnerabilities of the packages"}, "pip-audit --fix": {VulnLookup, RunsCode, "installs other versions of packages"},
	"osv-scanner": {VulnLookup, Network, "looks up known vulnerabilities of the packages"}, "osv-scanner fix": {VulnLookup, Writes, "changes the versions of packages"}, "grype": {VulnLookup, Network, "looks up known vulnerabilities of packages and images"}, "syft": {VulnLookup, Unknown, "lists the packages of a folder or an image"},
	"bundle-audit": {VulnLookup, Network, "looks up known vulnerabilities of the packages"}, "safety": {VulnLookup, Network, "looks up known vulnerabilities of the packages"}, "snyk": {VulnLookup, Network, "sends the list of packages to its service"}, "snyk monitor": {VulnLookup, Remote, "stores the list of packages at its service"},
	"retire": {VulnLookup, Network, "looks up known vulnerabilities of JavaScript files"}, "dependency-check": {VulnLookup, Network, "looks up known vulnerabilities of the packages"},

	"go-licenses": {Compliance, RunsCode, "lists licenses of the modules that the code needs"}, "go-licenses save": {Compliance, Writes, "writes the license files to a folder"}, "pip-licenses": {Compliance, Unknown, "lists the licenses of installed packages"}, "license-checker": {Compliance, Unknown, "lists the licenses of installed packages"},
	"license_finder": {Compliance, RunsCode, "lists licenses and may install packages"}, "licensee": {Compliance, Unknown, "finds the license of a project"}, "reuse": {Compliance, Unknown, "checks license headers"}, "reuse annotate": {Compliance, Writes, "adds license headers to files"}, "scancode": {Compliance, Writes, "searches files for licenses and writes a report"},
	"cargo deny": {Compliance, Network, "checks licenses, sources and known vulnerabilities of the packages"}, "kube-bench": {Compliance, Unknown, "compares the settings of a Kubernetes machine with a benchmark"}, "kubescape": {Compliance, Network, "compares a cluster with benchmarks"}, "kube-linter": {Compliance, Unknown, "checks Kubernetes files"},
	"lynis": {Compliance, Unknown, "examines the settings of this machine"}, "oscap": {Compliance, Unknown, "compares this machine with a security profile"}, "oscap xccdf --remediate": {Compliance, Writes, "changes settings of this machine"}, "inspec": {Compliance, RunsCode, "runs checks on this or another machine"}, "checkov": {Compliance, Network, "checks infrastructure files with rules"},
	"tfsec": {Compliance, Unknown, "checks Terraform files"}, "kics": {Compliance, Unknown, "checks infrastructure files"}, "conftest": {Compliance, Unknown, "checks files with policies"}, "prowler": {Compliance, Network, "queries the settings of a cloud account"}, "docker-bench-security": {Compliance, Unknown, "compares the settings of Docker with a benchmark"},

	"ollama": {Inference, Network, "uses a local model server"}, "ollama run": {Inference, Network, "runs a language model and downloads it first if it is missing"}, "ollama pull": {Inference, Network, "downloads a language model, often many GB"}, "ollama push": {Inference, Remote, "publishes a language model"},
	"ollama rm": {Inference, Deletes, "deletes a language model"}, "ollama serve": {Inference, Network, "starts a model server"}, "ollama create": {Inference, Writes, "creates a language model from a file"}, "llama-cli": {Inference, Network, "runs a language model"}, "llama-server": {Inference, Network, "starts a model server"},
	"vllm": {Inference, RunsCode, "starts a model server"}, "mlx_lm.generate": {Inference, Network, "runs a language model"}, "whisper": {Inference, Writes, "turns speech into text files"}, "tritonserver": {Inference, RunsCode, "starts a model server"}, "lms": {Inference, Network, "controls LM Studio and its models"},
	"torchrun": {Training, RunsCode, "starts training or other code in several processes"}, "accelerate": {Training, Writes, "changes how training is started"}, "accelerate launch": {Training, RunsCode, "starts training or other code in several processes"}, "deepspeed": {Training, RunsCode, "starts training, possibly on other machines"}, "axolotl": {Training, RunsCode, "trains a language model"},
	"mlx_lm.lora": {Training, RunsCode, "trains a language model"}, "llamafactory-cli": {Training, RunsCode, "trains a language model or starts it"}, "autotrain": {Training, RunsCode, "trains a model, possibly on other machines"}, "horovodrun": {Training, RunsCode, "starts training, possibly on other machines"}, "tune": {Training, RunsCode, "trains a language model"},

	"dbt": {DataPipeline, RunsCode, "works on models of a data warehouse"}, "dbt run": {DataPipeline, Remote, "creates and replaces tables in a data warehouse"}, "dbt build": {DataPipeline, Remote, "creates, replaces and tests tables in a data warehouse"}, "dbt seed": {DataPipeline, Remote, "loads files into a data warehouse"},
	"dbt snapshot": {DataPipeline, Remote, "adds rows to tables of a data warehouse"}, "dbt run --full-refresh": {DataPipeline, Deletes, "drops tables of a data warehouse and builds them again"}, "dbt test": {DataPipeline, Network, "queries a data warehouse"}, "dbt clean": {DataPipeline, Deletes, "deletes the folders of compiled models and packages"},
	"airflow": {DataPipeline, RunsCode, "controls pipelines"}, "airflow dags trigger": {DataPipeline, Remote, "starts a pipeline"}, "airflow dags delete": {DataPipeline, Deletes, "deletes the history of a pipeline"}, "airflow tasks clear": {DataPipeline, Remote, "runs tasks of a pipeline again"}, "airflow db reset": {DataPipeline, Deletes, "deletes Airflow's database"},
	"dvc": {DataPipeline, Writes, "changes tracked data"}, "dvc repro": {DataPipeline, RunsCode, "runs the stages of dvc.yaml"}, "dvc exp": {DataPipeline, RunsCode, "runs or changes experiments"}, "dvc push": {DataPipeline, Remote, "sends data to shared storage"}, "dvc pull": {DataPipeline, Network, "gets data and replaces files"}, "dvc gc": {DataPipeline, Deletes, "deletes data that no commit needs"},
	"prefect": {DataPipeline, Remote, "controls pipelines"}, "dagster": {DataPipeline, RunsCode, "runs pipelines"}, "luigi": {DataPipeline, RunsCode, "runs a pipeline"}, "kedro": {DataPipeline, RunsCode, "runs a pipeline"}, "mlflow": {DataPipeline, RunsCode, "runs projects or serves models"}, "mlflow gc": {DataPipeline, Deletes, "deletes runs for good"},
	"snakemake": {DataPipeline, RunsCode, "runs the rules of a workflow"}, "nextflow": {DataPipeline, RunsCode, "runs a workflow"}, "spark-submit": {DataPipeline, RunsCode, "runs a program on a cluster"}, "meltano": {DataPipeline, RunsCode, "runs a pipeline"}, "great_expectations": {DataPipeline, RunsCode, "runs checks of data"}, "sqlmesh": {DataPipeline, Remote, "may change tables in a data warehouse"},

	"xdotool": {GUIAutomation, RunsCode, "types, clicks or moves windows"}, "ydotool": {GUIAutomation, RunsCode, "types or clicks"}, "dotool": {GUIAutomation, RunsCode, "types or clicks"}, "wtype": {GUIAutomation, RunsCode, "types into the window in front"}, "xte": {GUIAutomation, RunsCode, "types or clicks"}, "wmctrl": {GUIAutomation, RunsCode, "moves or closes windows"},
	"osascript": {GUIAutomation, RunsCode, "runs a script that can control programs of the Mac"}, "cliclick": {GUIAutomation, RunsCode, "types or clicks"}, "automator": {GUIAutomation, RunsCode, "runs a workflow of the Mac"}, "shortcuts": {GUIAutomation, RunsCode, "runs a shortcut of the Mac"},
	"screencapture": {GUIAutomation, Writes, "takes a picture of the screen, which may show secrets"}, "scrot": {GUIAutomation, Writes, "takes a picture of the screen, which may show secrets"}, "grim": {GUIAutomation, Writes, "takes a picture of the screen, which may show secrets"}, "gnome-screenshot": {GUIAutomation, Writes, "takes a picture of the screen, which may show secrets"},
}

// purposeOf returns the purpose of a command, and the words after its name that decided about it. ok is false if the
// command has none. Only the argument right after the name counts as a subcommand: after a flag, it could be the flag's
// value.
func purposeOf(name string, words []arg) (said string, p purpose, ok bool) {
	p, ok = purposes[name]
	sub := ""
	for i, w := range words[1:] {
		text, _ := w.lit()
		keys := []string{sub + " " + text}
		if i == 0 || strings.HasPrefix(text, "-") {
			keys = append(keys, text)
		}
		for _, key := range keys {
			if found, known := purposes[name+" "+key]; known {
				said, p, ok = key, found, true
			}
		}
		if i == 0 {
			sub = text
		}
	}
	return said, p, ok
}
