#!/bin/sh
# Fetches the realm into a cached directory, and checks against it. Needs REALM_URL, and REALM_CACHE, the directory.
set -eu
[ -d "$REALM_CACHE" ] || git init --quiet --bare "$REALM_CACHE"
# A realm that is kept in branches (`--branches`) is at other refs. One that is in both places is refused.
git -C "$REALM_CACHE" fetch --quiet --prune --no-tags "$REALM_URL" '+refs/blue/*:refs/blue/*' \
	'+refs/heads/blue/*:refs/heads/blue/*'
git blue check --realm-path "$REALM_CACHE"
