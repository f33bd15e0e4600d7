# A flake for Nix: `nix run 'git+https://HOST/OWNER/git-blue?dir=docs/packaging'`.
{
  description = "Contracts between git repositories, kept as git objects";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = builtins.fromTOML (builtins.readFile ../../Cargo.toml);
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = manifest.package.name;
          version = manifest.package.version;
          src = ../..;
          cargoLock.lockFile = ../../Cargo.lock;
          # The tests need git, a home folder and several minutes; `make test` runs them.
          doCheck = false;
          postInstall = ''
            $out/bin/git-blue install man --prefix $out
            $out/bin/git-blue install completions --prefix $out
          '';
          meta = {
            description = manifest.package.description;
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "git-blue";
          };
        };
      });
    };
}
