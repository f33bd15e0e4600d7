//! Computes the layout of a drawing. Linked items are placed side by side, so that few lines cross.

use std::fmt::Write as _;

use super::{Column, Graph, Node};
use crate::{
    surface::http::page::{
        components::{count, grouped},
        graph::Group,
    },
    wire::ContractTopology,
};

/// The height of a row, and of a domain's title.
pub const ROW: usize = 30;
/// The gap between two domains.
const GAP: usize = 18;
/// The height of a repository.
pub const REPO: usize = 32;
/// The gap between two repositories.
const REPO_GAP: usize = 12;
/// The space between two columns, for the lines.
const SPACE: usize = 130;
/// The approximate width of a character.
const CHARACTER: usize = 8;
/// The maximum number of characters of a name that are drawn.
pub const MAX_NAME: usize = 28;
/// The number of times that each column is ordered by its neighboring columns.
const SWEEPS: usize = 6;
/// The last position in a column. All columns have the same height while they are ordered.
const LAST: usize = 1 << 20;

/// The positions of all parts.
#[derive(Debug)]
pub struct Layout {
    /// The width of the whole drawing.
    pub width: usize,
    /// The height of the whole drawing.
    pub height: usize,
    /// The start and width of each column: repositories, contracts, repositories.
    pub columns: [(usize, usize); 3],
    /// The top and height of each domain.
    pub groups: Vec<(usize, usize)>,
    /// The middle of each row.
    pub rows: Vec<usize>,
    /// The top and height of each repository.
    pub nodes: Vec<(usize, usize)>,
}

impl Layout {
    /// Computes the layout of a graph.
    pub fn of(graph: &Graph<'_>) -> Self {
        let order = Order::of(graph);
        let (mut groups, mut rows, middle) = order.rows(graph);
        let tallest = [&order.left, &order.right].map(|nodes| nodes.len() * (REPO + REPO_GAP));
        let height = tallest.into_iter().fold(middle, usize::max);
        let down = (height - middle) / 2;
        groups.iter_mut().for_each(|(top, _)| *top += down);
        rows.iter_mut().for_each(|row| *row += down);
        let mut nodes = vec![(0, REPO); graph.nodes.len()];
        for column in [&order.left, &order.right] {
            place(graph, column, &rows, height, &mut nodes);
        }
        let (columns, width) = columns(graph);
        Self { width, height: height + 1, columns, groups, rows, nodes }
    }

    /// Returns the height at which a link to a row meets a repository. At the focus, which is as
    /// tall as the drawing, the link ends next to the row.
    pub fn anchor(&self, node: &Node<'_>, at: usize, row: usize) -> usize {
        if node.is_focus { self.rows[row] } else { self.nodes[at].0 + REPO / 2 }
    }
}

/// The order in each column, by the indices of the graph.
struct Order {
    /// The domains, each with its rows.
    groups: Vec<(usize, Vec<usize>)>,
    left: Vec<usize>,
    right: Vec<usize>,
}

impl Order {
    /// Returns an order in which each item is near the middle of the items that it is linked to.
    fn of(graph: &Graph<'_>) -> Self {
        let in_column = |column| (0..graph.nodes.len()).filter(|at| graph.nodes[*at].column == column).collect();
        let mut first = 0;
        let groups = graph.groups.iter().enumerate().map(|(at, group)| {
            let rows = (first..first + group.rows.len()).collect();
            first += group.rows.len();
            (at, rows)
        });
        let mut order =
            Self { groups: groups.collect(), left: in_column(Column::Left), right: in_column(Column::Right) };
        let links: Vec<(usize, usize)> = graph
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| !node.is_focus)
            .flat_map(|(at, node)| node.links.keys().map(move |link| (at, link.row)))
            .collect();
        for _ in 0..SWEEPS {
            order.sort_nodes(&links);
            order.sort_rows(&links);
        }
        order.sort_nodes(&links);
        order
    }

    fn sort_nodes(&mut self, links: &[(usize, usize)]) {
        let rows = ranks(self.groups.iter().flat_map(|(_, rows)| rows).copied());
        for column in [&mut self.left, &mut self.right] {
            column.sort_by_cached_key(|node| {
                let linked = links.iter().filter(|(at, _)| at == node);
                (mean(linked.map(|(_, row)| rows[*row])), *node)
            });
        }
    }

    fn sort_rows(&mut self, links: &[(usize, usize)]) {
        let mut nodes = ranks(self.left.iter().copied());
        let right = ranks(self.right.iter().copied());
        nodes.resize(nodes.len().max(right.len()), 0);
        self.right.iter().for_each(|node| nodes[*node] = right[*node]);
        let at = |row: usize| mean(links.iter().filter(|(_, to)| *to == row).map(|(node, _)| nodes[*node]));
        for (_, rows) in &mut self.groups {
            rows.sort_by_cached_key(|row| (at(*row), *row));
        }
        self.groups.sort_by_cached_key(|(group, rows)| (mean(rows.iter().map(|row| at(*row))), *group));
    }

    /// Returns the positions of the domains and their rows, and the end of the column.
    fn rows(&self, graph: &Graph<'_>) -> (Vec<(usize, usize)>, Vec<usize>, usize) {
        let (mut groups, mut y) = (vec![(0, 0); self.groups.len()], 1);
        let mut places = vec![0; self.groups.iter().map(|(_, rows)| rows.len()).sum()];
        for (group, rows) in &self.groups {
            let top = y;
            y += if graph.has_contracts { ROW } else { 0 };
            for row in rows {
                places[*row] = y + ROW / 2;
                y += ROW;
            }
            groups[*group] = (top, y - top);
            y += if graph.has_contracts { GAP } else { GAP / 2 };
        }
        (groups, places, y)
    }
}

/// Returns the position of each index in a column, from 0 to [`LAST`].
fn ranks(column: impl Iterator<Item = usize>) -> Vec<usize> {
    let column: Vec<_> = column.collect();
    let mut ranks = vec![0; column.iter().max().map_or(0, |most| most + 1)];
    for (at, number) in column.iter().enumerate() {
        ranks[*number] = (2 * at + 1) * LAST / (2 * column.len());
    }
    ranks
}

/// Returns the mean position, or the middle of the column for an item without links.
fn mean(places: impl Iterator<Item = usize>) -> usize {
    let (sum, count) = places.fold((0_usize, 0_usize), |(sum, count), place| (sum + place, count + 1));
    sum.checked_div(count).unwrap_or(LAST / 2)
}

/// Places the repositories of one column: each next to the middle of its rows, if there is room.
fn place(graph: &Graph<'_>, column: &[usize], rows: &[usize], height: usize, nodes: &mut [(usize, usize)]) {
    let mut free = 1;
    for at in column {
        let node = &graph.nodes[*at];
        if node.is_focus {
            let (first, last) = (rows.iter().min().unwrap_or(&0), rows.iter().max().unwrap_or(&0));
            nodes[*at] = (first.saturating_sub(REPO / 2), last - first + REPO);
            continue;
        }
        let sum: usize = node.links.keys().filter_map(|link| rows.get(link.row)).sum();
        nodes[*at].0 = (sum / node.links.len().max(1)).saturating_sub(REPO / 2).max(free);
        free = nodes[*at].0 + REPO + REPO_GAP;
    }
    let mut end = height;
    for at in column.iter().rev().filter(|at| !graph.nodes[**at].is_focus) {
        nodes[*at].0 = nodes[*at].0.min(end.saturating_sub(REPO + 1));
        end = nodes[*at].0.saturating_sub(REPO_GAP);
    }
}

/// Returns the three columns, and their total width. An empty column has no width.
fn columns(graph: &Graph<'_>) -> ([(usize, usize); 3], usize) {
    let names = |column| {
        let nodes = graph.nodes.iter().filter(|node| node.column == column);
        nodes.map(|node| drawn(node.repo.as_str())).max()
    };
    let labels = graph.groups.iter().map(|group| longest(group, graph.has_contracts) + 2).max();
    let (mut columns, mut x) = ([(1, 0); 3], 1);
    for (place, characters) in columns.iter_mut().zip([names(Column::Left), labels, names(Column::Right)]) {
        let Some(characters) = characters else { continue };
        x += if x > 1 { SPACE } else { 0 };
        *place = (x, (characters * CHARACTER + 28).max(96));
        x += place.1;
    }
    (columns, x + 1)
}

/// Returns the number of drawn characters of a name.
pub fn drawn(name: &str) -> usize {
    name.len().min(MAX_NAME)
}

/// Returns the number of characters of the longest line of a domain.
pub fn longest(group: &Group<'_>, has_contracts: bool) -> usize {
    let line = |name: &str, note: &str| drawn(name) + note.chars().count() + 2;
    if has_contracts {
        let rows = group.contracts().map(|one| line(one.name.as_str(), &note(one)));
        rows.chain([drawn(group.domain.name.as_str())]).max().unwrap_or_default()
    } else {
        line(group.domain.name.as_str(), &domain_note(group))
    }
}

pub fn note(contract: &ContractTopology) -> String {
    match (&contract.version, &contract.owner) {
        (Some(_), _) if contract.retired => "retired".into(),
        (Some(version), _) => cut(&version.to_string()),
        (None, Some(_)) => "pre-release".into(),
        (None, None) => "missing".into(),
    }
}

pub fn domain_note(group: &Group<'_>) -> String {
    let mut note = count(group.domain.contracts.len(), "contract");
    let broken = super::broken(group.domain);
    if broken > 0 {
        let _ = write!(note, ", {} broken", grouped(broken));
    }
    note
}

/// Returns a name cut to the maximum length. Names contain only ASCII characters.
pub fn cut(name: &str) -> String {
    if name.len() > MAX_NAME { name.chars().take(MAX_NAME - 1).chain(['…']).collect() } else { name.to_owned() }
}
