//! What *Multilingual Factor Analysis* (Vargas et al., ACL 2019) reports, by the numbers of its tables.

/// A row of a table.
pub type Line<const N: usize> = (&'static str, [f64; N]);

/// The figures of a row. Our unsupervised model is compared with AdvR of the paper.
pub fn find<const N: usize>(table: &[Line<N>], row: &str) -> Option<[f64; N]> {
    let row = row.replace("IBFA, unsupervised", "AdvR");
    table.iter().find(|(name, _)| *name == row).map(|(_, figures)| *figures)
}

/// The columns of table 1.
pub const DIRECTIONS: [(&str, &str); 10] = [
    ("en", "es"),
    ("es", "en"),
    ("en", "fr"),
    ("fr", "en"),
    ("en", "de"),
    ("de", "en"),
    ("en", "ru"),
    ("ru", "en"),
    ("en", "zh"),
    ("zh", "en"),
];

/// Table 1, supervised: P@1.
pub const SUPERVISED: [Line<10>; 4] = [
    ("SVD", [77.4, 77.3, 74.9, 76.1, 68.4, 67.7, 47.0, 58.2, 27.3, 9.3]),
    ("IBFA", [79.5, 81.5, 77.3, 79.5, 70.7, 72.1, 46.7, 61.3, 42.9, 36.9]),
    ("SVD+CSLS", [81.4, 82.9, 81.1, 82.4, 73.5, 72.4, 51.7, 63.7, 32.5, 25.1]),
    ("IBFA+CSLS", [81.7, 84.1, 81.9, 83.4, 74.1, 75.7, 50.5, 66.3, 48.4, 41.7]),
];

/// Table 1, semi-supervised: P@1 from strings that the languages share.
pub const SEMI_SUPERVISED: [Line<10>; 6] = [
    ("SVD", [65.9, 74.1, 71.0, 72.7, 60.3, 65.3, 11.4, 37.7, 6.8, 0.8]),
    ("IBFA", [76.1, 80.1, 77.1, 78.9, 66.8, 71.8, 23.1, 39.9, 17.1, 24.0]),
    ("AdvR", [79.1, 78.1, 78.1, 78.2, 71.3, 69.6, 37.3, 54.3, 30.9, 21.9]),
    ("SVD+CSLS", [73.0, 80.7, 75.7, 79.6, 65.3, 70.8, 20.9, 41.5, 10.5, 1.7]),
    ("IBFA+CSLS", [76.5, 83.7, 78.6, 82.3, 68.7, 73.7, 25.3, 46.3, 22.1, 27.2]),
    ("AdvR+CSLS", [81.7, 83.3, 82.3, 82.1, 74.0, 72.2, 44.0, 59.1, 32.5, 31.4]),
];

/// Table 2, left: P@1, 5 and 10 from English to Italian and back, expert dictionary.
pub const EXPERT: [Line<6>; 5] = [
    ("Mikolov et al.", [33.8, 48.3, 53.9, 24.9, 41.0, 47.4]),
    ("CCA (NIPALS)", [36.1, 52.7, 58.1, 31.0, 49.9, 57.0]),
    ("CCA", [30.9, 48.1, 52.7, 27.7, 45.5, 51.0]),
    ("SVD", [36.9, 52.7, 57.9, 32.2, 49.6, 55.7]),
    ("IBFA", [39.3, 55.3, 60.1, 34.7, 53.5, 59.4]),
];

/// Table 2, right: the same from the pseudo-dictionary.
pub const PSEUDO: [Line<6>; 5] = [
    ("Mikolov et al.", [1.0, 2.8, 3.9, 2.5, 6.4, 9.1]),
    ("CCA (NIPALS)", [29.1, 46.4, 53.0, 27.0, 47.0, 52.3]),
    ("CCA", [26.5, 42.5, 48.1, 22.8, 40.1, 45.5]),
    ("SVD", [27.1, 43.4, 49.3, 26.2, 42.1, 49.0]),
    ("IBFA", [34.7, 52.6, 58.3, 33.7, 53.3, 59.2]),
];

/// The columns of table 3: names there and names of files.
pub const SIMILARITY_SETS: [(&str, &str); 8] = [
    ("WS", "EN_WS-353-ALL.txt"),
    ("WS-SIM", "EN_WS-353-SIM.txt"),
    ("WS-REL", "EN_WS-353-REL.txt"),
    ("RG-65", "EN_RG-65.txt"),
    ("MC-30", "EN_MC-30.txt"),
    ("MT-287", "EN_MTurk-287.txt"),
    ("MT-771", "EN_MTurk-771.txt"),
    ("MEN-TR", "EN_MEN-TR-3k.txt"),
];

/// Table 3: Spearman's correlation, times 100.
pub const SIMILARITY: [Line<8>; 7] = [
    ("English", [73.7, 78.1, 68.2, 79.7, 81.2, 67.9, 66.9, 76.4]),
    ("IBFA en-de", [74.4, 79.4, 68.3, 81.4, 84.2, 67.2, 69.4, 77.8]),
    ("IBFA en-fr", [72.4, 77.8, 65.8, 80.5, 83.0, 68.2, 69.6, 77.6]),
    ("IBFA en-es", [73.6, 78.5, 67.0, 79.0, 83.0, 68.2, 69.4, 77.3]),
    ("CCA en-de", [71.7, 76.4, 64.0, 76.7, 82.4, 63.0, 64.7, 75.3]),
    ("CCA en-fr", [70.9, 76.4, 63.3, 76.5, 81.4, 63.4, 65.4, 74.9]),
    ("CCA en-es", [70.8, 76.3, 63.1, 76.4, 81.2, 63.0, 65.1, 74.7]),
];

/// The columns of table 4.
pub const STS_YEARS: [&str; 5] = ["STS12", "STS13", "STS14", "STS15", "STS16"];

/// Table 4: Spearman's correlation, times 100, the mean over the sets of a year; STS13 without SMT.
pub const STS: [Line<5>; 7] = [
    ("English", [58.1, 69.2, 66.7, 72.6, 70.6]),
    ("IBFA en-de", [58.1, 70.2, 66.8, 73.0, 71.6]),
    ("IBFA en-fr", [58.0, 70.0, 66.7, 72.8, 71.4]),
    ("IBFA en-es", [57.9, 69.7, 66.6, 72.9, 71.7]),
    ("CCA en-de", [56.7, 67.5, 65.7, 73.1, 70.5]),
    ("CCA en-fr", [56.7, 67.9, 65.9, 72.8, 70.8]),
    ("CCA en-es", [56.6, 67.8, 65.9, 72.9, 70.8]),
];

/// The other languages of tables 3 and 4.
pub const ALIGNED_WITH: [&str; 3] = ["de", "fr", "es"];

/// Table 5: P@1, 5 and 10 of sentences from English to Italian and back.
pub const SENTENCES: [Line<6>; 8] = [
    ("Mikolov et al.", [10.5, 18.7, 22.8, 12.0, 22.1, 26.7]),
    ("Dinu et al.", [45.3, 72.4, 80.7, 48.9, 71.3, 78.3]),
    ("Smith et al.", [54.6, 72.7, 78.2, 42.9, 62.2, 69.2]),
    ("SVD", [40.5, 52.6, 56.9, 51.2, 63.7, 67.9]),
    ("IBFA", [62.7, 74.2, 77.9, 64.1, 75.2, 79.5]),
    ("SVD+CSLS", [64.0, 75.8, 78.5, 67.9, 79.4, 82.8]),
    ("AdvR+CSLS", [66.2, 80.4, 83.4, 58.7, 76.5, 80.9]),
    ("IBFA+CSLS", [68.8, 80.7, 83.5, 70.2, 80.8, 84.8]),
];

/// The columns of tables 6 and 8.
pub const THREE: [(&str, &str); 6] =
    [("en", "it"), ("it", "en"), ("en", "fr"), ("fr", "en"), ("it", "fr"), ("fr", "it")];

/// Table 6: P@1 in a common space of three languages.
pub const THREE_LANGUAGES: [Line<6>; 4] = [
    ("SVD", [71.0, 72.4, 74.9, 76.1, 78.3, 72.9]),
    ("MBFA", [71.9, 73.4, 76.7, 78.1, 82.6, 77.5]),
    ("SVD+CSLS", [76.2, 77.9, 81.1, 82.4, 84.5, 79.8]),
    ("MBFA+CSLS", [77.4, 77.7, 81.9, 82.1, 86.8, 81.9]),
];

/// Table 7: words drawn from an English-Spanish model, and what the Spanish ones mean.
pub const SAMPLES: [(&str, &str, &str); 28] = [
    ("particular", "efectivamente", "effectively"),
    ("correspondingly", "esto", "this"),
    ("silly", "irónicamente", "ironic"),
    ("frightening", "brutalidad", "brutality"),
    ("manipulations", "intencionadamente", "intentionally"),
    ("ignore", "contraproducente", "counter-productive"),
    ("fundamentally", "entendido", "understood"),
    ("embarrassed", "enojado", "angry"),
    ("terrified", "casualidad", "coincidence"),
    ("hypocritical", "obviamente", "obviously"),
    ("wondered", "incómodo", "uncomfortable"),
    ("oftentimes", "apostar", "betting"),
    ("unwittingly", "traicionar", "betray"),
    ("mishap", "irónicamente", "ironically"),
    ("veritable", "empero", "however"),
    ("overpowered", "deshacerse", "fall apart"),
    ("crazed", "divertidos", "merry"),
    ("frightening", "ironía", "irony"),
    ("dreadful", "desesperación", "despair"),
    ("instituting", "restablecimiento", "recover"),
    ("unrealistic", "cuestionamiento", "questioning"),
    ("regrettable", "erróneos", "mistaken"),
    ("irresponsible", "preocupaciones", "concerns"),
    ("obsession", "irremediablemente", "hopelessly"),
    ("embodied", "voluntad", "will"),
    ("misguided", "esconder", "conceal"),
    ("perspective", "contestación", "answer"),
    ("reactionary", "conservadurismo", "conservatism"),
];

/// Table 8: P@1 of MBFA after 1,000 and after 20,000 iterations of EM.
pub const ITERATIONS: [Line<6>; 4] = [
    ("MBFA, 1,000 steps of EM", [71.9, 73.3, 76.7, 78.2, 82.4, 77.5]),
    ("MBFA, converged", [71.9, 73.4, 76.7, 78.1, 82.6, 77.5]),
    ("MBFA+CSLS, 1,000 steps of EM", [77.5, 77.6, 81.9, 82.0, 86.8, 82.1]),
    ("MBFA+CSLS, converged", [77.4, 77.7, 81.9, 82.1, 86.8, 81.9]),
];
