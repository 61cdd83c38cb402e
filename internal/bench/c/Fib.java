import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/**
 * Fib answers the bench's questions (package ask) for Java's ForkJoinPool: fib with a task for every call, and the same
 * without tasks.
 */
public final class Fib {
    private static final class Task extends RecursiveTask<Integer> {
        private final int n;

        Task(int n) {
            this.n = n;
        }

        @Override
        protected Integer compute() {
            if (n < 2) {
                return n;
            }
            Task x = new Task(n - 1);
            x.fork();
            int y = new Task(n - 2).compute();
            return x.join() + y;
        }
    }

    private static int sequential(int n) {
        return n < 2 ? n : sequential(n - 1) + sequential(n - 2);
    }

    private static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(answer(line.split("\t")));
        }
    }

    private static String answer(String[] words) {
        boolean parallel = words[0].equals("fib.forkjoinpool");
        if (!parallel && !words[0].equals("fib.sequential") || words.length != 4) {
            return "error\twant fib.sequential or fib.forkjoinpool, N, WORKERS and TIMES";
        }
        int n = Integer.parseInt(words[1]);
        ForkJoinPool pool = new ForkJoinPool(Integer.parseInt(words[2]));
        long bestWall = Long.MAX_VALUE;
        long bestCpu = Long.MAX_VALUE;
        int result = 0;
        for (int i = Integer.parseInt(words[3]); i > 0; i--) {
            long cpu = cpu();
            long wall = System.nanoTime();
            result = parallel ? pool.invoke(new Task(n)) : sequential(n);
            bestWall = Math.min(bestWall, System.nanoTime() - wall);
            bestCpu = Math.min(bestCpu, cpu() - cpu);
        }
        pool.shutdown();
        return "ok\tjobs=" + (sequential(n + 1) - 1) + "\twall=" + bestWall + "\tcpu=" + bestCpu + "\tresult=" + result;
    }
}
