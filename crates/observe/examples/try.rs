//! Times loading.
fn main() {
    let t = std::time::Instant::now();
    let s = hotset_observe::Session::start(hotset_observe::Options::new(
        hotset_observe::Scope::Children,
    ));
    let took = t.elapsed();
    std::fs::write("/tmp/words", hotset_observe::loader_words()).unwrap();
    println!("start {took:?} {}", s.is_ok());
}
