//! zsh, with its own completion of git, in a pseudo terminal.

/// Types each line and TAB twice, and prints the resulting line and the list below it.
const DRIVER: &str = r#"
zmodload zsh/zpty
export TERM=xterm
zpty z zsh -f -i
zpty -w z "fpath=($PREFIX/share/zsh/site-functions \$fpath); autoload -U compinit; compinit -u -D
show() { zle -I; print -r -- \"<<\$BUFFER>>\"; BUFFER= }
zle -N show; bindkey '^T' show; zstyle ':completion:*' menu no; unsetopt automenu; PS1=; print REA''DY"
zpty -r -m z out '*READY*'
for line in "$@"; do
  zpty -w -n z "$line"$'\t\t\x14'
  zpty -r -m z out '*<<*>>*'
  print -r -- "$out"
done
"#;

#[test]
fn zsh_completes_git_blue() {
    let place = super::installed();
    place.write("driver.zsh", DRIVER);
    let shown = |line: &str| {
        let (code, output) =
            place.shell(&format!("export PREFIX=$PWD/prefix; cd fungal && timeout 60 zsh -f ../driver.zsh '{line}'"));
        assert_eq!(code, 0, "{line}: {output}");
        let buffer = output.rsplit_once("<<").and_then(|(_, rest)| rest.split_once(">>")).unwrap().0.to_owned();
        (buffer, output)
    };
    let contract = "s3-access/s3-permissions";
    for (line, whole) in [
        ("git blue st", "git blue status ".to_owned()),
        ("git-blue st", "git-blue status ".into()),
        ("git blue contract get s", format!("git blue contract get {contract} ")),
        (
            &format!("git blue contract get {contract} --version "),
            format!("git blue contract get {contract} --version 1.0.0 "),
        ),
        ("git blue check --mode=i", "git blue check --mode=importer ".into()),
        ("git blue contract edit a/b --file READ", "git blue contract edit a/b --file README.md ".into()),
        ("git blue --realm ", "git blue --realm aperture ".into()),
        ("git -C ../aperture blue realm top", "git -C ../aperture blue realm topology ".into()),
    ] {
        assert_eq!(shown(line).0, whole);
    }
    let (_, listed) = shown("git blue check --mode ");
    assert!(listed.contains("importer") && listed.contains("Imports, and the scripts that test them"), "{listed}");
    let (_, listed) = shown("git blue contract get ");
    assert!(listed.contains("other/") && listed.contains("s3-access/"), "{listed}");
    let (_, listed) = shown("git bl");
    assert!(listed.contains("contracts between repositories"), "{listed}");
}
