//! The strongly connected components of a directed graph, given as the targets of each vertex.

/// Returns a number for each vertex, which is the same for two of them if each can be reached from the other
/// (Kosaraju's algorithm).
pub fn of(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut back = vec![Vec::new(); edges.len()];
    for (at, targets) in edges.iter().enumerate() {
        targets.iter().for_each(|to| back[*to].push(at));
    }
    let mut component = vec![usize::MAX; edges.len()];
    for start in postorder(edges).into_iter().rev() {
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            if component[at] == usize::MAX {
                component[at] = start;
                open.extend(&back[at]);
            }
        }
    }
    component
}

/// Returns the vertices in postorder: each comes after those that it has edges to, except in cycles.
pub fn postorder(edges: &[Vec<usize>]) -> Vec<usize> {
    let (mut order, mut seen) = (Vec::with_capacity(edges.len()), vec![false; edges.len()]);
    for start in 0..edges.len() {
        let mut path = if seen[start] { Vec::new() } else { vec![(start, 0)] };
        seen[start] = true;
        while let Some((at, next)) = path.last_mut() {
            let Some(to) = edges[*at].get(*next).copied() else {
                order.push(*at);
                path.pop();
                continue;
            };
            *next += 1;
            if !seen[to] {
                seen[to] = true;
                path.push((to, 0));
            }
        }
    }
    order
}
