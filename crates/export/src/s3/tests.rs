use super::fake::{Fake, TextFile};
use super::*;

const KEYS: [(&str, &str); 2] =
    [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "hush-hush")];

fn store(more: &[(&str, &str)]) -> Result<BucketStore, String> {
    let none =
        [("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent"), ("AWS_CONFIG_FILE", "/nonexistent")];
    let all: Vec<_> = none.into_iter().chain(KEYS).chain(more.iter().copied()).collect();
    let url = "s3://fleet/a".parse().expect("a URL");
    BucketStore::in_environment(&url, Environment::of(&all))
}

fn base(store: &mut BucketStore) -> String {
    store.bucket().expect("a bucket").base_url().to_string()
}

#[test]
fn a_bucket_is_where_the_environment_says() {
    let of = |more: &[_]| base(&mut store(more).expect("a store"));
    assert_eq!(of(&[("AWS_REGION", "eu-west-1")]), "https://fleet.s3.eu-west-1.amazonaws.com/");
    let both = [("AWS_DEFAULT_REGION", "eu-west-1"), ("AWS_REGION", "cn-north-1")];
    assert_eq!(of(&both), "https://fleet.s3.cn-north-1.amazonaws.com.cn/");
    assert_eq!(of(&[("AWS_ENDPOINT_URL", "http://minio:9000")]), "http://minio:9000/fleet/");
    let both = [("AWS_ENDPOINT_URL", "http://a"), ("AWS_ENDPOINT_URL_S3", "http://b/gate")];
    assert_eq!(of(&both), "http://b/gate/fleet/");
    let mut dotted = store(&[("AWS_REGION", "eu-west-1")]).expect("a store");
    dotted.url.bucket = "fleet.example.org".to_owned();
    assert_eq!(base(&mut dotted), "https://s3.eu-west-1.amazonaws.com/fleet.example.org/");
}

#[test]
fn what_the_environment_can_not_mean_is_refused() {
    for (name, value, word) in [
        ("AWS_ENDPOINT_URL", "minio:9000", "AWS_ENDPOINT_URL: expected http://HOST[:PORT]"),
        ("AWS_ENDPOINT_URL_S3", "http://u:pass@h", "contains credentials"),
        ("AWS_ENDPOINT_URL", "http://h/?x=1", "without ? and #"),
        ("AWS_REGION", "eu west", "\"eu west\" is no region"),
        ("AWS_CA_BUNDLE", "/nonexistent/ca.pem", "/nonexistent/ca.pem"),
        ("AWS_PROFILE", "staging", "\"staging\""),
    ] {
        let error = store(&[(name, value)]).err().expect(name);
        assert!(error.contains(word) && !error.contains("pass@"), "{error}");
    }
    let text = TextFile::new("no certificate");
    let error = store(&[("AWS_CA_BUNDLE", text.path()), ("AWS_REGION", "eu-west-1")]).err();
    assert!(error.expect("an error").contains("no certificate is in it"));
}

#[test]
fn a_put_is_signed_and_has_a_sum() {
    let fake = Fake::new(|_| (200, String::new()));
    let mut store =
        store(&[("AWS_ENDPOINT_URL", &fake.url), ("AWS_SESSION_TOKEN", "t")]).expect("s");
    let file = TextFile::new("hello");
    store.put("host/v=1/x.parquet", &file.0).expect("put");
    let asked = &fake.asked()[0];
    let (path, query) = asked.line.split_once('?').expect("a query");
    assert_eq!(path, "PUT /fleet/a/host/v%3D1/x.parquet");
    for part in ["X-Amz-Credential=AKID%2F", "X-Amz-Security-Token=t", "X-Amz-Signature="] {
        assert!(query.contains(part), "{query}");
    }
    assert!(asked.has("content-md5: XUFAKrxLKna5cZ2REBfFkg=="), "{asked:?}");
    assert_eq!(asked.body, "hello");
    let gone = store.put("host/x", Path::new("/nonexistent/file")).expect_err("no file");
    assert_eq!(gone.kind(), io::ErrorKind::NotFound, "whoever delivers knows that it was dropped");
}

#[test]
fn a_bucket_that_may_not_be_listed_can_still_take_files() {
    for (status, code, reached) in [
        (200, "", true),
        (403, "AccessDenied", true),
        (403, "SignatureDoesNotMatch", false),
        (404, "NoSuchBucket", false),
        (503, "SlowDown", false),
    ] {
        let fake = Fake::new(move |_| (status, format!("<Error><Code>{code}</Code></Error>")));
        let mut store = store(&[("AWS_ENDPOINT_URL", &fake.url)]).expect("a store");
        let probed = store.probe();
        assert_eq!(probed.is_ok(), reached, "{probed:?}");
        if let Err(error) = probed {
            let error = error.to_string();
            assert!(error.contains(code) && !error.contains("hush"), "{error}");
        }
        assert!(fake.asked()[0].line.starts_with("GET /fleet/?"), "{:?}", fake.asked());
    }
}

#[test]
fn credentials_that_are_refused_are_renewed_once_an_attempt() {
    let given = Fake::new(|_| {
        let (keys, expires) =
            (r#""AccessKeyId":"C","SecretAccessKey":"c","Token":"t""#, "2999-01-01T00:00:00Z");
        (200, format!(r#"{{{keys},"Expiration":"{expires}"}}"#))
    });
    let server = Fake::new(|_| (400, "<Error><Code>ExpiredToken</Code></Error>".to_owned()));
    let mut store = store(&[
        ("AWS_ACCESS_KEY_ID", ""),
        ("AWS_SECRET_ACCESS_KEY", ""),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &given.url),
        ("AWS_ENDPOINT_URL", &server.url),
    ])
    .expect("a store");
    let file = TextFile::new("hello");
    let error = store.put("host/x", &file.0).expect_err("refused").to_string();
    assert!(error.contains("have expired (ExpiredToken)"), "{error}");
    assert_eq!((given.asked().len(), server.asked().len()), (2, 2));
}

#[test]
fn a_server_that_is_not_there_is_told_without_what_was_signed() {
    let mut store = store(&[("AWS_ENDPOINT_URL", "http://127.0.0.1:1")]).expect("a store");
    let file = TextFile::new("hello");
    for failed in [store.probe(), store.put("host/x", &file.0)] {
        let error = failed.expect_err("nobody listens").to_string();
        assert!(error.starts_with("127.0.0.1:1: ") && error.contains("refused"), "{error}");
        assert!(!error.contains("Signature"), "{error}");
    }
}
