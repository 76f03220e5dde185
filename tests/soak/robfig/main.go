// What robfig/cron answers. Standard input: expression, zone, start (seconds since 1970), count, cut at tabs.
// Standard output, a line each: the fires in seconds since 1970, or "!" and why the expression is refused.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

func answer(line string) (text string) {
	// The parser has panics of its own, for "TZ=UTC" without a blank after it.
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint("!panic: ", r)
		}
	}()
	columns := strings.Split(line, "\t")
	zone, err := time.LoadLocation(columns[1])
	if err != nil {
		return "!" + err.Error()
	}
	start, _ := strconv.ParseInt(columns[2], 10, 64)
	count, _ := strconv.Atoi(columns[3])
	parser := cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	schedule, err := parser.Parse(columns[0])
	if err != nil {
		return "!" + err.Error()
	}
	var fires []string
	at := time.Unix(start, 0).In(zone)
	for i := 0; i < count; i++ {
		at = schedule.Next(at)
		if at.IsZero() {
			break
		}
		fires = append(fires, strconv.FormatInt(at.Unix(), 10))
	}
	return strings.Join(fires, " ")
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		answers := make(chan string, 1)
		go func(line string) { answers <- answer(line) }(in.Text())
		select {
		case text := <-answers:
			fmt.Fprintln(out, strings.ReplaceAll(text, "\n", " "))
		case <-time.After(2 * time.Second):
			// It goes round for ever at some changes of summer time, and cannot be stopped: whoever asks begins anew.
			fmt.Fprintln(out, "!loops for ever")
			return
		}
	}
}
