// The index every task uses: its writer's settings and the folder it lives in.

package spirit.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.FilterCodec;
import org.apache.lucene.codecs.PostingsFormat;
import org.apache.lucene.codecs.memory.DirectPostingsFormat;
import org.apache.lucene.codecs.perfield.PerFieldPostingsFormat;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LogByteSizeMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.NRTCachingDirectory;
import org.apache.lucene.util.Version;

/** Creates, fills and finds indexes. */
final class Index {
  static final String TEXT = "text";
  static final String KEY = "key";

  /** Raised whenever an index built earlier is of no use to the program as it is now. */
  private static final int FORMAT = 2;

  private static final double BUFFER_MB = 256;

  /** What Lucene's documentation of NRTCachingDirectory uses. */
  private static final double CACHED_SEGMENT_MB = 5;

  private static final double CACHE_MB = 60;

  private Index() {}

  static Directory open(Path path) throws IOException {
    return new MMapDirectory(path);
  }

  /** Keeps small new segments in memory, as Lucene advises for an index that is refreshed often. */
  static Directory openLive(Path path) throws IOException {
    return new NRTCachingDirectory(open(path), CACHED_SEGMENT_MB, CACHE_MB);
  }

  /** Postings as arrays on the heap, where a reader unpacks them when it is opened. */
  private static final class OnHeap extends FilterCodec {
    private final PostingsFormat postings = new DirectPostingsFormat();

    /** By the name of the default codec: only the format of postings is another, and a segment says which. */
    OnHeap() {
      super(Codec.getDefault().getName(), Codec.getDefault());
    }

    @Override
    public PostingsFormat postingsFormat() {
      return new PerFieldPostingsFormat() {
        @Override
        public PostingsFormat getPostingsFormatForField(String field) {
          return postings;
        }
      };
    }
  }

  /** Settings of all writers. */
  private static IndexWriterConfig settings() {
    IndexWriterConfig settings = new IndexWriterConfig(new PlainAnalyzer());
    settings.setRAMBufferSizeMB(BUFFER_MB);
    settings.setUseCompoundFile(false);
    settings.getMergePolicy().setNoCFSRatio(0);
    return settings;
  }

  /** Merges run in the indexing thread. */
  static IndexWriterConfig serialSettings() {
    IndexWriterConfig settings = settings();
    settings.setMergeScheduler(new SerialMergeScheduler());
    return settings;
  }

  /** Merges run in Lucene's own background threads and no refresh waits for one. */
  static IndexWriterConfig liveSettings() {
    IndexWriterConfig settings = settings();
    settings.setMaxFullFlushMergeWaitMillis(0);
    return settings;
  }

  /** Nothing is merged before it is asked for. */
  static IndexWriterConfig patientSettings() {
    LogByteSizeMergePolicy patient = new LogByteSizeMergePolicy();
    patient.setNoCFSRatio(0);
    patient.setMergeFactor(Integer.MAX_VALUE);
    return serialSettings().setMergePolicy(patient);
  }

  /** The settings of an index that keeps one order of its documents through all merges. */
  private static IndexWriterConfig orderedSettings(Layout layout) {
    IndexWriterConfig settings = serialSettings();
    if (layout == Layout.NEWEST_FIRST) {
      settings.setIndexSort(new Sort(new SortField(KEY, SortField.Type.LONG, true)));
    } else {
      LogByteSizeMergePolicy neighbours = new LogByteSizeMergePolicy();
      neighbours.setNoCFSRatio(0);
      settings.setMergePolicy(neighbours);
    }
    return settings;
  }

  /** The folder with the one-segment index of these documents, built unless its stamp fits. */
  static Path cached(Options options, Layout layout) throws Exception {
    String name = "lucene-" + layout.text + (options.direct ? "-direct" : "");
    Path stampFile = options.work.resolve(name + ".stamp");
    Path path = options.work.resolve(name);
    String stamp = stamp(options.docs);
    if (Files.exists(stampFile) && Files.readString(stampFile).equals(stamp)) {
      System.err.println("index " + name + ": as built earlier");
      return path;
    }
    Files.deleteIfExists(stampFile);
    fresh(options.work, name);
    long start = System.nanoTime();
    IndexWriterConfig settings = orderedSettings(layout);
    if (options.direct) {
      settings.setCodec(new OnHeap());
    }
    buildOneSegment(path, Corpus.load(options.docs), settings);
    Files.writeString(stampFile, stamp);
    System.err.printf("index %s: built in %.1f s%n", name, (System.nanoTime() - start) / 1e9);
    return path;
  }

  private static void buildOneSegment(Path path, Corpus corpus, IndexWriterConfig settings)
      throws IOException {
    try (Directory directory = open(path);
        IndexWriter writer = new IndexWriter(directory, settings)) {
      new Adder(writer).addAll(corpus, 0, corpus.size());
      writer.forceMerge(1);
      writer.commit();
    }
  }

  /** Size and time of change stand for the file's content. */
  private static String stamp(Path docs) throws IOException {
    return FORMAT + " " + Version.LATEST + " " + Files.size(docs) + " "
        + Files.getLastModifiedTime(docs) + "\n";
  }

  /** An empty folder of this name below work. */
  static Path fresh(Path work, String name) throws IOException {
    Path path = work.resolve(name);
    remove(path);
    return Files.createDirectories(path);
  }

  static void remove(Path path) throws IOException {
    if (!Files.exists(path)) {
      return;
    }
    for (Path entry : entries(path)) {
      Files.delete(entry);
    }
  }

  /** The bytes of all files in the folder. */
  static long bytes(Path path) throws IOException {
    long bytes = 0;
    for (Path entry : entries(path)) {
      bytes += Files.isRegularFile(entry) ? Files.size(entry) : 0;
    }
    return bytes;
  }

  /** The folder and what is in it, the innermost first. */
  private static List<Path> entries(Path path) throws IOException {
    try (Stream<Path> entries = Files.walk(path)) {
      return entries.sorted(Comparator.reverseOrder()).toList();
    }
  }
}
