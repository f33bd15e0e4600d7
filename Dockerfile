# An image with git and git-blue, for CI.
#
#   docker build -t git-blue .
#   docker run --rm -v "$PWD:/work" git-blue git blue check --realm-url URL
# Both images are of one Debian, so that the program finds its C library.
FROM rust:1.95-slim-trixie AS build
WORKDIR /build
COPY . .
RUN cargo build --release --locked

FROM debian:trixie-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git openssh-client \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /build/target/release/git-blue /usr/local/bin/git-blue
# CI mounts a checkout that belongs to another user.
RUN git config --system --add safe.directory '*'
WORKDIR /work
CMD ["git", "blue"]
