use super::*;
use crate::s3::fake::{Fake, TextFile};

const NOWHERE: &str = "/nonexistent/aws";

/// Nothing but what is given: no file of this host, and no instance.
fn environment<const N: usize>(more: [(&str, &str); N]) -> Environment {
    let usual = [
        ("AWS_SHARED_CREDENTIALS_FILE", NOWHERE),
        ("AWS_CONFIG_FILE", NOWHERE),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ];
    let all: Vec<_> = usual.into_iter().chain(more).collect();
    Environment::of(&all)
}

fn get(environment: Environment) -> Result<Credentials, String> {
    Chain::new(environment).get(&Http::new(None))
}

fn in_minutes(minutes: i64) -> String {
    (Timestamp::now() + SignedDuration::from_mins(minutes)).to_string()
}

fn document(key: &str, expires: &str) -> String {
    format!(
        r#"{{"Code":"Success","AccessKeyId":"{key}","SecretAccessKey":"hush","Token":"t","Expiration":"{expires}"}}"#
    )
}

#[test]
fn variables_come_first_and_both_are_needed() {
    let keys = [("AWS_ACCESS_KEY_ID", "K"), ("AWS_SECRET_ACCESS_KEY", "hush")];
    let found = get(environment(keys)).expect("credentials");
    assert_eq!((found.key.as_str(), found.secret.as_str(), found.token), ("K", "hush", None));
    assert!(!format!("{:?}", get(environment(keys))).contains("hush"));
    let one = get(environment([("AWS_SECRET_ACCESS_KEY", "hush")])).expect_err("a half");
    assert_eq!(one, "AWS_SECRET_ACCESS_KEY is set, and AWS_ACCESS_KEY_ID is not");
    let empty = [("AWS_ACCESS_KEY_ID", ""), ("AWS_SECRET_ACCESS_KEY", "")];
    let none = get(environment(empty)).expect_err("none");
    assert!(none.starts_with("no credentials") && none.contains("DISABLED"), "{none}");
}

#[test]
fn profiles_are_read_as_other_tools_read_them() {
    let credentials = TextFile::new(
        "[default]\naws_access_key_id = D # a remark\naws_secret_access_key=a/b+c=\n\n[other]\naws_access_key_id=O\naws_secret_access_key=o\naws_session_token=T\n",
    );
    let config = TextFile::new(
        "[default]\nregion = eu-west-1\ns3 =\n  region = nested\n\n[profile  sso]\nsso_session = x\n[profile bare]\nregion=x\n[profile other]\naws_secret_access_key = beaten\n",
    );
    let files = |profile| {
        environment([
            ("AWS_SHARED_CREDENTIALS_FILE", credentials.path()),
            ("AWS_CONFIG_FILE", config.path()),
            ("AWS_PROFILE", profile),
        ])
    };
    let default = get(files("")).expect("the default");
    assert_eq!((default.key.as_str(), default.secret.as_str()), ("D", "a/b+c="));
    assert_eq!(files("").region(), Ok(Some("eu-west-1".to_owned())));
    let other = get(files("other")).expect("the other");
    assert_eq!((other.secret.as_str(), other.token.as_deref()), ("o", Some("T")));
    for (profile, word) in
        [("sso", "sso_session is not supported"), ("bare", "expected aws_access"), ("x", "neither")]
    {
        let error = get(files(profile)).expect_err(profile);
        assert!(error.contains(word) && error.contains(credentials.path()), "{error}");
    }
}

#[test]
fn a_file_that_is_changed_is_read_again() {
    let file = TextFile::new("[default]\naws_access_key_id=A\naws_secret_access_key=a\n");
    let mut chain = Chain::new(environment([("AWS_SHARED_CREDENTIALS_FILE", file.path())]));
    let http = Http::new(None);
    assert_eq!(chain.get(&http).expect("before").key, "A");
    std::fs::write(&file.0, "[default]\naws_access_key_id=B\naws_secret_access_key=b\n")
        .expect("b");
    assert_eq!(chain.get(&http).expect("after").key, "B");
}

#[test]
fn a_container_is_asked_with_its_token_and_again_before_they_expire() {
    let token = TextFile::new("secret-token\n");
    let fake = Fake::new(|_| (200, document("C", &in_minutes(4))));
    let url = format!("{}/v1/credentials", fake.url);
    let variables = environment([
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &url),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.path()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "not this"),
    ]);
    let (mut chain, http) = (Chain::new(variables), Http::new(None));
    for _ in 0..2 {
        assert_eq!(chain.get(&http).expect("credentials").key, "C");
    }
    let asked = fake.asked();
    assert_eq!(asked.len(), 2, "four minutes are too few");
    assert_eq!(asked[0].line, "GET /v1/credentials HTTP/1.1");
    assert!(asked.iter().all(|one| one.has("authorization: secret-token")), "{asked:?}");
}

#[test]
fn what_lasts_is_not_asked_for_again_and_what_was_had_bridges_a_failure() {
    let fake = Fake::new(|_| (200, document("C", &in_minutes(60))));
    let variables = environment([("AWS_CONTAINER_CREDENTIALS_FULL_URI", &fake.url)]);
    let (mut chain, http) = (Chain::new(variables), Http::new(None));
    for _ in 0..3 {
        chain.get(&http).expect("credentials");
    }
    assert_eq!(fake.asked().len(), 1);
    assert!(chain.forget());
    chain.get(&http).expect("credentials");
    assert_eq!(fake.asked().len(), 2);
    let times = std::sync::atomic::AtomicU32::new(0);
    let fails =
        Fake::new(move |_| match times.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => (200, document("C", &in_minutes(2))),
            _ => (500, "hush".to_owned()),
        });
    let variables = environment([("AWS_CONTAINER_CREDENTIALS_FULL_URI", &fails.url)]);
    let mut chain = Chain::new(variables);
    chain.get(&http).expect("the first");
    assert_eq!(chain.get(&http).expect("the first again").key, "C");
    assert_eq!(fails.asked().len(), 2);
    chain.forget();
    let error = chain.get(&http).expect_err("none left");
    assert!(error.contains("answers 500") && !error.contains("hush"), "{error}");
}

#[test]
fn an_instance_gives_its_roles_credentials_for_a_token() {
    let expires = in_minutes(360);
    let fake = Fake::new(move |asked| match asked.line.as_str() {
        "PUT /latest/api/token HTTP/1.1" => (200, "imds-token".to_owned()),
        _ if !asked.has("x-aws-ec2-metadata-token: imds-token") => (401, String::new()),
        "GET /latest/meta-data/iam/security-credentials/ HTTP/1.1" => (200, "fleet\n".to_owned()),
        "GET /latest/meta-data/iam/security-credentials/fleet HTTP/1.1" => {
            (200, document("I", &expires))
        }
        "GET /latest/meta-data/placement/region HTTP/1.1" => (200, "eu-north-1".to_owned()),
        _ => (404, String::new()),
    });
    let variables = environment([
        ("AWS_EC2_METADATA_DISABLED", "false"),
        ("AWS_EC2_METADATA_SERVICE_ENDPOINT", &fake.url),
    ]);
    let http = Http::new(None);
    assert_eq!(region_of_instance(&variables, &http), Ok("eu-north-1".to_owned()));
    let found = Chain::new(variables).get(&http).expect("credentials");
    assert_eq!((found.key.as_str(), found.source.as_str()), ("I", "the instance's role \"fleet\""));
}

#[test]
fn a_token_of_an_identity_becomes_a_role() {
    let token = TextFile::new("web token\n");
    let (given, expires) = (token.path().to_owned(), in_minutes(60));
    let fake = Fake::new(move |asked| {
        match asked.body.contains("WebIdentityToken=web+token") {
        true => (200, format!("<R><Credentials><AccessKeyId>W</AccessKeyId><SecretAccessKey>w</SecretAccessKey><SessionToken>T=</SessionToken><Expiration>{expires}</Expiration></Credentials></R>")),
        false => (403, "<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>no, another</Message></Error></ErrorResponse>".to_owned()),
    }
    });
    let of = |file: &str| {
        environment([
            ("AWS_WEB_IDENTITY_TOKEN_FILE", file),
            ("AWS_ROLE_ARN", "arn:aws:iam::1:role/fleet"),
            ("AWS_ENDPOINT_URL_STS", &fake.url),
        ])
    };
    let found = get(of(&given)).expect("credentials");
    assert_eq!((found.key.as_str(), found.token.as_deref()), ("W", Some("T=")));
    assert!(found.expires.is_some());
    let form = &fake.asked()[0].body;
    assert!(form.contains("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Ffleet"), "{form}");
    let other = TextFile::new("another");
    let error = get(of(other.path())).expect_err("refused");
    assert!(
        error.contains("403 InvalidIdentityToken: no, …") && error.contains("role/fleet"),
        "{error}"
    );
    assert!(!error.contains("another"), "{error}");
    let missing = get(of("/nonexistent/token")).expect_err("no file");
    assert!(missing.starts_with("/nonexistent/token: "), "{missing}");
}
