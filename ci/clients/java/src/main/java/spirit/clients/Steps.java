package spirit.clients;

import java.util.Map;
import java.util.Objects;

/** What the steps of both clients have in common. */
final class Steps {
    private Steps() {
    }

    static Map<String, Object> document(int n) {
        return Map.of("text", "heron " + n, "n", n);
    }

    static void expect(String what, Object found, Object expected) {
        if (!Objects.equals(found, expected)) {
            throw new IllegalStateException(what + ": " + found + ", not " + expected);
        }
    }
}
