//! Serves the gate that tests put before a device: `gate IMAGE`, started by `hotset_tests::gate` and by nobody else.

fn main() -> std::io::Result<()> {
    let image = std::env::args_os().nth(1).expect("an image file");
    hotset_tests::gate::serve(image.as_ref())
}
