//! What a report looks like.

use serde_json::{Value, json};

use super::{Cell, Column, Figure, Report, Row, Section, Table};
use crate::plots::Svg;

fn report() -> Report {
    let mut table = Table::new(
        "Precision <of> words",
        "method",
        vec![Column::of("en & fr", "@1"), Column::of("en & fr", "@5"), Column::of("more", "@1")],
    );
    let measured = |value: f64, paper| Cell::measured(Ok(value), Some([value - 2.0, value + 2.0]), paper);
    let missing = |reason: &str| Cell::measured(Err(reason.to_owned()), None, Some(9.3));
    table.rows = vec![
        Row::heading("Nearest neighbour"),
        Row::new("SVD", vec![measured(70.04, Some(74.9)), measured(80.0, None), missing("no vectors of zh")]),
        Row::new("IBFA", vec![measured(78.05, Some(77.3)), missing("not <built>"), missing("no vectors of zh")]),
        Row::new("a|b", vec![Cell::text("<script>alert(1)</script>"), Cell::text(""), Cell::text("*x*")]),
    ];
    let mut section = Section::new("table-1", "Table 1 · Words");
    section.say("Is 1 < 2 & \"so on\"?");
    section.lack(vec!["no dictionary <en-zh>".to_owned()]);
    section.lack(Vec::new());
    section.add(table);
    let mut svg = Svg::new(10.0, 10.0, "A \"plot\"");
    svg.dot("halo k0", (1.0, 2.0), 3.0, "<b>");
    section.add(Figure::new("plot", "A plot", [1, 2], svg));
    Report::new("A & B", "Lead", vec![section])
}

#[test]
fn the_page_has_everything_and_asks_for_nothing() {
    let html = report().html();
    for part in [
        "<title>A &amp; B</title>",
        "<a href=\"#table-1\">Table 1 · Words</a>",
        "<p>Is 1 &lt; 2 &amp; &quot;so on&quot;?</p>",
        "<li>no dictionary &lt;en-zh&gt;</li>",
        "<figcaption>Precision &lt;of&gt; words</figcaption>",
        "<th colspan=\"2\" scope=\"colgroup\" class=\"group\">en &amp; fr</th>",
        "<th colspan=\"4\" scope=\"rowgroup\"><span>Nearest neighbour</span></th>",
        "<span class=\"ours\" title=\"95 % interval: 68.0 to 72.0\">70.0</span><span class=\"interval\">±2.0</span><span class=\"paper\">74.9</span>",
        "<span class=\"ours best\" title=\"95 % interval: 76.0 to 80.0\">78.0</span>",
        "–<sup>a</sup></span><span class=\"paper\">9.3</span>",
        "<li><sup>a</sup> no vectors of zh</li><li><sup>b</sup> not &lt;built&gt;</li>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "<title>&lt;b&gt;</title>",
    ] {
        assert!(html.contains(part), "{part} is not in\n{html}");
    }
    assert!(!html.contains("<script") && !html.contains("<link") && !html.contains("@import"));
    // The one address is the name of SVG, which nothing is loaded from.
    let addresses: Vec<&str> = html.match_indices("http").map(|(at, _)| &html[at..at + 26]).collect();
    assert!(addresses.iter().all(|address| *address == "http://www.w3.org/2000/svg"), "{addresses:?}");
    for tag in ["table", "section", "figure", "tr", "td", "th", "svg", "div", "span", "ul", "li"] {
        let (opened, closed) = (
            html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count(),
            html.matches(&format!("</{tag}>")).count(),
        );
        assert_eq!(opened, closed, "{tag}");
    }
}

#[test]
fn markdown_and_json_say_the_same() {
    let markdown = report().markdown();
    for line in [
        "# A & B",
        "## Table 1 · Words",
        "> - no dictionary \\<en-zh\\>",
        "| method | en & fr @1 | en & fr @5 | more @1 |",
        "| SVD | 70.0 ±2.0 *74.9* | 80.0 ±2.0 | – (a) *9.3* |",
        "| IBFA | **78.0** ±2.0 *77.3* | – (b) *9.3* | – (a) *9.3* |",
        "| a\\|b | \\<script\\>alert(1)\\</script\\> |  | \\*x\\* |",
        "(a) no vectors of zh",
        "![A plot](figures/plot.svg)",
    ] {
        assert!(markdown.lines().any(|found| found == line), "{line} is not in\n{markdown}");
    }
    let json: Value = serde_json::to_value(report()).unwrap();
    let blocks = json["sections"][0]["blocks"].as_array().unwrap();
    let kinds: Vec<&str> = blocks.iter().map(|block| block["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "missing", "table", "figure"]);
    assert_eq!(blocks[2]["rows"][1]["cells"][0], json!({ "ours": 70.04, "interval": [68.04, 72.04], "paper": 74.9 }));
    assert_eq!(blocks[2]["rows"][1]["cells"][2], json!({ "ours": null, "paper": 9.3, "missing": "no vectors of zh" }));
    assert_eq!(blocks[3]["data"], json!([1, 2]));
}

#[test]
fn a_folder_with_anything_else_in_it_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report");
    report().write(&path).unwrap();
    let names = |path: &std::path::Path| {
        let mut names: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&path), ["figures", "index.html", "report.json", "report.md"]);
    let svg = std::fs::read_to_string(path.join("figures/plot.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("<style>") && svg.contains("A &quot;plot&quot;"));
    report().write(&path).unwrap();
    std::fs::write(path.join("notes.txt"), "mine").unwrap();
    let error = report().write(&path).unwrap_err().to_string();
    assert!(error.contains("notes.txt") && path.join("notes.txt").exists(), "{error}");
    assert_eq!(names(folder.path()), ["report"]);
}

#[test]
fn an_explorer_is_written_beside_the_report_and_linked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report");
    let mut with_explorer = report();
    with_explorer.explorer = Some("<!doctype html>".to_owned());
    for _ in 0..2 {
        with_explorer.write(&path).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path.join("page.html")).unwrap(), "<!doctype html>");
    assert!(with_explorer.html().contains("href=\"page.html\"") && with_explorer.markdown().contains("](page.html)"));
    report().write(&path).unwrap();
    assert!(!path.join("page.html").exists() && !report().html().contains("page.html"));
}
