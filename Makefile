# Habits in one word each. CI runs .ci/run.

# -z lazy: NVML's functions are bound at their first call, see docs/packaging.md.
LDFLAGS := -extldflags=-Wl,-z,lazy

.PHONY: build demo test race lint fuzz picture ci

build: ## nvpeak, in this directory
	go build -ldflags '$(LDFLAGS)' -o nvpeak .

demo: ## the monitor over scripted GPUs
	go run . --demo

test:
	go test ./...

race:
	go test -race ./...

lint:
	golangci-lint run

fuzz: ## make fuzz PKG=./sampler/oomlog TARGET=FuzzScan TIME=1m
	go test $(or $(PKG),./sampler/oomlog) -run '^$$' -fuzz '^$(or $(TARGET),FuzzScan)$$' -fuzztime $(or $(TIME),30s) -fuzzminimizetime 5x

picture: ## the pictures of the README
	sh docs/picture.sh

ci:
	bash .ci/run
