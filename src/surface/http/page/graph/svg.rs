//! The drawing. It is for eyes alone, and hidden from programs that read aloud: they have the table.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::{
    Graph, Group, Row, Side, Stand, domain_href,
    layout::{Layout, REPO, ROW},
    word,
};
use crate::{
    surface::http::page::{
        graph::layout::{cut, domain_note, note},
        links,
    },
    wire::RealmTopology,
};

/// Returns the drawing with its legend.
pub fn figure(body: &RealmTopology, graph: &Graph<'_>) -> Markup {
    let at = Layout::of(graph);
    let found: BTreeSet<_> = graph.consumers.iter().flat_map(|side| side.links.values()).copied().collect();
    html! {
        figure.graph {
            div.canvas {
                svg viewBox={ "0 0 " (at.width) " " (at.height) } width=(at.width) height=(at.height)
                    aria-hidden="true" focusable="false" {
                    g.links { (lines(graph, &at)) }
                    @for (group, place) in graph.groups.iter().zip(&at.groups) {
                        (frame(body, graph, group, *place, &at))
                    }
                    (rows(body, graph, &at))
                    (repos(&graph.providers, &at.providers, at.columns[0]))
                    (repos(&graph.consumers, &at.consumers, at.columns[2]))
                }
            }
            @if !found.is_empty() {
                figcaption.legend {
                    @for stand in found {
                        span class={ "key " (stand.class()) } { span.line aria-hidden="true" {} (word(stand).0) }
                    }
                }
            }
        }
    }
}

fn lines(graph: &Graph<'_>, at: &Layout) -> Markup {
    let [(left, left_width), (middle, width), (right, _)] = at.columns;
    let provided = graph.providers.iter().zip(&at.providers).flat_map(|(side, top)| {
        side.links.keys().map(move |row| (left + left_width, top + REPO / 2, middle, at.rows[*row], Stand::Current))
    });
    let imported = graph.consumers.iter().zip(&at.consumers).flat_map(|(side, top)| {
        side.links.iter().map(move |(row, stand)| (middle + width, at.rows[*row], right, top + REPO / 2, *stand))
    });
    let mut all: Vec<_> = provided.chain(imported).collect();
    // What is broken lies above all else.
    all.sort_by_key(|line| line.4);
    html! {
        @for (from_x, from_y, to_x, to_y, stand) in all {
            @let bend = (from_x + to_x) / 2;
            g class={ "link " (stand.class()) } {
                path d=(format!("M{from_x} {from_y}C{bend} {from_y} {bend} {to_y} {} {to_y}", to_x - 7)) {}
                path.tip d={ "M" (to_x) " " (to_y) "l-8 -4v8z" } {}
            }
        }
    }
}

fn frame(
    body: &RealmTopology,
    graph: &Graph<'_>,
    group: &Group<'_>,
    (top, height): (usize, usize),
    at: &Layout,
) -> Markup {
    let (x, width) = at.columns[1];
    html! {
        rect.domain x=(x) y=(top) width=(width) height=(height) rx="8" {}
        @if graph.has_contracts {
            a href=(domain_href(body, &group.domain.name)) tabindex="-1" {
                text.title x=(x + 14) y=(top + ROW / 2 + 5) { (cut(group.domain.name.as_str())) }
            }
        }
    }
}

fn rows(body: &RealmTopology, graph: &Graph<'_>, at: &Layout) -> Markup {
    let (x, width) = at.columns[1];
    let all = graph.groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row)));
    html! {
        @for ((group, row), middle) in all.zip(&at.rows) {
            @let (name, note, href, lost) = match row {
                Row::Contract(contract) => (
                    contract.name.as_str(),
                    note(contract),
                    links::contract(&body.realm, &group.domain.name, &contract.name, &[]),
                    contract.owner.is_none(),
                ),
                Row::Domain => {
                    let name = &group.domain.name;
                    (name.as_str(), domain_note(group), domain_href(body, name), false)
                }
            };
            @let class = if lost { "row lost" } else { "row" };
            a class=(class) href=(href) tabindex="-1" {
                rect x=(x + 4) y=(middle - ROW / 2 + 2) width=(width - 8) height=(ROW - 4) rx="5" {}
                text x=(x + 14) y=(middle + 5) { (cut(name)) }
                text.aside x=(x + width - 14) y=(middle + 5) text-anchor="end" { (note) }
            }
        }
    }
}

fn repos(sides: &[Side<'_>], tops: &[usize], (x, width): (usize, usize)) -> Markup {
    html! {
        @for (side, top) in sides.iter().zip(tops) {
            g.repo {
                rect x=(x) y=(top) width=(width) height=(REPO) rx="16" {}
                text x=(x + width / 2) y=(top + REPO / 2 + 5) text-anchor="middle" { (cut(side.repo.as_str())) }
            }
        }
    }
}
