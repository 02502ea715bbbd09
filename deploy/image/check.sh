#!/bin/sh
# Tries the image's steps without a container: assembles its folder in a temporary place, takes the
# right to write away, and starts its processes there as the image's user, without this machine's
# settings: first without any, then with those of the compose files.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
chmod 755 "$folder"
app=$folder/app
# Where the image's Node would be: outside of the folder. It also runs the steps.
cp -L "$root/node_modules/.bin/node" "$folder/node"
PATH=$folder:$PATH sh "$root/deploy/image/assemble.sh" "$root" "$app" >"$folder/log" 2>&1 || {
  cat "$folder/log"
  exit 1
}
chmod -R a-w "$app"
cd "$app"

# Only root may become another user; anybody else starts the processes as itself.
as_user() { "$@"; }
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  as_user() { setpriv --reuid 10001 --regid 10001 --clear-groups "$@"; }
fi
start() { as_user env -i PATH=/usr/bin:/bin NODE_ENV=production "$@"; }

start "$folder/node" cli/main.ts --help >/dev/null
for process in api indexer worker; do
  if start "$folder/node" "$process/main.ts" >"$folder/$process" 2>&1; then
    echo "$process started without any setting"
    exit 1
  fi
  grep -q 'is required' "$folder/$process" || {
    cat "$folder/$process"
    exit 1
  }
done
test -f console/dist/index.html
test -f dist/packages/tarballs/index.json
du -sm . | sed 's/\t.*/ MB without Node/'
cd "$root"
IMAGE_FOLDER=$app IMAGE_NODE=$folder/node npm test -- tests/deploy/image
