#include "engine/postgres/postgres_int.h"
