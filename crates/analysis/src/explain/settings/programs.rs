//! Settings of programs. Each is a fact of the program's manual, and was seen to do what it says with the version that is named first.

use super::Setting;

/// A setting of a program.
pub(super) struct Row {
    /// The rule whose findings it answers.
    pub(super) rule: &'static str,
    /// Names of the program.
    pub(super) programs: &'static [&'static str],
    /// Parts of the paths that it is about; none where it is about all files.
    pub(super) paths: &'static [&'static str],
    how: &'static str,
    risks: &'static str,
    file: &'static str,
    place: &'static str,
    run: Option<&'static str>,
    comment: &'static str,
    text: &'static str,
}

impl Row {
    pub(super) fn setting(&self, program: &str) -> Setting {
        Setting {
            of: program.to_owned(),
            how: self.how.to_owned(),
            risks: self.risks.to_owned(),
            file: self.file.to_owned(),
            place: self.place.to_owned(),
            run: self.run.map(str::to_owned),
            comment: self.comment.to_owned(),
            text: self.text.to_owned(),
        }
    }
}

/// Where MySQL and MariaDB read settings from, and how they take these.
macro_rules! mysql_place {
    ($then:literal) => {
        concat!(
            "Copy it to /etc/mysql/conf.d/ (Debian) or /etc/my.cnf.d/ (Fedora): the server reads it when it starts.",
            $then
        )
    };
}

/// All of them.
pub(super) const ROWS: &[Row] = &[
    // sqlite3 3.40: 1,204 syncs of 300 inserts become 8; by WAL alone 309, and by NORMAL alone 903. WAL exists since 3.7.0, `.once`
    // since 3.8.5. It is for the program of that name only: the library reads no such file.
    Row {
        rule: "fsync-per-write",
        programs: &["sqlite3"],
        paths: &[],
        how: "Set journal_mode=WAL and synchronous=NORMAL: it then syncs when the log is copied into the database, and not at each commit.",
        risks: "A crash of the system loses the last commits; the database stays consistent. WAL stays set in the database file, and \
                does not work on network file systems.",
        file: "sqliterc",
        place: "The first line keeps the answer of the pragma out of the output. Of a database that is read-only, sqlite3 prints an \
                error first. For all commands of a user, append it to ~/.sqliterc. For one command, run:",
        run: Some("sqlite3 -init sqliterc DATABASE"),
        comment: "--",
        text: ".once /dev/null\nPRAGMA journal_mode=WAL;\nPRAGMA synchronous=NORMAL;\n",
    },
    // PostgreSQL 15: 552 syncs of 500 inserts become 49. The setting exists since 8.3, include_dir since 9.3.
    Row {
        rule: "fsync-per-write",
        programs: &["postgres"],
        paths: &["/pg_wal/", "/pg_xlog/"],
        how: "Set synchronous_commit = off: a commit then does not wait for the sync of the log.",
        risks: "A crash of the server or the system loses commits of up to three times wal_writer_delay (0.6 s by default); the database \
                stays consistent.",
        file: "hotset-commit.conf",
        place: "Copy it to the directory that include_dir in postgresql.conf names (Debian: /etc/postgresql/VERSION/main/conf.d/), and \
                run:",
        run: Some("psql -c 'SELECT pg_reload_conf()'"),
        comment: "#",
        text: "synchronous_commit = off\n",
    },
    // MariaDB 10.11: 562 syncs of 500 inserts become 67. MySQL has it, too; there the binary log is synced at each commit since 5.7.7.
    Row {
        rule: "fsync-per-write",
        programs: &["mariadbd", "mysqld"],
        paths: &["/ib_logfile", "/#ib_redo"],
        how: "Set innodb_flush_log_at_trx_commit = 2: the log is then written at each commit, and synced about once per second.",
        risks: "A crash of the system loses the commits since the last sync; a crash of the server loses none. Replicas may have what \
                the server lost. Syncs of the binary log stay (sync_binlog).",
        file: "hotset-log-flush.cnf",
        place: mysql_place!(" In a running server, run in SQL:"),
        run: Some("SET GLOBAL innodb_flush_log_at_trx_commit = 2;"),
        comment: "#",
        text: "[mysqld]\ninnodb_flush_log_at_trx_commit = 2\n",
    },
    // Redis 7.0: 1,004 syncs of 1,000 writes become 5. Valkey began as Redis 7.2, and has the same file.
    Row {
        rule: "fsync-per-write",
        programs: &["redis-server", "valkey-server"],
        paths: &[".aof"],
        how: "Set appendfsync everysec, which is its default: the append-only file is then synced once per second.",
        risks: "A crash of the system loses the writes of about the last second.",
        file: "hotset-appendfsync.conf",
        place: "Name it at the end of redis.conf or valkey.conf (include /PATH/hotset-appendfsync.conf): the server reads it when it \
                starts. In a running server, set it by:",
        run: Some("redis-cli CONFIG SET appendfsync everysec"),
        comment: "#",
        text: "appendfsync everysec\n",
    },
    // Git 2.39: 300 fsyncs of 300 added files become 1, and 300 calls of sync_file_range, which flush no device. Since 2.36. Loose
    // objects are synced only where core.fsync or core.fsyncObjectFiles asks for it.
    Row {
        rule: "fsync-per-write",
        programs: &["git"],
        paths: &["/tmp_obj_"],
        how: "Set core.fsyncMethod=batch (Git 2.36): one fsync per command then covers all loose objects that it adds.",
        risks: "Git's manual calls this as safe as fsync on macOS and Windows only: after a crash of the system, run git fsck.",
        file: "hotset.gitconfig",
        place: "For all repositories of a user, run:",
        run: Some("git config --global --add include.path /PATH/hotset.gitconfig"),
        comment: "#",
        text: "[core]\n\tfsyncMethod = batch\n",
    },
    // dpkg 1.21: 329 fsyncs of 300 unpacked files become 29. Since 1.15.8.6.
    Row {
        rule: "fsync-per-write",
        programs: &["dpkg"],
        paths: &[".dpkg-new"],
        how: "Set force-unsafe-io: dpkg then does not sync each file that it unpacks.",
        risks: "A crash of the system while packages are unpacked can leave empty files. Use it where the system can be built anew, as \
                in a container image.",
        file: "hotset-unsafe-io",
        place: "Copy it to /etc/dpkg/dpkg.cfg.d/. Its name must not have a dot there: dpkg ignores such files.",
        run: None,
        comment: "#",
        text: "force-unsafe-io\n",
    },
    // MariaDB 10.11 then opens its files without O_DIRECT, the default since MariaDB 10.6 and MySQL 8.4. MariaDB 11.0 deprecates
    // the setting, and still takes it.
    Row {
        rule: "direct-reread",
        programs: &["mariadbd", "mysqld"],
        paths: &[".ibd", "/ibdata"],
        how: "Set innodb_flush_method = fsync: InnoDB's files are then read through the page cache.",
        risks: "Pages can be in memory twice, in InnoDB's buffer pool and in the page cache. If memory is free, raise \
                innodb_buffer_pool_size instead.",
        file: "hotset-flush-method.cnf",
        place: mysql_place!(""),
        run: None,
        comment: "#",
        text: "[mysqld]\ninnodb_flush_method = fsync\n",
    },
];
