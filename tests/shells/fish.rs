//! fish, with its own completion of git.

#[test]
fn fish_completes_git_blue() {
    let place = super::installed();
    let offered = |line: &str| -> Vec<String> {
        let (code, output) = place.shell(&format!(
            "export XDG_DATA_DIRS=$PWD/prefix/share:/usr/local/share:/usr/share; unset XDG_DATA_HOME
            cd fungal && fish -c \"complete -C '{line}'\""
        ));
        assert_eq!(code, 0, "{line}: {output}");
        output.lines().map(str::to_owned).collect()
    };
    let contract = "s3-access/s3-permissions";
    for name in ["git-blue", "git blue", "git -C ../aperture blue"] {
        assert_eq!(
            offered(&format!("{name} st")),
            ["status\tShow the realm, its contracts, and what changed"],
            "{name}"
        );
        assert_eq!(offered(&format!("{name} contract get ")), ["other/", "s3-access/"], "{name}");
        assert_eq!(offered(&format!("{name} contract get s")), [contract]);
        assert_eq!(offered(&format!("{name} contract get {contract} --version ")), ["1.0.0"]);
        assert_eq!(
            offered(&format!("{name} check --mode=i")),
            ["--mode=importer\tImports, and the scripts that test them"]
        );
        assert_eq!(offered(&format!("{name} contract edit a/b --file READ")), ["README.md"]);
        assert_eq!(offered(&format!("{name} --realm ")), ["aperture"]);
    }
    assert!(offered("git bl").contains(&"blue\tContracts between repositories".to_owned()));
}
