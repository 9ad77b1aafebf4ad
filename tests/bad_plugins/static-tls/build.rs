//! Compiles the C part: stable Rust has no way to ask for a TLS model.

fn main() {
    println!("cargo::rerun-if-changed=src/block.c");
    cc::Build::new()
        .file("src/block.c")
        .flag("-ftls-model=initial-exec")
        .link_lib_modifier("+whole-archive")
        .compile("block");
}
