#!/bin/sh
# Draws the pictures of the README from the demo. Run it after the screen has changed: a
# test compares them.
set -eu
cd "$(dirname "$0")/.."
go run ./docs/picture -story -cols 100 -rows 30 > docs/story.svg
go run ./docs/picture > docs/nvpeak.svg
go run ./docs/picture -need 15.8GiB -past 12m -rows 28 > docs/advice.svg
go run ./docs/picture -demo fleet -cols 120 -rows 32 > docs/fleet.svg
