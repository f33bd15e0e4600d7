//! Recognizes files that may contain secrets by name, so that they are not committed by accident.

/// Returns whether the name of a file suggests a secret.
pub fn looks_secret(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    // These extensions mark templates and public keys.
    if ["example", "sample", "template", "dist", "pub"].contains(&extension) {
        return false;
    }
    let is_key = ["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "asc", "gpg", "tfvars"];
    let is_named = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials", ".netrc", "_netrc", ".pgpass"];
    let is_config = [".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".dockercfg", "kubeconfig"];
    let is_secret = ["secret", "secrets", "credentials", "service-account", "service_account"];
    // Source files and documents with such names contain no secrets.
    let is_data = ["", "json", "yaml", "yml", "toml", "ini", "env", "txt", "xml", "properties", "conf", "cfg", "csv"];
    name == ".env"
        || name.starts_with(".env.")
        || extension == "env"
        || is_key.contains(&extension)
        || is_named.contains(&name)
        || is_config.contains(&name)
        || (is_secret.contains(&stem) && is_data.contains(&extension))
        || [".ssh/", ".gnupg/", ".aws/"]
            .iter()
            .any(|folder| path.starts_with(folder) || path.contains(&format!("/{folder}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_suggest_secrets_are_recognized() {
        for path in [
            ".env",
            "app/.env.local",
            "prod.env",
            "tls/Server.KEY",
            "id_ed25519",
            "x/credentials",
            "secrets.yaml",
            ".aws/config",
        ] {
            assert!(looks_secret(path), "{path}");
        }
        for path in [
            "src/secret.rs",
            "docs/secrets.md",
            "src/secret_file.rs",
            ".env.example",
            "id_rsa.pub",
            "keys.md",
            "environment",
            "key/readme",
            "a.pem.sample",
        ] {
            assert!(!looks_secret(path), "{path}");
        }
    }
}
