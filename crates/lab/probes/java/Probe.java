import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A probe of hotset for Java: one job, one line of JSON. docs/probes.md has the contract. */
public final class Probe {
    /** Of a file that is not timed. */
    private static final int WARM_UPS = 3;

    private static final List<String> SUPPORTS =
            List.of(
                    "read:binary", "read:text", "read:legacy", "write", "load:class",
                    "readall:binary", "readall:text", "readall:legacy", "exists", "library");

    private final Map<String, String> words = new HashMap<>();
    private final Map<String, Object> answer = new HashMap<>();
    private final List<Long> times = new ArrayList<>();

    /** Something to be timed. */
    private interface Work {
        void run() throws IOException, ReflectiveOperationException;
    }

    private Probe(List<String> arguments) {
        for (String argument : arguments) {
            String[] parts = argument.split("=", 2);
            words.put(parts[0], parts.length > 1 ? parts[1] : "");
        }
    }

    private String need(String key) {
        String value = words.get(key);
        if (value == null) {
            throw new IllegalArgumentException(key + "= is missing");
        }
        return value;
    }

    private int number(String key) {
        return Integer.parseUnsignedInt(need(key));
    }

    private void timed(Work work) throws IOException, ReflectiveOperationException {
        long started = System.nanoTime();
        work.run();
        times.add(System.nanoTime() - started);
    }

    private List<String> names() {
        return IntStream.range(0, number("count"))
                .mapToObj(place -> String.format("%s%03d", need("prefix"), place))
                .collect(Collectors.toList());
    }

    private List<Path> paths() {
        return names().stream()
                .map(name -> Path.of(need("dir"), name + need("suffix")))
                .collect(Collectors.toList());
    }

    /** The paths at which each name is looked for, in order: in before/d000 and so on, and at last in dir. */
    private List<List<Path>> searches() {
        int before = words.containsKey("directories") ? number("directories") : 0;
        List<String> places =
                IntStream.range(0, before)
                        .mapToObj(place -> String.format("%s/d%03d", need("before"), place))
                        .collect(Collectors.toList());
        places.add(need("dir"));
        return names().stream()
                .map(name -> name + need("suffix"))
                .map(name -> places.stream().map(place -> Path.of(place, name)).collect(Collectors.toList()))
                .collect(Collectors.toList());
    }

    /** The length of what was read, so that nothing is optimised away. */
    private static long readWhole(Path path, String how) throws IOException {
        switch (how) {
            case "binary":
                return Files.readAllBytes(path).length;
            case "text":
                return Files.readString(path, StandardCharsets.UTF_8).length();
            case "legacy":
                return Files.readString(path, Charset.forName("windows-31j")).length();
            default:
                throw new IllegalArgumentException("how=" + how + " is not one of binary, text, legacy");
        }
    }

    private void done(long bytes, long operations, String calls) {
        answer.put("bytes", bytes);
        answer.put("operations", operations);
        answer.put("calls", calls);
    }

    private void about() {
        String program = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String supports =
                SUPPORTS.stream().map(Probe::quoted).collect(Collectors.joining(",", "[", "]"));
        answer.put("more", ",\"executable\":" + quoted(program) + ",\"supports\":" + supports);
        done(0, 0, "");
    }

    private void read() throws IOException, ReflectiveOperationException {
        Path path = Path.of(need("file"));
        String how = words.getOrDefault("how", "binary");
        int count = number("count");
        if (words.containsKey("prime")) {
            // Another file, so that the first timed part has none of the program's own first times.
            for (int turn = 0; turn < WARM_UPS; turn++) {
                readWhole(Path.of(need("prime")), how);
            }
        }
        for (int turn = 0; turn < count; turn++) {
            timed(() -> readWhole(path, how));
        }
        done(Files.size(path) * count, count, "\"open\":" + count);
    }

    private void readall() throws IOException, ReflectiveOperationException {
        List<Path> paths = paths();
        String how = words.getOrDefault("how", "binary");
        timed(
                () -> {
                    for (Path path : paths) {
                        readWhole(path, how);
                    }
                });
        long bytes = 0;
        for (Path path : paths) {
            bytes += Files.size(path);
        }
        done(bytes, paths.size(), "\"open\":" + paths.size());
    }

    private void exists() throws IOException, ReflectiveOperationException {
        List<List<Path>> searches = searches();
        int rounds = number("times");
        long[] found = {0};
        long[] asked = {0};
        timed(
                () -> {
                    for (int round = 0; round < rounds; round++) {
                        for (List<Path> paths : searches) {
                            int missed = misses(paths);
                            found[0] += missed < paths.size() ? 1 : 0;
                            asked[0] += missed < paths.size() ? missed + 1 : missed;
                        }
                    }
                });
        answer.put("more", ",\"notes\":{\"found\":" + found[0] + "}");
        done(0, (long) searches.size() * rounds, "\"exists\":" + asked[0]);
    }

    /** How many of the paths don't exist, before the first one that does. */
    private static int misses(List<Path> paths) {
        int missed = 0;
        while (missed < paths.size() && !Files.exists(paths.get(missed))) {
            missed++;
        }
        return missed;
    }

    /** Classes are found along the class path, which whoever starts this sets. */
    private void load() throws IOException, ReflectiveOperationException {
        if (!need("how").equals("class")) {
            throw new IllegalArgumentException("how=" + need("how") + " is not class");
        }
        List<String> names = names();
        timed(
                () -> {
                    for (String name : names) {
                        Class.forName(name);
                    }
                });
        done(0, names.size(), "");
    }

    private void library() throws IOException, ReflectiveOperationException {
        String name = need("name");
        timed(
                () -> {
                    if (!name.isEmpty()) {
                        Class.forName(name);
                    }
                });
        done(0, 1, "");
    }

    private void write() throws IOException, ReflectiveOperationException {
        int total = number("total");
        int buffer = number("buffer");
        byte[] data = new byte[number("piece")];
        Arrays.fill(data, (byte) 'x');
        if (data.length == 0) {
            throw new IllegalArgumentException("piece=0 would write nothing");
        }
        long before = writeCalls();
        timed(
                () -> {
                    FileOutputStream file = new FileOutputStream(need("file"));
                    try (OutputStream out = buffer > 0 ? new BufferedOutputStream(file, buffer) : file) {
                        for (int left = total; left > 0; left -= data.length) {
                            out.write(data, 0, Math.min(left, data.length));
                        }
                        out.flush();
                        if (words.getOrDefault("sync", "none").equals("fsync")) {
                            file.getFD().sync();
                        }
                    }
                });
        if (before >= 0) {
            answer.put("more", ",\"write_calls\":" + (writeCalls() - before));
        }
        done(total, total / data.length + (total % data.length > 0 ? 1 : 0), "\"open\":1");
    }

    /** Write calls of this process so far, as the kernel counted them; -1 where it doesn't tell. */
    private static long writeCalls() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/io"))) {
                if (line.startsWith("syscw: ")) {
                    return Long.parseLong(line.substring("syscw: ".length()));
                }
            }
        } catch (IOException error) {
            return -1;
        }
        return -1;
    }

    private void run(String job) throws IOException, ReflectiveOperationException {
        Map<String, Work> jobs = new HashMap<>();
        jobs.put("about", this::about);
        jobs.put("read", this::read);
        jobs.put("readall", this::readall);
        jobs.put("exists", this::exists);
        jobs.put("load", this::load);
        jobs.put("library", this::library);
        jobs.put("write", this::write);
        if (!jobs.containsKey(job)) {
            throw new IllegalArgumentException("there is no job " + job);
        }
        jobs.get(job).run();
        System.out.printf(
                "{\"probe\":\"java\",\"version\":%s,\"job\":%s,\"bytes\":%d,\"calls\":{%s},\"operations\":%d,"
                        + "\"repetitions_ns\":%s%s}%n",
                quoted(System.getProperty("java.version")),
                quoted(job),
                answer.get("bytes"),
                answer.get("calls"),
                answer.get("operations"),
                times,
                answer.getOrDefault("more", ""));
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    public static void main(String[] arguments) {
        try {
            List<String> words = Arrays.asList(arguments);
            if (words.isEmpty()) {
                throw new IllegalArgumentException("there is no job");
            }
            new Probe(words.subList(1, words.size())).run(words.get(0));
        } catch (IOException | ReflectiveOperationException | LinkageError | RuntimeException e) {
            System.err.println(e.toString().replace('\n', ' '));
            System.exit(1);
        }
    }
}
