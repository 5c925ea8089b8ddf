//! Names of error numbers, and numbers of names.

/// By number, as Linux has them on x86-64 (asm-generic/errno-base.h and errno.h); empty where a number has no name.
const NAMES: [&str; 134] = [
    "",
    "EPERM",
    "ENOENT",
    "ESRCH",
    "EINTR",
    "EIO",
    "ENXIO",
    "E2BIG",
    "ENOEXEC",
    "EBADF",
    "ECHILD",
    "EAGAIN",
    "ENOMEM",
    "EACCES",
    "EFAULT",
    "ENOTBLK",
    "EBUSY",
    "EEXIST",
    "EXDEV",
    "ENODEV",
    "ENOTDIR",
    "EISDIR",
    "EINVAL",
    "ENFILE",
    "EMFILE",
    "ENOTTY",
    "ETXTBSY",
    "EFBIG",
    "ENOSPC",
    "ESPIPE",
    "EROFS",
    "EMLINK",
    "EPIPE",
    "EDOM",
    "ERANGE",
    "EDEADLK",
    "ENAMETOOLONG",
    "ENOLCK",
    "ENOSYS",
    "ENOTEMPTY",
    "ELOOP",
    "",
    "ENOMSG",
    "EIDRM",
    "ECHRNG",
    "EL2NSYNC",
    "EL3HLT",
    "EL3RST",
    "ELNRNG",
    "EUNATCH",
    "ENOCSI",
    "EL2HLT",
    "EBADE",
    "EBADR",
    "EXFULL",
    "ENOANO",
    "EBADRQC",
    "EBADSLT",
    "",
    "EBFONT",
    "ENOSTR",
    "ENODATA",
    "ETIME",
    "ENOSR",
    "ENONET",
    "ENOPKG",
    "EREMOTE",
    "ENOLINK",
    "EADV",
    "ESRMNT",
    "ECOMM",
    "EPROTO",
    "EMULTIHOP",
    "EDOTDOT",
    "EBADMSG",
    "EOVERFLOW",
    "ENOTUNIQ",
    "EBADFD",
    "EREMCHG",
    "ELIBACC",
    "ELIBBAD",
    "ELIBSCN",
    "ELIBMAX",
    "ELIBEXEC",
    "EILSEQ",
    "ERESTART",
    "ESTRPIPE",
    "EUSERS",
    "ENOTSOCK",
    "EDESTADDRREQ",
    "EMSGSIZE",
    "EPROTOTYPE",
    "ENOPROTOOPT",
    "EPROTONOSUPPORT",
    "ESOCKTNOSUPPORT",
    "EOPNOTSUPP",
    "EPFNOSUPPORT",
    "EAFNOSUPPORT",
    "EADDRINUSE",
    "EADDRNOTAVAIL",
    "ENETDOWN",
    "ENETUNREACH",
    "ENETRESET",
    "ECONNABORTED",
    "ECONNRESET",
    "ENOBUFS",
    "EISCONN",
    "ENOTCONN",
    "ESHUTDOWN",
    "ETOOMANYREFS",
    "ETIMEDOUT",
    "ECONNREFUSED",
    "EHOSTDOWN",
    "EHOSTUNREACH",
    "EALREADY",
    "EINPROGRESS",
    "ESTALE",
    "EUCLEAN",
    "ENOTNAM",
    "ENAVAIL",
    "EISNAM",
    "EREMOTEIO",
    "EDQUOT",
    "ENOMEDIUM",
    "EMEDIUMTYPE",
    "ECANCELED",
    "ENOKEY",
    "EKEYEXPIRED",
    "EKEYREVOKED",
    "EKEYREJECTED",
    "EOWNERDEAD",
    "ENOTRECOVERABLE",
    "ERFKILL",
    "EHWPOISON",
];

/// Numbers that never reach a program: the kernel makes the call again, or ends it later (linux/errno.h). A tracepoint sees them.
const KERNEL: [(usize, &str); 5] = [
    (512, "ERESTARTSYS"),
    (513, "ERESTARTNOINTR"),
    (514, "ERESTARTNOHAND"),
    (516, "ERESTART_RESTARTBLOCK"),
    (529, "EIOCBQUEUED"),
];

/// All names, each by its code.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().chain(KERNEL.into_iter().map(|(_, name)| name))
}

/// The code of the error that a result below 0 stands for: its place among [`names`]. Nothing for results that are no error,
/// and for numbers without a name.
pub(crate) fn code(result: i64) -> Option<u32> {
    let number = usize::try_from(result.checked_neg()?).ok()?;
    let place = match NAMES.get(number) {
        Some(name) => (!name.is_empty()).then_some(number)?,
        None => NAMES.len() + KERNEL.iter().position(|(known, _)| *known == number)?,
    };
    u32::try_from(place).ok()
}

/// The name of the error that a result below 0 stands for. Nothing for results that are no error, and for numbers without a name.
pub(crate) fn name(result: i64) -> Option<&'static str> {
    names().nth(usize::try_from(code(result)?).ok()?)
}

/// The result, below 0, that stands for an error by its name. Nothing for words that name none.
pub(crate) fn result(name: &str) -> Option<i64> {
    let name = match name {
        "EWOULDBLOCK" => "EAGAIN",
        "EDEADLOCK" => "EDEADLK",
        "ENOTSUP" => "EOPNOTSUPP",
        "" => return None,
        other => other,
    };
    let kernel = || KERNEL.iter().find(|(_, known)| *known == name).map(|(number, _)| *number);
    let number = NAMES.iter().position(|known| *known == name).or_else(kernel)?;
    i64::try_from(number).ok()?.checked_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_names_of_the_manual() {
        for (result, wanted) in [
            (-1, "EPERM"),
            (-2, "ENOENT"),
            (-11, "EAGAIN"),
            (-35, "EDEADLK"),
            (-95, "EOPNOTSUPP"),
            (-133, "EHWPOISON"),
            (-512, "ERESTARTSYS"),
            (-529, "EIOCBQUEUED"),
        ] {
            assert_eq!(name(result), Some(wanted));
            assert_eq!(super::result(wanted), Some(result));
        }
        for none in [0, 1, i64::MAX, -41, -58, -134, -530, i64::MIN] {
            assert_eq!(name(none), None, "{none}");
        }
    }

    #[test]
    fn a_name_stands_for_one_number() {
        for name in names().filter(|name| !name.is_empty()) {
            assert_eq!(result(name).and_then(super::name), Some(name));
        }
        assert_eq!((result("EWOULDBLOCK"), result("ENOTSUP")), (Some(-11), Some(-95)));
        assert_eq!((result(""), result("EIDK")), (None, None));
    }
}
