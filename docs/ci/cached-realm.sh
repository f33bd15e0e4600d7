#!/bin/sh
# Fetches the realm into a cached folder, and checks against it. Needs REALM_URL, and REALM_CACHE, the folder.
set -eu
[ -d "$REALM_CACHE" ] || git init --quiet --bare "$REALM_CACHE"
git -C "$REALM_CACHE" fetch --quiet --prune --no-tags "$REALM_URL" '+refs/blue/*:refs/blue/*'
git blue check --realm-path "$REALM_CACHE"
