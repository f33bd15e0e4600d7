//! Algorithms for directed graphs, which are given as the targets of each vertex.

/// Returns the strongly connected components: a number for each vertex, which is the same for two of them if each can be
/// reached from the other (Kosaraju's algorithm).
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

/// Returns for each of `count` vertices whether a goal can be reached from it, or it is one.
pub fn reaches(
    count: usize,
    edges: impl Iterator<Item = impl Iterator<Item = u32>>,
    is_goal: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let mut before = vec![Vec::new(); count];
    for (at, targets) in edges.enumerate() {
        targets.for_each(|to| before[to as usize].push(at));
    }
    let mut reaches = vec![false; count];
    let mut open: Vec<_> = (0..count).filter(|at| is_goal(*at)).collect();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut reaches[at], true) {
            open.append(&mut before[at]);
        }
    }
    reaches
}
