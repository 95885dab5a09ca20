//! The static model gives the pieces of BERT's tokenizer and the vectors of the script that made it.

use super::vector_math::cosine as row_cosine;
use super::*;
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    text: String,
    pieces: Vec<String>,
    vector: Vec<f32>,
}

fn golden() -> Vec<Golden> {
    serde_json::from_str(include_str!("../../tests/golden/static.json")).unwrap()
}

fn pieces(model: &StaticModel, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let words = model.asset.words().count();
    wordpiece::for_each_row(&model.asset, text, &mut |row| {
        let row = usize::from(row);
        let mark = if row < words { "" } else { "##" };
        found.push(format!("{mark}{}", model.asset.entry(row).unwrap()));
    });
    found
}

fn embed(text: &str) -> (bool, Vec<f32>) {
    let model = StaticModel::built_in();
    let mut out = vec![f32::NAN; model.dims()];
    let known = model.embed(text, &mut out);
    (known, out)
}

fn cosine(a: &str, b: &str) -> f32 {
    embed(a).1.iter().zip(embed(b).1).map(|(x, y)| x * y).sum()
}

#[test]
fn pieces_are_those_of_berts_tokenizer() {
    let model = StaticModel::built_in();
    for case in golden() {
        assert_eq!(pieces(&model, &case.text), case.pieces, "{:?}", case.text);
    }
}

#[test]
fn vectors_are_those_of_the_script_that_made_the_table() {
    for case in golden() {
        let (known, vector) = embed(&case.text);
        assert_eq!(known, !case.pieces.is_empty(), "{:?}", case.text);
        for (got, want) in vector.iter().zip(&case.vector) {
            assert!((got - want).abs() < 1e-5, "{:?}: {got} instead of {want}", case.text);
        }
    }
}

/// Stored vectors carry the id: a new table under the old name would be compared with them.
#[test]
fn a_new_table_has_a_new_id() {
    let table = blake3::hash(include_bytes!("../../assets/static.bin")).to_hex();
    assert_eq!((ID, &table[..16]), ("oneiro-static-2", "3d38b5abeab1db4e"));
}

#[test]
fn texts_and_words_of_similar_meaning_are_near() {
    assert!(cosine("my dog is ill", "the puppy feels sick") > 0.4);
    assert!(cosine("my dog is ill", "quarterly tax returns") < 0.2);
    let model = StaticModel::built_in();
    let near = model.nearest("sister", 8);
    let words: Vec<_> = near.iter().map(|(word, _)| *word).collect();
    assert!(words.contains(&"sisters") && words.contains(&"brother"), "{words:?}");
    assert!(!words.contains(&"sister"));
    assert!(near.is_sorted_by(|a, b| a.1 >= b.1));
}

/// The scan of the head dimensions may not lose neighbours.
#[test]
fn at_least_995_of_1000_neighbours_are_exact() {
    let model = StaticModel::built_in();
    let (mut found, mut all) = (0, 0);
    for row in (2000..model.asset.words().count()).step_by(701) {
        let word = model.asset.entry(row).unwrap();
        let numbers = model.asset.row(row).unwrap();
        let mut exact: Vec<_> = (0..model.asset.words().count())
            .map(|n| (row_cosine(numbers, model.asset.row(n).unwrap()), n))
            .filter(|(_, n)| model.is_neighbour(*n, word))
            .collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0));
        let exact: Vec<_> =
            exact.iter().take(16).map(|(_, n)| model.asset.entry(*n).unwrap()).collect();
        let near = model.nearest(word, 16);
        assert_eq!(near.len(), 16);
        found += near.iter().filter(|(word, _)| exact.contains(word)).count();
        all += 16;
    }
    assert!(found * 1000 >= all * 995, "{found} of {all}");
}

#[test]
fn rarity_grows_from_common_to_unseen() {
    let model = StaticModel::built_in();
    let order = ["the", "house", "pottery", "zyzzyvaquux"];
    let rarity = order.map(|word| model.rarity(word));
    assert!(rarity.is_sorted(), "{rarity:?}");
    assert!(rarity[0] < 4.0 && rarity[3] <= 17.0, "{rarity:?}");
    assert_eq!(model.rarity(""), UNSEEN_RARITY);
}

#[test]
fn the_mean_of_typical_texts_has_all_dimensions() {
    let model = StaticModel::built_in();
    let mean = model.center();
    assert_eq!(mean.len(), DIMS);
    let norm = mean.iter().map(|x| x * x).sum::<f32>().sqrt();
    assert!(norm > 0.01 && norm < 1.0, "{norm}");
}

#[test]
fn an_unknown_text_is_all_zero_and_a_wrong_length_is_refused() {
    for text in ["", " \n", "\u{10ffff}", &"x".repeat(101)] {
        let (known, vector) = embed(text);
        assert!(!known && vector.iter().all(|x| *x == 0.0), "{text:?}");
    }
    assert!(!StaticModel::built_in().embed("tea", &mut [0.0; 3]));
    assert!(StaticModel::built_in().nearest("", 5).is_empty());
}

#[test]
fn a_megabyte_without_a_space_can_be_embedded() {
    for part in ["x", "é", "東", "\u{301}", "!", "한"] {
        embed(&part.repeat((1 << 20) / part.len()));
    }
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(256))]

    #[test]
    fn any_text_gives_length_one_or_zero(text in "\\PC*|[\\x00-\\u{3ff}]*|[a-z ]*") {
        let (known, vector) = embed(&text);
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        prop_assert!(if known { (norm - 1.0).abs() < 1e-4 } else { norm == 0.0 }, "{norm}");
        prop_assert_eq!(embed(&text).1, vector);
        let rarity = StaticModel::built_in().rarity(&text);
        prop_assert!((0.0..=17.0).contains(&rarity));
    }

    #[test]
    fn case_does_not_matter(text in "[ -~éüñΔж]*") {
        prop_assert_eq!(embed(&text.to_uppercase()), embed(&text.to_lowercase()));
    }
}
