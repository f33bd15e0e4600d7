//! Manual pages, shown by man.

#[test]
fn help_opens_the_man_page() {
    let place = super::installed();
    let help = |command: &str| {
        let (code, output) = place.shell(&format!(
            "export PATH=\"$PWD/prefix/bin:$PATH\" MANPATH=\"$PWD/prefix/share/man\" MANPAGER=cat MANWIDTH=100
            {command}"
        ));
        assert_eq!(code, 0, "{command}: {output}");
        // Lines are padded with spaces.
        output.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for command in ["git blue --help", "git help blue", "man git-blue"] {
        let page = help(command);
        assert!(page.starts_with("GIT-BLUE(1) git blue Manual GIT-BLUE(1)"), "{command}: {page}");
        assert!(page.contains("git-blue - Manage contracts between git repositories"), "{command}: {page}");
        assert!(page.contains("git-blue-status(1)"), "{command}: {page}");
    }
    assert!(help("man git-blue-contract-diff").contains("Show changes between two versions of a contract"));
}

#[test]
fn man_pages_have_no_errors() {
    let place = super::installed();
    let (code, output) = place.shell(
        "cd prefix/share/man/man1
        for page in *.1; do
            man --warnings -E UTF-8 -l -Tutf8 -Z $page 2>&1 >/dev/null
            groff -man -ww -Tutf8 -z $page
            mandoc -T lint -W error $page
        done; ls | wc -l",
    );
    // The pages cause no output; `ls` prints how many there are.
    let count: usize = output.trim().parse().unwrap_or_else(|_| panic!("{output}"));
    assert!(code == 0 && count > 35, "{output}");
}
