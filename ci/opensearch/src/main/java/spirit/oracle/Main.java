package spirit.oracle;

import java.nio.file.Path;
import java.util.List;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.common.transport.TransportAddress;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/**
 * One OpenSearch node on loopback: {@code Main HOME}. It prints its address once it answers, and
 * ends when its standard input does.
 */
final class Main extends Node {
    private Main(Environment environment, List<Class<? extends Plugin>> plugins) {
        super(environment, plugins, false);
    }

    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        Settings settings = Settings.builder()
                .put("path.home", home.toString())
                .put("cluster.name", "oracle")
                .put("node.name", "oracle")
                .put("network.host", "127.0.0.1")
                .put("http.port", "0")
                .put("transport.port", "0")
                .put("http.type", "netty4")
                .put("transport.type", "netty4")
                .put("discovery.type", "single-node")
                .put("node.processors", 2)
                // A machine with a nearly full disk has an oracle too.
                .put("cluster.routing.allocation.disk.threshold_enabled", false)
                .build();
        Environment environment = new Environment(settings, home.resolve("config"));
        try (Main node = new Main(environment, List.of(Netty4Plugin.class, CommonAnalysisPlugin.class))) {
            node.start();
            HttpServerTransport http = node.injector().getInstance(HttpServerTransport.class);
            TransportAddress address = http.boundAddress().publishAddress();
            System.out.println("http://127.0.0.1:" + address.getPort());
            while (System.in.read() >= 0) {
                // Only the end of the input counts.
            }
        }
    }
}
