"""What is downstream, on SQLite: views on views, a dashboard that a person wrote down, columns, ranges; names of any kind in
every form, in a real browser too."""

import html.parser
import lzma
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import harness
from harness import NOT_FOUND, USAGE, Flow

SCENE = """
CREATE TABLE flights(day TEXT, late INTEGER, seats INTEGER);
CREATE TABLE daily(day TEXT PRIMARY KEY, late INTEGER, seats INTEGER);
INSERT INTO daily VALUES ('2024-01-01', 1, 100), ('2024-01-02', 2, 100);
INSERT INTO flights SELECT * FROM daily;
CREATE VIEW late_days AS SELECT day, late FROM daily WHERE late > 1;
CREATE VIEW worst AS SELECT * FROM late_days;
CREATE VIEW capacity AS SELECT sum(seats) AS seats FROM daily;
"""
PIPELINE = """
database: db.sqlite
production: none
downstream:
  - {name: delays board, kind: dashboard, needs: person}
"""
INCOMPLETE = 18
SPEC = """
target: daily
range: 2024-01-01..2024-01-02
wrong: w
correct: c
changes: [late]
recompute: SELECT day, late, seats FROM flights WHERE day >= :from AND day < :to
"""
HOSTILE = "a<script src='//evil.example/x.js'>alert(1)</script>\"&]]>'\n`|{}#quot;--> %s\\N;"
SVG = "{http://www.w3.org/2000/svg}"


def chromium():
    """Debian's, or Chrome; script/deps check installs the former."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert found, "no Chromium: script/deps check installs it"
    return found


class Scene(Flow):
    def setUp(self):
        super().setUp()
        self.sql(SCENE)
        (self.folder / "tidegate.yaml").write_text(PIPELINE, encoding="utf-8")

    def needs(self, *args):
        """Name → need of every node but the target."""
        return {node["name"]: node["needs"] for node in self.tidegate("impact", *args, "--json").json["nodes"][1:]}


class Impact(Scene):
    def test_views_on_views_and_what_a_person_wrote(self):
        self.assertEqual(self.needs("daily"), {"capacity": "follows", "late_days": "follows", "worst": "follows", "delays board": "person"})
        shown = self.tidegate("impact", "daily").out
        self.assertIn("4 downstream: 1 person, 3 follows", shown)
        self.assertRegex(shown, r"(?m)^[├└]─ delays board +person    dashboard, by tidegate.yaml")
        self.assertRegex(shown, r"(?m)^read +catalogue")
        self.assertRegex(shown, r"(?m)^not read +\S")

    def test_columns(self):
        """What reads none of them needs nothing, is left out of the tree with a count, and stands in it with --all."""
        needs = self.needs("daily", "--columns", "seats")
        self.assertEqual((needs["capacity"], needs["late_days"]), ("follows", "nothing"))
        shown = self.tidegate("impact", "daily", "--columns", "seats").out
        self.assertNotIn("late_days", shown)
        self.assertIn("that read none of these columns", shown)
        self.assertIn("late_days", self.tidegate("impact", "daily", "--columns", "seats", "--all").out)
        fault = self.tidegate("impact", "daily", "--columns", "seets", code=USAGE)
        self.assertIn("daily has no column seets", fault.err)
        self.assertIn("it has day, late, seats", fault.err)

    def test_a_backfill_gives_range_and_columns(self):
        spec = self.spec(SPEC)
        facts = self.tidegate("impact", spec, "--json").json
        self.assertEqual(facts["range"], "1–2 Jan 2024")
        board = next(node for node in facts["nodes"] if node["name"] == "delays board")
        self.assertEqual((board["first"], board["last"], board["grain"]), ("2024-01-01", "2024-01-02", "day"))
        plan = self.tidegate("plan", spec, "--json").json["plan"]
        self.assertEqual({node["name"]: node["needs"] for node in plan["blast_radius"]["nodes"]}, self.needs(plan["id"]))
        self.assertIn("catalogue", [source["reader"] for source in plan["blast_radius"]["read"]])
        self.assertIn("that of the backfill", self.tidegate("impact", spec, "--range", "2024-01-01..2024-01-01", code=USAGE).err)

    def test_a_range_of_ones_own(self):
        facts = self.tidegate("impact", "daily", "--range", "2024-01-01..2024-01-01", "--json").json
        board = next(node for node in facts["nodes"] if node["name"] == "delays board")
        self.assertEqual((board["first"], board["last"]), ("2024-01-01", "2024-01-01"))
        self.tidegate("impact", "daily", "--range", "yesterday", code=USAGE)

    def test_what_nobody_knows(self):
        fault = self.tidegate("impact", "dayly", code=NOT_FOUND)
        self.assertIn("dayly", fault.err)

    def test_usage(self):
        self.assertIn("not png", self.tidegate("impact", "daily", "--format", "png", code=USAGE).err)
        self.assertIn("cannot write", self.tidegate("impact", "daily", "-o", "no/where.svg", code=USAGE).err)
        self.assertFalse((self.folder / "no").exists())


class Dbt(Scene):
    """The manifest that dbt 1.10 made of the tests' project."""

    def setUp(self):
        super().setUp()
        self.sql("CREATE TABLE daily_delays(flight_date TEXT PRIMARY KEY, flights INTEGER, avg_delay REAL);"
                 "INSERT INTO daily_delays VALUES ('2013-02-01', 1, 2.5); CREATE TABLE lonely(day TEXT PRIMARY KEY)")
        manifest = Path(__file__).parent.parent / "data" / "dbt" / "1.10" / "manifest.json.xz"
        (self.folder / "manifest.json").write_bytes(lzma.decompress(manifest.read_bytes()))
        (self.folder / "tidegate.yaml").write_text("database: db.sqlite\nproduction: none\nlineage: {dbt: manifest.json}\n", encoding="utf-8")

    def test_models_exposures_and_a_diamond(self):
        facts = self.tidegate("impact", "daily_delays", "--range", "2013-02-01..2013-02-28", "--json").json
        nodes = {node["name"]: node for node in facts["nodes"]}
        needs = {name.split(".")[-1]: node["needs"] for name, node in nodes.items()}
        self.assertEqual({name: needs[name] for name in ("monthly_delays", "worst_days", "carrier_totals", "carrier_history", "delays_dashboard")},
                         {"monthly_delays": "cascade", "worst_days": "follows", "carrier_totals": "rebuild", "carrier_history": "person",
                          "delays_dashboard": "person"})
        # origin_scorecard reads airport_days and rolling_week, which reads airport_days: behind both, and once in the tree.
        level = {name.split(".")[-1]: node["level"] for name, node in nodes.items()}
        self.assertTrue(level["airport_days"] < level["rolling_week"] < level["origin_scorecard"])
        tree = self.tidegate("impact", "daily_delays").out
        self.assertEqual(sum("origin_scorecard" in line and "cascade" in line for line in tree.splitlines()), 1)
        self.assertRegex(tree, r"→ .*origin_scorecard \(under another\)")
        self.assertRegex(tree, r"(?m)^ +dbt manifest manifest.json: 16 models")
        # A month has to be whole, a rolling week reaches six days on, and what accumulates goes up to today.
        dates = {name.split(".")[-1]: (node["first"], node["last"]) for name, node in nodes.items()}
        self.assertEqual(dates["monthly_delays"], ("2013-02", "2013-02"))
        self.assertEqual(dates["rolling_week"], ("2013-02-01", "2013-03-06"))
        self.assertEqual(dates["delay_to_date"][0], "2013-02-01")
        self.assertGreater(dates["delay_to_date"][1], "2013-03-06")
        ends = {(edge["parent"], edge["child"]) for edge in facts["edges"]}
        self.assertTrue(all(facts["nodes"][near]["level"] < facts["nodes"][far]["level"] for near, far in ends))

    def test_what_it_is_made_from(self):
        facts = self.tidegate("impact", "daily_delays", "--upstream", "--json").json
        self.assertEqual([node["name"].split(".")[-1] for node in facts["nodes"][1:]], ["departures", "stg_flights", "flights"])
        self.assertEqual([node["needs"] for node in facts["nodes"]], [None] * 4)
        self.assertIn({"parent": 1, "child": 0}, [{key: edge[key] for key in ("parent", "child")} for edge in facts["edges"]])

    def test_a_name_that_lineage_alone_knows(self):
        for name in ("analytics.late_carriers", "model.flights.late_carriers"):
            facts = self.tidegate("impact", name, "--upstream", "--json").json
            self.assertEqual(facts["target"].split(".")[-1], "late_carriers")
            self.assertIn("rolling_week", [node["name"].split(".")[-1] for node in facts["nodes"]])
        self.assertEqual(self.needs("delay_forecast"), {})

    def test_a_table_that_no_source_knows_is_a_finding(self):
        found = self.tidegate("impact", "lonely", code=INCOMPLETE)
        self.assertRegex(found.out, r"(?m)^finding +the target stands in none of the sources that were read")
        self.assertFalse(self.tidegate("impact", "lonely", "--json", code=INCOMPLETE).json["known"])
        self.tidegate("impact", "lonely", "-o", "lonely.svg", code=INCOMPLETE)

    def test_the_picture(self):
        self.tidegate("impact", "daily_delays", "-o", "d.svg")
        tree = ElementTree.parse(self.folder / "d.svg")
        boxes = [link for link in tree.iter(f"{SVG}a") if "box" in (link.get("class") or "")]
        self.assertEqual(len(boxes), len(self.tidegate("impact", "daily_delays", "--json").json["nodes"]))
        dashboard = next(link for link in boxes if link.get("aria-label").startswith("delays_dashboard: person"))
        self.assertEqual("".join(dashboard.itertext()).count("person"), 2, "in the title and in words")


class Reader(html.parser.HTMLParser):
    """Everything that a page holds, links to and would load."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.loads, self.handlers = set(), [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name == "href":
                self.links.append(value)
            elif name in ("src", "srcset", "data", "background", "action", "xlink:href"):
                self.loads.append(value)
            elif name.startswith("on"):
                self.handlers.append(name)


class Hostile(Scene):
    """Every name is a trap."""

    def setUp(self):
        super().setUp()
        name = HOSTILE.replace('"', '""')
        self.sql(f'CREATE VIEW "{name}" AS SELECT day FROM daily; CREATE VIEW "{"x" * 10000}" AS SELECT day FROM daily')
        board = HOSTILE.replace("'", "''").replace("\n", " ")
        (self.folder / "tidegate.yaml").write_text(
            f"database: db.sqlite\nproduction: none\ndownstream:\n  - {{name: '{board}', kind: '{board}', needs: person}}\n", encoding="utf-8")

    def test_a_picture_is_inert(self):
        self.tidegate("impact", "daily", "-o", "i.svg")
        tree = ElementTree.parse(self.folder / "i.svg")
        tags = {element.tag.removeprefix(SVG) for element in tree.iter()}
        self.assertLessEqual(tags, {"svg", "title", "desc", "style", "defs", "marker", "path", "rect", "g", "a", "text", "tspan"})
        ids = [element.get("id") for element in tree.iter() if element.get("id")]
        self.assertEqual(len(ids), len(set(ids)))
        links = [element.get("href") for element in tree.iter(f"{SVG}a")]
        self.assertGreater(len(links), 8)
        for link in links:
            self.assertIn(link.removeprefix("#"), ids)
        for element in tree.iter():
            self.assertFalse([name for name in element.attrib if name.startswith("on") or "xlink" in name])
        labels = [element.get("aria-label") for element in tree.iter(f"{SVG}a") if element.get("aria-label")]
        self.assertTrue(any("<script src=" in label for label in labels), "the name is shown as it is")
        self.assertTrue(all(len(label) < 500 for label in labels))

    def test_a_page_is_inert(self):
        self.tidegate("impact", "daily", "-o", "i.html")
        page = Reader((self.folder / "i.html").read_text(encoding="utf-8"))
        self.assertEqual((page.loads, page.handlers), ([], []))
        self.assertFalse(page.tags & {"script", "img", "link", "iframe", "object", "embed", "image", "foreignobject"})
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertTrue(page.links and all(link[0] == "#" and link[1:] in page.ids for link in page.links))

    def test_a_browser_runs_nothing_and_asks_nobody(self):
        """In Chromium: a script that ran would have changed the page, and a request would be in its log."""
        for name in ("i.svg", "i.html"):
            self.tidegate("impact", "daily", "-o", name)
            log = self.folder / "net.json"
            shown = subprocess.run(
                [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
                 f"--user-data-dir={self.folder}/profile", f"--log-net-log={log}", "--dump-dom", f"file://{self.folder}/{name}"],
                check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, text=True).stdout
            self.assertNotIn("<parsererror", shown)
            self.assertFalse(Reader(shown).tags & {"script", "img"}, name)
            self.assertNotIn("evil.example", log.read_text(encoding="utf-8", errors="replace"))
            subprocess.run([chromium(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile",
                            f"--screenshot={self.folder}/p.png", "--window-size=1280,1000", f"file://{self.folder}/{name}"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
            self.assertGreater((self.folder / "p.png").stat().st_size, 8000, "an empty picture packs to less")

    def test_the_terminal_gets_one_line_a_node(self):
        shown = self.tidegate("impact", "daily").out
        self.assertEqual(sum("by catalogue" in line or "by tidegate.yaml" in line for line in shown.splitlines()), 6)
        self.assertTrue(all(len(line) < 400 for line in shown.splitlines()))
        self.assertIn(HOSTILE, [node["name"] for node in self.tidegate("impact", "daily", "--json").json["nodes"]])

    def test_graphs_as_text(self):
        dot = self.tidegate("impact", "daily", "-f", "dot").out
        if shutil.which("dot"):
            laid = subprocess.run(["dot", "-Tplain"], input=dot, check=True, capture_output=True, text=True, timeout=60)
            self.assertEqual(laid.stderr, "")
            self.assertEqual(sum(line.startswith("node ") for line in laid.stdout.splitlines()), dot.count("tooltip="))
        mermaid = self.tidegate("impact", "daily", "-f", "mermaid").out
        for line in mermaid.splitlines()[1:]:
            self.assertRegex(line, r'^  (n\d+\["[\w #;,.…]*(<br/>[\w #;,.]*)?"\]:::\w+|n\d+ (-->|-\.->) n\d+|classDef \w+ [\w:#,]+)$')


if __name__ == "__main__":
    harness.main()
