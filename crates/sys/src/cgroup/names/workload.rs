//! What a pod is a replica of, by the names that Kubernetes' controllers give: the API server knows better, and may not be asked from a
//! host.

/// A workload by its kind and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// As Kubernetes calls it, in lower case: `deployment`, `statefulset`, `cronjob`; `controller` of a daemonset, a job or a bare
    /// replicaset, which name their pods alike; `pod` of one that no controller made.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
}

/// Letters and digits of random names (k8s.io/apimachinery/pkg/util/rand): no vowels, and none that look alike.
const RANDOM: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// Characters of a pod's random part.
const POD_PART: usize = 5;
/// Characters of the hash of a replicaset's template: a number of 32 bits, encoded.
const HASH_PART: std::ops::RangeInclusive<usize> = 6..=10;
/// Digits of a cronjob's time in minutes since 1970, and in seconds before Kubernetes 1.21.
const TIME_PART: std::ops::RangeInclusive<usize> = 8..=10;

/// What the pod of this name is a replica of.
pub fn workload_of_pod(pod: &str) -> Workload {
    let of = |kind, name: &str| Workload { kind, name: name.to_owned() };
    let Some((rest, last)) = pod.rsplit_once('-').filter(|(rest, _)| !rest.is_empty()) else {
        return of("pod", pod);
    };
    if is_number(last) && last.len() < *TIME_PART.start() {
        return of("statefulset", rest);
    }
    if last.len() != POD_PART || !is_random(last) {
        return of("pod", pod);
    }
    match rest.rsplit_once('-').filter(|(name, _)| !name.is_empty()) {
        Some((name, time)) if is_number(time) && TIME_PART.contains(&time.len()) => {
            of("cronjob", name)
        }
        Some((name, hash)) if HASH_PART.contains(&hash.len()) && is_random(hash) => {
            of("deployment", name)
        }
        _ => of("controller", rest),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_random(text: &str) -> bool {
    text.bytes().all(|byte| RANDOM.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controllers_are_known_by_how_they_name_pods() {
        for (pod, kind, name) in [
            ("web-7d4b9c6f5d-x2x4z", "deployment", "web"),
            ("my-app-api-5f8c8d7b9c-lm4rk", "deployment", "my-app-api"),
            ("postgres-0", "statefulset", "postgres"),
            ("redis-cluster-12", "statefulset", "redis-cluster"),
            ("backup-28933320-q7xkz", "cronjob", "backup"),
            ("backup-1604325600-q7xkz", "cronjob", "backup"),
            ("kube-proxy-w9d2k", "controller", "kube-proxy"),
            ("kube-apiserver-node1", "pod", "kube-apiserver-node1"),
            ("debug", "pod", "debug"),
            ("-0", "pod", "-0"),
            ("", "pod", ""),
        ] {
            assert_eq!(workload_of_pod(pod), Workload { kind, name: name.to_owned() }, "{pod}");
        }
    }
}
