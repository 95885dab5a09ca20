//! Prints the speed of the static model: `cargo run --profile dist -p oneiro-inference
//! --example embedder_speed`.

#![allow(clippy::print_stdout)]

use oneiro::WordModel;
use oneiro_inference::StaticModel;
use std::hint::black_box;
use std::time::Instant;

const SIXTY_WORDS: &str = "I went to the lake with my sister last Saturday and we rented a small blue \
    canoe, which was more fun than I expected. The weather was warm, the water quite cold, and we \
    saw two herons near the old bridge. Afterwards we had pancakes at the diner on Main Street and \
    talked about her new job at the hospital until it got dark outside.";

const WORDS: [&str; 8] =
    ["sister", "canoe", "hospital", "pancakes", "weather", "repository", "deadline", "allergic"];

/// The median and the best of twenty slices: a busy machine shows in the first only.
fn micros(rounds: usize, mut work: impl FnMut(usize)) -> String {
    let slice = (rounds / 20).max(1);
    let mut costs: Vec<f64> = (0..20)
        .map(|_| {
            let start = Instant::now();
            for n in 0..slice {
                work(n);
            }
            start.elapsed().as_secs_f64() * 1e6 / slice as f64
        })
        .collect();
    costs.sort_by(f64::total_cmp);
    let at = |n: usize| costs.get(n).copied().unwrap_or_default();
    format!("{:9.2} us, best {:.2}", at(10), at(0))
}

fn main() {
    let start = Instant::now();
    let model = StaticModel::built_in();
    println!("open                    {:9.2} us", start.elapsed().as_secs_f64() * 1e6);
    let mut out = vec![0.0; model.dims()];
    println!("{} words, {} bytes", SIXTY_WORDS.split_whitespace().count(), SIXTY_WORDS.len());
    let cost = micros(100_000, |_| {
        black_box(model.embed(black_box(SIXTY_WORDS), &mut out));
    });
    println!("embed, 60 words         {cost}");
    let rare = "Thymoquinone übertrifft die Erwartungen; naïve café déjà-vu 東京 Привет".repeat(4);
    let cost = micros(10_000, |_| {
        black_box(model.embed(black_box(&rare), &mut out));
    });
    println!("embed, {} foreign bytes {cost}", rare.len());
    let long = "x".repeat(1 << 20);
    let cost = micros(20, |_| {
        black_box(model.embed(black_box(&long), &mut out));
    });
    println!("embed, 1 MB unbroken    {cost}");
    let word = |n: usize| WORDS.iter().cycle().nth(n % WORDS.len()).copied().unwrap_or_default();
    let cost = micros(1_000, |n| {
        black_box(model.nearest(word(n), 16));
    });
    println!("nearest, 16 of a word   {cost}");
    let cost = micros(100_000, |n| {
        black_box(model.rarity(word(n)));
    });
    println!("rarity                  {cost}");
    for word in WORDS {
        println!("{word} {:.1}: {:?}", model.rarity(word), model.nearest(word, 6));
    }
}
