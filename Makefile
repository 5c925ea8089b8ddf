# hotset: build, test, show. `make` alone says what there is; CONTRIBUTING.md says more.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 30
DEMO_ORDERS ?= 200
DEMO_MIB ?= 32
ROUNDS ?= 10
SUITES ?= bookworm trixie noble
SECONDS ?= 600

# Cargo may live where a login shell alone would find it.
export PATH := $(PATH):$(HOME)/.cargo/bin
export CARGO_TERM_PROGRESS_WHEN ?= never

TARGET_DIR := $(abspath $(or $(CARGO_TARGET_DIR),target))
export CARGO_TARGET_DIR := $(TARGET_DIR)
BIN := $(TARGET_DIR)/release/hotset
WORKLOAD := $(TARGET_DIR)/release/workload
LOOPS := $(TARGET_DIR)/release/loops
SIZING := $(TARGET_DIR)/release/sizing

.PHONY: help
help: ## Say what there is
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '%-16s %s\n' "$$name" "$$text"; done

.PHONY: setup
setup: ## Install the packages that building and testing need (Debian, Ubuntu; as root)
	@.ci/packages.sh build test lab demo

.PHONY: build
build: ## Build the static binary, target/release/hotset
	@.ci/packages.sh build
	@.ci/static-build.sh hotset-cli hotset

# What a release has in it: small, which takes six minutes to build on two CPUs.
.PHONY: small
small:
	@.ci/packages.sh build
	@.ci/static-build.sh hotset-cli hotset dist

.PHONY: wheel
wheel: small ## Build the Python package's wheels, for glibc and musl, into target/wheels
	@HOTSET_BIN=$(TARGET_DIR)/dist/hotset .ci/python.sh dist

.PHONY: dist
dist: wheel ## Make a release in dist/: packages (deb, rpm, wheels), an archive, an image, the parts list, checksums
	@.ci/packages.sh dist
	@.ci/dist.sh

.PHONY: test-packages
test-packages: dist ## Install, use, upgrade and remove the packages of dist/ in bare roots, and run the services and the image in virtual machines: make test-packages SUITES="bookworm noble" VIRTUAL=no
	@.ci/packages.sh bare
	@tests/packages/run.sh $(SUITES)
	@[ "$(VIRTUAL)" = no ] || for suite in $(SUITES); do tests/packages/systemd.sh $$suite && tests/packages/container.sh $$suite || exit; done

.PHONY: test-newcomer
test-newcomer: ## Do in bare roots what docs/start.md shows, from the package in dist/ and from these sources, and say how long it takes: make test-newcomer SUITES=trixie
	@.ci/packages.sh bare
	@tests/packages/newcomer.sh $(SUITES)

.PHONY: sign
sign: ## Sign the checksums in dist/ with your OpenPGP key: make sign KEY=you@example.org
	@gpg --yes --armor --detach-sign $(if $(KEY),--local-user "$(KEY)") --output dist/SHA256SUMS.asc dist/SHA256SUMS

.PHONY: test-python
test-python: build ## Test the Python package alone
	@.ci/packages.sh test
	@HOTSET_BIN=$(BIN) .ci/python.sh test

.PHONY: demo
demo: ## Set up, build, and profile a program on real files, cold and then warm
	@.ci/packages.sh build demo
	@$(MAKE) build
	@HOTSET_BIN=$(BIN) DEMO_ORDERS=$(DEMO_ORDERS) DEMO_MIB=$(DEMO_MIB) demo/demo.sh

.PHONY: test
test: setup ## Set up, build, and run every test (some need root): make test ONLY="states truth_reads"
	@.ci/tests.sh build
	@.ci/tests.sh run $(if $(ONLY),--only $(ONLY))
	@[ -n "$(ONLY)" ] || .ci/tests.sh doc
	@[ -n "$(ONLY)" ] || HOTSET_BIN=$$(.ci/tests.sh path) .ci/python.sh test

.PHONY: test-budgets
test-budgets: build ## Hold hotset to its own budgets of file I/O
	@tests/budgets/run.sh $(BIN)

.PHONY: test-repeat
test-repeat: setup ## Run every test several times, in another order each time, half of them beside load: make test-repeat ROUNDS=10 ONLY="states truth_reads"
	@.ci/tests.sh build
	@.ci/tests.sh with tests/repeat.py --rounds $(ROUNDS) $(if $(ONLY),--only $(ONLY))

.PHONY: test-random
test-random: setup ## Compare what is counted of random workloads with their own books, from a new seed: make test-random SECONDS=3600
	@.ci/tests.sh build
	@HOTSET_RANDOM_SECONDS=$(SECONDS) HOTSET_RANDOM_SEED="$${HOTSET_RANDOM_SEED:-$$(date +%s)}" \
		.ci/tests.sh with cargo test --package hotset-tests --locked --test random_workloads -- --nocapture

.PHONY: test-fleet
test-fleet: setup build ## Test the tables of a fleet with an S3 server and engines, which are fetched (needs a JVM)
	@.ci/packages.sh fleet
	HOTSET_BIN=$(BIN) tests/fleet/run.sh

.PHONY: test-kernels
test-kernels: build ## Test on several kernels in virtual machines: make test-kernels KERNELS="6.1 6.12"
	@.ci/static-build.sh hotset-tests workload
	@.ci/static-build.sh hotset-bench loops
	@.ci/static-build.sh hotset-tests sizing
	@HOTSET_BIN=$(BIN) WORKLOAD_BIN=$(WORKLOAD) LOOPS_BIN=$(LOOPS) SIZING_BIN=$(SIZING) tests/kernels/run.sh $(KERNELS)

.PHONY: bench
bench: setup build ## Measure hotset beside its peers: make bench BENCH=ls for one part (overhead, record, ls, control, restore, command, live, export, sink, lab, proofs, fidelity, size, sampling, curves, baseline); HOTSET_BEFORE=FILE takes turns with another hotset
	@.ci/packages.sh bench
	@HOTSET_BIN=$(BIN) bench/run.sh $(BENCH)

.PHONY: casts
casts: build ## Play run, bench and top at a terminal, and draw docs/images/*.svg of it (as root): make casts CASTS="top"
	@HOTSET_BIN=$(BIN) docs/casts/make.sh $(CASTS)

.PHONY: test-docs
test-docs: build ## Run every command that the documents show, and compare what it prints (as root): make test-docs PAGES=docs/tour.md
	@.ci/packages.sh docs test bench lab
	@python3 -B -m unittest discover --quiet --start-directory tests/docs
	@HOTSET_BIN=$(BIN) tests/docs/run.py $(PAGES)

.PHONY: lint
lint: ## Formatting, clippy, tidiness, the oldest Rust, licences, unused dependencies, shell scripts
	@.ci/packages.sh build lint lab
	@.ci/lint.sh

.PHONY: fuzz
fuzz: ## Fuzz every decoder and parser: make fuzz FUZZ_SECONDS=600
	@.ci/packages.sh build fuzz
	@.ci/fuzz.sh $(FUZZ_SECONDS)

.PHONY: bpf
bpf: ## Compile the sensor's BPF objects anew (needs clang)
	@.ci/packages.sh bpf
	@.ci/bpf.sh make

.PHONY: check-bpf
check-bpf: ## Check that the committed BPF objects are what the sources give
	@.ci/packages.sh bpf
	@.ci/bpf.sh check

.PHONY: docs
docs: ## Make the site of the documents, target/docs/site, and check its links and pages
	@.ci/packages.sh docs
	@[ -x $(or $(HOTSET_BIN),$(BIN)) ] || $(MAKE) build
	@HOTSET_BIN=$(or $(HOTSET_BIN),$(BIN)) .ci/docs.sh build
	@.ci/docs.sh check

.PHONY: docs-serve
docs-serve: ## Show that site at http://127.0.0.1:8000/
	@.ci/docs.sh serve

.PHONY: docs-pictures
docs-pictures: ## Make the pictures of docs/images anew, from pages that hotset makes here (as root): make docs-pictures PICTURES="fleet.png"
	@.ci/packages.sh build docs
	@[ -x $(or $(HOTSET_BIN),$(BIN)) ] || $(MAKE) build
	@HOTSET_BIN=$(or $(HOTSET_BIN),$(BIN)) .ci/docs.sh pictures $(PICTURES)

.PHONY: install
install: ## Install the binary, man pages and completions below PREFIX (/usr/local)
	@[ -x $(BIN) ] || $(MAKE) build
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/hotset
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	$(BIN) man $(DESTDIR)$(PREFIX)/share/man/man1
	@$(MAKE) install-completion SHELL_NAME=bash FILE=bash-completion/completions/hotset
	@$(MAKE) install-completion SHELL_NAME=zsh FILE=zsh/site-functions/_hotset
	@$(MAKE) install-completion SHELL_NAME=fish FILE=fish/vendor_completions.d/hotset.fish

.PHONY: install-completion
install-completion:
	install -d $(dir $(DESTDIR)$(PREFIX)/share/$(FILE))
	$(BIN) completions $(SHELL_NAME) > $(DESTDIR)$(PREFIX)/share/$(FILE)

.PHONY: uninstall
uninstall: ## Remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/hotset
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/hotset.1 $(DESTDIR)$(PREFIX)/share/man/man1/hotset-*.1
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/,bash-completion/completions/hotset zsh/site-functions/_hotset fish/vendor_completions.d/hotset.fish)

.PHONY: clean
clean: ## Remove everything that was built
	cargo clean
