// What the garbage collector took.

package spirit.peer;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** Time in collections since it was made, of all time since then. */
final class Collections {
  private final long start = System.nanoTime();
  private final long before = milliseconds();

  double share() {
    return (milliseconds() - before) * 1e6 / (System.nanoTime() - start);
  }

  private static long milliseconds() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionTime)
        .sum();
  }
}
