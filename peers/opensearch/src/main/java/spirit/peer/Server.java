package spirit.peer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/**
 * One OpenSearch node in this process, on a free port of 127.0.0.1: {@code Server HOME}.
 *
 * <p>It prints its URL once it accepts requests, and ends at SIGTERM. Settings are OpenSearch's defaults but for
 * names, paths and addresses, and for the watermark of disks, which would refuse writes on a full machine.
 */
public final class Server extends Node {
    private Server(Environment environment, List<Class<? extends Plugin>> plugins) {
        super(environment, plugins, false);
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 1) {
            System.err.println("spirit-peer-opensearch: give a folder for the data");
            System.exit(1);
        }
        Path home = Path.of(arguments[0]).toAbsolutePath();
        Files.createDirectories(home.resolve("config"));
        Server server = new Server(
            new Environment(settings(home), home.resolve("config")),
            List.of(Netty4Plugin.class, CommonAnalysisPlugin.class));
        CountDownLatch closed = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(server, closed)));
        server.start();
        HttpServerTransport http = server.injector().getInstance(HttpServerTransport.class);
        int port = http.boundAddress().publishAddress().getPort();
        System.out.println("http://127.0.0.1:" + port);
        closed.await();
    }

    private static Settings settings(Path home) {
        return Settings.builder()
            .put("path.home", home.toString())
            .put("path.data", home.resolve("data").toString())
            .put("path.logs", home.resolve("logs").toString())
            .put("cluster.name", "spirit-bench")
            .put("node.name", "peer")
            .put("network.host", "127.0.0.1")
            .put("http.port", "0")
            .put("transport.port", "0")
            .put("discovery.type", "single-node")
            .put("http.type", "netty4")
            .put("transport.type", "netty4")
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
    }

    private static void close(Server server, CountDownLatch closed) {
        try {
            server.close();
        } catch (Exception error) {
            System.err.println("spirit-peer-opensearch: " + error);
        }
        closed.countDown();
    }
}
