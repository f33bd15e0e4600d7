//! The topology, rendered by Graphviz.

#[test]
fn graphviz_renders_the_topology() {
    let place = super::installed();
    let (code, output) = place.shell("git blue -C fungal realm topology --format dot | dot -Tplain");
    assert_eq!(code, 0, "{output}");
    let lines = |kind: &str| output.lines().filter(|line| line.starts_with(kind)).count();
    // Three repositories and a contract, which one of them provides and another imports.
    assert_eq!((lines("node "), lines("edge ")), (4, 2), "{output}");
}
