//! Where everything stands. Repositories stand where what they are linked to is, so that few lines
//! cross.

use std::fmt::Write as _;

use super::{Graph, Side};
use crate::{
    surface::http::page::{
        graph::Group,
        pieces::{count, grouped},
    },
    wire::ContractTopology,
};

/// Height of a row, and of a domain's title.
pub const ROW: usize = 30;
/// Between two domains.
const GAP: usize = 18;
/// Height of a repository, and between two.
pub const REPO: usize = 32;
const REPO_GAP: usize = 12;
/// Between two columns: room for the lines.
const SPACE: usize = 110;
/// A character's width, about.
const CHARACTER: usize = 8;
/// Most characters of a name that is drawn.
pub const MAX_NAME: usize = 28;

/// The places of all parts.
#[derive(Debug)]
pub struct Layout {
    /// Of the whole drawing.
    pub width: usize,
    /// Of the whole drawing.
    pub height: usize,
    /// Where the columns start and how wide they are: providers, domains, consumers.
    pub columns: [(usize, usize); 3],
    /// Top and height of each domain.
    pub groups: Vec<(usize, usize)>,
    /// The middle of each row.
    pub rows: Vec<usize>,
    /// The top of each provider.
    pub providers: Vec<usize>,
    /// The top of each consumer.
    pub consumers: Vec<usize>,
}

impl Layout {
    /// Places a graph.
    pub fn of(graph: &Graph<'_>) -> Self {
        let (mut groups, mut rows, mut y) = (Vec::new(), Vec::new(), 1);
        for group in &graph.groups {
            let top = y;
            y += if graph.has_contracts { ROW } else { 0 };
            for _ in &group.rows {
                rows.push(y + ROW / 2);
                y += ROW;
            }
            groups.push((top, y - top));
            y += if graph.has_contracts { GAP } else { GAP / 2 };
        }
        let middle = y;
        let (providers, left) = side(&graph.providers, &rows);
        let (consumers, right) = side(&graph.consumers, &rows);
        let height = middle.max(left).max(right) + 1;
        let names = |sides: &[Side<'_>]| sides.iter().map(|side| drawn(side.repo.as_str())).max().unwrap_or_default();
        let labels = graph.groups.iter().map(|group| longest(group, graph.has_contracts)).max();
        let width = |characters: usize| (characters * CHARACTER + 28).max(96);
        let widths = [names(&graph.providers), labels.unwrap_or_default() + 2, names(&graph.consumers)].map(width);
        let starts = [1, 1 + widths[0] + SPACE, 1 + widths[0] + widths[1] + 2 * SPACE];
        let columns = [(starts[0], widths[0]), (starts[1], widths[1]), (starts[2], widths[2])];
        Self { width: starts[2] + widths[2] + 1, height, columns, groups, rows, providers, consumers }
    }
}

/// Returns how many characters of a name are drawn.
pub fn drawn(name: &str) -> usize {
    name.len().min(MAX_NAME)
}

/// Returns the top of each repository, and where the column ends.
fn side(sides: &[Side<'_>], rows: &[usize]) -> (Vec<usize>, usize) {
    let wanted = |side: &Side<'_>| {
        let sum: usize = side.links.keys().filter_map(|row| rows.get(*row)).sum();
        sum / side.links.len().max(1)
    };
    let mut order: Vec<_> = sides.iter().enumerate().map(|(at, side)| (wanted(side), at)).collect();
    order.sort_unstable();
    let mut tops = vec![0; sides.len()];
    let mut free = 1;
    for (middle, at) in order {
        tops[at] = middle.saturating_sub(REPO / 2).max(free);
        free = tops[at] + REPO + REPO_GAP;
    }
    (tops, free)
}

/// Returns how many characters the longest line of a domain has.
pub fn longest(group: &Group<'_>, has_contracts: bool) -> usize {
    let line = |name: &str, note: &str| drawn(name) + note.chars().count() + 2;
    match has_contracts {
        true => {
            let rows = group.domain.contracts.iter().map(|one| line(one.name.as_str(), &note(one)));
            rows.chain([drawn(group.domain.name.as_str())]).max().unwrap_or_default()
        }
        false => line(group.domain.name.as_str(), &domain_note(group)),
    }
}

pub fn note(contract: &ContractTopology) -> String {
    match (&contract.version, &contract.owner) {
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

/// Names are of ASCII characters alone.
pub fn cut(name: &str) -> String {
    match name.len() > MAX_NAME {
        true => name.chars().take(MAX_NAME - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}
