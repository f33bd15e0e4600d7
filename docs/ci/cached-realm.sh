#!/bin/sh
# Fetches the realm into a cached directory, and checks against it. Needs REALM_URL, and REALM_CACHE, the directory.
set -eu
[ -d "$REALM_CACHE" ] || git init --quiet --bare "$REALM_CACHE"
git -C "$REALM_CACHE" fetch --quiet --prune --no-tags "$REALM_URL" '+refs/blue/*:refs/blue/*'
# A realm that is kept in branches (`--branches`) is at other refs.
if ! git -C "$REALM_CACHE" show-ref --quiet; then
	git -C "$REALM_CACHE" fetch --quiet --no-tags "$REALM_URL" '+refs/heads/blue/*:refs/blue/*'
fi
git blue check --realm-path "$REALM_CACHE"
