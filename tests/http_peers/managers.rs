//! The programs that start the daemon at login can read their configuration files: systemd itself, and Python's parser
//! of Apple's property lists. launchd is not available on Linux.

use crate::scripted::Scripted;

#[test]
fn they_understand_what_they_are_told() {
    let realm = Scripted::realm();
    let (code, output) = realm.shell(
        r#"set -e
mkdir -m 700 run
XDG_RUNTIME_DIR=$PWD/run; export XDG_RUNTIME_DIR
for manager in systemd launchd; do git blue daemon install --manager $manager --port 7911 --quiet; done
unit=$HOME/.config/systemd/user/git-blue.service
systemd-analyze --user verify "$unit"
sed s/ExecStart/ExecStrat/ "$unit" >run/wrong.service
if systemd-analyze --user verify run/wrong.service 2>/dev/null; then echo "it looks at nothing"; exit 1; fi
python3 - "$HOME/Library/LaunchAgents/git-blue.plist" <<'READ'
import plistlib, sys
agent = plistlib.load(open(sys.argv[1], "rb"))
print(*agent["ProgramArguments"][1:], agent["RunAtLoad"], agent["KeepAlive"])
READ"#,
    );
    assert_eq!(code, 0, "{output}");
    let said = "daemon start --foreground --port 7911 --rate-limit 100 --catch-up 60 --sync-interval 300 True {'SuccessfulExit': False}";
    assert!(output.contains(said), "{output}");
}
