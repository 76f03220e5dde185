"""What production must hold after foreign writers and a backfill have worked on it: a plain reckoning in dictionaries.

Every transaction that was committed is replayed in the order of its commit: a writer's by the rows that its statements
said they had written, a swap as "the range is what the sources give now, preserved columns apart", a rollback as "what
the swap changed is as before, later rows as was decided". Who holds row locks commits before those that wait for them,
so that the order of commits is the order of all writes to a row."""

from collections import Counter

FROM, TO = "2024-01-05", "2024-01-10"
KEYS = {"keyed": ("id",), "parted": ("day", "id"), "exchange": ("day", "id"), "replace": ("day", "id"), "keyless": None}
GIVEN = ("id", "day", "cents", "net")  # with the note where nothing can be preserved
REST = ("note",)
WHOLE = ("exchange", "replace", "keyless")  # kinds of which the recompute gives every column


class Fault(AssertionError):
    pass


def inside(row):
    return FROM <= row["day"] <= TO


def bag(rows):
    return Counter(tuple(sorted(row.items(), key=str)) for row in rows)


class Model:
    def __init__(self, kind, sales, orders):
        self.kind, self.columns = KEYS[kind], {}
        self.exchange, self.keyless = kind == "exchange", kind == "keyless"
        self.given = GIVEN + (REST if kind in WHOLE else ())
        self.orders = {row["id"]: row for row in orders}
        self.sales = list(map(dict, sales)) if self.keyless else {self.key(row): dict(row) for row in sales}
        self.swapped = None  # what the last swap did, while it stands
        self.touched = set()  # keys that writers wrote since

    def key(self, row):
        return tuple(row[column] for column in self.kind)

    def rows(self):
        return list(self.sales) if self.keyless else list(self.sales.values())

    # ---- writers

    def write(self, effect):
        verb, *rest = effect
        getattr(self, verb)(*rest)

    def order(self, ident, row):
        self.orders.pop(ident, None)
        if row is not None:
            self.orders[ident] = row

    def insert(self, row):
        row = dict(row)
        if self.keyless:
            self.sales.append(row)
            return
        if self.key(row) in self.sales:
            raise Fault(f"an INSERT of {row} was accepted over {self.sales[self.key(row)]}")
        self.sales[self.key(row)] = row
        self.touched.add(self.key(row))

    def delete(self, row):
        if self.keyless:
            if row not in self.sales:
                raise Fault(f"a DELETE reported {row}, which production did not hold")
            self.sales.remove(row)
            return
        if self.sales.pop(self.key(row), None) != row:
            raise Fault(f"a DELETE reported {row}, which production did not hold")
        self.touched.add(self.key(row))

    def update(self, key, changed, image):
        """`changed`: what the statement set; `image`: the row that it reported."""
        row = self.sales.pop(key, None)
        if row is None:
            raise Fault(f"an UPDATE reported {image} under {key}, where production had no row")
        row = {**row, **changed}
        if row != image:
            raise Fault(f"an UPDATE reported {image}, production should have held {row}")
        self.sales[self.key(row)] = row
        self.touched |= {key, self.key(row)}

    def truncate(self):
        self.touched |= set() if self.keyless else set(self.sales)
        self.sales.clear()

    def column(self, name, value):
        self.columns[name] = value
        for row in self.rows():
            row[name] = value

    # ---- the backfill

    def recomputed(self):
        for order in self.orders.values():
            if inside(order):
                row = {"id": order["id"], "day": order["day"], "cents": order["cents"], "net": order["cents"] * order["rate"]}
                yield {**row, "note": order["note"]} if "note" in self.given else row

    def swap(self):
        if self.swapped is not None:
            raise Fault("published twice")
        self.touched = set()
        if self.keyless:
            return self.swap_dates()
        changes, fresh, columns = {}, {self.key(row): row for row in self.recomputed()}, set()
        for key, old in list(self.sales.items()):
            if inside(old) and key not in fresh:
                changes[key] = (old, None)
                del self.sales[key]
        for key, row in fresh.items():
            old = self.sales.get(key)
            if old is not None and not inside(old):
                raise Fault(f"published {row} over {old}, which is outside the range")
            new = {**(old or {"note": None, **self.columns}), **row}
            self.sales[key] = new
            if self.exchange or new != old:
                changes[key] = (old, new)
            if old is not None:
                columns |= {c for c in self.given if new[c] != old[c]}
        self.swapped = changes, columns

    def swap_dates(self):
        old, new = [r for r in self.sales if inside(r)], [{**self.columns, **r} for r in self.recomputed()]
        self.sales = [r for r in self.sales if not inside(r)] + new
        days = {row["day"] for row in old + new}
        self.swapped = {day: ([dict(r) for r in old if r["day"] == day], [dict(r) for r in new if r["day"] == day]) for day in days}
        self.swapped = {day: sides for day, sides in self.swapped.items() if bag(sides[0]) != bag(sides[1])}, set()

    def conflicts(self):
        """Keys (without one, dates) of the change set that are no longer as the swap left them."""
        changes, _ = self.swapped
        if self.keyless:
            return {day for day, (_, new) in changes.items() if bag(r for r in self.sales if r["day"] == day) != bag(new)}
        if self.exchange:
            return {key for key in self.touched if key in changes}
        return {key for key, (old, new) in changes.items() if self.conflict(key, old, new)}

    def conflict(self, key, old, new):
        now = self.sales.get(key)
        if now is None or new is None:
            return now is not new
        return any(now[c] != new[c] for c in (self.given if old is not None else new))

    def rollback(self, later):
        if self.swapped is None:
            raise Fault("rolled back what was not published")
        changes, columns = self.swapped
        against = self.conflicts()
        if against and later == "refuse":
            raise Fault(f"rolled back over later writes to {against}")
        for key, (old, new) in changes.items():
            if key not in against:
                self.put_back(key, old, new, columns)
            elif later == "overwrite":
                self.put_back(key, old, new, None)
        self.swapped = None

    def put_back(self, key, old, new, columns):
        """columns None: the old row whole, over whatever is there."""
        if self.keyless:
            self.sales = [r for r in self.sales if r["day"] != key] + [{**self.columns, **row} for row in old]
        elif old is None:
            if self.exchange and columns is None and key in self.sales:
                return  # a row that came with the swap and was written since is a row of its own
            self.sales.pop(key, None)
        elif new is None or columns is None or self.exchange:
            self.sales[key] = {**self.columns, **self.sales.get(key, {}), **old}
        else:
            self.sales[key].update({column: old[column] for column in columns})
