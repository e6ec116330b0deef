//! The page of `spirit serve`, in a real browser: typed into, clicked, and waited for.
//!
//! The browser is installed below the build's folder, once. `ci/page/steps.mjs` has what is done.

mod common;
mod serving;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Folder;
use serde_json::json;
use serving::Server;

/// Returns the folder with the steps, the browser and what drives it.
fn steps() -> PathBuf {
    let wanted = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/page");
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    let mark = home.join("installed.json");
    let has = |path: &Path| std::fs::read(path).unwrap_or_default();
    std::fs::create_dir_all(&home).unwrap();
    for file in ["package.json", "steps.mjs", "fonts.conf"] {
        std::fs::copy(wanted.join(file), home.join(file)).unwrap();
    }
    if has(&mark) != has(&wanted.join("package.json")) {
        let mut install = Command::new("npm");
        install.args(["install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"]);
        assert!(install.current_dir(&home).status().unwrap().success(), "{install:?}");
        std::fs::copy(wanted.join("package.json"), mark).unwrap();
    }
    home
}

/// Twenty documents with whales, a half of them errors, and twenty others.
fn documents() -> String {
    let line = |n: usize| {
        let level = ["info", "error"][n / 2 % 2];
        let message = [format!("whale number {n}"), format!("heron number {n}")];
        let time = format!("2026-11-28T{:02}:{:02}:00Z", n / 4 + 3, n % 60);
        let document =
            json!({"@timestamp": time, "level": level, "message": message[n % 2], "n": n});
        format!("{{\"create\":{{\"_index\":\"logs\"}}}}\n{document}\n")
    };
    (0..40).map(line).collect()
}

#[test]
fn a_person_finds_what_arrives() {
    let (folder, home) = (Folder::new(), steps());
    let server = Server::start(&folder.path("all"), &[]);
    let ndjson = [("Content-Type", "application/x-ndjson")];
    assert_eq!(server.post("/_bulk", documents(), &ndjson).is(200)["errors"], false);
    let (pictures, unpacked) = (home.join("pictures"), home.join("browser"));
    std::fs::create_dir_all(&unpacked).unwrap();
    let run = Command::new("node")
        // Unpacks the browser here, and with it the libraries that a bare machine does not have.
        .env("TMPDIR", &unpacked)
        .env("AWS_LAMBDA_JS_RUNTIME", "nodejs22.x")
        // The list of folders that the browser brings has none of these, and it needs a font.
        .env("FONTCONFIG_FILE", home.join("fonts.conf"))
        .env("XDG_CACHE_HOME", home.join("cache"))
        .arg(home.join("steps.mjs"))
        .args([Path::new(&server.url("")), &pictures])
        .output();
    let run = run.unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    for picture in ["search", "live", "heap", "narrow", "dark"] {
        let picture = pictures.join(picture).with_extension("png");
        assert!(std::fs::metadata(&picture).unwrap().len() > 5_000, "{}", picture.display());
    }
}

#[test]
fn programs_and_browsers_get_their_own_answers() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &[]);
    let get = |path: &str, accept: &str| {
        server.raw(
            format!(
                "GET {path} HTTP/1.1\r\nHost: here\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
            )
            .as_bytes(),
        )
    };
    let page = get("/", "text/html,application/xhtml+xml,*/*;q=0.8");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<!doctype html>"), "{page}");
    assert!(page.contains("content-security-policy: default-src 'none'"), "{page}");
    for accept in ["*/*", "application/json"] {
        let identity = get("/", accept);
        assert!(identity.contains("\"tagline\":\"You Know, for Search\""), "{identity}");
    }
    for (file, kind) in [("main.js", "text/javascript"), ("style.css", "text/css")] {
        let answer = get(&format!("/_page/{file}"), "*/*");
        assert!(answer.contains(&format!("content-type: {kind}")), "{answer}");
    }
    for wrong in ["none.js", "..%2Findex.html", "%2e%2e"] {
        let answer = get(&format!("/_page/{wrong}"), "*/*");
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    }
}
