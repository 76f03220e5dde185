"""What goes on beside the demo on PostgreSQL: the day's feed, which writes today's flights, and readers of February.

    demo/beside.py URL NEW    until its standard input ends; then it says what it saw, and fails when that was a half

February's rows are told by their sum. A reader must find the sum of before the backfill or NEW, the right one, which is
computed from the flights: at READ COMMITTED in one statement; at REPEATABLE READ half by half in one transaction."""

import sys
import threading
import time

import psycopg2

SUM = """SELECT coalesce(sum(hashtextextended(d::text, 0)::numeric), 0) FROM daily_delays d
    WHERE flight_date >= %s AND flight_date < %s"""
WHOLE, HALVES = [("2013-02-01", "2013-03-01")], [("2013-02-01", "2013-02-15"), ("2013-02-15", "2013-03-01")]
RIGHT = """SELECT coalesce(sum(hashtextextended(d::text, 0)::numeric), 0) FROM (
    SELECT flight_date, origin, carrier, count(*)::int, (count(*) - count(dep_delay))::int,
           round(avg(dep_delay), 2)::numeric(7, 2)
    FROM flights WHERE flight_date >= '2013-02-01' AND flight_date < '2013-03-01' GROUP BY 1, 2, 3) d"""
FLIGHT = """INSERT INTO flights SELECT current_date, '08:00', 'B6', %s, NULL, 'JFK', 'BOS', 0, 0, 187"""
COUNT = """INSERT INTO daily_delays SELECT current_date, 'JFK', 'B6', 1, 0, 0
    ON CONFLICT (flight_date, origin, carrier) DO UPDATE SET flights = daily_delays.flights + 1"""


class Loop(threading.Thread):
    """Does one thing again and again, and keeps how long the slowest took."""

    def __init__(self, url, isolation=None):
        super().__init__(daemon=True)
        self.ended, self.error, self.times, self.slowest = threading.Event(), None, 0, 0.0
        self.connection = psycopg2.connect(url, application_name=type(self).__name__.lower())
        self.connection.set_session(isolation_level=isolation)

    def run(self):
        try:
            while not self.ended.is_set():
                began = time.monotonic()
                self.once(self.connection.cursor())
                self.connection.commit()
                self.slowest = max(self.slowest, time.monotonic() - began)
                self.times += 1
                self.ended.wait(0.002)
        except psycopg2.Error as error:
            self.error = error

    def stop(self):
        self.ended.set()
        self.join()
        if self.error is not None:
            sys.exit(f"{type(self).__name__.lower()} failed: {self.error}")


class Feed(Loop):
    def once(self, cursor):
        cursor.execute(FLIGHT, (self.times,))
        cursor.execute(COUNT)


class Reader(Loop):
    def __init__(self, url, isolation, parts):
        super().__init__(url, isolation)
        self.parts, self.isolation, self.seen = parts, isolation, {}

    def once(self, cursor):
        total = 0
        for part in self.parts:
            cursor.execute(SUM, part)
            total += cursor.fetchone()[0]
        self.seen[total] = self.seen.get(total, 0) + 1


def main():
    url = sys.argv[1]
    look = psycopg2.connect(url)
    look.autocommit = True
    cursor = look.cursor()
    cursor.execute(SUM, WHOLE[0])
    old = cursor.fetchone()[0]
    cursor.execute(RIGHT)
    new = cursor.fetchone()[0]
    loops = [Feed(url), Reader(url, "READ COMMITTED", WHOLE), Reader(url, "REPEATABLE READ", HALVES)]
    for loop in loops:
        loop.start()
    sys.stdin.read()
    for loop in loops:
        loop.stop()
    feed, *readers = loops
    cursor.execute("SELECT coalesce(sum(flights), 0) FROM daily_delays WHERE flight_date >= current_date - 1")
    counted = cursor.fetchone()[0]
    halves = 0
    for reader in readers:
        half = sum(times for total, times in reader.seen.items() if total not in (old, new))
        halves += half
        print(f"reader, {reader.isolation:<16} {reader.times:6} reads: {reader.seen.get(old, 0)} all old, {reader.seen.get(new, 0)} all new, "
              f"{half} of a half; slowest {reader.slowest * 1000:.0f} ms")
    print(f"feed of today's flights   {feed.times:6} written, {feed.times - counted} lost; slowest {feed.slowest * 1000:.0f} ms")
    if halves or counted != feed.times or not all(reader.seen.get(old) and reader.seen.get(new) for reader in readers):
        sys.exit("demo: what went on beside it was disturbed, or did not see both the old rows and the new ones")


if __name__ == "__main__":
    main()
