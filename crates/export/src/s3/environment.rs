//! What the environment and the files of the AWS tools say.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use url::Url;

/// Environment variables as the process was given them; an empty one is none.
#[derive(Clone, Default)]
pub(super) struct Environment {
    variables: HashMap<String, String>,
}

impl Environment {
    /// Those of this process that matter here.
    pub(super) fn of_process() -> Self {
        let wanted = |name: &str| name.starts_with("AWS_") || name == "HOME";
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok().filter(|name| wanted(name))?, value.into_string().ok()?))
        });
        Self { variables: variables.collect() }
    }

    #[cfg(test)]
    pub(super) fn of(variables: &[(&str, &str)]) -> Self {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        Self { variables: variables.iter().map(owned).collect() }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    pub(super) fn has_no_instance(&self) -> bool {
        self.is_true("AWS_EC2_METADATA_DISABLED")
    }

    /// The file that a variable names, else the one below ~/.aws.
    fn file(&self, variable: &str, name: &str) -> PathBuf {
        let home = self.get("HOME").unwrap_or("/root");
        match self.get(variable) {
            Some(path) => match path.strip_prefix("~/") {
                Some(rest) => Path::new(home).join(rest),
                None => path.into(),
            },
            None => Path::new(home).join(".aws").join(name),
        }
    }

    /// The region, and what said so.
    ///
    /// # Errors
    /// Where it can be none, or files can't be read.
    pub(super) fn region(&self) -> Result<Option<String>, String> {
        let named = ["AWS_REGION", "AWS_DEFAULT_REGION"];
        let set =
            named.iter().find_map(|name| Some((name.to_string(), self.get(name)?.to_owned())));
        let found = match set {
            Some(found) => Some(found),
            None => Profile::read(self)?
                .and_then(|profile| Some((profile.words(), profile.get("region")?.to_owned()))),
        };
        let Some((whose, region)) = found else { return Ok(None) };
        if !region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(format!(
                "{whose}: {region:?} is no region; expected one such as eu-west-1"
            ));
        }
        Ok(Some(region))
    }

    /// The address of a service that is not Amazon's own.
    ///
    /// # Errors
    /// Where it is no URL, or files can't be read.
    pub(super) fn endpoint(&self, service: &str) -> Result<Option<Url>, String> {
        if self.is_true("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") {
            return Ok(None);
        }
        let of_service = format!("AWS_ENDPOINT_URL_{service}");
        let named = [of_service.as_str(), "AWS_ENDPOINT_URL"];
        let set =
            named.iter().find_map(|name| Some((name.to_string(), self.get(name)?.to_owned())));
        let found = match set {
            Some(found) => Some(found),
            None => Profile::read(self)?.and_then(|profile| {
                Some((profile.words(), profile.get("endpoint_url")?.to_owned()))
            }),
        };
        found.map(|(whose, text)| parse_endpoint(&whose, &text)).transpose()
    }
}

fn parse_endpoint(whose: &str, text: &str) -> Result<Url, String> {
    // The text may have a password, and is not repeated.
    let expected = || format!("{whose}: expected http://HOST[:PORT] or https://…");
    let mut url: Url = text.parse().map_err(|_| expected())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(expected());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(format!(
            "{whose}: the URL contains credentials; use AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("{} without ? and #", expected()));
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// A profile of the files that the AWS tools share.
pub(super) struct Profile {
    name: String,
    /// AWS_PROFILE names it.
    pub(super) is_chosen: bool,
    values: BTreeMap<String, String>,
    files: [PathBuf; 2],
}

impl Profile {
    /// The one that is chosen; none where there is no default.
    ///
    /// # Errors
    /// Where AWS_PROFILE names one that is not there, or a file can't be read.
    pub(super) fn read(environment: &Environment) -> Result<Option<Self>, String> {
        let chosen = environment.get("AWS_PROFILE").or(environment.get("AWS_DEFAULT_PROFILE"));
        let name = chosen.unwrap_or("default").to_owned();
        let config = environment.file("AWS_CONFIG_FILE", "config");
        let credentials = environment.file("AWS_SHARED_CREDENTIALS_FILE", "credentials");
        let of_config = match name.as_str() {
            "default" => vec!["default".to_owned(), "profile default".to_owned()],
            other => vec![format!("profile {other}")],
        };
        // What is in both files, the latter has.
        let in_config = section(&read(&config)?, &of_config);
        let in_credentials = section(&read(&credentials)?, std::slice::from_ref(&name));
        let files = [credentials, config];
        if in_config.is_none() && in_credentials.is_none() {
            return match chosen {
                Some(_) => Err(format!(
                    "the profile {name:?} of AWS_PROFILE is neither in {} nor in {}",
                    files[0].display(),
                    files[1].display()
                )),
                None => Ok(None),
            };
        }
        let mut values = in_config.unwrap_or_default();
        values.extend(in_credentials.unwrap_or_default());
        Ok(Some(Self { name, is_chosen: chosen.is_some(), values, files }))
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Which it is, for people.
    pub(super) fn words(&self) -> String {
        let [credentials, config] = &self.files;
        format!("the profile {:?} in {} or {}", self.name, credentials.display(), config.display())
    }
}

fn read(file: &Path) -> Result<String, String> {
    match std::fs::read(file) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

/// The values of a section, which may have one of these names.
fn section(text: &str, names: &[String]) -> Option<BTreeMap<String, String>> {
    let mut found: Option<BTreeMap<String, String>> = None;
    let mut inside = false;
    for line in text.lines() {
        // Lines further in are parts of the value before, of which none is needed here.
        if line.starts_with([' ', '\t', '#', ';']) {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.split(']').next().unwrap_or_default();
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            inside = names.contains(&name);
            if inside {
                found.get_or_insert_default();
            }
        } else if let (true, Some((key, value))) = (inside, line.split_once('=')) {
            let end = [" #", " ;", "\t#", "\t;"].iter().filter_map(|mark| value.find(mark)).min();
            let value = value[..end.unwrap_or(value.len())].trim().to_owned();
            found.get_or_insert_default().insert(key.trim().to_ascii_lowercase(), value);
        }
    }
    found
}
