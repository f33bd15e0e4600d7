#!/bin/sh
# Fetches the realm into a folder that the runner keeps from run to run, and checks against that.
# Needs REALM_URL, and REALM_CACHE: the folder.
set -eu
[ -d "$REALM_CACHE" ] || git init --quiet --bare "$REALM_CACHE"
git -C "$REALM_CACHE" fetch --quiet --prune --no-tags "$REALM_URL" '+refs/blue/*:refs/blue/*'
git blue check --realm-path "$REALM_CACHE"
