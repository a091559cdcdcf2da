# Two commands do everything: make run, make test. The others are for who changes buddy.
.PHONY: run test check setup build bench fuzz crash golden generate

GO ?= go
FUZZTIME ?= 20s
LINT = $(shell $(GO) env GOPATH)/bin/golangci-lint

run: build ## build and start buddy
	@./buddy

build:
	@.ci/setup
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o buddy .

test: setup ## every test, with the race detector
	$(GO) test -race -timeout 600s ./...

check: setup ## formatting, vet, lint, tidy modules, generated files
	@test -z "$$(gofmt -l .)" || { echo "not gofmt-ed:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) mod tidy -diff
	$(LINT) run ./...

setup: ## install what is missing (tmux, the linter)
	@.ci/setup dev

bench: ## what users feel, with allocations, and the start-up cost of packages
	$(GO) test -run '^$$' -bench . -benchmem ./...
	@$(GO) build -o /tmp/buddy-bench-$$$$ . && { GODEBUG=inittrace=1 /tmp/buddy-bench-$$$$ --version 2>&1 | sort -t@ -k2 -n | awk '/^init/ && $$5 > 0.2 {print}'; rm -f /tmp/buddy-bench-$$$$; }

fuzz: ## every fuzz target for FUZZTIME
	@grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r f; do \
		grep -oE '^func Fuzz[A-Za-z0-9_]*' "$$f" | sed 's/func //' | while read -r target; do \
			echo "$$target in $$(dirname $$f)"; $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$(dirname $$f)" || exit 1; \
		done || exit 1; done

crash: setup ## kill the program 300 times at any instant, resume and look
	$(GO) test -race -timeout 30m -run TestCrash -v . -crashes 300

golden: ## write the golden files anew; read the diff before you commit it
	$(GO) test ./views/... ./app/... -update

generate: ## write generated documents anew
	$(GO) generate ./views/markup
	$(GO) test ./app ./app/keymap ./config ./agent/event ./tools -run "Doc|Reference" -update
