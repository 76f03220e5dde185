import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Date;
import java.util.TimeZone;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.quartz.CronExpression;

/**
 * What Quartz answers. Standard input: expression, zone, start (seconds since 1970), count, cut at tabs. Standard output,
 * a line each: the fires in seconds since 1970, or "!" and why the expression is refused.
 */
public class Soak {
  static String answer(String line) throws Exception {
    String[] columns = line.split("\t");
    CronExpression expression;
    try {
      expression = new CronExpression(columns[0]);
    } catch (java.text.ParseException e) {
      return "!" + e.getMessage();
    }
    expression.setTimeZone(TimeZone.getTimeZone(columns[1]));
    StringBuilder fires = new StringBuilder();
    Date at = new Date(Long.parseLong(columns[2]) * 1000);
    for (int i = 0; i < Integer.parseInt(columns[3]); i++) {
      at = expression.getNextValidTimeAfter(at);
      if (at == null) break;
      fires.append(i == 0 ? "" : " ").append(Math.floorDiv(at.getTime(), 1000));
    }
    return fires.toString();
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    ExecutorService pool =
        Executors.newSingleThreadExecutor(
            task -> {
              Thread thread = new Thread(task);
              thread.setDaemon(true);
              return thread;
            });
    for (String line; (line = in.readLine()) != null; ) {
      String asked = line;
      try {
        System.out.println(pool.submit(() -> answer(asked)).get(2, TimeUnit.SECONDS).replace('\n', ' '));
      } catch (TimeoutException e) {
        // It goes round for ever, and cannot be stopped: whoever asks begins anew.
        System.out.println("!loops for ever");
        break;
      } catch (ExecutionException e) {
        System.out.println("!" + e.getCause());
      }
    }
    System.out.flush();
  }
}
