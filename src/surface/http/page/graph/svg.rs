//! Renders the drawing. An item that is hovered over or has the focus shows its links above all others.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::{
    Column, Graph, Group, Row,
    layout::{Layout, ROW},
    word,
};
use crate::{
    surface::http::page::{
        graph::layout::{cut, domain_note, note},
        links::Site,
    },
    wire::ImportHealth,
};

/// A line between a repository and a row.
struct Line {
    node: usize,
    row: usize,
    /// The state of the import; `None` for a provided row.
    health: Option<ImportHealth>,
    from: (usize, usize),
    to: (usize, usize),
}

/// Returns the drawing with its legend.
pub fn figure(site: &Site, graph: &Graph<'_>) -> Markup {
    let at = Layout::of(graph);
    let lines = lines(graph, &at);
    let found: BTreeSet<_> = lines.iter().filter_map(|line| line.health).collect();
    html! {
        figure.graph {
            div.canvas {
                svg viewBox={ "0 0 " (at.width) " " (at.height) } width=(at.width) height=(at.height) role="group"
                    aria-label="Drawing; the table below has the same content" {
                    g.links { @for (nth, line) in lines.iter().enumerate() { (drawn(nth, line)) } }
                    @for (group, place) in graph.groups.iter().zip(&at.groups) {
                        (frame(site, graph, group, *place, &at))
                    }
                    (rows(site, graph, &lines, &at))
                    (repos(site, graph, &lines, &at))
                }
            }
            figcaption.legend {
                span { "Arrows point from providers to consumers" }
                @for health in found {
                    span class={ "key " (health.word()) } { span.line aria-hidden="true" {} (word(health).0) }
                }
            }
        }
    }
}

/// Returns all lines, broken ones last, so that they are drawn on top.
fn lines(graph: &Graph<'_>, at: &Layout) -> Vec<Line> {
    let [(left, left_width), (middle, width), (right, _)] = at.columns;
    let mut lines = Vec::new();
    for (number, node) in graph.nodes.iter().enumerate() {
        let (repo_x, row_x) = match node.column {
            Column::Left => (left + left_width, middle),
            Column::Right => (right, middle + width),
        };
        for (link, health) in &node.links {
            let (repo, row) = ((repo_x, at.anchor(node, number, link.row)), (row_x, at.rows[link.row]));
            let (from, to) = if link.is_provided { (repo, row) } else { (row, repo) };
            lines.push(Line { node: number, row: link.row, health: (!link.is_provided).then_some(*health), from, to });
        }
    }
    lines.sort_by_key(|line| line.health);
    lines
}

fn drawn(nth: usize, line: &Line) -> Markup {
    let ((from_x, from_y), (to_x, to_y)) = (line.from, line.to);
    let bend = usize::midpoint(from_x, to_x);
    let (end, tip) = if from_x < to_x { (to_x - 7, "l-8 -4v8z") } else { (to_x + 7, "l8 -4v8z") };
    html! {
        g id={ "l" (nth) } class={ "link " (line.health.map_or("provided", ImportHealth::word)) } {
            path d=(format!("M{from_x} {from_y}C{bend} {from_y} {bend} {to_y} {end} {to_y}")) {}
            path.tip d={ "M" (to_x) " " (to_y) (tip) } {}
        }
    }
}

/// Returns copies of the lines of one item, which are visible while the item is hovered over.
fn lit(lines: &[Line], is_lit: impl Fn(&Line) -> bool) -> Markup {
    html! {
        g.lit {
            @for (nth, _) in lines.iter().enumerate().filter(|(_, line)| is_lit(line)) { use href={ "#l" (nth) } {} }
        }
    }
}

fn frame(site: &Site, graph: &Graph<'_>, group: &Group<'_>, (top, height): (usize, usize), at: &Layout) -> Markup {
    let (x, width) = at.columns[1];
    html! {
        rect.domain x=(x) y=(top) width=(width) height=(height) rx="8" {}
        @if graph.has_contracts {
            a href=(site.domain(&group.domain.name)) {
                text.title x=(x + 14) y=(top + ROW / 2 + 5) { (cut(group.domain.name.as_str())) }
            }
        }
    }
}

fn rows(site: &Site, graph: &Graph<'_>, lines: &[Line], at: &Layout) -> Markup {
    let (x, width) = at.columns[1];
    let all = graph.groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row)));
    html! {
        @for (number, ((group, row), middle)) in all.zip(&at.rows).enumerate() {
            @let domain = &group.domain.name;
            @let (name, note, href, lost) = match row {
                Row::Contract(contract) => (
                    contract.name.as_str(),
                    note(contract),
                    site.contract(domain, &contract.name, &[]),
                    contract.owner.is_none(),
                ),
                Row::Domain => (domain.as_str(), domain_note(group), site.domain(domain), false),
            };
            g.node {
                (lit(lines, |line| line.row == number))
                a class=(if lost { "row lost" } else { "row" }) href=(href) {
                    rect x=(x + 4) y=(middle - ROW / 2 + 2) width=(width - 8) height=(ROW - 4) rx="5" {}
                    text x=(x + 14) y=(middle + 5) { (cut(name)) }
                    text.aside x=(x + width - 14) y=(middle + 5) text-anchor="end" { (note) }
                }
            }
        }
    }
}

/// Returns the repositories. The highlighted lines of each are its own, and those of the providers that it imports
/// from.
fn repos(site: &Site, graph: &Graph<'_>, lines: &[Line], at: &Layout) -> Markup {
    html! {
        @for (number, (node, (top, height))) in graph.nodes.iter().zip(&at.nodes).enumerate() {
            @let (x, width) = at.columns[if node.column == Column::Left { 0 } else { 2 }];
            @let relied: BTreeSet<_> =
                lines.iter().filter(|one| one.node == number && one.health.is_some()).map(|one| one.row).collect();
            g.node {
                (lit(lines, |line| line.node == number || (line.health.is_none() && relied.contains(&line.row))))
                a class=(if node.is_focus { "repo focus" } else { "repo" }) href=(site.repo(node.repo)) {
                    rect x=(x) y=(top) width=(width) height=(height) rx="16" {}
                    text x=(x + width / 2) y=(top + height / 2 + 5) text-anchor="middle" {
                        (cut(node.repo.as_str()))
                    }
                }
            }
        }
    }
}
