//! The files below `.blue/` in yaml-language-server, which VS Code, Neovim, Helix and Zed use: the schemas that `git
//! blue install editor` wrote flag a wrong key and complete the right ones. The session is in `server.mjs`.
//!
//! The server is installed below `target/peers` (by `.ci/run`), or in `GIT_BLUE_PEERS`.

#[path = "../testutils/scripted.rs"]
mod scripted;

use scripted::{Scripted, peers};

#[test]
fn language_server_validates_and_completes_files() {
    let realm = Scripted::realm();
    realm.ok("aperture", &["blue", "install", "editor"]);
    realm.ok("aperture", &["blue", "realm", "admin", "domain", "--name", "editing", "--repos", "aperture"]);
    realm.ok("aperture", &["blue", "contract", "new", "editing/orders"]);
    realm.ok("aperture", &["blue", "export", "editing/orders"]);
    let script = format!("{}/tests/editors/server.mjs", env!("CARGO_MANIFEST_DIR"));
    let server = peers().join("node_modules/yaml-language-server/bin/yaml-language-server");
    let (code, output) = realm.shell(&format!("node '{script}' '{}' aperture", server.display()));
    assert_eq!(code, 0, "{output}");
}
