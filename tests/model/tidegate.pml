/*
 * The state machine of one backfill with two clients, crashes and a foreign writer, for Spin: see script/model.
 *
 * Everything global is what the database holds; a client's variables are its memory and are lost when it crashes. The
 * range has two dates, one a batch. A value stands for all rows of its date, so "equal" means "same fingerprint":
 *
 *   1         the wrong rows that production has at first
 *   10 + s    the right rows, recomputed from version s of the sources
 *   20 + n    what the foreign writer's n-th write left
 *   30        what a tool that writes in place left
 *
 * A transaction is three steps, between which the others go on: it is sent; it takes the lock, checks the lease epoch
 * and works, which nobody sees; it commits. At each the client may crash or the server's timeout may end the
 * transaction. A crash after "sent" may leave a statement that outlives its client and arrives at any later time.
 *
 * What is proven: the assertions below, the process Always, and that nothing is stuck. BREAK_… each take one
 * precaution away: script/model demands that the search then finds a fault.
 *
 * LIMITATIONS: a tool that goes on writing in place after its client has died and the range was restored is outside
 * the model; so are time and the schedule.
 */
#ifndef TAKES
#define TAKES 3 /* how often a lease is taken, in all */
#endif
#ifndef CRASHES
#define CRASHES 1 /* of both clients together */
#endif
#ifndef FOREIGN
#define FOREIGN 1 /* writes to production by others */
#endif
#define SOURCES 1 /* writes to a source by others */

mtype = { planned, superseded, building, held, ready, swapped, rolled_back, snapshotted, opened, checked, restored,
          finished, discarded }

#define FINAL(s) ((s) == finished || (s) == discarded)
#define TOOL 30
#define NOBODY 0

/* Production and source. */
byte prod[2] = 1, src;
/* The ledger's row. */
mtype state = planned;
byte epoch, lock;
/* What the ledger created: the shadow with old and new rows side by side, of which the old are the kept rows. */
bool shadow, sealed, done[2];
byte old[2], made_from[2];
bool snapshot;
byte snap[2];

#define NEW(d) (10 + made_from[d])

/* Only for the proof: nothing above looks at these. */
byte lawful[2] = 1; /* what production should hold, were it written only where the laws say */
byte before[2];     /* what it held when the swap committed */
bool published;
byte holder; /* who took the lease last */
byte crashes, foreign;

/* The objects are those of the state's row in the table of states: at every moment, so after every crash too. */
#define AS_THE_TABLE_SAYS                                                                                        \
  (state == planned -> !shadow && !snapshot && !published :                                                     \
  (state == superseded || state == building || state == held -> (state == superseded || shadow) && !published : \
  (state == ready -> shadow && sealed && done[0] && done[1] && !published :                                     \
  (state == swapped -> shadow && sealed && published :                                                          \
  (state == rolled_back -> shadow && sealed && !published :                                                     \
  (state == snapshotted || state == opened || state == checked || state == restored -> snapshot && !published : \
  (state == finished -> !shadow && !snapshot :                                                                  \
  (state == discarded && !shadow && !snapshot && !published))))))))

proctype Client(byte me) {
  byte mine; /* my lease epoch; 0: none */
  mtype seen, to;
  byte b, read_old, read_src; /* the batch in hand, and what its computation read */
  byte write[2];              /* rows for production in the open transaction; 0: none */
  bool drifted[2], told, zombie;

restart:
  atomic {
    mine = 0; zombie = false; seen = 0; to = 0; b = 0; read_old = 0; read_src = 0; told = false;
    write[0] = 0; write[1] = 0; drifted[0] = false; drifted[1] = false;
    if /* the clients are alike, so that the first lease may as well be the first one's; a live one's may be taken too */
    :: lock == NOBODY && epoch < TAKES && !FINAL(state) && (me == 1 || epoch > 0) -> epoch++; holder = me; mine = epoch
    :: epoch == TAKES || FINAL(state) -> goto stop
    fi
  }

again:
  atomic {
    seen = state;
    if /* to pause is to take no further step, so that it needs no line of its own */
    :: FINAL(seen) -> goto restart
    :: seen == planned -> if :: to = building :: to = superseded :: to = discarded :: to = snapshotted fi
    :: seen == building && (!done[0] || !done[1]) -> /* compute aside: reads one snapshot, holds no lock */
       if :: !done[0] -> b = 0 :: !done[1] -> b = 1 fi;
       read_old = prod[b]; read_src = src; to = building
    :: seen == building && done[0] && done[1] -> to = ready
    :: seen == building -> if :: to = held :: to = superseded :: to = discarded fi
    :: seen == held -> if :: to = building :: to = discarded fi
    :: seen == ready -> if :: to = swapped :: to = held :: to = superseded :: to = discarded fi
    :: seen == superseded -> to = discarded
    :: seen == swapped -> if :: to = finished :: to = rolled_back :: told = true; to = rolled_back fi
    :: seen == rolled_back -> if :: to = ready :: to = discarded fi
    :: seen == snapshotted -> if :: to = opened :: to = checked :: to = discarded fi
    :: seen == opened && (prod[0] != TOOL || prod[1] != TOOL) ->
       if :: prod[0] != TOOL -> b = 0 :: prod[1] != TOOL -> b = 1 fi;
       goto tool
    :: seen == opened -> if :: to = checked :: to = restored fi
    :: seen == opened -> told = true; to = restored
    :: seen == checked -> if :: to = finished :: to = restored :: told = true; to = restored fi
    :: seen == restored -> to = discarded
    :: else -> assert(false) /* stuck: no way on from this state */
    fi;
#ifdef BREAK_LOCK_ORDER /* looks for drift before it has the lock */
    if
    :: to == swapped ->
       drifted[0] = prod[0] != old[0] || src != made_from[0]; drifted[1] = prod[1] != old[1] || src != made_from[1]
    :: else
    fi
#endif
  }

  /* sent */
  if
  :: true
  :: crashes < CRASHES -> crashes++;
     if :: goto crashed :: zombie = true fi
  fi;

  atomic {
    lock == NOBODY -> lock = me; /* the lock, then the checks and the work under it, which nobody sees yet */
    if
#ifndef BREAK_EPOCH
    :: epoch != mine -> lock = NOBODY; goto restart
#endif
    :: state != seen -> lock = NOBODY; goto ended
    :: else
    fi;
    if
    :: to == swapped ->
#ifndef BREAK_LOCK_ORDER
       drifted[0] = prod[0] != old[0] || src != made_from[0]; drifted[1] = prod[1] != old[1] || src != made_from[1];
#endif
       if
       :: drifted[0] || drifted[1] -> to = building
       :: else -> write[0] = NEW(0); write[1] = NEW(1)
       fi
    :: to == rolled_back -> /* rows changed since the swap: refused, or left as they are when told so */
       if
       :: !told && (prod[0] != NEW(0) || prod[1] != NEW(1)) -> lock = NOBODY; goto ended
       :: else ->
          if :: prod[0] == NEW(0) -> write[0] = old[0] :: else fi;
          if :: prod[1] == NEW(1) -> write[1] = old[1] :: else fi
       fi
    :: to == restored -> /* the same, overwritten when told so */
       if
       :: !told && ((prod[0] != TOOL && prod[0] != snap[0]) || (prod[1] != TOOL && prod[1] != snap[1])) ->
          lock = NOBODY; goto ended
       :: else -> write[0] = snap[0]; write[1] = snap[1]
       fi
    :: seen == snapshotted && to == discarded && (prod[0] != snap[0] || prod[1] != snap[1]) ->
       lock = NOBODY; goto ended /* the snapshot is the last copy of those rows */
    :: seen == opened && to == checked && (prod[0] != TOOL || prod[1] != TOOL) -> lock = NOBODY; goto ended
    :: else
    fi
  }
  if
  :: true
  :: atomic { lock = NOBODY; goto ended } /* the server's timeout */
  :: !zombie && crashes < CRASHES -> crashes++; goto crashed
  fi;

#ifdef BREAK_MARK /* the rows commit before the mark */
  atomic {
    if :: write[0] != 0 -> prod[0] = write[0]; lawful[0] = write[0] :: else fi;
    if :: write[1] != 0 -> prod[1] = write[1]; lawful[1] = write[1] :: else fi;
    if :: to == swapped -> published = true :: to == rolled_back -> published = false :: else fi
  }
  if
  :: true
  :: !zombie && crashes < CRASHES -> crashes++; goto crashed
  fi;
#endif

  atomic { /* commit */
    assert(epoch == mine && holder == me); /* law 10 */
#ifndef BREAK_MARK
    if
    :: to == swapped -> /* law 3, and never twice */
       assert(!published && sealed && prod[0] == old[0] && prod[1] == old[1] && src == made_from[0] && src == made_from[1]);
       published = true; before[0] = prod[0]; before[1] = prod[1]
    :: to == rolled_back -> assert(published); published = false; before[0] = 0; before[1] = 0
    :: else
    fi;
    if :: write[0] != 0 -> prod[0] = write[0] :: else fi;
    if :: write[1] != 0 -> prod[1] = write[1] :: else fi;
    if
    :: to == swapped || to == rolled_back || to == restored -> /* law 1: nowhere else */
       if :: write[0] != 0 -> lawful[0] = write[0] :: else fi;
       if :: write[1] != 0 -> lawful[1] = write[1] :: else fi
    :: else
    fi;
#endif

    /* What the ledger created and knows. */
    if
    :: seen == planned && to == building -> shadow = true
    :: seen == building && to == building -> old[b] = read_old; made_from[b] = read_src; done[b] = true
    :: seen == building && to == ready -> assert(done[0] && done[1]); sealed = true
    :: seen == ready && to == building -> /* the dates that drifted are built again */
       sealed = false;
       if :: drifted[0] -> done[0] = false; old[0] = 0; made_from[0] = 0 :: else fi;
       if :: drifted[1] -> done[1] = false; old[1] = 0; made_from[1] = 0 :: else fi
    :: to == snapshotted -> snapshot = true; snap[0] = prod[0]; snap[1] = prod[1]
    :: seen == ready && (to == held || to == superseded) -> sealed = false
    :: FINAL(to) ->
       shadow = false; sealed = false; snapshot = false; done[0] = false; done[1] = false;
       old[0] = 0; old[1] = 0; made_from[0] = 0; made_from[1] = 0; snap[0] = 0; snap[1] = 0; before[0] = 0; before[1] = 0
    :: else
    fi;
#ifdef BREAK_KEPT /* the old rows go at the swap */
    if :: to == swapped -> old[0] = 0; old[1] = 0 :: else fi;
#endif

    /* The one table of what may follow what: the same as src/ledger/states.def. */
    if
    :: seen == building && to == building -> skip /* a batch is stored: no change of state */
    :: seen == planned && to == building -> state = to       /* TRANSITION planned building run */
    :: seen == planned && to == superseded -> state = to     /* TRANSITION planned superseded supersede */
    :: seen == planned && to == discarded -> state = to      /* TRANSITION planned discarded discard */
    :: seen == planned && to == snapshotted -> state = to    /* TRANSITION planned snapshotted snapshot */
    :: seen == building && to == held -> state = to          /* TRANSITION building held hold */
    :: seen == building && to == ready -> state = to         /* TRANSITION building ready seal */
    :: seen == building && to == superseded -> state = to    /* TRANSITION building superseded supersede */
    :: seen == building && to == discarded -> state = to     /* TRANSITION building discarded discard */
    :: seen == held && to == building -> state = to          /* TRANSITION held building retry */
    :: seen == held && to == discarded -> state = to         /* TRANSITION held discarded discard */
    :: seen == ready && to == swapped -> state = to          /* TRANSITION ready swapped swap */
    :: seen == ready && to == building -> state = to         /* TRANSITION ready building drift */
    :: seen == ready && to == held -> state = to             /* TRANSITION ready held hold */
    :: seen == ready && to == superseded -> state = to       /* TRANSITION ready superseded supersede */
    :: seen == ready && to == discarded -> state = to        /* TRANSITION ready discarded discard */
    :: seen == swapped && to == finished -> state = to       /* TRANSITION swapped finished finish */
    :: seen == swapped && to == rolled_back -> state = to    /* TRANSITION swapped rolled_back rollback */
    :: seen == rolled_back && to == ready -> state = to      /* TRANSITION rolled_back ready reopen */
    :: seen == rolled_back && to == discarded -> state = to  /* TRANSITION rolled_back discarded discard */
    :: seen == superseded && to == discarded -> state = to   /* TRANSITION superseded discarded discard */
    :: seen == snapshotted && to == opened -> state = to     /* TRANSITION snapshotted opened open */
    :: seen == snapshotted && to == checked -> state = to    /* TRANSITION snapshotted checked check */
    :: seen == snapshotted && to == discarded -> state = to  /* TRANSITION snapshotted discarded discard */
    :: seen == opened && to == checked -> state = to         /* TRANSITION opened checked check */
    :: seen == opened && to == restored -> state = to        /* TRANSITION opened restored restore */
    :: seen == checked && to == finished -> state = to       /* TRANSITION checked finished finish */
    :: seen == checked && to == restored -> state = to       /* TRANSITION checked restored restore */
    :: seen == restored && to == discarded -> state = to     /* TRANSITION restored discarded discard */
    :: else -> assert(false)
    fi;
    lock = NOBODY; goto ended
  }

ended:
  atomic {
    to = 0; read_old = 0; read_src = 0; write[0] = 0; write[1] = 0; drifted[0] = false; drifted[1] = false;
    seen = 0; b = 0; told = false;
    if
    :: zombie -> goto restart
    :: !zombie -> goto again
    fi
  }

tool: /* the gated tool, started by this client, writes one date in place, in a transaction of its own */
  atomic {
    lock == NOBODY ->
    if :: state == opened -> prod[b] = TOOL; lawful[b] = TOOL :: else fi
  }
  if
  :: true
  :: crashes < CRASHES -> crashes++; goto crashed
  fi;
  b = 0; goto again;

crashed: /* the server ends what was open */
  atomic {
    if :: lock == me -> lock = NOBODY :: else fi;
    goto restart
  }
stop:
  skip
}

/* Somebody who knows nothing of Tidegate, at any moment at which no transaction holds the lock. */
proctype Foreigner() {
end:
  do
  :: atomic { lock == NOBODY && foreign < FOREIGN -> foreign++; prod[0] = 20 + foreign; lawful[0] = prod[0] }
  :: atomic { lock == NOBODY && foreign < FOREIGN -> foreign++; prod[1] = 20 + foreign; lawful[1] = prod[1] }
  :: atomic { lock == NOBODY && src < SOURCES -> src++ }
  od
}

/* Fires in the very step in which one of these is no longer so. */
proctype Always() {
end:
  if
  :: !AS_THE_TABLE_SAYS -> assert(false)
  :: prod[0] != lawful[0] || prod[1] != lawful[1] -> assert(false)                      /* law 1 */
  :: state == swapped && (old[0] != before[0] || old[1] != before[1]) -> assert(false) /* law 6: the kept rows */
  fi
}

init {
  atomic { run Client(1); run Client(2); run Foreigner(); run Always() }
}
